/**
 * Asks about a payment's earlier tries by phone, which carriers had turned away, before another one asks for its money.
 *
 * Invariant: where a carrier calls one of them taken, or cannot say, the money is not asked for a second time. One that the
 * carrier does not know holds up nobody: the customer, who has to say yes on the telephone, is there.
 */

import type { InquiryAnswer } from '../connectors/connector.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { settleByInquiry } from './attempt-settle.ts';
import type { Deps } from './deps.ts';
import { askAboutAll } from './upstream-inquire.ts';

/** What became of the tries before. */
export type EarlierByPhone =
  /** There is none, or none of them was taken. */
  | { readonly kind: 'none' }
  /** One of them was, and that is written. */
  | { readonly kind: 'taken' }
  /** Of this one nobody can say. */
  | { readonly kind: 'unclear'; readonly attempt: Attempt };

/**
 * Asks the carriers of all earlier tries. `payment` as it was read: whoever opens another try for it makes sure that it
 * has not moved since.
 */
export async function askEarlierByPhone(deps: Deps, payment: Payment): Promise<EarlierByPhone> {
  // As it was collected: nobody has tried anything.
  if (payment.version === 1) return { kind: 'none' };
  const tries = await deps.store.attempt.turnedAway(payment.shard, payment.id);
  const at = deps.clock.now();
  const said = await askAboutAll(deps, tries, (word) => isTaken(word) || word.kind === 'unknown');
  const taken = said.find(({ word }) => isTaken(word));
  if (taken !== undefined) {
    log(deps, 'try_before_was_taken', taken.attempt);
    await settleByInquiry(deps, taken.attempt, payment, taken.word, { at, inquiry: 'hint' });
    return { kind: 'taken' };
  }
  const unclear = said.find(({ word }) => word.kind === 'unknown');
  if (unclear === undefined) return { kind: 'none' };
  log(deps, 'try_before_unclear', unclear.attempt);
  return { kind: 'unclear', attempt: unclear.attempt };
}

function isTaken({ kind }: InquiryAnswer): boolean {
  return kind === 'approved' || kind === 'waiting';
}

function log(deps: Pick<Deps, 'log'>, event: string, { id, connector, payment_id }: Attempt): void {
  deps.log.warn(event, { attempt_id: id, connector, transaction_id: payment_id });
}
