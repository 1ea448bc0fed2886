/** What an operator says who books money that came late. */
import type { LateTarget } from '../../src/domain/late-money.ts';
import type { LateVerdict } from '../../src/usecases/attempt-book.ts';

/** The verdict about that attempt; money that was returned has a movement of its own. */
export function bookedTo(to: LateTarget, attemptId: string, why = 'the shop has delivered'): LateVerdict {
  const verdict = { to, by: 'amina', why };
  return to === 'payer' ? { ...verdict, reference: `BACK-${attemptId}` } : verdict;
}

/** The verdict that the attempt's payer has got the money back. */
export function givenBack(attemptId: string): LateVerdict {
  return bookedTo('payer', attemptId, 'given back at the portal');
}
