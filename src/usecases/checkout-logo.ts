/**
 * Reads a merchant's logo for its pages.
 *
 * Invariant: only pictures of the known types are served, and only under their current version.
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Deps } from './deps.ts';

export interface Logo {
  readonly type: string;
  readonly bytes: Uint8Array;
}

const TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp'];

/** The merchant's logo, if it has that version; undefined otherwise. */
export async function readLogo(deps: Deps, merchantId: string, version: string): Promise<Logo | undefined> {
  if (!isId('mch', merchantId)) return undefined;
  const logo = await deps.store.merchantLogo.get(shardOf(merchantId), merchantId);
  if (logo === undefined || String(logo.version) !== version || !TYPES.includes(logo.content_type)) return undefined;
  return { type: logo.content_type, bytes: Buffer.from(logo.content, 'base64') };
}
