/**
 * Acceptances that a customer has been told of before they are written: they are written a moment later, or with the next change.
 *
 * No money depends on the fact that an upstream has accepted an order and waits for its customer: the attempt is already
 * committed and open, and its payment holds the session. So a submit is answered without a second commit (decision 25). The
 * acceptance is written before this process next reads the payment by its session, in the same change as a final answer that
 * arrives first, or else after a second (or once the database is back). Invariant: each is written once. It is lost only if the
 * process dies, or the database refuses the row, which is logged as an error. Its attempt is then like any whose call went
 * unanswered, and the inquiry round settles it.
 */

import type { SettlementRows } from '../domain/settlement.ts';
import type { Clock, Log } from '../platform/platform.ts';
import { isTransient } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import { type Recordings, recorded, whileRecording } from './attempt-record.ts';

/** 1 s until an acceptance is written. Until then, other processes see the payment as `processing`. */
const WRITTEN_AFTER_MS = 1_000;
/** 2000 acceptances at most may be unwritten; any further one is written before its customer is told. */
const MAX_UNWRITTEN = 2_000;

/** An acceptance that its customer may be told of before it is written. */
export interface Acceptance {
  /** The rows as the change that opened the attempt left them: the session is held, and the attempt open. */
  readonly rows: SettlementRows & { readonly session: object };
  /** Writes the acceptance, which may have been overtaken by a later answer that another process has settled. */
  write(): Promise<unknown>;
}

/** The acceptances of this process that are not written yet. */
export interface Acceptances {
  /** Takes on an acceptance. Returns false when full, or closing: then the caller must write it before answering. */
  defer(acceptance: Acceptance): boolean;
  /**
   * Runs `settle` on the acceptance's rows instead of writing the acceptance first; undefined if the attempt has none unwritten.
   * If `settle` fails, the acceptance counts as unwritten again.
   */
  settledBy<T>(attemptId: string, settle: (rows: SettlementRows) => Promise<T>): Promise<T> | undefined;
  /** Writes the attempt's acceptance if it is unwritten. Resolves when it is written, or after two seconds at most. */
  writtenOf(attemptId: string): Promise<void>;
  /** Writes the acceptance of the session's payment, as `writtenOf` does; undefined if none is unwritten. */
  writtenOfSession(sessionId: string): Promise<void> | undefined;
  /** Tries once to write all unwritten acceptances, and takes on no more. */
  close(): Promise<void>;
}

interface Unwritten extends Acceptance {
  readonly cancel: () => void;
}

interface Needs {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Log, 'error'>;
  readonly recording: Recordings;
  /** Keeps track of work that no caller awaits. */
  readonly background: (work: Promise<unknown>) => void;
}

/** Keeps the unwritten acceptances of this process, until `close`. */
export function createAcceptances(deps: Needs): Acceptances {
  const unwritten = new Map<string, Unwritten>();
  const attemptOfSession = new Map<string, string>();
  let closed = false;

  function keep(acceptance: Acceptance): void {
    const { attempt, payment } = acceptance.rows;
    const cancel = deps.clock.after(WRITTEN_AFTER_MS, () => begin(attempt.id));
    unwritten.set(attempt.id, { ...acceptance, cancel });
    attemptOfSession.set(payment.session_id, attempt.id);
  }

  /** Removes an acceptance for the caller to write, so that no other caller finds it. */
  function take(attemptId: string): Unwritten | undefined {
    const found = unwritten.get(attemptId);
    if (found === undefined) return undefined;
    found.cancel();
    unwritten.delete(attemptId);
    return found;
  }

  /** Runs `work` as the recording of the attempt's call: readers of the attempt and of its session wait for it. */
  function writing<T>({ rows }: Acceptance, work: () => Promise<T>): Promise<T> {
    const { id } = rows.attempt;
    const { session_id } = rows.payment;
    const done = whileRecording(deps, id, work).finally(() => {
      if (attemptOfSession.get(session_id) === id && !unwritten.has(id)) attemptOfSession.delete(session_id);
    });
    deps.background(done.catch(() => undefined));
    return done;
  }

  async function write(acceptance: Acceptance): Promise<void> {
    try {
      await acceptance.write();
    } catch (error) {
      const { id, payment_id } = acceptance.rows.attempt;
      deps.log.error('acceptance_not_written', { attempt_id: id, transaction_id: payment_id }, error);
      if (isTransient(error) && !closed) keep(acceptance);
    }
  }

  function begin(attemptId: string): void {
    const found = take(attemptId);
    if (found !== undefined) void writing(found, () => write(found));
  }

  return {
    defer(acceptance) {
      if (closed || unwritten.size >= MAX_UNWRITTEN) return false;
      keep(acceptance);
      return true;
    },
    settledBy(attemptId, settle) {
      const found = take(attemptId);
      if (found === undefined) return undefined;
      return writing(found, async () => {
        try {
          return await settle(found.rows);
        } catch (error) {
          if (!closed) keep(found);
          throw error;
        }
      });
    },
    writtenOf(attemptId) {
      begin(attemptId);
      return recorded(deps, attemptId);
    },
    writtenOfSession(sessionId) {
      const attemptId = attemptOfSession.get(sessionId);
      if (attemptId === undefined) return undefined;
      begin(attemptId);
      return recorded(deps, attemptId);
    },
    async close() {
      closed = true;
      const ids = [...unwritten.keys()];
      for (const id of ids) begin(id);
      await Promise.all(ids.map((id) => recorded(deps, id)));
    },
  };
}

/** The session with its credential and merchant, at least as new as what this process has already answered of its payment. */
export function sessionAsTold(
  { store, acceptances }: { readonly store: Pick<Store, 'session'>; readonly acceptances: Acceptances },
  shard: number,
  id: string,
): ReturnType<Store['session']['caller']> {
  const writing = acceptances.writtenOfSession(id);
  return writing === undefined ? store.session.caller(shard, id) : writing.then(() => store.session.caller(shard, id));
}
