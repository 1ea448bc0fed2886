/**
 * A whole sandbox on a free port, with a clock that the test moves, and a small client of MTN's API.
 * Invariant: everything goes over real HTTP; only the clock reaches into the sandbox.
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

const disbursementSubscription = { 'ocp-apim-subscription-key': 'sandbox-disbursement' };
const disbursementBasic = `Basic ${btoa('8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93:sandbox-disbursement-api-key')}`;

/** A reference with the last digit that a test needs, which makes it even or odd. */
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

/** A client of collections that holds a fresh token. */
export function momoClient(running: RunningSandbox): Promise<MomoClient> {
  const credentials = { ...subscription, authorization: basic };
  return productClient(running, { name: 'collection', resource: 'requesttopay', party: 'payer', credentials });
}

/** A client of disbursements that holds a fresh token: `pay` sends money to the number. */
export function disbursementClient(running: RunningSandbox): Promise<MomoClient> {
  const credentials = { ...disbursementSubscription, authorization: disbursementBasic };
  return productClient(running, { name: 'disbursement', resource: 'transfer', party: 'payee', credentials });
}

type Product = {
  readonly name: string;
  readonly resource: string;
  readonly party: 'payer' | 'payee';
  readonly credentials: Record<string, string>;
};

async function productClient(running: RunningSandbox, product: Product): Promise<MomoClient> {
  const { name, resource, party, credentials } = product;
  const given = await running.call('POST', `/mtn/${name}/token/`, undefined, credentials);
  const { access_token } = given.json as { access_token: string };
  const headers = { ...credentials, authorization: `Bearer ${access_token}`, 'x-target-environment': 'sandbox' };
  const path = `/mtn/${name}/v1_0/${resource}`;

  return {
    headers,
    pay: async (msisdn, extra = {}) => {
      const reference = extra.reference ?? newReference();
      const body = {
        amount: '45.90',
        currency: 'USD',
        externalId: 'txn_1',
        [party]: { partyIdType: 'MSISDN', partyId: msisdn },
        payerMessage: 'order-2041',
        payeeNote: 'Boutique Kivu',
        ...extra.body,
      };
      const callback = extra.callbackUrl === undefined ? {} : { 'x-callback-url': extra.callbackUrl };
      const sent = { ...headers, 'x-reference-id': reference, ...callback, ...extra.headers };
      return { ...(await running.call('POST', path, body, sent)), reference };
    },
    status: (reference) => running.call('GET', `${path}/${reference}`, undefined, headers),
  };
}
