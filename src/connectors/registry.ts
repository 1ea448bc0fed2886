/**
 * The connectors that this gateway has, and which of them a phone number leads to.
 *
 * Invariant: every route names a connector of the table below. A gateway whose routes lead nowhere does not start.
 */

import { readFileSync } from 'node:fs';
import type { Currency } from '../domain/currency.ts';
import type { Platform } from '../platform/platform.ts';
import type { CardConnector, CollectConnector, TextSender, Upstream } from './connector.ts';
import type { MastercardConfig } from './mastercard/client.ts';
import { createMastercard } from './mastercard/connector.ts';
import type { MtnMomoConfig } from './mtn-momo/client.ts';
import { createMtnMomo } from './mtn-momo/connector.ts';
import productionRoutes from './routes/production.json' with { type: 'json' };
import sandboxRoutes from './routes/sandbox.json' with { type: 'json' };
import { filterRoutes, parseRoutes, type Route, type Routes, type Routing, routeFor } from './routes.ts';
import { createSmsHttp, type SmsHttpConfig } from './sms-http/connector.ts';

/** What the connectors need of the configuration. An upstream without its part is off. */
export interface ConnectorsConfig {
  readonly mode: 'sandbox' | 'production';
  /** Path of a routes file; absent: the one that belongs to the mode. */
  readonly carrierRoutes?: string | undefined;
  readonly mtnMomo?: MtnMomoConfig | undefined;
  readonly cardnet?: (MastercardConfig & { readonly currencies?: readonly Currency[] | undefined }) | undefined;
  readonly sms?: SmsHttpConfig | undefined;
}

type Doors = Pick<Platform, 'outbound' | 'clock' | 'log'>;

/** Every connector that can take money: one line each, undefined where it is not configured. */
const COLLECT: {
  readonly [name: string]: (config: ConnectorsConfig, doors: Doors) => CollectConnector | undefined;
} = {
  'mtn-momo': ({ mtnMomo }, doors) => mtnMomo && createMtnMomo(mtnMomo, doors),
};

export interface Connectors {
  /** The connector of that name (an attempt's record has it), when it is configured. */
  collect(name: string): CollectConnector | undefined;
  /** The upstream of that name, whatever it moves money by. */
  upstream(name: string): Upstream | undefined;
  /** The card network, when it is configured. */
  readonly card: CardConnector | undefined;
  /** Whether any route takes that currency. */
  servesMobileMoney(currency: Currency): boolean;
  /** The carriers that take it, and the countries whose numbers they serve. */
  carriersFor(currency: Currency): readonly { readonly carrier: string; readonly country: string }[];
  /** The connectors that are configured. */
  readonly names: readonly string[];
  /** Where a number (E.164) leads in a currency, or what would work instead. */
  routeFor(msisdn: string, currency: Currency): Routing;
  /** The door for texts to customers; undefined where none is configured. */
  readonly texts: TextSender | undefined;
}

/**
 * Makes every connector that is configured. Throws an error with a one-line message when the routes cannot be read,
 * are wrong, or lead nowhere although a connector is configured.
 */
export function openConnectors(config: ConnectorsConfig, doors: Doors): Connectors {
  const byName = new Map<string, CollectConnector>();
  for (const [name, make] of Object.entries(COLLECT)) {
    const connector = make(config, doors);
    if (connector !== undefined) byName.set(name, connector);
  }
  const routes = reachable(config, byName);
  const card = config.cardnet && createMastercard(config.cardnet, doors);
  return {
    collect: (name) => byName.get(name),
    upstream: (name) => (name === card?.name ? card : byName.get(name)),
    card,
    carriersFor: (currency) =>
      routes.entries
        .filter(({ currencies }) => currencies.includes(currency))
        .map(({ carrier, country }) => ({ carrier, country })),
    servesMobileMoney: (currency) => routes.entries.some(({ currencies }) => currencies.includes(currency)),
    names: [...byName.keys(), ...(card === undefined ? [] : [card.name])],
    routeFor: (msisdn, currency) => routeFor(routes, msisdn, currency),
    texts: config.sms === undefined ? undefined : createSmsHttp(config.sms, doors),
  };
}

/** The routes of the file, without those of connectors that are off and of markets that are not configured. */
function reachable(config: ConnectorsConfig, byName: ReadonlyMap<string, CollectConnector>): Routes {
  const file = config.carrierRoutes ?? `routes/${config.mode}.json`;
  const routes = parseRoutes(contentOf(config), file);
  for (const { connector, carrier, country } of routes.entries) {
    if (Object.hasOwn(COLLECT, connector)) continue;
    const known = Object.keys(COLLECT).join(', ');
    throw new Error(`${file}: ${carrier} in ${country} names the connector "${connector}"; there is ${known}`);
  }
  const serves = ({ connector, market }: Route) => {
    const found = byName.get(connector);
    return found !== undefined && (market === undefined || market === found.market);
  };
  const kept = filterRoutes(routes, serves, file);
  if (kept.entries.length === 0 && byName.size > 0) {
    const configured = [...byName.values()].map(({ name, market }) => `${name} for ${market ?? 'any market'}`);
    throw new Error(`${file}: no route leads to what is configured (${configured.join(', ')})`);
  }
  return kept;
}

function contentOf({ carrierRoutes, mode }: ConnectorsConfig): unknown {
  if (carrierRoutes === undefined) return mode === 'sandbox' ? sandboxRoutes : productionRoutes;
  try {
    return JSON.parse(readFileSync(carrierRoutes, 'utf8'));
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new Error(`${carrierRoutes}: the file of routes ${why}`, { cause });
  }
}
