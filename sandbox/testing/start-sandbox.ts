/**
 * A whole sandbox on a free port whose clock a test moves, with a small client of MTN's API.
 * Invariant: everything goes over real HTTP; nothing reaches into the sandbox but the clock.
 */
import { randomUUID } from 'node:crypto';
import { createSandbox, type Sandbox, type SandboxOptions } from '../app.ts';
import { type ManualWorld, manualWorld } from './manual-world.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
};

export type RunningSandbox = {
  readonly url: string;
  readonly world: ManualWorld;
  readonly sandbox: Sandbox;
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

export async function startSandbox(options: Partial<SandboxOptions> = {}): Promise<RunningSandbox> {
  const world = manualWorld();
  const sandbox = await createSandbox({ seed: 'test', now: world.now, schedule: world.schedule, ...options });
  const url = await sandbox.app.listen({ port: 0, host: '127.0.0.1' });

  return {
    url,
    world,
    sandbox,
    call: async (method, path, body, headers = {}) => {
      const json = body === undefined || body instanceof URLSearchParams ? {} : { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, {
        method,
        redirect: 'manual',
        headers: { ...json, ...headers },
        ...(body === undefined ? {} : { body: body instanceof URLSearchParams ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
    },
    close: () => sandbox.app.close(),
  };
}

export const subscription = { 'ocp-apim-subscription-key': 'sandbox-collection' };
export const basic = `Basic ${btoa('5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e:sandbox-api-key')}`;

/** A reference whose last digit is even or odd, as a test needs it. */
export function newReference(last = '0'): string {
  return `${randomUUID().slice(0, -1)}${last}`;
}

export type MomoClient = {
  readonly headers: Record<string, string>;
  readonly pay: (msisdn: string, extra?: PayExtra) => Promise<Answer & { readonly reference: string }>;
  readonly status: (reference: string) => Promise<Answer>;
};

export type PayExtra = {
  readonly reference?: string;
  readonly callbackUrl?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Record<string, string>;
};

/** A client that holds a fresh token. */
export async function momoClient(running: RunningSandbox): Promise<MomoClient> {
  const given = await running.call('POST', '/mtn/collection/token/', undefined, {
    ...subscription,
    authorization: basic,
  });
  const { access_token } = given.json as { access_token: string };
  const headers = { ...subscription, authorization: `Bearer ${access_token}`, 'x-target-environment': 'sandbox' };

  return {
    headers,
    pay: async (msisdn, extra = {}) => {
      const reference = extra.reference ?? newReference();
      const body = {
        amount: '45.90',
        currency: 'USD',
        externalId: 'txn_1',
        payer: { partyIdType: 'MSISDN', partyId: msisdn },
        payerMessage: 'order-2041',
        payeeNote: 'Boutique Kivu',
        ...extra.body,
      };
      const callback = extra.callbackUrl === undefined ? {} : { 'x-callback-url': extra.callbackUrl };
      const sent = { ...headers, 'x-reference-id': reference, ...callback, ...extra.headers };
      return { ...(await running.call('POST', '/mtn/collection/v1_0/requesttopay', body, sent)), reference };
    },
    status: (reference) => running.call('GET', `/mtn/collection/v1_0/requesttopay/${reference}`, undefined, headers),
  };
}
