/**
 * The rules of collecting: whether a payment may be started on a session, and what a request may repeat of it.
 *
 * Invariant: amount, currency and customer reference are the session's; what a request repeats of them must be equal to the byte
 * (specification, rule 1).
 */

import { secondsUntil } from './elapsed.ts';
import type { MerchantSettings, Payment, Session } from './records.ts';
import { Refusal, type RefusalDetail, refuseField } from './refusal.ts';

/** Refuses a session that was minted for payouts only (contract §3). @throws Refusal 1003. */
export function requireCollector({ scope }: Pick<Session, 'scope'>): void {
  if (scope === 'payout') throw refuseField(1003, 'Authorization', 'WRONG_SCOPE', { scope: 'collect' });
}

/**
 * 150 payments per session. A customer who hesitates needs a few, and the change that consumes the session ends them all; but more
 * than the 120 calls of a minute (contract §8), so that the traffic limit is what somebody in a hurry meets.
 */
const PAYMENTS_PER_SESSION = 150;

/**
 * Refuses a further payment on a session that has had its number of them. Not retryable: only another session helps.
 *
 * @throws Refusal 1301.
 */
export function requirePaymentsLeft(session: Session, now: number): void {
  if (session.payments < PAYMENTS_PER_SESSION) return;
  const seconds = secondsUntil(session.expires_at, now);
  const details = [{ field: 'Authorization', code: 'PAYMENTS_USED' }] as const;
  throw new Refusal(1301, { retryAfter: seconds, retryable: false, words: { seconds }, details });
}

/**
 * 10 cards per session that were refused. A customer has two or three; somebody who tries stolen ones has thousands, and would learn
 * from each answer whether it is good for money.
 */
const REFUSED_CARDS_PER_SESSION = 10;

/**
 * Refuses a further card in a session that has had its number of refused ones: of its payments, those that ended so. Other methods stay
 * open. Not retryable.
 *
 * @throws Refusal 1301.
 */
export function requireCardsLeft(
  payments: readonly Pick<Payment, 'method' | 'status'>[],
  { id }: Pick<Payment, 'id'>,
  { expires_at }: Pick<Session, 'expires_at'>,
  now: number,
): void {
  const refused = payments.filter(({ method, status }) => method === 'card' && status === 'declined');
  if (refused.length < REFUSED_CARDS_PER_SESSION) return;
  const seconds = secondsUntil(expires_at, now);
  const details = [{ field: 'payment_method', code: 'CARDS_USED' }] as const;
  throw new Refusal(1301, { transactionId: id, retryAfter: seconds, retryable: false, words: { seconds }, details });
}

/** The refusal's code for each field that differs from the binding (specification, Endpoints, rule 1). */
const BOUND = {
  transactional_currency: 1102,
  amount: 1101,
  currency: 1102,
  customer_reference: 1103,
} as const;

type BoundField = keyof typeof BOUND;
const BOUND_FIELDS = Object.keys(BOUND) as BoundField[];

/** What a request repeats of the binding, as older clients do. */
export type Repeated = { readonly [field in BoundField]?: string | undefined };

/** Refuses what differs from the binding. @throws Refusal 1101, 1102 or 1103, by the first such field. */
export function requireBinding(session: Session, repeated: Repeated): void {
  const [first, ...others] = bindingFaults(session, repeated);
  if (first !== undefined) throw new Refusal(BOUND[first.field], { details: [first, ...others] });
}

/** Fields that differ from the binding, byte for byte (`12.5` is not a bound `12.50`; contract §1), in field order. */
export function bindingFaults(
  session: Session,
  repeated: Repeated,
): (RefusalDetail & { readonly field: BoundField })[] {
  const differs = (field: BoundField): boolean => {
    const bound = session[field === 'transactional_currency' ? 'currency' : field];
    return repeated[field] !== undefined && repeated[field] !== bound;
  };
  return BOUND_FIELDS.filter(differs).map((field) => ({ field, code: 'BINDING_DRIFT' }));
}

const TERMS = ['fee_covered_by', 'delivery_behaviour'] as const;

/**
 * Terms that differ from those that the merchant has fixed, in field order. A session's token is on the customer's device (contract
 * §3), so that otherwise a customer could move the fee to the merchant.
 */
export function termFaults(
  { settings }: { readonly settings: MerchantSettings },
  asked: Pick<Payment, (typeof TERMS)[number]>,
): RefusalDetail[] {
  return TERMS.flatMap((field) => {
    const fixed = settings[field];
    if (fixed === undefined || fixed === asked[field]) return [];
    return [{ field, code: 'NOT_AN_OPTION', words: { options: fixed } } as const];
  });
}
