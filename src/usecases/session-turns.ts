/**
 * Whose turn it is on a session in this process: that of a submit whose attempt is open, or of a look at a challenge. Other work
 * on the session waits for its end, and then finds its outcome.
 *
 * Invariant: the turn belongs to the work that took it last, and ends with that work, not with work that had the turn before.
 * This is an optimisation, not a lock: the versions of session and attempt decide, also between processes.
 */

import type { Clock } from '../platform/platform.ts';
import { endsWithin, pause } from './patience.ts';

/** 10 s that work waits for other work on its session, in this process or another (contract §2, 1203). */
export const TURN_PATIENCE_MS = 10_000;
/** 100 ms until work in another process is looked for again: nothing tells this one when it ends. */
export const LOOK_AGAIN_MS = 100;

/** Lets work on a session wait for other work on it in this process. */
export interface SessionTurns {
  /** Whether work of this process has the session's turn. */
  isTaken(sessionId: string): boolean;
  /** Runs work that the database has given the session to: the turn becomes this work's, whatever work has it now. */
  take<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
  /** Runs work once no other work has the turn, however long that takes. */
  inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T>;
  /**
   * Resolves when the turn ends, well or badly, and no later than `TURN_PATIENCE_MS` after `begunAt` (milliseconds), when the
   * caller began to wait. If no work of this process has the turn, it resolves after `LOOK_AGAIN_MS`.
   */
  waitFor(sessionId: string, begunAt: number): Promise<void>;
}

/** Makes the turns of this process; none is taken. */
export function createSessionTurns(clock: Pick<Clock, 'now' | 'after'>): SessionTurns {
  const turns = new Map<string, Promise<unknown>>();

  function take<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const turn: Promise<T> = work().finally(() => {
      if (turns.get(sessionId) === turn) turns.delete(sessionId);
    });
    turns.set(sessionId, turn);
    return turn;
  }

  return {
    isTaken: (sessionId) => turns.has(sessionId),
    take,
    async inTurn(sessionId, work) {
      for (let turn = turns.get(sessionId); turn !== undefined; turn = turns.get(sessionId)) {
        await turn.catch(() => undefined);
      }
      // Nothing is awaited between the last check of the map and the entry: one of all the callers woken gets the turn.
      return take(sessionId, work);
    },
    async waitFor(sessionId, begunAt) {
      const turn = turns.get(sessionId);
      if (turn === undefined) return pause(clock, LOOK_AGAIN_MS);
      const patience = Math.min(TURN_PATIENCE_MS, begunAt + TURN_PATIENCE_MS - clock.now());
      await endsWithin(clock, patience, turn);
    },
  };
}
