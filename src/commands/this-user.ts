/**
 * Who runs a command, and why.
 *
 * Invariant: whatever name is given, the user that this machine knows is part of the attribution, and the end of it.
 */

import { userInfo } from 'node:os';
import type { Attribution } from '../usecases/operator-input.ts';

/** The name of the user on this machine; in some containers the user has none. */
function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'a user without a name';
  }
}

/** `--by` and `--why`, of every verb that the journal records. */
export interface AttributionOptions {
  readonly by?: string;
  readonly why?: string;
}

/** The same of a verb that asks for `--yes` before it does something for good. */
export interface ConfirmedOptions extends AttributionOptions {
  readonly yes?: true;
}

/**
 * The values of `--by` and `--why`, by default this user and null. A name that was given is followed by this user's, `claire, as
 * root`: what follows the last `, as ` is the machine's word, whatever the name contains. A blank name stays blank, to be refused.
 */
export function attributionOf({ by, why }: AttributionOptions): Attribution {
  const user = thisUser();
  const name = by?.trim() ?? user;
  return { by: name === '' || name === user ? name : `${name}, as ${user}`, why: why ?? null };
}
