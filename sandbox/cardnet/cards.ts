/**
 * Card numbers: which number has which outcome, and how a number may be shown.
 * Invariant: only the tables here know the test cards; a whole number or a security code never leaves this folder.
 */

export type Card = {
  readonly number: string;
  /** 1 to 12. */
  readonly month: number;
  /** Two digits. */
  readonly year: number;
  /** Absent once a payment has used it: a security code may not be kept after that. */
  readonly securityCode?: string;
  readonly nameOnCard?: string;
};

export type Scheme = 'MASTERCARD' | 'VISA' | 'AMEX' | 'OTHER';

/** What the network discloses about a card. */
export type ShownCard = { readonly number: string; readonly scheme: Scheme };

export function isLuhn(number: string): boolean {
  let sum = 0;
  for (let i = 0; i < number.length; i += 1) {
    const digit = Number(number.at(-1 - i));
    const counted = i % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

export function schemeOf(number: string): Scheme {
  const four = Number(number.slice(0, 4));
  if (number.startsWith('4')) return 'VISA';
  if (/^5[1-5]/.test(number) || (four >= 2221 && four <= 2720)) return 'MASTERCARD';
  return /^3[47]/.test(number) ? 'AMEX' : 'OTHER';
}

export function show(card: Card): ShownCard {
  const { number } = card;
  const masked = `${number.slice(0, 6)}${'x'.repeat(number.length - 10)}${number.slice(-4)}`;
  return { number: masked, scheme: schemeOf(number) };
}

export type GatewayCode =
  | 'APPROVED'
  | 'DECLINED'
  | 'INSUFFICIENT_FUNDS'
  | 'EXPIRED_CARD'
  | 'TIMED_OUT'
  | 'ACQUIRER_SYSTEM_ERROR'
  | 'UNSPECIFIED_FAILURE'
  | 'UNKNOWN';

/** `challenge` asks the customer on the issuer's page; `not_supported` means that the card has no 3-D Secure. */
export type AuthenticationWay = 'frictionless' | 'challenge' | 'not_supported' | 'rejected';

export type CardBehaviour = {
  readonly authentication: AuthenticationWay;
  readonly payment: GatewayCode | 'by_expiry';
  /** `lost`: the payment is made, and the connection ends without an answer. */
  readonly answer: 'given' | 'lost';
};

export type TestCard = CardBehaviour & { readonly number: string; readonly about: string };

const usual = { authentication: 'frictionless', payment: 'by_expiry', answer: 'given' } as const;

/** The first four have the same outcome whatever their expiry. */
export const testCards: readonly TestCard[] = [
  { ...usual, number: '5123450000000008', payment: 'APPROVED', about: 'approved without a challenge' },
  {
    ...usual,
    number: '4508750015741019',
    authentication: 'challenge',
    payment: 'APPROVED',
    about: 'the page of the issuer asks; pass or fail there',
  },
  { ...usual, number: '5111111111111118', payment: 'DECLINED', about: 'declined by the issuer' },
  {
    number: '4000000000000119',
    authentication: 'challenge',
    payment: 'APPROVED',
    answer: 'lost',
    about: 'the answer is lost after the challenge, and yet it is paid',
  },
  { ...usual, number: '2223000000000007', about: 'without a challenge; the expiry decides' },
  {
    ...usual,
    number: '2223000000000023',
    authentication: 'not_supported',
    about: 'has no 3‑D Secure; the expiry decides',
  },
  { ...usual, number: '4012000033330026', authentication: 'rejected', about: 'rejected by 3‑D Secure' },
  { ...usual, number: '5200000000000007', payment: 'INSUFFICIENT_FUNDS', about: 'insufficient funds' },
  { ...usual, number: '5200000000000015', payment: 'EXPIRED_CARD', about: 'the card has expired' },
];

const byNumber = new Map(testCards.map((card) => [card.number, card]));

export function behaviourOf(card: Card): CardBehaviour {
  return byNumber.get(card.number) ?? usual;
}

/** Outcomes by expiry, as the network's test facility documents them; any other date is approved. */
export const expiries: Readonly<Record<string, GatewayCode>> = {
  '01/39': 'APPROVED',
  '05/39': 'DECLINED',
  '04/27': 'EXPIRED_CARD',
  '08/28': 'TIMED_OUT',
  '01/37': 'ACQUIRER_SYSTEM_ERROR',
  '02/37': 'UNSPECIFIED_FAILURE',
  '05/37': 'UNKNOWN',
};

/** "05/39". */
export function expiryOf({ month, year }: Pick<Card, 'month' | 'year'>): string {
  return `${String(month).padStart(2, '0')}/${String(year).padStart(2, '0')}`;
}

export function paymentOf(card: Card): GatewayCode {
  const { payment } = behaviourOf(card);
  return payment === 'by_expiry' ? (expiries[expiryOf(card)] ?? 'APPROVED') : payment;
}

export type SecurityCodeResult = 'MATCH' | 'NO_MATCH' | 'NOT_PROCESSED';

const securityCodes: Readonly<Record<string, SecurityCodeResult>> = {
  '100': 'MATCH',
  '101': 'NOT_PROCESSED',
  '102': 'NO_MATCH',
};

/** Every code matches but the documented ones, so that a person may type any. */
export function securityCodeResult(card: Card): SecurityCodeResult {
  return card.securityCode === undefined ? 'NOT_PROCESSED' : (securityCodes[card.securityCode] ?? 'MATCH');
}
