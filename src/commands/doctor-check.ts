/**
 * What `doctor` finds: one line a check.
 *
 * Invariant: whatever is not well says what to do about it, on the same line.
 */

import { messageOf } from './output.ts';

/** `warn`: it works, and yet should be looked at. `fail`: it does not, or money may be wrong. */
export type Standing = 'ok' | 'warn' | 'fail';

export interface Check {
  readonly name: string;
  readonly status: Standing;
  readonly detail: string;
  /** Of the books: what was found, at most a hundred. */
  readonly findings?: readonly { readonly [field: string]: string }[];
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail };
}

export function warn(name: string, detail: string): Check {
  return { name, status: 'warn', detail };
}

export function fail(name: string, detail: string): Check {
  return { name, status: 'fail', detail };
}

/** Runs checks of that name; what they throw is their failure. */
export async function looking(name: string, run: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await run();
  } catch (error) {
    return [fail(name, messageOf(error))];
  }
}

/** A span as people say it: `40 s`, `12 min`, `5 h`, `3 d`. */
export function spanOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}
