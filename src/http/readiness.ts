/**
 * Whether this process can serve, for load balancers.
 *
 * Invariant: an answer comes within two seconds, also while the database keeps silent; a process that cannot tell in time is not
 * ready.
 */

import type { Clock } from '../platform/platform.ts';
import { endsWithin } from '../usecases/patience.ts';

/** Whether this process can serve, and which of its parts can. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: { readonly [name: string]: boolean };
}

export interface ReadinessParts {
  /** Rejects while the database does not answer. */
  ping(): Promise<unknown>;
  /** Rejects while the database, which is asked for the time, does not answer. */
  isClockRight(): Promise<boolean>;
  /** Whether the process is about to stop. */
  isDraining(): boolean;
}

/** Asks all parts of this process whether they can serve. */
export async function readinessOf({ ping, isClockRight, isDraining }: ReadinessParts): Promise<Readiness> {
  const [database, clock] = await Promise.all([
    ping().then(
      () => true,
      () => false,
    ),
    // A clock counts as right until the database says that it is wrong.
    isClockRight().catch(() => true),
  ]);
  const accepting = !isDraining();
  return { ok: database && clock && accepting, checks: { database, accepting, clock } };
}

/** A load balancer asks every few seconds: a process that cannot say within this time that it is ready is not. */
const READY_WITHIN_MS = 2_000;

/** The readiness that `ready` finds; if it fails or takes too long, that of a process whose database does not answer. */
export async function readinessInTime({
  clock,
  ready,
  isDraining,
}: {
  readonly clock: Pick<Clock, 'after'>;
  ready(): Promise<Readiness>;
  readonly isDraining?: () => boolean;
}): Promise<Readiness> {
  const unready = (): Readiness => ({
    ok: false,
    checks: { database: false, accepting: isDraining?.() !== true, clock: true },
  });
  const asked = ready().catch(unready);
  return (await endsWithin(clock, READY_WITHIN_MS, asked)) ? asked : unready();
}
