/**
 * Where an upstream calls back.
 *
 * Invariant: a callback is a hint, whoever sends it: the upstream is asked before anything is believed.
 */

import type { Attempt } from '../domain/records.ts';
import { attemptSegment } from './attempt-address.ts';
import type { Deps } from './deps.ts';

export function callbackUrl(
  deps: Pick<Deps, 'secrets' | 'publicUrl'>,
  { id, connector }: Pick<Attempt, 'id' | 'connector'>,
): string {
  return `${deps.publicUrl}/upstream/${connector}/${attemptSegment(deps, 'callback_path', id)}`;
}
