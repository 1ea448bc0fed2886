/**
 * Joins the parts of the gateway: the only place where they meet.
 *
 * Invariant: nothing here decides anything; what differs between worlds arrives in `config` and `platform`.
 */

import type { FastifyInstance } from 'fastify';
import { checkoutPages } from './checkout/pages.ts';
import type { Config } from './config.ts';
import { openConnectors } from './connectors/registry.ts';
import type { Change } from './domain/change.ts';
import { bankRoutes } from './http/bank.ts';
import { callbackRoutes } from './http/callbacks.ts';
import { cardRoutes } from './http/card-routes.ts';
import { collectRedirectRoutes } from './http/collect-redirect.ts';
import { deliveryRoutes } from './http/deliveries.ts';
import { paymentRoutes } from './http/payments.ts';
import { createServer } from './http/server.ts';
import { sessionRoutes } from './http/sessions.ts';
import { languageOf, say } from './messages/messages.ts';
import type { Platform } from './platform/platform.ts';
import { paymentRounds } from './rounds/payment-rounds.ts';
import { type Round, repeat } from './rounds/round.ts';
import { webhookRounds } from './rounds/webhook-round.ts';
import { openStore, type Store } from './store/store.ts';
import type { Deps } from './usecases/deps.ts';
import { bindDevice } from './usecases/device-bind.ts';
import { type Courier, createCourier } from './usecases/webhook-deliver.ts';

export type Role = 'all' | 'api' | 'worker';

export interface Tools {
  readonly store: Store;
  readonly deps: Deps;
  close(): Promise<void>;
}

export interface Gateway extends Tools {
  readonly app: FastifyInstance;
  readonly courier: Courier;
  readonly rounds: readonly Round[];
  /** Starts to listen, where the configuration says. Returns the address. */
  listen(): Promise<string>;
  /** Accepts nothing more, finishes what is under way, and closes. */
  stop(): Promise<void>;
}

/** What the command line needs: the store and the doors, without a server. */
export async function assembleTools(config: Config, platform: Platform, databaseUrl: string): Promise<Tools> {
  const store = await openStore({ url: databaseUrl, onError: (error) => platform.log.error('store_error', {}, error) });
  const background = new Set<Promise<unknown>>();
  const deps: Deps = {
    ...platform,
    store,
    connectors: openConnectors(config, platform),
    mode: config.mode,
    publicUrl: config.publicUrl,
    cardCallbackSecret: config.cardnetCallbackSecret,
    codeText: (language, words) => say(languageOf(language), 'sms.code', words),
    underWay: new Map(),
    background: (work) => {
      const tracked = work
        .catch((error: unknown) => platform.log.error('background_failed', {}, error))
        .finally(() => background.delete(tracked));
      background.add(tracked);
    },
  };
  const close = async (): Promise<void> => {
    await Promise.all(background);
    await store.close();
  };
  return { store, deps, close };
}

/** The whole gateway, ready to listen. */
export async function assembleGateway(
  config: Config,
  platform: Platform,
  options: { readonly databaseUrl: string; readonly role: Role },
): Promise<Gateway> {
  const tools = await assembleTools(config, platform, options.databaseUrl);
  await tools.store.plan();
  const courier = createCourier(tools.deps);
  const store = postingStore(tools.store, courier);
  const deps: Deps = { ...tools.deps, store };
  const works = options.role === 'api' ? [] : [...paymentRounds(deps), ...webhookRounds(deps, courier)];
  const rounds = works.map((work) => repeat(work.name, work.every, work.run, deps));
  const routes =
    options.role === 'worker'
      ? []
      : [
          ...sessionRoutes(deps),
          ...paymentRoutes(deps),
          ...cardRoutes(deps),
          ...collectRedirectRoutes(deps),
          ...bankRoutes(deps),
          ...deliveryRoutes(deps),
          ...callbackRoutes(deps),
        ];
  const app = createServer({
    ...platform,
    routes,
    ...(options.role === 'worker' ? {} : { pages: checkoutPages(deps) }),
    mode: config.mode,
    publicUrl: config.publicUrl,
    rateLimitScale: config.rateLimitScale,
    trustProxy: config.trustProxy,
    lookups: {
      sessionCaller: store.session.caller,
      credentialCaller: store.credential.caller,
      merchantAt: store.merchant.at,
      idempotencyGet: store.idempotency.get,
    },
    bindDevice: (session, fingerprint) => bindDevice(deps, session, fingerprint),
    ready: async () => {
      const database = await store.ping().then(
        () => true,
        () => false,
      );
      return { ok: database, checks: { database } };
    },
  });
  const stop = async (): Promise<void> => {
    await app.close();
    await Promise.all(rounds.map((round) => round.stop()));
    await courier.close();
    await tools.close();
  };
  const listen = (): Promise<string> => app.listen({ host: config.host, port: config.port });
  return { ...tools, deps, store, app, courier, rounds, listen, stop };
}

/** A store whose committed events are handed to the courier at once: they are born leased to this process. */
function postingStore(store: Store, courier: Courier): Store {
  const commit = async (change: Change) => {
    const outcome = await store.commit(change);
    if (outcome === 'won') {
      for (const insert of change.inserts ?? []) if (insert.table === 'webhook_event') courier.offer(insert.row);
    }
    return outcome;
  };
  return { ...store, commit };
}
