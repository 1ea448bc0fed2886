/**
 * Where an upstream calls back: an address that nobody can guess.
 *
 * Invariant: an address names one attempt and proves that we made it; a callback is a hint all the same, and the
 * upstream is asked before anything is believed.
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import type { Deps } from './deps.ts';

const PURPOSE = 'callback_path';

type Needs = Pick<Deps, 'secrets' | 'publicUrl'>;

/** The path segment is the attempt's id and a MAC over it. */
export function callbackUrl(deps: Needs, attempt: Pick<Attempt, 'id' | 'connector'>): string {
  return `${deps.publicUrl}/upstream/${attempt.connector}/${attempt.id}.${deps.secrets.mac(PURPOSE, attempt.id)}`;
}

/** The attempt that a callback's path segment names; undefined unless we made it, with whichever key of the ring. */
export function attemptOfCallback(deps: Needs, segment: string): { shard: number; id: string } | undefined {
  const dot = segment.indexOf('.');
  const id = segment.slice(0, Math.max(0, dot));
  if (!isId('att', id)) return undefined;
  const proofs = deps.secrets.macs(PURPOSE, id);
  if (!proofs.some((proof) => deps.secrets.equal(segment.slice(dot + 1), proof))) return undefined;
  return { shard: shardOf(id), id };
}
