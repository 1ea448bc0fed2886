/**
 * Inquires about a card payment's earlier attempts, before another attempt asks for its money.
 *
 * Invariant: if any of them has paid, or the network cannot say, the money is not asked for a second time.
 */

import type { CardConnector } from '../connectors/connector.ts';
import type { AttemptAnswer } from '../domain/answer.ts';
import { hasAskedForMoney, nextAfterHint } from '../domain/attempt.ts';
import { guardedUpdate } from '../domain/change.ts';
import { settleByEarlier } from '../domain/earlier-attempt.ts';
import { isFinal, isPaid, isUntried } from '../domain/payment.ts';
import { LATE_GIVEN_BACK } from '../domain/reason.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { Settlement, SettlementRows } from '../domain/settlement.ts';
import { settlementContext, soundAlarm, upstreamOf } from './attempt-answer.ts';
import { readSettlement, settleByInquiry } from './attempt-settle.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';
import { askAboutAll } from './upstream-inquire.ts';

/** An earlier attempt that has paid, with the network's answer. */
export interface PaidEarlier {
  readonly attempt: Attempt;
  readonly answer: Extract<AttemptAnswer, { kind: 'approved' }>;
  /** When the network was asked. */
  readonly at: number;
}

/** What became of a card payment's earlier attempts. */
export type Earlier =
  /** There is none, or none of them has taken anything. */
  | { readonly kind: 'none' }
  | ({ readonly kind: 'paid' } & PaidEarlier)
  /** One has paid too late to count: its money is in suspense, or an operator has booked it. */
  | { readonly kind: 'paid_aside' }
  | { readonly kind: 'unclear'; readonly reason: string };

/**
 * What became of the payment's earlier attempts. Only those that may have paid are inquired about: submits of an unusable form,
 * or while the network is away, add nothing to ask about.
 */
export async function askEarlier(deps: Deps, card: CardConnector, attempt: Attempt): Promise<Earlier> {
  return askOrder(deps, card, { newest: attempt, attempts: await earlierAttempts(deps, attempt), isItsOwn: true });
}

/** Attempts at one payment. */
interface OrderAttempts {
  /** Of the order that the network is asked about; named if the network contradicts itself. */
  readonly newest: Attempt;
  readonly attempts: readonly Attempt[];
  /** Whether the payment is the one that is about to be paid: the network has just been told of its order. */
  readonly isItsOwn: boolean;
}

/** What became of attempts at one payment. */
async function askOrder(
  deps: Deps,
  card: CardConnector,
  { newest, attempts, isItsOwn }: OrderAttempts,
): Promise<Earlier> {
  const left = attempts.filter(isNotGivenBack);
  if (left.length === 0) return { kind: 'none' };
  if (left.some(({ status }) => status === 'approved')) return { kind: 'paid_aside' };
  const [order, results] = await Promise.all([card.orderStatus(newest.payment_id), askAboutAll(deps, left)]);
  const [paid, ...more] = results.flatMap(({ attempt, answer, at }) =>
    answer.kind === 'approved' ? [{ attempt, answer, at }] : [],
  );
  if (paid !== undefined) {
    deps.log.warn('earlier_attempt_paid', { attempt_id: paid.attempt.id, transaction_id: paid.attempt.payment_id });
    // The payment takes the money once. What it was paid beyond that is found by the next inquiries, and goes to suspense.
    const others = more.map(({ attempt }) => attempt);
    await askSoon(deps, others);
    return { kind: 'paid', ...paid };
  }
  const isOpen = results.some(({ answer }) => answer.kind === 'unknown' || answer.kind === 'waiting');
  // What was given back is still in the order's status.
  const isTaken = order?.isTaken === true && left.length === attempts.length;
  // The network says that the order is paid, and by none of our attempts: asking again could make the customer pay twice.
  if (isTaken && !isOpen) soundAlarm(deps, { alarm: 'contradiction', attempt: newest });
  // An order that the network does not know has taken nothing, unless it has just been told of it.
  const isUnknown = order === undefined || (order.status === null && isItsOwn);
  if (isUnknown || isOpen || isTaken) return unclear(deps, left);
  return { kind: 'none' };
}

/**
 * How many of a session's payments are inquired about, all at once, the newest: older ones were, before the newer ones were tried.
 * One whose tries were turned away again and again is asked about in parts (`askAboutAll`).
 */
const MAX_ASKED = 4;

/** As `Earlier`; `taken`: one has paid, and its payment with it, which has ended the session. */
export type EarlierInSession = 'none' | 'taken' | 'paid_aside' | 'unclear';

/**
 * What became of the card attempts at a session's other payments: a customer whom the network turned away may collect anew.
 * `others`: the session's payments besides the one that is about to be paid, the oldest first.
 */
export async function askEarlierInSession(
  deps: Deps,
  card: CardConnector,
  others: readonly Payment[],
): Promise<EarlierInSession> {
  // One that is paid has ended the session.
  const tried = others.filter((one) => !isUntried(one) && !isPaid(one));
  const asked = await Promise.all(tried.map(({ shard, id }) => attemptsThatAsked(deps, shard, id)));
  const orders = asked.flatMap((attempts): OrderAttempts[] => {
    const newest = attempts.at(-1);
    return newest === undefined ? [] : [{ newest, attempts, isItsOwn: false }];
  });
  const found = await Promise.all(orders.slice(-MAX_ASKED).map((order) => askOrder(deps, card, order)));
  const kinds = new Set<EarlierInSession>();
  // All that have paid, one after the other: the first one ends the others' payments, and what these have taken goes to suspense.
  for (const one of found) kinds.add(one.kind === 'paid' ? await settlePaid(deps, one) : one.kind);
  return (['taken', 'paid_aside', 'unclear'] as const).find((kind) => kinds.has(kind)) ?? 'none';
}

async function settlePaid(deps: Deps, paid: PaidEarlier): Promise<EarlierInSession> {
  const after = await settleByInquiry(deps, paid.attempt, undefined, paid, 'hint');
  if (isPaid(after)) return 'taken';
  return isFinal(after.status) ? 'paid_aside' : 'unclear';
}

/** Stands in for `askEarlier` while the network is away and cannot be asked. */
export async function guessEarlier(deps: Deps, attempt: Attempt): Promise<Earlier> {
  const others = (await earlierAttempts(deps, attempt)).filter(isNotGivenBack);
  if (others.some(({ status }) => status === 'approved')) return { kind: 'paid_aside' };
  return others.length === 0 ? { kind: 'none' } : unclear(deps, others);
}

/** An operator has returned its money: whatever the network says of it, the payer has not paid. */
function isNotGivenBack({ reason }: Attempt): boolean {
  return reason !== LATE_GIVEN_BACK;
}

async function unclear(deps: Deps, attempts: readonly Attempt[]): Promise<Earlier> {
  await askSoon(deps, attempts);
  return { kind: 'unclear', reason: 'an earlier attempt may have paid' };
}

/** Brings forward the inquiries about attempts that may have paid, also in case the customer does not come back. */
async function askSoon(deps: Deps, attempts: readonly Attempt[]): Promise<void> {
  const bringForward = async (one: Attempt): Promise<void> => {
    const next_inquiry_at = nextAfterHint(one, deps.clock.now());
    if (next_inquiry_at === one.next_inquiry_at) return;
    // If the attempt has changed meanwhile, it has been inquired about already; if it cannot be written now, the inquiry comes
    // at its usual time.
    await deps.store
      .commit({ updates: [guardedUpdate('attempt', one, { next_inquiry_at })] })
      .catch(rethrowUnlessTransient);
  };
  await Promise.all(attempts.map(bringForward));
}

/** A payment's card attempts that may have paid. */
export async function attemptsThatAsked(deps: Deps, shard: number, paymentId: string): Promise<Attempt[]> {
  return (await deps.store.attempt.ofCardPayment(shard, paymentId)).filter(hasAskedForMoney);
}

async function earlierAttempts(deps: Deps, { shard, id, payment_id }: Attempt): Promise<Attempt[]> {
  return (await attemptsThatAsked(deps, shard, payment_id)).filter((other) => other.id !== id);
}

/** The rows of an attempt, and of an earlier one that has paid. */
export interface EarlierRows extends SettlementRows {
  /** The attempt that has paid, as it is now. */
  readonly earlier: Attempt;
}

/** The rows of attempt `key`, and the earlier attempt that has paid, all read anew. */
export async function readWithEarlier(deps: Deps, key: Attempt, { attempt }: PaidEarlier): Promise<EarlierRows> {
  const [rows, earlier] = await Promise.all([
    readSettlement(deps, key),
    deps.store.attempt.get(attempt.shard, attempt.id),
  ]);
  return { ...rows, earlier: earlier ?? attempt };
}

/** Decides what the network's answer about the earlier attempt writes. */
export function settleEarlier(deps: Deps, rows: EarlierRows, { answer, at }: PaidEarlier): Settlement {
  const context = settlementContext(deps, upstreamOf(deps, rows.earlier), { at, inquiry: false });
  return settleByEarlier(rows, rows.earlier, answer, context);
}
