/**
 * The carriers that payout lines go to: which may be called just now, and the lines parked until a carrier is back.
 *
 * Invariant: a parked line is started only while its lease lasts; all other lines wait in the database. A line that was never
 * tried waits for no line that fails again and again: a carrier that takes only some numbers is not away.
 */

import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { CallOutcome } from './call-outcome.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import type { Deps } from './deps.ts';
import { isLeased } from './outgoing-start.ts';

/** Decides by each carrier's last answers which lines may be sent to it. */
export interface Carriers {
  /** Whether the line's carrier may be called now. A line that has to wait is parked, and offered again. */
  admits(line: PayoutLine): boolean;
  /** Takes the outcome of the call for a line that was admitted. */
  record(line: PayoutLine, outcome: CallOutcome): void;
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
const MAX_PARKED = 10_000;
/** 10 000 lines waiting in the database are made due when a carrier is back; the rest wait for their own backoff. */
const MAX_RETRIED_NOW = 10_000;

/** 3 tries from which on a line is suspect: its failure says something of its number, and no longer that the carrier is away. */
const MIN_SUSPECT_TRIES = 3;
/**
 * 100 failures of suspect lines in a row, and no answer to any line, are ignored; further ones count. An outage may begin when all
 * lines that are left have failed three times, after hours in which the carrier took only some calls.
 */
const MAX_IGNORED_FAILURES = 100;

interface Carrier {
  readonly name: string;
  readonly breaker: CircuitBreaker;
  readonly parked: PayoutLine[];
  /** How many calls for suspect lines were left unanswered since the carrier last answered one. */
  ignoredFailures: number;
  /** The merchant whose unanswered line opened the breaker last. */
  blamedMerchant: string | undefined;
  /** The line that was offered as a probe. */
  probeLine: PayoutLine | undefined;
  /** Whether the next probe is scheduled for this very moment. */
  isProbedSoon: boolean;
  /** Cancels the scheduled probe. */
  cancel: () => void;
}

/** By whom a line is paced: its connector, or one name for all lines to our own wallets. */
export function carrierOf({ connector }: Pick<PayoutLine, 'connector'>): string {
  return connector ?? WALLETS;
}

/** `offer` is called with each parked line once it need not wait any more. */
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
    const carrier: Carrier = {
      name,
      breaker: createCircuitBreaker(),
      parked: [],
      ignoredFailures: 0,
      blamedMerchant: undefined,
      probeLine: undefined,
      isProbedSoon: false,
      cancel: () => undefined,
    };
    carriers.set(name, carrier);
    return carrier;
  };

  /** Offers one parked line as a probe. */
  const probe = (carrier: Carrier): void => {
    const { breaker, parked } = carrier;
    const now = deps.clock.now();
    carrier.isProbedSoon = false;
    if (!breaker.wouldAdmit(now)) return;
    const left = parked.splice(0).filter((line) => isLeased(line, now));
    const line = bestProbe(left, carrier);
    for (const one of left) if (one !== line) parked.push(one);
    carrier.probeLine = line;
    if (line !== undefined) offer(line);
  };

  const probeIn = (carrier: Carrier, milliseconds: number): void => {
    unschedule(carrier);
    if (!closed) carrier.cancel = deps.clock.after(milliseconds, () => probe(carrier));
  };

  /** Scheduled on its own: a probe may have to skip thousands of parked lines, and others may be about to be parked. */
  const probeSoon = (carrier: Carrier): void => {
    if (carrier.isProbedSoon || !carrier.breaker.wouldAdmit(deps.clock.now())) return;
    probeIn(carrier, 0);
    carrier.isProbedSoon = true;
  };

  const resume = (carrier: Carrier): void => {
    deps.log.info('payout_carrier_back', { connector: carrier.name });
    unschedule(carrier);
    // Lines tried before are made due in the database instead, where any process may claim them.
    for (const line of carrier.parked.splice(0)) if (line.tries === 0) offer(line);
    deps.background(deps.store.payoutLine.retryNow(carrier.name, deps.clock.now(), MAX_RETRIED_NOW));
  };

  return {
    admits(line) {
      const carrier = of(line);
      const { breaker, parked } = carrier;
      // One that has failed before is no probe until all that came with it have been looked at.
      const mayCall = !breaker.isOpen() || line.tries === 0 || line === carrier.probeLine;
      if (mayCall && breaker.admits(deps.clock.now())) return true;
      if (parked.length < MAX_PARKED) parked.push(line);
      probeSoon(carrier);
      return false;
    },
    record(line, outcome) {
      const carrier = of(line);
      const { breaker } = carrier;
      const news = breaker.record(outcomeForBreaker(carrier, line, outcome), deps.clock.now());
      if (news?.kind === 'closed') resume(carrier);
      else if (news?.kind === 'opened') {
        deps.log.warn('payout_carrier_away', { connector: carrier.name, ms: news.pauseMs });
        carrier.blamedMerchant = line.merchant_id;
        probeIn(carrier, news.pauseMs);
      } else if (outcome === 'not_called' && breaker.isOpen()) probeSoon(carrier);
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

/** Whether the line has failed so often that its number may be at fault, and not the carrier. */
function isSuspect({ tries }: Pick<PayoutLine, 'tries'>): boolean {
  return tries >= MIN_SUSPECT_TRIES;
}

/**
 * The outcome of a line's call as the breaker takes it: the failure of a suspect line counts as no call, unless the breaker is open
 * already, or too many have been ignored.
 */
function outcomeForBreaker(carrier: Carrier, line: PayoutLine, outcome: CallOutcome): CallOutcome {
  if (outcome === 'answered') carrier.ignoredFailures = 0;
  if (outcome !== 'silent' || !isSuspect(line) || carrier.breaker.isOpen()) return outcome;
  carrier.ignoredFailures += 1;
  return carrier.ignoredFailures > MAX_IGNORED_FAILURES ? outcome : 'not_called';
}

function unschedule(carrier: Carrier): void {
  carrier.cancel();
  carrier.isProbedSoon = false;
}

/**
 * The line that is most likely to be answered if the carrier is back: one that is not suspect, of another merchant than the blamed
 * one, in case that merchant's numbers were at fault, and with the fewest tries.
 */
function bestProbe(
  lines: readonly PayoutLine[],
  { blamedMerchant }: Pick<Carrier, 'blamedMerchant'>,
): PayoutLine | undefined {
  const suspicion = (line: PayoutLine): number => Number(isSuspect(line));
  const blame = ({ merchant_id }: PayoutLine): number => Number(merchant_id === blamedMerchant);
  const compare = (one: PayoutLine, other: PayoutLine): number =>
    suspicion(one) - suspicion(other) || blame(one) - blame(other) || one.tries - other.tries;
  let best = lines[0];
  for (const line of lines) if (best !== undefined && compare(line, best) < 0) best = line;
  return best;
}
