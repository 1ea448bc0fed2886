/**
 * Addresses of ours that others are given: for an upstream to call back, for a customer to meet the issuer.
 *
 * Invariant: an address names one attempt and proves that we made it, for one purpose. Nobody can guess another one.
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Deps } from './deps.ts';

/** What it is for; one that was made for another purpose leads nowhere. */
type Purpose = 'callback_path' | 'challenge_path';

/** The path segment: the attempt's id and a MAC over it. */
export function attemptSegment({ secrets }: Pick<Deps, 'secrets'>, purpose: Purpose, attemptId: string): string {
  return `${attemptId}.${secrets.mac(purpose, attemptId)}`;
}

/** The attempt that a path segment names; undefined unless we made it, with whichever key of the ring. */
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
