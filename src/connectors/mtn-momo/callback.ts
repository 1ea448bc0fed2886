/**
 * What the body of an MTN MoMo callback claims. It is unsigned, and comes at most once, by PUT or POST.
 *
 * Invariant: never throws, and never says that money moved. Anybody who knows the address can send one.
 */

import type { CallbackHint } from '../connector.ts';
import { meaningOf } from './statuses.ts';

/** Characters. Their callbacks are below a kilobyte; a longer body is not theirs and is not parsed. */
const LONGEST = 16_384;

/** `finished` when it names a status that would be final, `open` when it names one that is not. */
export function hintOf(body: string): CallbackHint {
  if (body.length > LONGEST) return 'unreadable';
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== 'object' || parsed === null || !('status' in parsed)) return 'unreadable';
    const meaning = meaningOf(parsed.status);
    if (meaning === undefined) return 'unreadable';
    return meaning === 'waiting' ? 'open' : 'finished';
  } catch {
    return 'unreadable';
  }
}
