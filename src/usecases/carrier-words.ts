/** Carriers in words: which would take a currency, for the refusal of a number that none of them serves. */

import type { CarrierOfCountry } from '../connectors/connector.ts';

/** Each carrier once, with its country: "MTN MoMo (UG), MTN MoMo (RW)". */
export function carriersInWords(carriers: readonly CarrierOfCountry[]): string {
  return [...new Set(carriers.map(({ carrier, country }) => `${carrier} (${country})`))].join(', ');
}
