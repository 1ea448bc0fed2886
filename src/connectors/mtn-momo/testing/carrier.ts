/**
 * MTN as the tests of both products meet it: the sandbox's simulator over real HTTP with time moved by hand, and servers that
 * reply as told.
 *
 * Invariant: every deadline is the connector's own affair; nothing here waits, and `close` leaves no socket behind.
 */

import { formatMinor } from '../../../domain/money.ts';
import type { CarrierOrder } from '../../connector.ts';
import type { AskedOrder, ConformanceWorld, Documented } from '../../testing/conformance-world.ts';
import { doorTo, type Reply, type ScriptedUpstream, startScriptedUpstream } from '../../testing/scripted-upstream.ts';
import { type Simulator, startSimulator } from '../../testing/simulator.ts';
import { COLLECTION, type Product } from '../products.ts';
import { referenceFor } from '../reference.ts';

/** The sandbox's own credentials. */
export const CREDENTIALS = {
  collection: {
    subscriptionKey: 'sandbox-collection',
    apiUser: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
    apiKey: 'sandbox-api-key',
    targetEnvironment: 'sandbox',
  },
  disbursement: {
    subscriptionKey: 'sandbox-disbursement',
    apiUser: '8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93',
    apiKey: 'sandbox-disbursement-api-key',
    targetEnvironment: 'sandbox',
  },
} as const;

/** The answer to a token request. */
export const TOKEN = JSON.stringify({ access_token: 'a-token', token_type: 'access_token', expires_in: 3600 });

export type CarrierForTests = Awaited<ReturnType<typeof startCarrier>>;

export async function startCarrier(product: Product) {
  const simulator = await startSimulator('256', { referenceFor });
  const { doors, url } = simulator;
  const upstreams: ScriptedUpstream[] = [];
  const tokenPath = `/${product.name}/token/`;
  const isToken = (path: string): boolean => path === tokenPath;

  return {
    ...simulator,
    tokenPath,
    url: `${url}/mtn`,
    /** The doors for an upstream that gives this reply to everything but the token request. */
    doorsTo: (reply: Reply) => ({ ...doors, outbound: doorTo(reply, doors.outbound, isToken) }),

    /** A server that follows the script until the test is over. */
    scripted: async (script: Parameters<typeof startScriptedUpstream>[0]) => {
      const upstream = await startScriptedUpstream(script);
      upstreams.push(upstream);
      return upstream;
    },

    /** A server that issues tokens and gives every other request this reply. */
    replying: async (reply: Reply) => {
      const upstream = await startScriptedUpstream(({ path }) =>
        path === tokenPath || reply === 'refuses_connections' ? { status: 200, body: TOKEN } : reply,
      );
      if (reply === 'refuses_connections') await upstream.close();
      else upstreams.push(upstream);
      return upstream;
    },

    /** The parts of a conformance world that are the same in both directions. */
    conformance: {
      ...conformanceParts(product, simulator),
      access: (path: string) => (isToken(path) ? { status: 200, body: TOKEN } : undefined),
    },

    closeScripted: async () => {
      for (const upstream of upstreams.splice(0)) await upstream.close();
    },
  };
}

function conformanceParts(product: Product, { sandbox, time }: Pick<Simulator, 'sandbox' | 'time'>) {
  return {
    currencies: ['usd', 'ugx', 'xof', 'cdf'],
    secrets: [
      'a-token',
      ...Object.values(CREDENTIALS).flatMap(({ subscriptionKey, apiUser, apiKey }) => [
        subscriptionKey,
        apiUser,
        apiKey,
      ]),
    ],
    moved: (reference) => sandbox.book.find('mtn', reference, product === COLLECTION ? undefined : product.resource),
    untilDecided: () => time.advance(2_000),
    loseAnswers: (lose) => sandbox.faults.set('mtn', { answer_lost_rate: lose ? 1 : 0 }),
    // The simulator's hour passes; the connector's clock stands still, so that it still considers its token valid.
    expireTokens: () => time.advance(3_600_001),
    documented: (ordered) => documentedBy(product, ordered),
  } satisfies Partial<ConformanceWorld<AskedOrder>>;
}

type Ordered = Pick<CarrierOrder, 'amountMinor' | 'currency' | 'attemptId' | 'msisdn'>;

/** A status body about that order. */
export function bodyFor(product: Product, ordered: Ordered, more: object): string {
  return JSON.stringify({
    amount: formatMinor(ordered.amountMinor, ordered.currency),
    currency: ordered.currency.toUpperCase(),
    externalId: ordered.attemptId,
    [product === COLLECTION ? 'payer' : 'payee']: { partyIdType: 'MSISDN', partyId: ordered.msisdn.slice(1) },
    ...more,
  });
}

function meansOf(meaning: string): Documented['means'] {
  if (meaning === 'waiting' || meaning === 'not_sent' || meaning === 'unknown') return { kind: meaning };
  if (meaning === 'operator_needed' || meaning === 'payer_unknown') return { kind: 'not_sent', lasting: meaning };
  return { kind: 'declined', reason: meaning };
}

function documentedBy(product: Product, ordered: Ordered): Documented[] {
  const inquiry = (name: string, more: object, kind: Documented['means']['kind'], reason?: string): Documented => ({
    name,
    to: 'inquire',
    status: 200,
    body: bodyFor(product, ordered, more),
    means: reason === undefined ? { kind } : { kind, reason },
  });
  const start = (status: number, code: string, meaning: string): Documented => ({
    name: `${status} ${code}`,
    to: 'start',
    status,
    body: code === '' ? '' : JSON.stringify({ code, message: 'in their words' }),
    means: meansOf(meaning),
  });
  return [
    inquiry('PENDING', { status: 'PENDING' }, 'waiting'),
    inquiry('CREATED', { status: 'CREATED' }, 'waiting'),
    inquiry('SUCCESSFUL', { status: 'SUCCESSFUL', financialTransactionId: '23503452' }, 'approved'),
    inquiry('REJECTED', { status: 'REJECTED' }, 'declined', product.rejected),
    inquiry('TIMEOUT', { status: 'TIMEOUT' }, 'unknown'),
    inquiry('a status to come', { status: 'REVERSED' }, 'unknown'),
    inquiry('FAILED alone', { status: 'FAILED' }, 'declined', 'carrier_failed'),
    inquiry('FAILED, unfamiliar', { status: 'FAILED', reason: 'MOON_IS_FULL' }, 'declined', 'carrier_failed'),
    ...Object.entries(product.reasons).flatMap(([code, reason]) => [
      inquiry(`FAILED ${code}`, { status: 'FAILED', reason: code }, 'declined', reason),
      inquiry(`FAILED {${code}}`, { status: 'FAILED', reason: { code, message: '' } }, 'declined', reason),
    ]),
    start(202, '', 'waiting'),
    start(409, 'RESOURCE_ALREADY_EXIST', 'waiting'),
    start(400, 'BAD_REQUEST', product === COLLECTION ? 'operator_needed' : 'carrier_failed'),
    // No other token can be had from this upstream than the one that it refuses.
    start(401, '', 'not_sent'),
    start(403, 'FORBIDDEN_IP', 'operator_needed'),
    start(404, 'RESOURCE_NOT_FOUND', 'operator_needed'),
    start(404, '', 'operator_needed'),
    start(429, '', 'not_sent'),
    start(503, 'SERVICE_UNAVAILABLE', 'not_sent'),
    ...Object.entries(product.refusals).flatMap(([code, meaning]) =>
      [400, 403, 404, 500].map((status) => start(status, code, meaning)),
    ),
    start(409, 'MOON_IS_FULL', 'unknown'),
    start(409, 'INVALID_CURRENCY', 'unknown'),
    start(502, 'PAYER_NOT_FOUND', 'unknown'),
    start(504, 'NOT_ALLOWED', 'unknown'),
    start(500, 'INTERNAL_PROCESSING_ERROR', 'unknown'),
    start(500, 'NOT_ENOUGH_FUNDS', 'unknown'),
    start(500, 'toString', 'unknown'),
    start(500, '', 'unknown'),
    start(409, '', 'unknown'),
    start(502, '', 'unknown'),
    start(504, '', 'unknown'),
    start(200, '', 'unknown'),
    start(302, '', 'unknown'),
  ];
}
