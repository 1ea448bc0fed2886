/**
 * The address for an upstream's callback.
 *
 * Invariant: a callback is only a hint, regardless of its sender: the upstream is asked before anything is settled.
 */

import type { Attempt } from '../domain/records.ts';
import { attemptSegment } from './attempt-address.ts';
import type { Deps } from './deps.ts';

/** The address at which the upstream of an attempt calls back. Its path belongs to this attempt alone, and cannot be guessed. */
export function callbackUrl(
  deps: Pick<Deps, 'secrets' | 'publicUrl'>,
  { id, connector }: Pick<Attempt, 'id' | 'connector'>,
): string {
  return `${deps.publicUrl}/upstream/${connector}/${attemptSegment(deps, 'callback_path', id)}`;
}
