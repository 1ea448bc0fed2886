/**
 * Limits how many files are received at once, by the API and the pages together: each is some megabytes in memory.
 *
 * Invariant: a customer never has more than two of a process's slots and a merchant never more than eight, so that no silent
 * sender keeps the others waiting. A call waits for a slot for seconds at most, with its body unread, and only a bounded number of
 * calls wait.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { ConcurrencyExceeded } from './limits.ts';

/** The places for files that are being received, and for those that are being stored. */
export interface UploadSlots {
  /**
   * Takes a slot for a sender (a session's id, or a credential's) of a merchant. Returns the function that gives it back.
   *
   * @throws Refusal 1301 when the sender or the merchant has its share, 1402 when every slot is taken.
   */
  take(sender: string, merchant: string): () => void;
  /**
   * Takes a slot for a call that others may repeat at the same time, under one Idempotency-Key (contract §7): it waits for its
   * turn before it is refused.
   */
  waitFor(sender: string, merchant: string): Promise<() => void>;
  /**
   * Waits until a file that has arrived may be judged, sealed and stored, which takes six times its size in memory. Returns the
   * function that lets the next one.
   */
  finish(): Promise<() => void>;
}

const OF_SENDER = { name: 'uploads', most: 2 };
const OF_MERCHANT = { name: 'merchant_uploads', most: 8 };
const AT_ONCE = 24;
/** Files that are judged, sealed and stored at once, of those that have arrived. */
const FINISHED_AT_ONCE = 4;
const RETRY_SECONDS = 2;
/** How long a call waits: a sender of a photo holds its slot for seconds. */
const PATIENCE_MS = 10_000;
const WAITING_OF_SENDER = 128;
const MAX_WAITING = 1_024;

interface Waiter {
  readonly sender: string;
  readonly merchant: string;
  admit(giveBack: () => void): void;
}

/** Keeps the 24 slots of one process. `after` ends the wait for one. */
export function createUploadSlots({ after }: Pick<Clock, 'after'>): UploadSlots {
  const taken = new Map<string, number>();
  let all = 0;
  /** The longest waiting first. */
  const waiters = new Set<Waiter>();
  const countOf = (owner: string): number => taken.get(owner) ?? 0;
  const add = (owner: string, slots: 1 | -1): void => {
    const count = countOf(owner) + slots;
    if (count === 0) taken.delete(owner);
    else taken.set(owner, count);
  };

  const refusalFor = (sender: string, merchant: string): Refusal | undefined => {
    if (countOf(sender) >= OF_SENDER.most) return new ConcurrencyExceeded(OF_SENDER, RETRY_SECONDS);
    if (countOf(merchant) >= OF_MERCHANT.most) return new ConcurrencyExceeded(OF_MERCHANT, RETRY_SECONDS);
    return all >= AT_ONCE ? new Refusal(1402, { retryAfter: RETRY_SECONDS }) : undefined;
  };

  const hold = (sender: string, merchant: string): (() => void) => {
    const change = (slots: 1 | -1): void => {
      all += slots;
      add(sender, slots);
      add(merchant, slots);
    };
    change(1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      change(-1);
      admitNext();
    };
  };

  /** A slot has come free: the first waiter that may have it gets it. */
  const admitNext = (): void => {
    for (const waiter of waiters) {
      if (refusalFor(waiter.sender, waiter.merchant) !== undefined) continue;
      waiters.delete(waiter);
      waiter.admit(hold(waiter.sender, waiter.merchant));
      return;
    }
  };

  let finishing = 0;
  /** The longest waiting first. */
  const arrived: (() => void)[] = [];
  const finished = (): void => {
    const next = arrived.shift();
    // The slot is handed over, not freed and taken again.
    if (next === undefined) finishing -= 1;
    else next();
  };

  const mayWait = (sender: string): boolean => {
    if (waiters.size >= MAX_WAITING) return false;
    let own = 0;
    for (const waiter of waiters) if (waiter.sender === sender) own += 1;
    return own < WAITING_OF_SENDER;
  };

  return {
    take(sender, merchant) {
      const refusal = refusalFor(sender, merchant);
      if (refusal !== undefined) throw refusal;
      return hold(sender, merchant);
    },
    async waitFor(sender, merchant) {
      const refusal = refusalFor(sender, merchant);
      if (refusal === undefined) return hold(sender, merchant);
      if (!mayWait(sender)) throw refusal;
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          sender,
          merchant,
          admit(giveBack) {
            cancel();
            resolve(giveBack);
          },
        };
        const cancel = after(PATIENCE_MS, () => {
          waiters.delete(waiter);
          reject(refusal);
        });
        waiters.add(waiter);
      });
    },
    async finish() {
      if (finishing < FINISHED_AT_ONCE) finishing += 1;
      else await new Promise<void>((resolve) => arrived.push(resolve));
      let held = true;
      return () => {
        if (held) finished();
        held = false;
      };
    },
  };
}
