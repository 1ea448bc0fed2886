/**
 * A dialler: connects to the server, with a backoff, for all that wait for the connection.
 *
 * Invariant: one attempt at a time is under way, and no caller waits long for a server that is known to be unreachable; an outage is
 * reported once.
 */

import { withDeadline } from './deadline.ts';
import { codeOf, StoreUnavailable } from './errors.ts';

/** Pauses between attempts to connect; if the attempt after the last pause fails too, the caller's run fails. */
const BACKOFF_MS = [25, 50, 100, 200, 400, 800];
/** How long a caller waits for a connection while the database is known to be unreachable. */
const GLANCE_MS = 250;

export interface Dialler<C> {
  /** The connection that is there, or a new one. @throws StoreUnavailable if there is none by the deadline, or sooner. */
  dial(deadline: number): Promise<C>;
  /** A connection fell silent: the next callers wait only `GLANCE_MS` for another one. */
  noteSilence(): void;
}

export interface DiallerParts<C> {
  /** Makes a connection. */
  readonly open: () => Promise<C>;
  /** The connection that is there meanwhile. @throws StoreUnavailable if none is wanted any more. */
  readonly current: () => C | undefined;
  readonly onError: (error: Error) => void;
}

/** Makes a dialler. It does not connect before it is asked to dial. */
export function openDialler<C>({ open, current, onError }: DiallerParts<C>): Dialler<C> {
  /** An attempt to connect, which may outlive the run that began it. */
  let attempt: Promise<C> | undefined;
  /** Whether the database is known to be unreachable: the last attempt failed, or a connection fell silent. */
  let away = false;

  const openOnce = async (): Promise<C> => {
    const opened = await open();
    away = false;
    return opened;
  };

  const attemptToOpen = (): Promise<C> => {
    attempt ??= openOnce().finally(() => {
      attempt = undefined;
    });
    return attempt;
  };

  return {
    async dial(deadline) {
      const until = away ? Math.min(deadline, performance.now() + GLANCE_MS) : deadline;
      let code: string | undefined;
      for (const pause of [...(away ? [] : BACKOFF_MS), undefined]) {
        const connection = current();
        if (connection !== undefined) return connection;
        try {
          return await withDeadline(until, attemptToOpen());
        } catch (error) {
          code = codeOf(error);
        }
        if (pause === undefined || performance.now() + pause >= until) break;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
      // Reported once per outage, not once per caller.
      if (!away) onError(new StoreUnavailable(`the database cannot be reached (${code ?? 'no code'})`));
      away = true;
      throw new StoreUnavailable(undefined, code);
    },
    noteSilence() {
      away = true;
    },
  };
}
