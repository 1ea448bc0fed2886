/**
 * A gateway of four routes over plain maps, for the tests of the HTTP layer.
 *
 * Invariant: everything but the rows is the real thing: secrets, the pipeline, and the loop that remembers answers.
 */

import { type Static, Type } from 'typebox';
import type { Change, Outcome } from '../../domain/change.ts';
import { bytesOfId, idOfBytes, makeId } from '../../domain/ids.ts';
import type { Credential, IdempotencyRecord, Merchant, Session } from '../../domain/records.ts';
import { Refusal } from '../../domain/refusal.ts';
import { makeSessionToken } from '../../domain/session-token.ts';
import type { Pages } from '../../messages/page.ts';
import { openMetrics } from '../../platform/metrics.ts';
import type { Secrets, Traces } from '../../platform/platform.ts';
import { openSecrets } from '../../platform/secrets.ts';
import { type ManualClock, manualClock } from '../../platform/testing/manual-clock.ts';
import { type MemoryLog, memoryLog } from '../../platform/testing/memory-log.ts';
import { seededRandom } from '../../platform/testing/seeded-random.ts';
import { perform } from '../../usecases/perform.ts';
import type { Lookups } from '../lookups.ts';
import { createLimiter, type Limiter } from '../overload.ts';
import { defineRoute, type Route } from '../route.ts';
import { createServer } from '../server.ts';
import type { SocketLimits } from '../socket-limits.ts';

export const SHARD = 7;
const START = Date.parse('2026-11-20T12:00:00Z');
const MERCHANT_SECRET = `sk_test_${'s'.repeat(43)}`;

const Order = Type.Object({
  amount: Type.String({ pattern: '^[0-9]+\\.[0-9]{2}$' }),
  currency: Type.String({ maxLength: 3 }),
  payment_method: Type.Union([Type.Literal('wallet'), Type.Literal('flash')]),
  email: Type.Optional(Type.String({ format: 'email' })),
  note: Type.Optional(Type.String({ maxLength: 2_000 })),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
  lines: Type.Optional(
    Type.Array(Type.Object({ amount: Type.String(), phone_number: Type.Optional(Type.String()) }), { maxItems: 100 }),
  ),
});
export type Order = Static<typeof Order>;

interface Rows {
  merchant: Merchant;
  credential: Credential;
  session: Session;
  readonly memories: Map<string, IdempotencyRecord>;
  /** How often a route's own code ran to its end. */
  runs: number;
  /** What the next run of a route throws instead of running. */
  trouble: Error | undefined;
}

export interface SmallWorld {
  readonly app: ReturnType<typeof createServer>;
  readonly clock: ManualClock;
  readonly log: MemoryLog;
  readonly secrets: Secrets;
  readonly rows: Rows;
  readonly merchantAuth: string;
  readonly sessionAuth: string;
  readonly routes: readonly Route[];
}

export interface SmallWorldOptions {
  /** Routes besides the four. */
  readonly routes?: readonly Route[];
  readonly pages?: Pages;
  readonly rateLimitScale?: number;
  readonly limiter?: Limiter;
  readonly sockets?: Partial<SocketLimits>;
  readonly trustProxy?: readonly string[];
  readonly mode?: 'sandbox' | 'production';
  readonly ready?: () => Promise<{ ok: boolean; checks: { [name: string]: boolean } }>;
  readonly traces?: Traces;
  readonly isDraining?: () => boolean;
  readonly isClockRight?: () => Promise<boolean>;
  /** Happens while a session is being bound to its device. */
  readonly whileBinding?: (world: Pick<SmallWorld, 'rows' | 'clock'>) => Promise<void>;
}

export function smallWorld(options: SmallWorldOptions = {}): SmallWorld {
  const clock = manualClock(START);
  const random = seededRandom(1);
  const log = memoryLog(clock);
  const secrets = openSecrets({
    masterKeys: [Buffer.alloc(32, 1).toString('base64')],
    random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  const { rows, token } = firstRows(secrets);
  const lookups = lookupsOver(rows);
  const routes = [...testRoutes(rows, clock), ...(options.routes ?? [])];
  const app = createServer({
    routes,
    ...(options.pages === undefined ? {} : { pages: options.pages }),
    lookups,
    clock,
    random,
    secrets,
    log,
    metrics: openMetrics({ ofProcess: false }),
    refreshMetrics: () => Promise.resolve(),
    mode: options.mode ?? 'sandbox',
    publicUrl: 'http://127.0.0.1:8080',
    transactionOf: () => Promise.resolve(undefined),
    bindDevice: async (session, fingerprint) => {
      rows.session = { ...rows.session, device_fingerprint: fingerprint, version: session.version + 1 };
      await options.whileBinding?.({ rows, clock });
      return rows.session;
    },
    // The limiter's time stands still: injected requests follow each other in one turn of the event loop.
    limiter: options.limiter ?? createLimiter({ now: () => 0, afterTurn: setImmediate }),
    ...(options.sockets === undefined ? {} : { sockets: options.sockets }),
    rateLimitScale: options.rateLimitScale ?? 1,
    failedAuthentications: 20,
    trustProxy: options.trustProxy ?? [],
    ...(options.traces === undefined ? {} : { traces: options.traces }),
    ...(options.isDraining === undefined ? {} : { isDraining: options.isDraining }),
    isClockRight: options.isClockRight ?? (() => Promise.resolve(true)),
    ready: options.ready ?? (async () => ({ ok: true, checks: { database: true } })),
  });
  const merchantAuth = `Bearer ${rows.credential.id}:${MERCHANT_SECRET}`;
  return { app, clock, log, secrets, rows, routes, merchantAuth, sessionAuth: `Bearer ${token}` };
}

function firstRows(secrets: Secrets): { rows: Rows; token: string } {
  const idOf = (prefix: 'mch' | 'key' | 'ses', byte: number) => makeId(prefix, START, Buffer.alloc(16, byte), SHARD);
  const merchant: Merchant = {
    shard: SHARD,
    id: idOf('mch', 1),
    version: 1,
    name: 'Boutique',
    status: 'ALLOWED',
    settings: {},
    created_at: START,
  };
  const credential: Credential = {
    shard: SHARD,
    id: idOf('key', 2),
    version: 1,
    merchant_id: merchant.id,
    secret_hash: secrets.digest(MERCHANT_SECRET),
    status: 'ALLOWED',
    retires_at: null,
    expires_at: null,
    allowed_addresses: null,
    created_at: START,
  };
  const sessionId = idOf('ses', 3);
  const token = makeSessionToken(sessionId, 't'.repeat(43));
  const session: Session = {
    shard: SHARD,
    id: sessionId,
    version: 1,
    merchant_id: merchant.id,
    credential_id: credential.id,
    token_hash: secrets.digest(token),
    status: 'ACTIVE',
    amount: '12.50',
    amount_minor: 1250n,
    currency: 'usd',
    customer_reference: 'order-1',
    scope: null,
    device_fingerprint: null,
    payments: 0,
    submitting_payment_id: null,
    issued_at: START,
    expires_at: START + 1_800_000,
  };
  return { rows: { merchant, credential, session, memories: new Map(), runs: 0, trouble: undefined }, token };
}

function lookupsOver(rows: Rows): Lookups {
  return {
    async sessionCaller(shard, id) {
      const { session, credential, merchant } = rows;
      if (session.shard !== shard || session.id !== id) return undefined;
      return {
        ...session,
        credential_status: credential.status,
        credential_retires_at: credential.retires_at,
        credential_expires_at: credential.expires_at,
        merchant_status: merchant.status,
        merchant_version: merchant.version,
      };
    },
    async credentialCaller(shard, id) {
      const { credential, merchant } = rows;
      if (credential.shard !== shard || credential.id !== id) return undefined;
      return { ...credential, merchant_status: merchant.status, merchant_version: merchant.version };
    },
    merchantAt: async (_shard, id) => (rows.merchant.id === id ? rows.merchant : undefined),
    idempotencyGet: async (_shard, id) => rows.memories.get(id),
  };
}

/** Keeps claims and removals of remembered answers, as the store does: whole or not at all. */
function memoryStore(rows: Rows) {
  return {
    async commit(change: Change): Promise<Outcome> {
      const claims = (change.claims ?? []).flatMap((claim) => (claim.table === 'idempotency' ? [claim.row] : []));
      const removed = new Set((change.removals ?? []).map(({ id }) => id));
      if (claims.some(({ id }) => rows.memories.has(id) && !removed.has(id))) return 'lost';
      for (const id of removed) rows.memories.delete(id);
      for (const row of claims) rows.memories.set(row.id, row);
      rows.runs += 1;
      return 'won';
    },
  };
}

function testRoutes(rows: Rows, clock: ManualClock): Route[] {
  const store = memoryStore(rows);
  const decide = (body: Order) => () => {
    if (rows.trouble !== undefined) throw rows.trouble;
    return { answer: body };
  };
  const order = (path: string, credential: 'merchant' | 'session', scoped: boolean): Route =>
    defineRoute({
      method: 'POST',
      path,
      operationId: path.replaceAll(/[^a-z]/g, ''),
      summary: 'An order',
      description: 'Answers what was sent, and a count.',
      credential,
      limit: credential === 'merchant' ? 'sessions_create' : 'payments',
      loadClass: credential === 'merchant' ? 'begin' : 'finish',
      allowConsumed: false,
      ...(scoped ? { idempotencyScope: 'merchant' as const } : {}),
      body: Order,
      answers: { 201: Order },
      refusals: [1101, 1102, 1201],
      run: (call) =>
        perform(
          store,
          call.answering((answer: Order) => ({
            status: 201,
            value: { ...answer, transaction_id: 'txn_example', run: rows.runs, at: clock.now() },
          })),
          () => Promise.resolve(rows),
          decide(call.body),
        ),
    });
  return [order('/orders', 'merchant', false), order('/payments/pay', 'session', false), readRoute(), hookRoute(rows)];
}

function readRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/payments/status/:payment_id',
    operationId: 'readOrder',
    summary: 'Read',
    description: 'Answers the id.',
    credential: 'session',
    limit: 'mobile_money_status',
    loadClass: 'read',
    allowConsumed: true,
    params: Type.Object({ payment_id: Type.String({ minLength: 10, maxLength: 512 }) }),
    answers: { 200: Type.Object({ payment_id: Type.String() }) },
    refusals: [1204],
    run: async (call) => {
      if (call.params.payment_id.startsWith('unknown')) throw new Refusal(1204);
      return call.reply(200, { payment_id: call.params.payment_id, fingerprint: call.caller.fingerprint });
    },
  });
}

function hookRoute(rows: Rows): Route {
  return defineRoute({
    method: 'PUT',
    path: '/upstream/:name',
    outside: true,
    operationId: 'hook',
    summary: 'A callback',
    description: 'Takes any body.',
    credential: 'none',
    limit: 'none',
    loadClass: 'callback',
    rawBody: true,
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      rows.runs += 1;
      return call.reply(200, { got: call.body, type: call.header('content-type') ?? null });
    },
  });
}
