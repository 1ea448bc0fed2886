/**
 * The carriers that payout lines go to: which may be called just now, and the lines parked until a carrier is back.
 *
 * Invariant: a parked line is started only while its lease lasts; all other lines wait in the database.
 */

import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { CallOutcome } from './call-outcome.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import type { Deps } from './deps.ts';
import { isLeased } from './outgoing-start.ts';

export interface Carriers {
  /** Whether the line's carrier may be called now. A line that has to wait is parked, and offered again. */
  admits(line: PayoutLine): boolean;
  /** Takes the outcome of an admitted line. */
  heard(line: PayoutLine, outcome: CallOutcome): void;
  /** How many of that merchant's lines are parked until that carrier is back. */
  parked(merchantId: string, carrier: string): number;
  /** The carriers that may not be called just now. */
  away(): string[];
  /** Stops offering parked lines. */
  close(): void;
}

/** The name of our own wallets among the carriers; the store uses the same word for their lines. */
const WALLETS = 'wallet';

/** 10 000 lines per carrier at most are parked in memory. */
const MOST_PARKED = 10_000;
/** 10 000 lines waiting in the database are made due when a carrier is back; the rest wait for their own backoff. */
const RETRIED_NOW_MOST = 10_000;

interface Carrier {
  readonly name: string;
  readonly breaker: CircuitBreaker;
  readonly parked: PayoutLine[];
  /** The merchant whose unanswered line opened the breaker last. */
  blamed: string | undefined;
  /** Cancels the scheduled probe. */
  cancel: () => void;
}

export function carrierOf({ connector }: Pick<PayoutLine, 'connector'>): string {
  return connector ?? WALLETS;
}

/** `offer` takes lines that need not wait any more. */
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
    const carrier = { name, breaker: createCircuitBreaker(), parked: [], blamed: undefined, cancel: () => undefined };
    carriers.set(name, carrier);
    return carrier;
  };

  /** Offers one parked line as a probe: another merchant's if possible, in case the blamed merchant's numbers were at fault. */
  const probe = ({ breaker, parked, blamed }: Carrier): void => {
    const now = deps.clock.now();
    if (closed || !breaker.wouldAdmit(now)) return;
    const left = parked.splice(0).filter((line) => isLeased(line, now));
    const other = left.findIndex(({ merchant_id }) => merchant_id !== blamed);
    const [line] = left.splice(Math.max(0, other), 1);
    parked.push(...left);
    if (line !== undefined) offer(line);
  };

  const resume = (carrier: Carrier): void => {
    deps.log.info('payout_carrier_back', { connector: carrier.name });
    carrier.cancel();
    // Lines tried before are made due in the database instead, where any process may claim them.
    for (const line of carrier.parked.splice(0)) if (line.tries === 0) offer(line);
    deps.background(deps.store.payoutLine.retryNow(carrier.name, deps.clock.now(), RETRIED_NOW_MOST));
  };

  return {
    admits(line) {
      const { breaker, parked } = of(line);
      if (breaker.admits(deps.clock.now())) return true;
      if (parked.length < MOST_PARKED) parked.push(line);
      return false;
    },
    heard(line, outcome) {
      const carrier = of(line);
      const news = carrier.breaker.record(outcome, deps.clock.now());
      if (news?.kind === 'closed') resume(carrier);
      else if (news?.kind === 'opened') {
        deps.log.warn('payout_carrier_away', { connector: carrier.name, ms: news.pauseMs });
        carrier.blamed = line.merchant_id;
        carrier.cancel();
        if (!closed) carrier.cancel = deps.clock.after(news.pauseMs, () => probe(carrier));
      } else if (outcome === 'not_called' && !closed) {
        // Scheduled on its own, because a probe may have to skip thousands of parked lines.
        deps.clock.after(0, () => probe(carrier));
      }
    },
    parked(merchantId, name) {
      const lines = carriers.get(name)?.parked ?? [];
      return lines.filter(({ merchant_id }) => merchant_id === merchantId).length;
    },
    away() {
      const now = deps.clock.now();
      return [...carriers.values()].filter(({ breaker }) => !breaker.wouldAdmit(now)).map(({ name }) => name);
    },
    close() {
      closed = true;
      for (const { cancel } of carriers.values()) cancel();
    },
  };
}
