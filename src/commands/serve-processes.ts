/**
 * How many processes serve, and what each of them does.
 *
 * Invariant: every kind of work that one process does is done by several too; whoever answers requests never waits for a
 * round.
 */
import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';

export type Role = 'all' | 'api' | 'worker';

/** One of the processes of a supervisor; the name tells it apart in logs and metrics. */
export interface Place {
  readonly name: string;
  readonly role: 'api' | 'worker';
}

const MOST = 64;

/** The value of `--processes`; `auto` is one for each core that this process may use. */
export function readProcesses(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), MOST);
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST) return count;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MOST}, or auto for one per core.`);
}

/** So many of the role; of `all` so many that answer requests, and one beside them for the background work. */
export function placesOf(role: Role, processes: number): readonly Place[] {
  const several = (kind: Place['role']): Place[] =>
    Array.from({ length: processes }, (_, index) => ({ name: `${kind}-${index + 1}`, role: kind }));
  return role === 'all' ? [...several('api'), { name: 'worker-1', role: 'worker' }] : several(role);
}
