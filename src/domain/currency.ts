/**
 * The currencies the gateway serves, and how many fraction digits each has.
 *
 * The exponents are those of ISO 4217 (contract §1); a test compares them with a library's table, because
 * `Intl` is wrong about fifteen currencies and a wrong exponent is a factor of a hundred in money.
 */

const EXPONENTS = {
  usd: 2,
  cdf: 2,
  eur: 2,
  xof: 0,
  xaf: 0,
  kes: 2,
  ugx: 0,
  tzs: 2,
  zmw: 2,
  rwf: 0,
  bif: 0,
  ngn: 2,
  ghs: 2,
  zar: 2,
} as const;

/** A lower-case ISO 4217 code that the gateway serves. */
export type Currency = keyof typeof EXPONENTS;

/** All currencies that the gateway serves. */
export const CURRENCIES = Object.keys(EXPONENTS) as Currency[];

/** Whether a text is the lower-case code of a currency that the gateway serves (contract §1). */
export function isCurrency(text: unknown): text is Currency {
  return typeof text === 'string' && Object.hasOwn(EXPONENTS, text);
}

/** How many digits follow the decimal point: 2 for `usd`, 0 for `xof`. */
export function exponentOf(currency: Currency): number {
  return EXPONENTS[currency];
}
