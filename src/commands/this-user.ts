/**
 * Who runs a command, where they do not say.
 */

import { userInfo } from 'node:os';

/** Some containers run as a user without a name. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'a user without a name';
  }
}
