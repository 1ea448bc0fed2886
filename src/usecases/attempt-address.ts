/**
 * Addresses of ours that we hand out: to an upstream for its callback, to a customer for the issuer's challenge.
 *
 * Invariant: an address names one attempt and proves that we made it, for one purpose. Nobody can guess one.
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Deps } from './deps.ts';

/** What the address is for; an address made for one purpose is not valid for another. */
type Purpose = 'callback_path' | 'challenge_path';

/** The path segment: the attempt's id and a MAC over it. */
export function attemptSegment({ secrets }: Pick<Deps, 'secrets'>, purpose: Purpose, attemptId: string): string {
  return `${attemptId}.${secrets.mac(purpose, attemptId)}`;
}

/** The attempt that a path segment names; undefined unless we made the segment, with any key of the key ring. */
export function attemptOfSegment(
  { secrets }: Pick<Deps, 'secrets'>,
  purpose: Purpose,
  segment: string,
): { readonly shard: number; readonly id: string } | undefined {
  const dot = segment.indexOf('.');
  const id = segment.slice(0, Math.max(0, dot));
  if (!isId('att', id)) return undefined;
  const given = segment.slice(dot + 1);
  if (!secrets.macs(purpose, id).some((proof) => secrets.equal(given, proof))) return undefined;
  return { shard: shardOf(id), id };
}
