/**
 * MTN's access tokens: issued for the API user and key, valid for an hour (upstreams §1.2).
 * Invariant: an expired token is never accepted, and expired ones do not pile up.
 */
import { randomBytes } from 'node:crypto';
import type { World } from '../world.ts';

export type MtnCredentials = {
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
};

/** The credentials that the sandbox accepts by default, separate for each product. They protect nothing. */
export const sandboxCredentials = {
  collection: {
    subscriptionKey: 'sandbox-collection',
    apiUser: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
    apiKey: 'sandbox-api-key',
  },
  disbursement: {
    subscriptionKey: 'sandbox-disbursement',
    apiUser: '8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93',
    apiKey: 'sandbox-disbursement-api-key',
  },
} as const satisfies Record<string, MtnCredentials>;

/** 3 600 seconds. */
export const tokenLife = 3_600;

export type Tokens = {
  /** A new token, or undefined when the Basic authorization is wrong. */
  readonly issue: (authorization: string | undefined) => string | undefined;
  readonly accepts: (authorization: string | undefined) => boolean;
};

export function createTokens(world: World, credentials: MtnCredentials): Tokens {
  const expiries = new Map<string, number>();
  const basic = `Basic ${Buffer.from(`${credentials.apiUser}:${credentials.apiKey}`).toString('base64')}`;

  return {
    issue: (authorization) => {
      if (authorization !== basic) return undefined;
      for (const [token, expiry] of expiries) if (expiry <= world.now()) expiries.delete(token);
      const token = randomBytes(32).toString('base64url');
      expiries.set(token, world.now() + tokenLife * 1_000);
      return token;
    },
    accepts: (authorization) => {
      if (authorization === undefined || !authorization.startsWith('Bearer ')) return false;
      const expiry = expiries.get(authorization.slice('Bearer '.length));
      return expiry !== undefined && expiry > world.now();
    },
  };
}
