/**
 * The carriers that payout lines go to: which of them are asked just now, and the lines that wait until one is back.
 *
 * Invariant: a line is kept at hand only as long as its lease lasts; what is not at hand waits in the database.
 */

import type { PayoutLine } from '../domain/outgoing-records.ts';
import { type CarrierGate, createGate } from './carrier-gate.ts';
import type { Deps } from './deps.ts';

export interface Carriers {
  /** Whether the line's carrier is asked now. A line that has to wait is kept, and offered again. */
  admits(line: PayoutLine): boolean;
  /** What came of a line that was let through; `answered` is undefined where its carrier was not asked. */
  heard(line: PayoutLine, answered: boolean | undefined): void;
  /** How many of that merchant's lines are kept until that carrier is back. */
  parked(merchantId: string, carrier: string): number;
  /** Those that are not to be asked just now. */
  away(): string[];
  /** Offers nothing more. */
  close(): void;
}

/** What the wallets of ours are called among the carriers; the store knows their lines by the same word. */
const WALLETS = 'wallet';

/** Of those that wait for a carrier, so many are kept at hand. */
const MOST_PARKED = 10_000;
/** How many lines waiting in the database are made due when a carrier is back; the rest wait for their own backoff. */
const HASTENED_MOST = 10_000;

interface Carrier {
  readonly name: string;
  readonly gate: CarrierGate;
  readonly parked: PayoutLine[];
  /** Whose line it left unanswered last. */
  blamed: string | undefined;
  /** Takes back the next probe. */
  cancel: () => void;
}

export function carrierOf({ connector }: Pick<PayoutLine, 'connector'>): string {
  return connector ?? WALLETS;
}

/** Where the lease has run out, the round will claim the line anew. */
export function isLeased({ next_start_at: until }: PayoutLine, now: number): boolean {
  return until !== null && now < until;
}

/** `offer` takes up lines that need not wait any more. */
export function openCarriers(
  deps: Pick<Deps, 'store' | 'clock' | 'log' | 'background'>,
  offer: (line: PayoutLine) => void,
): Carriers {
  const carriers = new Map<string, Carrier>();
  let closed = false;

  const of = (line: PayoutLine): Carrier => {
    const name = carrierOf(line);
    const known = carriers.get(name);
    if (known !== undefined) return known;
    const carrier = { name, gate: createGate(), parked: [], blamed: undefined, cancel: () => undefined };
    carriers.set(name, carrier);
    return carrier;
  };

  /** Tries one of those that wait: another merchant's first, in case it was for the numbers. */
  const probe = ({ gate, parked, blamed }: Carrier): void => {
    const now = deps.clock.now();
    if (closed || !gate.isOpen(now)) return;
    const left = parked.splice(0).filter((line) => isLeased(line, now));
    const other = left.findIndex(({ merchant_id }) => merchant_id !== blamed);
    const [line] = left.splice(Math.max(0, other), 1);
    parked.push(...left);
    if (line !== undefined) offer(line);
  };

  const isBack = (carrier: Carrier): void => {
    deps.log.info('payout_carrier_back', { connector: carrier.name });
    carrier.cancel();
    // Those that have been tried before are due again now, in the database: whoever claims them has them.
    for (const line of carrier.parked.splice(0)) if (line.tries === 0) offer(line);
    deps.background(deps.store.payoutLine.hasten(carrier.name, deps.clock.now(), HASTENED_MOST));
  };

  return {
    admits(line) {
      const { gate, parked } = of(line);
      if (gate.admits(deps.clock.now())) return true;
      if (parked.length < MOST_PARKED) parked.push(line);
      return false;
    },
    heard(line, answered) {
      const carrier = of(line);
      const news = carrier.gate.heard(answered, deps.clock.now());
      if (news?.kind === 'back') isBack(carrier);
      else if (news?.kind === 'closed') {
        deps.log.warn('payout_carrier_away', { connector: carrier.name, ms: news.pauseMs });
        carrier.blamed = line.merchant_id;
        carrier.cancel();
        if (!closed) carrier.cancel = deps.clock.after(news.pauseMs, () => probe(carrier));
      } else if (answered === undefined && !closed) {
        // In a turn of its own: thousands that wait may all have to be passed over.
        deps.clock.after(0, () => probe(carrier));
      }
    },
    parked(merchantId, name) {
      const lines = carriers.get(name)?.parked ?? [];
      return lines.filter(({ merchant_id }) => merchant_id === merchantId).length;
    },
    away() {
      const now = deps.clock.now();
      return [...carriers.values()].filter(({ gate }) => !gate.isOpen(now)).map(({ name }) => name);
    },
    close() {
      closed = true;
      for (const { cancel } of carriers.values()) cancel();
    },
  };
}
