/**
 * The methods that a merchant's customers can pay by just now, and what its payouts can reach (contract §9).
 *
 * Invariant: only what is configured, and what the merchant may use, is listed. The availability of upstreams is judged by the
 * calls of all processes, which are read from the database once in a few seconds, however many callers ask; card forms, which leave
 * no trace there, by the calls of this process.
 */

import type { CarrierOfCountry } from '../connectors/connector.ts';
import { type Availability, availabilityOf, SILENT_MS, worseOf } from '../domain/availability.ts';
import { CURRENCIES, type Currency } from '../domain/currency.ts';
import type { Merchant, PaymentMethod } from '../domain/records.ts';
import type { CallMade } from '../store/upstream-calls.ts';
import type { Deps } from './deps.ts';
import { freshReads } from './fresh-read.ts';
import { offeredTo } from './method-reach.ts';

/** One way to move money in one currency. */
export interface Service {
  readonly use: 'payment' | 'payout';
  readonly method: PaymentMethod;
  readonly currency: Currency;
  /** The carrier or card network; null where the gateway itself moves the money. */
  readonly carrier: string | null;
  /** ISO 3166-1 alpha-2; null where the service belongs to no country. */
  readonly country: string | null;
  readonly status: Availability;
}

/** The services of a merchant, and how each stands. */
export interface Availabilities {
  /** When the calls were read, milliseconds. */
  readonly at: number;
  readonly services: readonly Service[];
}

/** 5 s for which calls once read are used. */
const FRESH_MS = 5_000;

type Standing = (upstream: string, carrier: string) => Availability;

interface Known {
  readonly known: Standing;
  /** How the card network's form can be opened, by this process's own calls. */
  readonly form: Availability;
}

interface Look {
  readonly at: number;
  readonly standing: Standing;
}

/** Makes the read; without `currency`, it covers every currency that the merchant may use. */
export function openAvailability(deps: Deps) {
  const reads = freshReads<Look>({ now: () => deps.clock.now(), lifeMs: FRESH_MS });
  const look = async (at: number): Promise<Look> => {
    const calls = await deps.store.upstreamCalls(at - SILENT_MS);
    return { at, standing: standingOf(calls, at) };
  };

  return async (merchant: Merchant, currency?: Currency): Promise<Availabilities> => {
    const looking = reads('', look);
    const mine = (merchant.settings.currencies ?? CURRENCIES).filter((one) => (currency ?? one) === one);
    const offered = await Promise.all(mine.map((one) => offeredTo(deps, merchant, one)));
    const { at, standing: known } = await looking;
    const form = availabilityOf(deps.formCalls.newest(), at);
    return { at, services: mine.flatMap((one, nth) => servicesIn(deps, one, offered[nth] ?? [], { known, form })) };
  };
}

/** A carrier is down if its connector is; otherwise its own calls decide. */
function standingOf(calls: readonly CallMade[], now: number): Standing {
  const known = new Map<string, Availability>();
  const judge = (upstream: string, carrier: string): Availability => {
    const all = calls.filter((call) => call.upstream === upstream);
    if (availabilityOf(all, now) === 'down') return 'down';
    const own = all.filter((call) => call.carrier === carrier);
    return availabilityOf(own, now);
  };
  return (upstream, carrier) => {
    const key = `${upstream} ${carrier}`;
    const standing = known.get(key) ?? judge(upstream, carrier);
    known.set(key, standing);
    return standing;
  };
}

function servicesIn(
  { connectors }: Pick<Deps, 'connectors'>,
  currency: Currency,
  offered: readonly PaymentMethod[],
  { known, form }: Known,
): Service[] {
  const { card, reached } = connectors;
  const own = (use: Service['use'], method: PaymentMethod): Service => {
    return { use, method, currency, carrier: null, country: null, status: 'operational' };
  };
  const byPhone = (use: Service['use']): Service[] =>
    distinct(reached.filter((one) => one.use === use && one.currencies.includes(currency))).map((one) => {
      const { carrier, country, upstream } = one;
      return { use, method: 'mobile_money', currency, carrier, country, status: known(upstream, carrier) };
    });
  const payments = offered.flatMap((method): Service[] => {
    if (method === 'mobile_money') return byPhone('payment');
    if (method === 'wallet' || method === 'flash' || method === 'bank_transfer') return [own('payment', method)];
    if (card === undefined) return [];
    const carrier = card.displayName;
    const status = known(card.name, carrier);
    // Google Pay and Apple Pay need no form.
    return [{ ...own('payment', method), carrier, status: method === 'card' ? worseOf(status, form) : status }];
  });
  return [...payments, ...byPhone('payout'), own('payout', 'wallet')];
}

/** A carrier may have several routes. */
function distinct<R extends CarrierOfCountry>(carriers: readonly R[]): R[] {
  return [...new Map(carriers.map((one) => [`${one.country} ${one.carrier}`, one])).values()];
}
