/**
 * Which carrier a phone number belongs to, and which connector reaches it. Numbers are data: a file of routes.
 *
 * Invariant: a file is used only after every entry has been checked, and two entries never claim the same number in the same
 * currency. The longest matching prefix of a number decides.
 */

import { CURRENCIES, type Currency, isCurrency } from '../domain/currency.ts';
import type { CarrierOfCountry, CarrierRoute } from './connector.ts';

/** One entry of a routes file. */
export interface Route extends CarrierOfCountry {
  /** The name of a connector in the registry. */
  readonly connector: string;
  /** Beginnings of E.164 numbers, country code first, without the plus sign. */
  readonly prefixes: readonly string[];
  readonly currencies: readonly Currency[];
  /** The upstream's market, if its connector is configured for one market at a time. Absent: any. */
  readonly market?: string;
}

/** A checked set of routes, indexed for look-up. */
export interface Routes {
  readonly entries: readonly Route[];
  readonly byPrefix: ReadonlyMap<string, readonly Route[]>;
  readonly longest: number;
}

const COUNTRY = /^[A-Z]{2}$/;
const PREFIX = /^[1-9][0-9]{1,14}$/;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} .&'-]{0,39}$/u;
const FIELDS = new Set(['connector', 'carrier', 'country', 'prefixes', 'currencies', 'market']);

/**
 * Checks what a routes file holds. `file` is its name, for the message.
 * Throws an error whose message is one line that names the file, the entry and what is wrong with it.
 */
export function parseRoutes(content: unknown, file: string): Routes {
  if (!Array.isArray(content)) throw new Error(`${file}: must be a list of routes`);
  return indexRoutes(
    content.map((value: unknown, index) => parseRoute(value, `${file}: entry ${index + 1}`)),
    file,
  );
}

/** The routes that a predicate keeps, indexed anew. */
export function filterRoutes(routes: Routes, keep: (route: Route) => boolean, file: string): Routes {
  return indexRoutes(routes.entries.filter(keep), file);
}

function indexRoutes(entries: readonly Route[], file: string): Routes {
  const byPrefix = new Map<string, Route[]>();
  let longest = 0;
  for (const route of entries) {
    for (const prefix of route.prefixes) {
      const others = byPrefix.get(prefix) ?? [];
      const rival = others.find((other) => other.currencies.some((currency) => route.currencies.includes(currency)));
      if (rival !== undefined) {
        throw new Error(
          `${file}: prefix ${prefix} of ${route.carrier} is claimed by ${rival.carrier} in the same currency`,
        );
      }
      byPrefix.set(prefix, [...others, route]);
      longest = Math.max(longest, prefix.length);
    }
  }
  return { entries, byPrefix, longest };
}

function parseRoute(value: unknown, where: string): Route {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${where} must be an object`);
  const entry: { readonly [field: string]: unknown } = { ...value };
  const stranger = Object.keys(entry).find((field) => !FIELDS.has(field));
  if (stranger !== undefined) throw new Error(`${where} has the unknown field ${JSON.stringify(stranger)}`);
  const { connector, carrier, country, market } = entry;
  if (!isMatch(connector, NAME)) throw new Error(`${where} must name its connector, for example "mtn-momo"`);
  if (!isMatch(carrier, NAME)) throw new Error(`${where} must name its carrier, for example "MTN MoMo"`);
  if (!isMatch(country, COUNTRY)) throw new Error(`${where} (${carrier}): country must be two capitals, such as "UG"`);
  if (market !== undefined && !isMatch(market, NAME)) throw new Error(`${where} (${carrier}): market must be a name`);
  const at = `${where} (${carrier}, ${country})`;
  const route: Route = {
    connector,
    carrier,
    country,
    prefixes: listOf(entry.prefixes, isPrefix, `${at}: prefixes must be digits, country code first, such as "25677"`),
    currencies: listOf(entry.currencies, isCurrency, `${at}: currencies must be some of ${CURRENCIES.join(', ')}`),
  };
  return market === undefined ? route : { ...route, market };
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isPrefix(value: unknown): value is string {
  return isMatch(value, PREFIX);
}

/** A list that is not empty, has no repeats, and whose items all pass; else throws the complaint. */
function listOf<T>(value: unknown, passes: (item: unknown) => item is T, complaint: string): readonly T[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error(complaint);
  const items: readonly unknown[] = value;
  if (!items.every(passes) || new Set(items).size !== items.length) throw new Error(complaint);
  return items;
}

/** Where a number (E.164, with the plus sign) leads in that currency. */
export function routeFor(routes: Routes, msisdn: string, currency: Currency): CarrierRoute {
  const digits = msisdn.startsWith('+') ? msisdn.slice(1) : msisdn;
  for (let length = Math.min(routes.longest, digits.length); length > 0; length -= 1) {
    const found = routes.byPrefix.get(digits.slice(0, length));
    const first = found?.[0];
    if (found === undefined || first === undefined) continue;
    const route = found.find((candidate) => candidate.currencies.includes(currency));
    if (route !== undefined) return { kind: 'route', connector: route.connector, carrier: route.carrier };
    const currencies = [...new Set(found.flatMap((candidate) => candidate.currencies))];
    return { kind: 'wrong_currency', carrier: first.carrier, currencies };
  }
  return { kind: 'no_carrier', works: routes.entries.filter((route) => route.currencies.includes(currency)) };
}
