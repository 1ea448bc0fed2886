/**
 * Joins the parts of the gateway: the only place where they meet.
 *
 * Invariant: nothing here decides anything; what differs between worlds arrives in `config` and `platform`.
 */

import type { FastifyInstance } from 'fastify';
import { checkoutPages } from './checkout/pages.ts';
import type { Config } from './config.ts';
import { addressesOf, openConnectors, SENDERS } from './connectors/registry.ts';
import { openSandboxBooks } from './connectors/sandbox-books/client.ts';
import { availabilityRoutes } from './http/availability.ts';
import { balanceRoutes } from './http/balances.ts';
import { bankRoutes } from './http/bank.ts';
import { callbackRoutes } from './http/callbacks.ts';
import { cardRoutes } from './http/card-routes.ts';
import { collectRedirectRoutes } from './http/collect-redirect.ts';
import { deliveryRoutes } from './http/deliveries.ts';
import { eventRoutes } from './http/events.ts';
import { createLimiter } from './http/overload.ts';
import { paymentRoutes } from './http/payments.ts';
import { payoutRoutes } from './http/payouts.ts';
import { readinessOf } from './http/readiness.ts';
import { refundRoutes } from './http/refunds.ts';
import type { Route } from './http/route.ts';
import { createServer, type ServerParts } from './http/server.ts';
import { sessionRoutes } from './http/sessions.ts';
import { statementRoutes } from './http/statement.ts';
import { transactionRoutes } from './http/transactions.ts';
import { languageOf, say } from './messages/messages.ts';
import { payoutText } from './messages/payout-text.ts';
import { type Background, createBackground } from './platform/background.ts';
import type { Platform } from './platform/platform.ts';
import { type Round, repeat } from './rounds/round.ts';
import { worksOf } from './rounds/works.ts';
import { openStore, type Store } from './store/store.ts';
import { createAcceptances, sessionAsTold } from './usecases/acceptances.ts';
import type { Recordings } from './usecases/attempt-record.ts';
import { distrustByClock } from './usecases/clock-distrust.ts';
import { openClockGuard } from './usecases/clock-guard.ts';
import type { Deps } from './usecases/deps.ts';
import { bindDevice } from './usecases/device-bind.ts';
import { createFormCalls } from './usecases/form-calls.ts';
import { openHolds } from './usecases/holds.ts';
import { endsWithin } from './usecases/patience.ts';
import { findTransactionOf } from './usecases/payment-read.ts';
import { createDispatcher, type Dispatcher } from './usecases/payout-dispatch.ts';
import { createRefundDispatcher } from './usecases/refund-dispatch.ts';
import { createSessionTurns } from './usecases/session-turns.ts';
import { announcingInserts, countingCommits } from './usecases/store-followers.ts';
import { type Courier, createCourier } from './usecases/webhook-deliver.ts';
import { alarmMetrics } from './watch/alarm-metrics.ts';
import { databaseMetrics } from './watch/database-metrics.ts';
import { roundMetrics } from './watch/round-metrics.ts';
import { databaseErrors, storeMetrics } from './watch/store-metrics.ts';
import { watchUpstreams } from './watch/upstream-watch.ts';
import { openWatch, type Watch } from './watch/watch.ts';

/**
 * What a process does (contract §10): `api` answers requests, `worker` does the background work and answers only for its health and
 * metrics, `all` does both.
 */
export type Role = 'all' | 'api' | 'worker';

interface Parts {
  readonly store: Store;
  readonly deps: Deps;
  /** The work that no caller awaits. */
  readonly background: Background;
  close(): Promise<void>;
}

/**
 * A process of the gateway with all its parts. The background work of its role begins when it is assembled; it answers requests
 * after `listen`.
 */
export interface Gateway extends Parts {
  readonly app: FastifyInstance;
  readonly courier: Courier;
  readonly dispatcher: Dispatcher;
  readonly rounds: readonly Round[];
  /** Refreshes the metrics that are read from the database, before a scrape reads them. */
  refreshMetrics(): Promise<void>;
  /** Reports "not ready" from now on, but keeps serving, so that load balancers move traffic elsewhere. */
  drain(): void;
  /** Starts to listen, where the configuration says. Returns the address. */
  listen(): Promise<string>;
  /** Accepts nothing more, finishes what is under way, and closes. */
  stop(): Promise<void>;
}

/** 4 s of the ten that a stop may take: calls in the background that take longer have their webhooks sent by another process. */
const MAX_BACKGROUND_MS = 4_000;

/** Connections, capped by the system: a burst of new ones waits here instead of having to retry. */
const LISTEN_BACKLOG = 2_048;

/** The store and the dependencies of the use cases: what the server, the rounds and the senders share. */
async function assembleParts(config: Config, platform: Platform, databaseUrl: string, watch: Watch): Promise<Parts> {
  const errors = databaseErrors(platform.metrics);
  const onError = (error: Error): void => {
    errors();
    platform.log.error('store_error', {}, error);
  };
  // Before the store is opened: a fault in the routes then leaves no connection behind that would have to be closed.
  const upstreams = watchUpstreams(openConnectors(config, platform), watch.upstreams);
  const store = await openStore({ url: databaseUrl, onError });
  storeMetrics(store, platform.metrics);
  const background = createBackground(platform.log);
  const recording: Recordings = new Map();
  const acceptances = createAcceptances({ ...platform, recording, background: background.begun });
  const deps: Deps = {
    ...platform,
    store,
    alarmed: alarmMetrics(platform.metrics),
    books: openSandboxBooks(config, addressesOf(config), platform.outbound),
    connectors: distrustByClock(upstreams, { ...platform, store, mode: config.mode }),
    holds: openHolds({ ...platform, store }, SENDERS),
    mode: config.mode,
    publicUrl: config.publicUrl,
    cardCallbackSecret: config.cardnetCallbackSecret,
    codeText: (language, words) => say(languageOf(language), 'sms.code', words),
    payoutText,
    codesPerHour: config.codesPerHour,
    sessionTurns: createSessionTurns(platform.clock),
    recording,
    acceptances,
    formCalls: createFormCalls(platform.clock),
    background: background.begun,
  };
  const close = async (): Promise<void> => {
    await acceptances.close();
    await background.idle();
    await store.close();
  };
  return { store, deps, background, close };
}

/** What the configuration does not say: the database, which may be the embedded one, and the role. */
export interface GatewayOptions {
  readonly databaseUrl: string;
  readonly role: Role;
  /** The monotonic clock (ms) by which overload is judged; the process's own if absent. */
  readonly elapsed?: () => number;
}

/** Assembles the whole gateway, ready to listen. If that fails, nothing is left open, so that the process can end. */
export async function assembleGateway(config: Config, platform: Platform, options: GatewayOptions): Promise<Gateway> {
  const watch = openWatch(platform);
  const parts = await assembleParts(config, platform, options.databaseUrl, watch);
  try {
    await parts.store.plan();
    return joinGateway(config, platform, options, { parts, watch });
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** Joins the parts that are made without waiting. The rounds come last: they start working as soon as they are made. */
function joinGateway(
  config: Config,
  platform: Platform,
  { role, elapsed = () => performance.now() }: GatewayOptions,
  { parts, watch }: { readonly parts: Parts; readonly watch: Watch },
): Gateway {
  const limiter = createLimiter({ now: elapsed, afterTurn: setImmediate });
  const followed = watch.commits(countingCommits(parts.store, limiter.commits));
  const courier = createCourier({ ...parts.deps, store: followed, outbound: watch.webhooks });
  const store = announcingInserts(followed, ({ table, row }) => {
    if (table === 'webhook_event') courier.offer(row);
    else if (table === 'payout_line') dispatcher.offer(row);
    else if (table === 'refund') refunds.offer(row);
  });
  const deps: Deps = { ...parts.deps, store };
  const dispatcher = createDispatcher(deps);
  const refunds = createRefundDispatcher(deps);
  const isClockRight = openClockGuard(deps);
  const isCalm = (): boolean => limiter.level() === 0;
  const works = role === 'api' ? [] : worksOf(deps, { courier, dispatcher, refunds }, { isCalm, isClockRight });
  let draining = false;
  const isDraining = (): boolean => draining;
  const refreshMetrics = databaseMetrics(deps, platform.metrics);
  const answers = role === 'worker' ? NO_ANSWERS : { routes: routesOf(deps, courier), pages: checkoutPages(deps) };
  const app = openServer(config, platform, deps, { ...answers, limiter, isClockRight, isDraining, refreshMetrics });
  const ran = roundMetrics(platform.metrics, platform.clock);
  const rounds = works.map((work) => repeat(work.name, work.every, work.run, deps, ran));
  const stop = async (): Promise<void> => {
    await app.close();
    await parts.deps.acceptances.close();
    await Promise.all(rounds.map((round) => round.stop()));
    await Promise.all([dispatcher.close(), refunds.close()]);
    // What may still end a payment comes before the courier, so that its webhook leaves now, not when a lease has expired.
    await endsWithin(platform.clock, MAX_BACKGROUND_MS, parts.background.idle());
    await courier.close();
    await parts.close();
  };
  const drain = (): void => {
    draining = true;
  };
  const port = role === 'worker' ? (config.workerPort ?? config.port) : config.port;
  const listen = (): Promise<string> => app.listen({ host: config.host, port, backlog: LISTEN_BACKLOG });
  return { ...parts, deps, store, app, courier, dispatcher, rounds, refreshMetrics, drain, listen, stop };
}

/** A worker answers nothing but what every server does: its health, its metrics. */
const NO_ANSWERS = { routes: [] };

/** The server of a process, with what it needs of the configuration and the use cases. `own`: what its role and its state decide. */
function openServer(
  config: Config,
  platform: Platform,
  deps: Deps,
  own: Pick<ServerParts, 'routes' | 'pages' | 'limiter' | 'isClockRight' | 'refreshMetrics'> & {
    isDraining(): boolean;
  },
): FastifyInstance {
  const { store } = deps;
  const { mode, publicUrl, rateLimitScale, failedAuthentications, trustProxy } = config;
  const { limiter, isClockRight, isDraining } = own;
  return createServer({
    ...platform,
    ...own,
    mode,
    publicUrl,
    rateLimitScale,
    failedAuthentications,
    trustProxy,
    ...(mode === 'sandbox'
      ? { sandbox: { url: `http://127.0.0.1:${config.sandboxPort}`, demoFile: config.demoFile } }
      : {}),
    lookups: {
      sessionCaller: (...key) => limiter.reads.follow(sessionAsTold(deps, ...key)),
      credentialCaller: (...key) => limiter.reads.follow(store.credential.caller(...key)),
      merchantAt: store.merchant.at,
      idempotencyGet: store.idempotency.get,
    },
    bindDevice: (session, fingerprint) => bindDevice(deps, session, fingerprint),
    transactionOf: (caller, id) => findTransactionOf(deps, caller, id),
    ready: () => readinessOf({ ping: store.ping, isClockRight, isDraining }),
  });
}

/** The routes of a process that answers calls. */
export function routesOf(deps: Deps, courier: Courier): readonly Route[] {
  return [
    ...sessionRoutes(deps),
    ...paymentRoutes(deps),
    ...payoutRoutes(deps),
    ...cardRoutes(deps),
    ...collectRedirectRoutes(deps),
    ...bankRoutes(deps),
    ...deliveryRoutes(deps),
    ...balanceRoutes(deps),
    ...statementRoutes(deps),
    ...transactionRoutes(deps),
    ...refundRoutes(deps),
    ...eventRoutes(deps, courier),
    ...availabilityRoutes(deps),
    ...callbackRoutes(deps),
  ];
}
