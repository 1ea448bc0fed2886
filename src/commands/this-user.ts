/**
 * Who runs a command, and why: as the options say, or else the user name on this machine.
 */

import { userInfo } from 'node:os';
import type { Attribution } from '../usecases/operator-input.ts';

/** The name of the user on this machine; in some containers the user has none. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'a user without a name';
  }
}

/** The values of `--by` and `--why`, by default this user and null. */
export function attributionOf({
  by = thisUser(),
  why = null,
}: {
  readonly by?: string;
  readonly why?: string | null;
}): Attribution {
  return { by, why };
}
