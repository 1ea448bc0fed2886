/**
 * The dispatcher: starts payout lines that are ready, and backs off from carriers that do not answer.
 *
 * Invariant: a line is started only while this process holds its lease; if the process dies, the round claims the line. No
 * merchant and no carrier holds up another one's lines, and lines to wallets wait for no carrier.
 */

import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import type { Merchant } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import type { FairQueueLimits } from './fair-shares.ts';
import { freshReads } from './fresh-read.ts';
import { waitingRoutes } from './holds.ts';
import { isLeased } from './outgoing-start.ts';
import { carrierOf, openCarriers } from './payout-carriers.ts';
import { startLine } from './payout-start.ts';
import { createSender, notSent, type Sender, type Sent } from './sender.ts';

/** The connector that pays; null: one of our own wallets is credited. */
type Routed = Pick<PayoutLine, 'connector'>;

/** Sends payout lines from memory. */
export interface Dispatcher extends Pick<Sender<PayoutLine>, 'idle' | 'close'> {
  /** Takes on a line that has just been committed, or that the round has claimed. Returns false when there is no room. */
  offer(line: PayoutLine, from?: 'commit' | 'claim'): boolean;
  /**
   * Carriers for which no more lines should be claimed now: they do not answer, an operator holds them, or they have enough
   * claimed lines in memory.
   */
  busy(): string[];
  /** Whether there is no room for any line. */
  isFull(): boolean;
  /**
   * Whether more lines may be started for at least one carrier of a batch: it is not away, fewer than the limit of its
   * merchant's lines wait for it, and it has fewer than the limit of leased lines in memory. No carrier of the batch may have
   * four times the limit waiting.
   */
  hasRoomFor(batch: Pick<PayoutBatch, 'merchant_id'> & { readonly beneficiaries: readonly Routed[] }): boolean;
}

const LIMITS: FairQueueLimits = { atReceiver: 64, inAll: 512, waitingAtReceiver: 10_000, waitingInAll: 20_000 };
/**
 * 1024 lines: with this many leased lines of a carrier in memory, no more are leased; with this many of one merchant's waiting
 * for a carrier, no more of the merchant's batches begin. Freshly committed lines do not count as leased, or a payday would
 * starve the lines that wait in the database.
 */
const ENOUGH = 1_024;

/**
 * 3/4: until this share of the queue is used, a merchant with nothing queued can always begin a batch. The rest is reserved for
 * lines that may start already.
 */
const MAX_NEWCOMERS = 3 / 4;

/** 4 times the limit may wait for the other carriers of a batch, as long as one of its carriers has room. */
const MAX_BESIDE = 4;

/** A line in memory, and whether the round has claimed it. */
interface Queued {
  readonly line: PayoutLine;
  readonly isClaimed: boolean;
}

/** Makes the dispatcher of this process. `limits` say how many lines may be in flight and queued; `enough`: see `ENOUGH`. */
export function createDispatcher(deps: Deps, limits: FairQueueLimits = LIMITS, enough: number = ENOUGH): Dispatcher {
  const merchantOf = rememberMerchants(deps);
  const claimed = new Map<string, number>();

  const count = ({ line, isClaimed }: Queued, more: number): void => {
    if (!isClaimed) return;
    const name = carrierOf(line);
    claimed.set(name, (claimed.get(name) ?? 0) + more);
  };
  const hasEnough = (carrier: string): boolean => (claimed.get(carrier) ?? 0) >= enough;

  const send = async (queued: Queued): Promise<Sent> => {
    count(queued, -1);
    const { line } = queued;
    if (!isLeased(line, deps.clock.now())) return notSent();
    if (!carriers.admits(line)) return notSent('silent');
    try {
      const sent = await startLine(deps, line, await merchantOf(line));
      carriers.record(line, sent.outcome);
      return sent;
    } catch (error) {
      carriers.record(line, 'not_called');
      throw error;
    }
  };
  const about = ({ line }: Queued) => ({ transaction_id: line.id, merchant_id: line.merchant_id });
  const sender = createSender<Queued>(deps, limits, { kind: 'payout', about, send });

  const offer: Dispatcher['offer'] = (line, from = 'commit') => {
    if (line.status !== 'pending' || line.next_start_at === null) return false;
    const queued = { line, isClaimed: from === 'claim' };
    count(queued, 1);
    const isTaken = sender.add(line.merchant_id, carrierOf(line), queued);
    if (!isTaken) count(queued, -1);
    return isTaken;
  };
  const carriers = openCarriers(deps, offer);
  const crowded = (): string[] => [...carriers.away(), ...[...claimed.keys()].filter(hasEnough)];

  return {
    offer,
    busy: () => [...new Set([...crowded(), ...waitingRoutes(deps.holds)])],
    isFull: () => sender.waitingInAll() >= limits.waitingInAll,
    hasRoomFor({ merchant_id, beneficiaries }) {
      // New batches may fill half of the queue; the other half is for leased lines. A merchant with nothing queued still gets a
      // place while at least half of that other half is free.
      const waiting = sender.waitingInAll();
      const least = waiting < MAX_NEWCOMERS * limits.waitingInAll ? 1 : 0;
      const room = Math.min(enough, Math.max(least, limits.waitingInAll / 2 - waiting));
      // Lines of held routes do not come back to this queue, and so cannot fill it.
      const shut = new Set(crowded());
      const goesTo = [...new Set(beneficiaries.map(carrierOf))];
      const waitingFor = (one: string): number => sender.waiting(merchant_id, one) + carriers.parked(merchant_id, one);
      return (
        goesTo.some((one) => !shut.has(one) && waitingFor(one) < room) &&
        goesTo.every((one) => waitingFor(one) < MAX_BESIDE * room)
      );
    },
    idle: sender.idle,
    close() {
      carriers.close();
      return sender.close();
    },
  };
}

/** 1 s within which a merchant's suspension takes effect here. */
const MERCHANT_LIFE_MS = 1_000;
const MAX_MERCHANTS = 10_000;

function rememberMerchants(deps: Pick<Deps, 'store' | 'clock'>): (line: PayoutLine) => Promise<Merchant> {
  const reads = freshReads<Merchant>({ now: () => deps.clock.now(), lifeMs: MERCHANT_LIFE_MS, most: MAX_MERCHANTS });
  const read = async ({ shard, merchant_id }: PayoutLine): Promise<Merchant> => {
    const merchant = await deps.store.merchant.get(shard, merchant_id);
    if (merchant === undefined) throw new Error(`merchant ${merchant_id} is gone`);
    return merchant;
  };
  return (line) => reads(line.merchant_id, () => read(line));
}
