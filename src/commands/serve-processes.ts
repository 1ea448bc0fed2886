/**
 * How many processes serve, and what each of them does.
 *
 * Invariant: several processes together do every kind of work that a single one does; a process that answers requests runs no
 * rounds.
 */
import { availableParallelism } from 'node:os';
import { InvalidArgumentError } from 'commander';
import type { Role } from '../assemble.ts';

/** The slot of one of a supervisor's processes; the name identifies it in logs and metrics. */
export interface Slot {
  readonly name: string;
  readonly role: 'api' | 'worker';
}

const MAX = 64;

/** The value of `--processes`; `auto` is one process for each core that this process may use. */
export function readProcesses(text: string): number {
  if (text === 'auto') return Math.min(availableParallelism(), MAX);
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX) return count;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MAX}, or auto for one per core.`);
}

/** `processes` slots of the role; for `all`, that many API processes, and one worker for the background work. */
export function slotsOf(role: Role, processes: number): readonly Slot[] {
  const several = (kind: Slot['role']): Slot[] =>
    Array.from({ length: processes }, (_, index) => ({ name: `${kind}-${index + 1}`, role: kind }));
  return role === 'all' ? [...several('api'), { name: 'worker-1', role: 'worker' }] : several(role);
}
