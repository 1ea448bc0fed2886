/**
 * One of MTN's products as its callers see it, without a server (upstreams §1.2 to §1.5).
 * Invariant: credentials are checked before anything else, and a request that is answered with an error was not taken.
 */
import type { World } from '../world.ts';
import type { Movements, PartyName } from './movements.ts';
import {
  badRequest,
  down,
  duplicate,
  environmentError,
  type Headers,
  isReference,
  notFound,
  parseMoneyRequest,
  type WireError,
} from './request.ts';
import { createTokens, type MtnCredentials, tokenLife } from './tokens.ts';

/** The product's segment of the paths, and what handles its requests. */
export type ProductParts = {
  readonly name: 'collection' | 'disbursement';
  readonly resource: 'requesttopay' | 'transfer';
  readonly party: PartyName;
  readonly movements: Movements;
  readonly credentials: MtnCredentials;
  /** The refusal that every request meets just now; undefined: none. */
  readonly refused: () => WireError | undefined;
  /** Undefined if the carrier is down for that number. */
  readonly hasAccount: (msisdn: string) => boolean | undefined;
};

/** `json` is the body, undefined if there is none. */
export type Said = { readonly status: number; readonly json: string | undefined };

export type Product = Pick<ProductParts, 'name' | 'resource'> & {
  readonly giveToken: (headers: Headers) => Said;
  /** `silence`: the request was taken, and its answer must never come (ending 05). */
  readonly take: (headers: Headers, body: unknown) => Said | 'silence';
  readonly find: (headers: Headers, reference: string) => Said;
  readonly findHolder: (headers: Headers, msisdn: string) => Said;
};

const accepted: Said = { status: 202, json: undefined };

export function refusal({ status, body }: WireError): Said {
  return { status, json: JSON.stringify(body) };
}

function found(body: object): Said {
  return { status: 200, json: JSON.stringify(body) };
}

export function createProduct(world: World, parts: ProductParts): Product {
  const { name, resource, party, movements, credentials, refused, hasAccount } = parts;
  const tokens = createTokens(world, credentials);

  const subscriptionError = (headers: Headers): WireError | undefined => {
    const key = headers['ocp-apim-subscription-key'];
    if (key === credentials.subscriptionKey) return undefined;
    const why =
      key === undefined
        ? 'missing subscription key. Make sure to include'
        : 'invalid subscription key. Make sure to provide';
    return {
      status: 401,
      body: { statusCode: 401, message: `Access denied due to ${why} a valid key for an active subscription.` },
    };
  };
  const accessError = (headers: Headers): WireError | undefined => {
    const denied = subscriptionError(headers);
    if (denied !== undefined) return denied;
    if (tokens.accepts(headers.authorization)) return environmentError(headers);
    return { status: 401, body: { error: 'invalid_token', message: 'Access token is missing, unknown or expired.' } };
  };

  return {
    name,
    resource,
    giveToken: (headers) => {
      const denied = subscriptionError(headers);
      if (denied !== undefined) return refusal(denied);
      const token = tokens.issue(headers.authorization);
      if (token === undefined) return refusal({ status: 401, body: { error: 'login_failed' } });
      return found({ access_token: token, token_type: 'access_token', expires_in: tokenLife });
    },
    take: (headers, body) => {
      const denied = accessError(headers);
      if (denied !== undefined) return refusal(denied);
      const parsed = parseMoneyRequest(headers, body, party);
      if (parsed.kind === 'error') return refusal(parsed.error);
      const refusing = refused();
      if (refusing !== undefined) return refusal(refusing);
      const taken = movements.take(parsed.request);
      if (taken === 'down') return refusal(down);
      if (taken === 'duplicate') return refusal(duplicate);
      return taken === 'taken_unanswered' ? 'silence' : accepted;
    },
    find: (headers, reference) => {
      const denied = accessError(headers);
      if (denied !== undefined) return refusal(denied);
      if (!isReference(reference)) return refusal(badRequest('The reference must be a UUID version 4.'));
      const json = movements.find(reference.toLowerCase());
      return json === undefined ? refusal(notFound) : { status: 200, json };
    },
    findHolder: (headers, msisdn) => {
      const denied = accessError(headers);
      if (denied !== undefined) return refusal(denied);
      if (!/^\d{8,15}$/.test(msisdn)) return refusal(badRequest('The number must have its country code and no "+".'));
      const result = hasAccount(msisdn);
      return result === undefined ? refusal(down) : found({ result });
    },
  };
}
