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
import type { Attempt } from '../domain/records.ts';
import type { Settlement, SettlementRows } from '../domain/settlement.ts';
import { readSettlement, settlementContext, soundAlarm, upstreamOf } from './attempt-settle.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';
import { askAboutAll } from './upstream-inquire.ts';

/** An earlier attempt that has paid, with the network's answer. */
export interface PaidEarlier {
  readonly attempt: Attempt;
  readonly answer: Extract<AttemptAnswer, { kind: 'approved' }>;
  readonly askedAt: number;
}

export type Earlier =
  /** There is none, or none of them has taken anything. */
  | { readonly kind: 'none' }
  | ({ readonly kind: 'paid' } & PaidEarlier)
  /** One of them has paid, and its money was booked aside as late. */
  | { readonly kind: 'booked_aside' }
  | { readonly kind: 'unclear'; readonly reason: string };

/**
 * What became of the payment's earlier attempts. Only those that may have paid are inquired about: submits of an unusable form,
 * or while the network is away, add nothing to ask about.
 */
export async function askEarlier(deps: Deps, card: CardConnector, attempt: Attempt): Promise<Earlier> {
  const others = await earlierTries(deps, attempt);
  if (others.length === 0) return { kind: 'none' };
  if (others.some(({ status }) => status === 'approved')) return { kind: 'booked_aside' };
  const askedAt = deps.clock.now();
  const [order, said] = await Promise.all([card.orderStatus(attempt.payment_id), askAboutAll(deps, others)]);
  for (const { attempt: other, answer } of said) {
    if (answer.kind !== 'approved') continue;
    deps.log.warn('earlier_attempt_paid', { attempt_id: other.id, transaction_id: attempt.payment_id });
    return { kind: 'paid', attempt: other, answer, askedAt };
  }
  const isOpen = said.some(({ answer }) => answer.kind === 'unknown' || answer.kind === 'waiting');
  const isTaken = order?.isTaken === true;
  // The network says that the order is paid, and by none of our attempts: asking again could make the customer pay twice.
  if (isTaken && !isOpen) soundAlarm(deps, { alarm: 'contradiction', attempt });
  if (order === undefined || isOpen || isTaken) return unclear(deps, others);
  return { kind: 'none' };
}

/** Stands in for `askEarlier` while the network is away and cannot be asked. */
export async function guessEarlier(deps: Deps, attempt: Attempt): Promise<Earlier> {
  const others = await earlierTries(deps, attempt);
  if (others.some(({ status }) => status === 'approved')) return { kind: 'booked_aside' };
  return others.length === 0 ? { kind: 'none' } : unclear(deps, others);
}

/** Brings forward the inquiries about attempts that may have paid, also in case the customer does not come back. */
async function unclear(deps: Deps, tries: readonly Attempt[]): Promise<Earlier> {
  const askSoon = async (one: Attempt): Promise<void> => {
    const next_inquiry_at = nextAfterHint(one, deps.clock.now());
    if (next_inquiry_at === one.next_inquiry_at) return;
    // If the attempt has changed meanwhile, it has been inquired about already; if it cannot be written now, the inquiry comes
    // at its usual time.
    await deps.store
      .commit({ updates: [guardedUpdate('attempt', one, { next_inquiry_at })] })
      .catch(rethrowUnlessTransient);
  };
  await Promise.all(tries.map(askSoon));
  return { kind: 'unclear', reason: 'an earlier attempt may have paid' };
}

/** A payment's card attempts that may have paid. */
export async function triesThatAsked(deps: Deps, shard: number, paymentId: string): Promise<Attempt[]> {
  return (await deps.store.attempt.ofCardPayment(shard, paymentId)).filter(hasAskedForMoney);
}

async function earlierTries(deps: Deps, { shard, id, payment_id }: Attempt): Promise<Attempt[]> {
  return (await triesThatAsked(deps, shard, payment_id)).filter((other) => other.id !== id);
}

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
export function settleEarlier(deps: Deps, rows: EarlierRows, { answer, askedAt }: PaidEarlier): Settlement {
  const context = settlementContext(deps, upstreamOf(deps, rows.earlier), { at: askedAt, inquiry: false });
  return settleByEarlier(rows, rows.earlier, answer, context);
}
