/**
 * Checks what was typed into the card fields, by one set of rules for the hosted form and for programs.
 * Invariant: an error names a field and says `missing` or `invalid`; it never repeats what was typed.
 */
import { type Card, expiries, expiryOf, isLuhn } from './cards.ts';

/** The fields, under the names that the form's script uses in its errors. */
export type CardField = 'cardNumber' | 'expiryMonth' | 'expiryYear' | 'securityCode' | 'nameOnCard';
export type CardErrors = Readonly<Partial<Record<CardField, 'missing' | 'invalid'>>>;
export type CardInput = Readonly<Partial<Record<CardField, unknown>>>;
export type ReadCard =
  | { readonly kind: 'card'; readonly card: Card }
  | { readonly kind: 'errors'; readonly errors: CardErrors };

function plainText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

function numberError(number: string): 'missing' | 'invalid' | undefined {
  if (number === '') return 'missing';
  return /^\d{13,19}$/.test(number) && isLuhn(number) ? undefined : 'invalid';
}

/** Three or four digits, whatever the card, as the specification says of 1108. */
function securityCodeError(code: string): 'missing' | 'invalid' | undefined {
  if (code === '') return 'missing';
  return /^\d{3,4}$/.test(code) ? undefined : 'invalid';
}

/** 1 to 12; undefined for anything else. */
function monthOf(text: string): number | undefined {
  const month = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return month >= 1 && month <= 12 ? month : undefined;
}

/** "39" and "2039" are the same year. */
function yearOf(text: string): number | undefined {
  const [, year] = /^(?:20)?(\d{2})$/.exec(text) ?? [];
  return year === undefined ? undefined : Number(year);
}

/** A card is valid to the end of its month. The documented test dates never expire. */
function isPast(month: number, year: number, now: number): boolean {
  return expiries[expiryOf({ month, year })] === undefined && Date.UTC(2000 + year, month, 1) <= now;
}

export function readCard(input: CardInput, now: number): ReadCard {
  const number = plainText(input.cardNumber).replace(/[\s-]/g, '');
  const monthText = plainText(input.expiryMonth);
  const yearText = plainText(input.expiryYear);
  const securityCode = plainText(input.securityCode);
  const nameOnCard = plainText(input.nameOnCard);
  const month = monthOf(monthText);
  const year = yearOf(yearText);
  const past = month !== undefined && year !== undefined && isPast(month, year, now);
  const inNumber = numberError(number);
  const inCode = securityCodeError(securityCode);
  // A number that was typed into the wrong field must not be kept and shown as a name.
  const badName = nameOnCard.length > 100 || /\d[\d\s-]{10,}\d/.test(nameOnCard);
  const errors: CardErrors = {
    ...(inNumber && { cardNumber: inNumber }),
    ...(month === undefined && { expiryMonth: monthText === '' ? 'missing' : 'invalid' }),
    ...((year === undefined || past) && { expiryYear: yearText === '' ? 'missing' : 'invalid' }),
    ...(inCode && { securityCode: inCode }),
    ...(badName && { nameOnCard: 'invalid' }),
  };
  if (Object.keys(errors).length > 0 || month === undefined || year === undefined) return { kind: 'errors', errors };
  return { kind: 'card', card: { number, month, year, securityCode, ...(nameOnCard !== '' && { nameOnCard }) } };
}
