/**
 * How many files are taken in at once, whichever door they come by: each is some megabytes in memory.
 *
 * Invariant: a customer never has more than two of a process's places and a merchant never more than eight, so that
 * nobody's silence keeps the others waiting.
 */

import { Refusal } from '../domain/refusal.ts';
import { NoPlace } from './limits.ts';

export interface UploadSlots {
  /**
   * Takes a place for a sender (a session's id, or a credential's) of a merchant. Returns what gives it back, once.
   *
   * @throws Refusal 1301 when the sender or the merchant has its share, 1402 when every place is taken.
   */
  take(sender: string, merchant: string): () => void;
}

const OF_SENDER = { name: 'uploads', most: 2 };
const OF_MERCHANT = { name: 'merchant_uploads', most: 8 };
const AT_ONCE = 24;
const RETRY_SECONDS = 2;

export function createUploadSlots(): UploadSlots {
  const taken = new Map<string, number>();
  let all = 0;
  const countOf = (owner: string): number => taken.get(owner) ?? 0;
  const add = (owner: string, places: 1 | -1): void => {
    const count = countOf(owner) + places;
    if (count === 0) taken.delete(owner);
    else taken.set(owner, count);
  };
  return {
    take(sender, merchant) {
      if (countOf(sender) >= OF_SENDER.most) throw new NoPlace(OF_SENDER, RETRY_SECONDS);
      if (countOf(merchant) >= OF_MERCHANT.most) throw new NoPlace(OF_MERCHANT, RETRY_SECONDS);
      if (all >= AT_ONCE) throw new Refusal(1402, { retryAfter: RETRY_SECONDS });
      const change = (places: 1 | -1): void => {
        all += places;
        add(sender, places);
        add(merchant, places);
      };
      change(1);
      let held = true;
      return () => {
        if (held) change(-1);
        held = false;
      };
    },
  };
}
