/**
 * Finds the carrier for a payout to a phone.
 *
 * Invariant: no call makes a line for a number to which no carrier pays out.
 */

import type { Currency } from '../domain/currency.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import { carriersInWords } from './carrier-words.ts';
import type { Deps } from './deps.ts';

/** What is needed to find routes. */
export interface Routing {
  readonly connectors: Pick<Deps['connectors'], 'servesPayouts' | 'routeFor'>;
}

/** The carrier, or why there is none; the fault is in `field` if another number would do. */
export type PayoutRoute =
  | { readonly kind: 'route'; readonly connector: string; readonly carrier: string }
  | { readonly kind: 'none'; readonly fault: RefusalDetail };

/** The carrier follows from the number's prefix and the currency; the fault of a wrong pair says what would work (1103). */
export function payoutRoute({ connectors }: Routing, msisdn: string, currency: Currency, field: string): PayoutRoute {
  const none = (fault: RefusalDetail): PayoutRoute => ({ kind: 'none', fault });
  const route = connectors.routeFor('payout', msisdn, currency);
  if (route.kind === 'wrong_currency') {
    const { carrier, currencies } = route;
    return none({ field, code: 'CARRIER_CURRENCY', words: { carrier, currencies: currencies.join(', ') } });
  }
  if (route.kind === 'route') return route;
  if (!connectors.servesPayouts(currency)) {
    const words = { method: 'mobile_money', options: 'wallet' };
    return none({ field: 'receipt_mode', code: 'METHOD_NOT_AVAILABLE', words });
  }
  return none({ field, code: 'NO_CARRIER', words: { countries: carriersInWords(route.works) } });
}
