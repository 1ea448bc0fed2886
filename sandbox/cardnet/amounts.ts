/**
 * Amounts on the card network's wire: decimal text or a JSON number comes in, a JSON number with the currency's own
 * digits goes out, as the real network does.
 * Invariant: an amount is whole thousandths of the currency's unit; no floating-point number touches it.
 */

export type Amount = {
  readonly thousandths: bigint;
  /** As it was sent, which is how the book shows it. */
  readonly text: string;
};

const withoutFraction = new Set(['BIF', 'CLP', 'DJF', 'GNF', 'JPY', 'KMF', 'KRW', 'RWF', 'UGX', 'VND', 'XAF', 'XOF']);
const withThreeDigits = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'OMR', 'TND']);

function fractionDigits(currency: string): number {
  if (withoutFraction.has(currency)) return 0;
  return withThreeDigits.has(currency) ? 3 : 2;
}

/** The amount that was sent; undefined if it is not an amount or has more digits than its currency. Zero is an amount. */
export function parseAmount(given: unknown, currency: string): Amount | undefined {
  const text = typeof given === 'number' ? String(given) : given;
  if (typeof text !== 'string') return undefined;
  const [, units, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (units === undefined || fraction.length > fractionDigits(currency)) return undefined;
  return { thousandths: BigInt(units) * 1_000n + BigInt(fraction.padEnd(3, '0')), text };
}

/** "12.50": with exactly the digits that the currency has. */
export function amountText(thousandths: bigint, currency: string): string {
  const digits = fractionDigits(currency);
  const units = String(thousandths / 1_000n);
  if (digits === 0) return units;
  return `${units}.${String(thousandths % 1_000n)
    .padStart(3, '0')
    .slice(0, digits)}`;
}

/** A control character around a value that is to become a number. JSON escapes it, and no caller's text holds it twice so. */
const mark = '\u0001';

/** An amount to be put into a body for `wireJson`. */
export function jsonAmount(thousandths: bigint, currency: string): string {
  return `${mark}${amountText(thousandths, currency)}${mark}`;
}

/** The body as JSON in which amounts are numbers with all their digits: `12.50`, which a JavaScript number cannot express. */
export function wireJson(body: unknown): string {
  return JSON.stringify(body).replace(/"\\u0001(\d+(?:\.\d+)?)\\u0001"/g, '$1');
}
