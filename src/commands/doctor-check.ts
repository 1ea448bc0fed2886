/**
 * What `doctor` finds: one line per check.
 *
 * Invariant: a check that is not well says on the same line what to do about it.
 */

import { messageOf } from './output.ts';

/** `warn`: it works, but should be looked at. `fail`: it does not work, or money may be wrong. */
export type Standing = 'ok' | 'warn' | 'fail';

/** The result of one check. `detail` is one line, which says what to do unless the status is `ok`. */
export interface Check {
  readonly name: string;
  readonly status: Standing;
  readonly detail: string;
  /** For the books: the findings, at most a hundred. */
  readonly findings?: readonly { readonly [field: string]: string }[];
}

/** A check that found nothing to do; `detail` is what it saw. */
export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail };
}

/** A check of what works but should be looked at; `detail` says how. */
export function warn(name: string, detail: string): Check {
  return { name, status: 'warn', detail };
}

/**
 * A check of what does not work, or of money that may be wrong; `detail` says what to do. One such check makes the exit status 1.
 */
export function fail(name: string, detail: string): Check {
  return { name, status: 'fail', detail };
}

/** Runs checks; an error that they throw becomes a failed check of that name. */
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
