/**
 * Before an order goes out again: what became of the try before, which its upstream had turned away.
 *
 * Invariant: nothing is sent again while its upstream calls the try before taken, or cannot be asked about it.
 */

import type { Attempt } from '../domain/records.ts';
import { askUpstream } from './attempt-inquire.ts';
import { settleOutgoingInquiry } from './attempt-outgoing.ts';
import type { Deps } from './deps.ts';

/** Of the try before: whether it was taken, as far as its upstream knows. */
export type TryBefore = 'none' | 'not_taken' | 'taken' | 'unclear';

/**
 * Asks about the last attempt of an order that is due again. What was taken all the same is written: the order goes on with
 * it. A front that is too busy, or calls itself unavailable, may have handed over what it turned away.
 */
export async function askTryBefore(
  deps: Deps,
  order: { readonly shard: number; readonly attempt_id: string | null },
): Promise<TryBefore> {
  const attempt = await lastTry(deps, order);
  if (attempt?.status !== 'not_sent') return 'none';
  const at = deps.clock.now();
  const word = await askUpstream(deps, attempt);
  const { id, connector, payment_id } = attempt;
  switch (word.kind) {
    case 'approved':
    case 'waiting':
      deps.log.warn('try_before_was_taken', { attempt_id: id, connector, transaction_id: payment_id });
      await settleOutgoingInquiry(deps, attempt, word, { at, inquiry: 'hint' });
      return 'taken';
    case 'unknown':
      deps.log.warn('try_before_unclear', { attempt_id: id, connector, transaction_id: payment_id });
      return 'unclear';
    default:
      return 'not_taken';
  }
}

async function lastTry(
  { store }: Deps,
  { shard, attempt_id: id }: { readonly shard: number; readonly attempt_id: string | null },
): Promise<Attempt | undefined> {
  return id === null ? undefined : store.attempt.get(shard, id);
}
