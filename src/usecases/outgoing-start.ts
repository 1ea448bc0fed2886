/**
 * What starting a payout line and starting a refund have in common.
 *
 * Invariant: an upstream's slot is free as soon as it has answered, before the answer is written. Idleness includes those
 * writes.
 */

import type { Answer } from '../connectors/connector.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import { isUnsure, TOO_LATE } from './attempt-ask.ts';
import type { Deps } from './deps.ts';
import { unlessPassing } from './perform.ts';

/** How a start went for whoever made it. */
export interface Started {
  /** Whether the upstream answered; undefined: it was not asked. */
  readonly answered: boolean | undefined;
  /** What it said is still being written. */
  readonly written: Promise<unknown>;
}

/** Nothing was sent; `answered`: whether the upstream did when it was asked about a try before, if it was. */
export function notSent(answered?: boolean): Started {
  return { answered, written: Promise.resolve() };
}

/** Whether an upstream has answered our call. A commit of ours that took too long, so that nobody was asked, says nothing of it. */
export function hasAnswered(word: Answer): boolean | undefined {
  return word === TOO_LATE ? undefined : !isUnsure(word);
}

/** Lets an order that is ours to start wait until then. The lease would do for a while; where this is not written, it does. */
export async function putOff(
  { store }: Pick<Deps, 'store'>,
  table: 'payout_line' | 'refund',
  { shard, id, version }: PayoutLine | Refund,
  next_start_at: number,
): Promise<void> {
  await store.commit({ updates: [{ table, shard, id, version, row: { next_start_at } }] }).catch(unlessPassing);
}

/** What is still being written after upstreams have answered. */
export interface Writing {
  /** Follows it. What fails is left open: the inquiry round finds out what became of it. */
  follow(written: Promise<unknown>, failed: (error: unknown) => void): void;
  isEmpty(): boolean;
}

/** `ended` is told whenever something has been written. */
export function createWriting(ended: () => void): Writing {
  let count = 0;
  const wait = async (written: Promise<unknown>, failed: (error: unknown) => void): Promise<void> => {
    count += 1;
    await written.catch(failed);
    count -= 1;
    ended();
  };
  return { follow: (written, failed) => void wait(written, failed), isEmpty: () => count === 0 };
}
