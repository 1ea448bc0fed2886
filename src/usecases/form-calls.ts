/**
 * How the newest calls of this process for the card network's form went. No attempt exists by then, so the database has no trace
 * of them; without them a network that opens no form would be reported as operational.
 *
 * Invariant: only a bounded number is remembered, and only to be reported (contract §9): nothing is decided by them.
 */
import type { UpstreamCall } from '../domain/availability.ts';
import type { Clock } from '../platform/platform.ts';

/** Remembers the newest calls for the card network's form. */
export interface FormCalls {
  note(answered: boolean): void;
  /** The newest calls, in order of time. */
  newest(): readonly UpstreamCall[];
}

/** 50 calls, as many as are read of each shard's attempts. */
const MAX_REMEMBERED = 50;

/** Remembers the calls of this process, none at first. */
export function createFormCalls(clock: Pick<Clock, 'now'>): FormCalls {
  let calls: readonly UpstreamCall[] = [];
  return {
    note(answered) {
      calls = [...calls, { at: clock.now(), answered, silent: false }].slice(-MAX_REMEMBERED);
    },
    newest: () => calls,
  };
}
