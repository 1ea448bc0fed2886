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

/** A connector of the tables below. */
interface Entry<C> {
  /** Its own name, as attempts store it. */
  readonly name: string;
  /** Where its upstream is; undefined: it is not configured. */
  readonly addressIn: (config: ConnectorsConfig) => string | undefined;
  readonly open: (config: ConnectorsConfig, doors: Doors) => C | undefined;
}

/** Connectors by the name that routes give. */
type Table<C> = { readonly [route: string]: Entry<C> };

/** `partOf` takes the connector's part out of the configuration; undefined: it is off. */
function entry<C extends Upstream, P extends { readonly baseUrl: string }>(
  name: string,
  partOf: (config: ConnectorsConfig) => P | undefined,
  create: (part: P, doors: Doors) => C,
): Entry<C> {
  return {
    name,
    addressIn: (config) => partOf(config)?.baseUrl,
    open(config, doors) {
      const part = partOf(config);
      const connector = part && create(part, doors);
      if (connector !== undefined && connector.name !== name)
        throw new Error(`the registry calls ${name} what calls itself ${connector.name}`);
      return connector;
    },
  };
}

/** Every connector that can take money: one line each. */
const COLLECT: Table<CollectConnector> = {
  'mtn-momo': entry('mtn-momo', ({ mtnMomo }) => mtnMomo, createMtnMomo),
};

/** Every connector that can send money. */
const PAYOUT: Table<PayoutConnector> = {
  'mtn-momo': entry(
    'mtn-momo-disbursement',
    ({ mtnMomoDisbursement }) => mtnMomoDisbursement,
    createMtnMomoDisbursement,
  ),
};

/** The card network. */
const CARD = entry('mastercard', ({ cardnet }) => cardnet, createMastercard);

const ALL: readonly Entry<Upstream>[] = [...Object.values(COLLECT), ...Object.values(PAYOUT), CARD];

/** The names of all connectors, configured or not. */
export const CONNECTORS: readonly string[] = ALL.map(({ name }) => name);

/** Every connector that sends money out, configured or not: those that pay out, and the card network. */
export const SENDERS: readonly Sender[] = [
  ...Object.entries(PAYOUT).map(([route, { name }]) => ({ connector: name, route })),
  { connector: CARD.name, route: CARD.name },
];

/** Where the configured upstreams are, by their connectors' names. */
export function addressesOf(config: ConnectorsConfig): ReadonlyMap<string, string> {
  return new Map(
    ALL.flatMap(({ name, addressIn }) => {
      const address = addressIn(config);
      return address === undefined ? [] : [[name, address]];
    }),
  );
}

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
  const card = CARD.open(config, doors);
  const made = [...collects.values(), ...payouts.values(), ...(card === undefined ? [] : [card])];
  const byName = new Map<string, Upstream>(made.map((upstream) => [upstream.name, upstream]));
  const routes = openRoutes(config, collects, payouts);
  const serving = (use: keyof DirectedRoutes, currency: Currency) =>
    routes[use].entries.filter(({ currencies }) => currencies.includes(currency));
  return {
    collect: (name) => collects.get(name),
    payout: (name) => payouts.get(name),
    routeOf: (collector) => Object.entries(COLLECT).find(([, { name }]) => name === collector)?.[0],
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
  for (const [route, { open }] of Object.entries(table)) {
    const connector = open(config, doors);
    if (connector !== undefined) made.set(route, connector);
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
    const names = configured.map(({ name, market }) => `${name} for ${market ?? 'any market'}`);
    throw new Error(`${file}: no route leads to what is configured (${names.join(', ')})`);
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
