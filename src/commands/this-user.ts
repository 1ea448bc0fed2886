/**
 * Who runs a command, and why: as they say it, or as this machine knows them.
 */

import { userInfo } from 'node:os';
import type { Say } from '../usecases/operator.ts';

/** Some containers run as a user without a name. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'a user without a name';
  }
}

/** What `--by` and `--why` say. */
export function sayOf({ by = thisUser(), why = null }: { readonly by?: string; readonly why?: string | null }): Say {
  return { by, why };
}
