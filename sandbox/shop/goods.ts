/**
 * What the shop sells, and for how much in each currency.
 * Invariant: an amount is bigint minor units, and becomes decimal text with exactly the currency's digits.
 */

export const currencies = ['usd', 'cdf', 'xof', 'kes', 'ngn'] as const;
export type Currency = (typeof currencies)[number];

export const goods = ['coffee', 'wax', 'honey', 'charger', 'chocolate', 'basket', 'tea', 'solar'] as const;
export type Good = (typeof goods)[number];

export type Line = { readonly good: Good; readonly quantity: number };

/** US cents. The last good is expensive enough for the gateway to ask for a one-time code. */
const cents: Readonly<Record<Good, bigint>> = {
  coffee: 950n,
  wax: 2_400n,
  honey: 725n,
  charger: 1_290n,
  chocolate: 380n,
  basket: 1_540n,
  tea: 460n,
  solar: 12_900n,
};

/** A fixed table: minor units per US cent, fraction digits, and the step that prices are rounded up to. */
const rates: Readonly<Record<Currency, { readonly forCent: bigint; readonly digits: number; readonly step: bigint }>> =
  {
    usd: { forCent: 1n, digits: 2, step: 1n },
    cdf: { forCent: 2_850n, digits: 2, step: 5_000n },
    xof: { forCent: 6n, digits: 0, step: 5n },
    kes: { forCent: 129n, digits: 2, step: 100n },
    ngn: { forCent: 1_550n, digits: 2, step: 1_000n },
  };

export function isGood(text: unknown): text is Good {
  return goods.some((good) => good === text);
}

export function isCurrency(text: unknown): text is Currency {
  return currencies.some((currency) => currency === text);
}

/** The price of one item, in minor units of the currency. */
export function priceOf(good: Good, currency: Currency): bigint {
  const { forCent, step } = rates[currency];
  const exact = cents[good] * forCent;
  return ((exact + step - 1n) / step) * step;
}

export function totalOf(lines: readonly Line[], currency: Currency): bigint {
  return lines.reduce((sum, { good, quantity }) => sum + priceOf(good, currency) * BigInt(quantity), 0n);
}

/** "45.90", "120": decimal text, as the gateway takes it. */
export function decimalOf(minor: bigint, currency: Currency): string {
  const { digits } = rates[currency];
  if (digits === 0) return minor.toString();
  const text = minor.toString().padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
