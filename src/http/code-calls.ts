/**
 * Counts calls about a code by their payment.
 *
 * Invariant: the tries of a code, and how many resends a payment has in all, are kept with the code, exactly (contract §8). Of the
 * two counts, the headers tell the one that is used up sooner.
 */

import type { Left } from '../domain/one-time-code.ts';
import { Refusal } from '../domain/refusal.ts';
import { CODE_GUARDS, type CodeGuard, guardedCalls } from '../domain/traffic-limit.ts';
import type { Clock } from '../platform/platform.ts';
import type { SessionCaller } from '../usecases/callers.ts';
import type { CodeCalls } from '../usecases/code-calls.ts';
import type { Call } from './route.ts';
import { slidingWindow } from './sliding-window.ts';

/** The counts of one guarded route, for each of its calls. */
export function codeCalls(
  clock: Pick<Clock, 'now'>,
  guard: CodeGuard,
): (call: Pick<Call<SessionCaller>, 'caller' | 'tellLeft'>) => CodeCalls {
  const window = slidingWindow(clock, CODE_GUARDS[guard]);
  return ({ caller, tellLeft }) => {
    let calls: Left | undefined;
    let kept: Left | undefined;
    const say = (): Left | undefined => {
      const least = calls === undefined || (kept !== undefined && kept.count <= calls.count) ? kept : calls;
      if (least !== undefined) tellLeft(least);
      return least;
    };
    return {
      count(payment) {
        const most = guardedCalls(guard, caller.merchant.settings.rate_limits);
        const { allowed, remaining, reset, retryAfter } = window.take(payment.id, most);
        calls = { count: remaining, seconds: reset };
        if (allowed) {
          say();
          return;
        }
        tellLeft(calls);
        throw new Refusal(1301, { transactionId: payment.id, retryAfter });
      },
      tell(left) {
        kept = left;
        return say() ?? left;
      },
    };
  };
}
