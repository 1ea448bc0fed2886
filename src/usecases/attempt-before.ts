/**
 * Before an order goes out again: what became of the try before, which its upstream had turned away.
 *
 * Invariant: nothing is sent again while its upstream calls the try before taken, or cannot say, or may not have noticed it
 * yet.
 */

import { nextLookBackAt } from '../domain/payout.ts';
import { settleOutgoingInquiry } from './attempt-outgoing.ts';
import { upstreamOf } from './attempt-settle.ts';
import type { Deps } from './deps.ts';
import { askUpstream } from './upstream-inquire.ts';

/** What is known of the try before. */
export type TryBefore =
  /** There is none, or it was not taken: the order may go out. */
  | { readonly kind: 'over' }
  /** It was taken all the same, and the order goes on with it. */
  | { readonly kind: 'taken' }
  /** Nobody can say yet. `answered`: whether the upstream did; undefined: it has, and it is too early. */
  | { readonly kind: 'unclear'; readonly until: number; readonly answered: false | undefined };

interface Order {
  readonly shard: number;
  readonly attempt_id: string | null;
  readonly started_at: number | null;
  readonly created_at: number;
}

/**
 * Asks about the last attempt of an order that is due again, and writes what was taken. A front that is too busy, or calls
 * itself unavailable, may have handed over what it turned away: that the upstream does not know it counts once its settle
 * delay is over.
 */
export async function askTryBefore(deps: Deps, order: Order): Promise<TryBefore> {
  const { shard, attempt_id } = order;
  const attempt = attempt_id === null ? undefined : await deps.store.attempt.get(shard, attempt_id);
  if (attempt === undefined || attempt.status === 'declined') return { kind: 'over' };
  const at = deps.clock.now();
  const about = { attempt_id: attempt.id, connector: attempt.connector, transaction_id: attempt.payment_id };
  // It has been taken since the order was leased, which goes on with it; in any case nothing goes out beside it.
  if (attempt.status !== 'not_sent') {
    deps.log.warn('try_before_unclear', { ...about, attempt_status: attempt.status });
    return { kind: 'unclear', until: nextLookBackAt(order, at), answered: undefined };
  }
  const word = await askUpstream(deps, attempt);
  switch (word.kind) {
    case 'approved':
    case 'waiting':
      deps.log.warn('try_before_was_taken', about);
      await settleOutgoingInquiry(deps, attempt, word, { at, inquiry: 'hint' });
      return { kind: 'taken' };
    case 'unknown':
      deps.log.warn('try_before_unclear', about);
      return { kind: 'unclear', until: nextLookBackAt(order, deps.clock.now()), answered: false };
    case 'not_found': {
      const until = attempt.created_at + upstreamOf(deps, attempt).settleDelayMs;
      return at < until ? { kind: 'unclear', until, answered: undefined } : { kind: 'over' };
    }
    case 'declined':
      return { kind: 'over' };
  }
}
