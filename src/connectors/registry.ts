/**
 * The connectors that this gateway has, and which of them a phone number leads to.
 *
 * Invariant: every route names a connector of the table below. A gateway whose routes lead nowhere does not start.
 */

import { readFileSync } from 'node:fs';
import type { Currency } from '../domain/currency.ts';
import type { Platform } from '../platform/platform.ts';
import type {
  CardConnector,
  CollectConnector,
  Connectors,
  PayoutConnector,
  ReachedCarrier,
  Sender,
  Upstream,
} from './connector.ts';
import type { MastercardConfig } from './mastercard/client.ts';
import { createMastercard } from './mastercard/connector.ts';
import type { MtnMomoConfig } from './mtn-momo/client.ts';
import { createMtnMomo, createMtnMomoDisbursement } from './mtn-momo/connector.ts';
import productionRoutes from './routes/production.json' with { type: 'json' };
import sandboxRoutes from './routes/sandbox.json' with { type: 'json' };
import { filterRoutes, parseRoutes, type Route, type Routes, routeFor } from './routes.ts';
import { createSmsHttp, type SmsHttpConfig } from './sms-http/connector.ts';

/** What the connectors need of the configuration. An upstream without its part is off. */
export interface ConnectorsConfig {
  readonly mode: 'sandbox' | 'production';
  /** Path of a routes file; absent: the one that belongs to the mode. */
  readonly carrierRoutes?: string | undefined;
  readonly mtnMomo?: MtnMomoConfig | undefined;
  readonly mtnMomoDisbursement?: MtnMomoConfig | undefined;
  readonly cardnet?: (MastercardConfig & { readonly currencies?: readonly Currency[] | undefined }) | undefined;
  readonly sms?: SmsHttpConfig | undefined;
}

type Doors = Pick<Platform, 'outbound' | 'clock' | 'log'>;

/** Factories by the name that a route gives; each returns nothing if its connector is not configured. */
interface Table<C> {
  readonly [name: string]: (config: ConnectorsConfig, doors: Doors) => C | undefined;
}

/** Every connector that can take money: one line each. */
const COLLECT: Table<CollectConnector> = {
  'mtn-momo': ({ mtnMomo }, doors) => mtnMomo && createMtnMomo(mtnMomo, doors),
};

/** Every connector that can send money. */
const PAYOUT: Table<PayoutConnector> = {
  'mtn-momo': ({ mtnMomoDisbursement }, doors) =>
    mtnMomoDisbursement && createMtnMomoDisbursement(mtnMomoDisbursement, doors),
};

/** Every connector that sends money out, configured or not: those of the table above, and the card network. */
export const SENDERS: readonly Sender[] = [
  { connector: 'mtn-momo-disbursement', route: 'mtn-momo' },
  { connector: 'mastercard', route: 'mastercard' },
];

/** The configured connectors, also as lists of all of them. */
export interface OpenConnectors extends Connectors {
  readonly all: readonly (CollectConnector | PayoutConnector | CardConnector)[];
  readonly names: readonly string[];
}

/**
 * Makes every connector that is configured. Throws an error with a one-line message when the routes cannot be read,
 * are wrong, or lead nowhere although a connector is configured.
 */
export function openConnectors(config: ConnectorsConfig, doors: Doors): OpenConnectors {
  const collects = makeAll(COLLECT, config, doors);
  const payouts = makeAll(PAYOUT, config, doors);
  const card = config.cardnet && createMastercard(config.cardnet, doors);
  const made = [...collects.values(), ...payouts.values(), ...(card === undefined ? [] : [card])];
  const byName = new Map<string, Upstream>(made.map((upstream) => [upstream.name, upstream]));
  const routes = openRoutes(config, collects, payouts);
  const serving = (use: keyof DirectedRoutes, currency: Currency) =>
    routes[use].entries.filter(({ currencies }) => currencies.includes(currency));
  return {
    collect: (name) => collects.get(name),
    payout: (name) => payouts.get(name),
    upstream: (name) => byName.get(name),
    card,
    carriersFor: (currency) => serving('payment', currency).map(({ carrier, country }) => ({ carrier, country })),
    servesMobileMoney: (currency) => serving('payment', currency).length > 0,
    servesPayouts: (currency) => serving('payout', currency).length > 0,
    reached: [...reachedBy('payment', collects, routes.payment), ...reachedBy('payout', payouts, routes.payout)],
    all: made,
    names: [...byName.keys()],
    routeFor: (use, msisdn, currency) => routeFor(routes[use], msisdn, currency),
    texts: config.sms === undefined ? undefined : createSmsHttp(config.sms, doors),
  };
}

function makeAll<C>(table: Table<C>, config: ConnectorsConfig, doors: Doors): ReadonlyMap<string, C> {
  const made = new Map<string, C>();
  for (const [name, make] of Object.entries(table)) {
    const connector = make(config, doors);
    if (connector !== undefined) made.set(name, connector);
  }
  return made;
}

function reachedBy(
  use: ReachedCarrier['use'],
  connectors: ReadonlyMap<string, Upstream>,
  { entries }: Routes,
): ReachedCarrier[] {
  return entries.flatMap(({ connector, carrier, country, currencies }) => {
    const upstream = connectors.get(connector)?.name;
    return upstream === undefined ? [] : [{ use, upstream, carrier, country, currencies }];
  });
}

type Configured = ReadonlyMap<string, Pick<CollectConnector | PayoutConnector, 'name' | 'market'>>;

/** Where money can be taken from, and where it can be sent: often not the same carriers. */
type DirectedRoutes = { readonly [use in ReachedCarrier['use']]: Routes };

/** The routes of the file, by direction, without those of connectors that are off or of markets that are not configured. */
function openRoutes(config: ConnectorsConfig, collects: Configured, payouts: Configured): DirectedRoutes {
  const file = fileOf(config);
  const all = parseRoutes(contentOf(config), file);
  const known = new Set([...Object.keys(COLLECT), ...Object.keys(PAYOUT)]);
  for (const { connector, carrier, country } of all.entries) {
    if (known.has(connector)) continue;
    const names = [...known].join(', ');
    throw new Error(`${file}: ${carrier} in ${country} names the connector "${connector}"; there is ${names}`);
  }
  const routesTo = (connectors: Configured): Routes => filterRoutes(all, (route) => leadsTo(connectors, route), file);
  const routes = { payment: routesTo(collects), payout: routesTo(payouts) };
  const configured = [...collects.values(), ...payouts.values()];
  if (routes.payment.entries.length + routes.payout.entries.length === 0 && configured.length > 0) {
    const said = configured.map(({ name, market }) => `${name} for ${market ?? 'any market'}`);
    throw new Error(`${file}: no route leads to what is configured (${said.join(', ')})`);
  }
  return routes;
}

function leadsTo(connectors: Configured, { connector, market }: Route): boolean {
  const found = connectors.get(connector);
  return found !== undefined && (market === undefined || market === found.market);
}

/** The file's name in messages, with the variable that names it. */
function fileOf({ carrierRoutes, mode }: ConnectorsConfig): string {
  return carrierRoutes === undefined ? `routes/${mode}.json` : `CARRIER_ROUTES ${carrierRoutes}`;
}

function contentOf(config: ConnectorsConfig): unknown {
  const { carrierRoutes, mode } = config;
  if (carrierRoutes === undefined) return mode === 'sandbox' ? sandboxRoutes : productionRoutes;
  try {
    return JSON.parse(readFileSync(carrierRoutes, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new Error(`${fileOf(config)}: the file of routes ${why}`, { cause });
  }
}
