/**
 * Metrics that are read from the database: what is open, what is overdue, what the last audit found.
 *
 * Invariant: however often they are scraped, the database is read once in a few seconds at most; while it is away they keep
 * their values, and a scrape does not wait for it.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/durations.ts';
import { isWithin } from '../domain/elapsed.ts';
import type { Metrics } from '../platform/platform.ts';
import { DUE_KINDS } from '../store/due.ts';
import { MAX_WATCHED, type Waiting, type Watched } from '../store/watch-reads.ts';
import { clockDifference } from '../usecases/clock-difference.ts';
import type { Deps } from '../usecases/deps.ts';
import { endsWithin } from '../usecases/patience.ts';
import { isTransientFailure } from '../usecases/perform.ts';
import { auditMetrics } from './audit-metrics.ts';

const FRESH_MS = 5_000;
/** 2 s. A scrape times out after ten seconds, and a collector of several processes' numbers must wait longer than this. */
const PATIENCE_MS = 2_000;

/** The limits between age classes, and the names of the classes. */
export const AGE_LIMITS_MS = [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, DAY_MS] as const;
const AGES = ['under_1m', '1m_to_10m', '10m_to_1h', '1h_to_1d', 'over_1d'] as const;

const NOTHING: Watched = { overdue: [], attempts: [], waiting: [] };

/** Registers the metrics. Returns what reads them, to be called before they are shown. */
export function databaseMetrics(
  deps: Pick<Deps, 'store' | 'clock' | 'log' | 'holds'>,
  metrics: Metrics,
): () => Promise<void> {
  const tellAudit = auditMetrics(deps, metrics);
  const up = metrics.gauge(
    'mbongo_database_up',
    'Whether the last reading of numbers from it succeeded, and it accepts changes.',
    [],
  );
  const difference = metrics.gauge(
    'mbongo_clock_difference_seconds',
    "How far this machine's clock is from that of the database, at least.",
    [],
  );
  let watched = NOTHING;
  let at = 0;
  let last: { readonly at: number; readonly reading: Promise<void> } | undefined;
  /** Whether it has been logged why the last reading failed. */
  let isTold = false;
  showAttempts(metrics, () => watched);
  showOldestRefunds(metrics, () => ({ watched, at }));
  showLate(metrics, () => ({ watched, at }));
  showWaiting(metrics, () => ({ watched, at }));
  showHeld(metrics, deps.holds);

  const read = async (): Promise<void> => {
    const now = deps.clock.now();
    try {
      // What is kept back on purpose is not overdue; what cannot be read may be.
      await deps.holds.look();
      const [found] = await Promise.all([
        deps.store.watched(
          now,
          AGE_LIMITS_MS,
          deps.holds.held().map(({ route }) => route),
        ),
        tellAudit(),
        clockDifference(deps).then((milliseconds) => difference({}, milliseconds / 1_000)),
      ]);
      watched = found;
      at = now;
      await deps.store.ping();
      up({}, 1);
      isTold = false;
    } catch (error) {
      // Of a database that is away, the store has logged why.
      if (!isTransientFailure(error) && !isTold) {
        isTold = true;
        deps.log.error('metrics_failed', {}, error);
      }
      up({}, 0);
    }
  };

  return async () => {
    const now = deps.clock.wall();
    if (last === undefined || !isWithin(FRESH_MS, last.at, now)) last = { at: now, reading: read() };
    if (!(await endsWithin(deps.clock, PATIENCE_MS, last.reading))) up({}, 0);
  };
}

function showAttempts(metrics: Metrics, watched: () => Watched): void {
  metrics.read(
    'mbongo_open_attempts',
    'gauge',
    `Attempts whose outcome is not known, of the first ${MAX_WATCHED} of each shard.`,
    ['purpose', 'connector', 'carrier', 'age'],
    () =>
      watched().attempts.map(({ purpose, connector, carrier, age, count }) => {
        return { labels: { purpose, connector, carrier, age: AGES[age] ?? 'over_1d' }, value: count };
      }),
  );
  for (const [name, kind, what, ...byHand] of [
    ['mbongo_payout_lines', 'payout', 'Beneficiaries who wait to be paid, or are being paid'],
    ['mbongo_refunds', 'refund', 'Refunds that wait, for a person too, or are under way', 'refund_by_hand'],
  ] as const) {
    const help = `${what}, of the first ${MAX_WATCHED} of each shard.`;
    metrics.read(name, 'gauge', help, ['status'], () => {
      const processing = watched().attempts.filter(({ purpose }) => purpose === kind);
      return [
        { labels: { status: 'waiting' }, value: waitingOf(watched(), kind)?.count ?? 0 },
        { labels: { status: 'processing' }, value: processing.reduce((sum, { count }) => sum + count, 0) },
        ...byHand.map((one) => ({ labels: { status: 'by_hand' }, value: waitingOf(watched(), one)?.count ?? 0 })),
      ];
    });
  }
}

const REFUNDS_WAIT = [
  ['gateway', 'refund'],
  ['person', 'refund_by_hand'],
] as const;

function showOldestRefunds(metrics: Metrics, look: () => { readonly watched: Watched; readonly at: number }): void {
  metrics.read(
    'mbongo_refund_oldest_waiting_seconds',
    'gauge',
    'Age of the oldest refund that waits for the gateway to send it, or for a person; 0: none does.',
    ['for'],
    () => {
      const { watched, at } = look();
      return REFUNDS_WAIT.map(([whom, kind]) => {
        return { labels: { for: whom }, value: secondsSince(waitingOf(watched, kind)?.oldest, at) };
      });
    },
  );
}

function showHeld(metrics: Metrics, { senders, held }: Deps['holds']): void {
  metrics.read(
    'mbongo_connector_held',
    'gauge',
    'Whether an operator holds what is sent out through that connector (1) or not (0).',
    ['connector'],
    () =>
      senders.map((sender) => ({ labels: { connector: sender.connector }, value: held().includes(sender) ? 1 : 0 })),
  );
}

const WAYS = ['in', 'out'] as const;

/** Counts the late money that `mbongo suspense list` shows. */
function showLate(metrics: Metrics, look: () => { readonly watched: Watched; readonly at: number }): void {
  metrics.read(
    'mbongo_late_money_waiting',
    'gauge',
    `Attempts whose money came (in) or left (out) after their order had ended and waits for a person, of the first ${MAX_WATCHED} of each shard.`,
    ['way'],
    () => WAYS.map((way) => ({ labels: { way }, value: waitingOf(look().watched, `late_${way}`)?.count ?? 0 })),
  );
  metrics.read(
    'mbongo_late_money_oldest_waiting_seconds',
    'gauge',
    'For how long the oldest of them has been waiting; 0: none is.',
    ['way'],
    () => {
      const { watched, at } = look();
      return WAYS.map((way) => {
        return { labels: { way }, value: secondsSince(waitingOf(watched, `late_${way}`)?.oldest, at) };
      });
    },
  );
}

const TRIED = [
  ['no', 'webhook_new'],
  ['yes', 'webhook_tried'],
] as const;

function showWaiting(metrics: Metrics, look: () => { readonly watched: Watched; readonly at: number }): void {
  metrics.read(
    'mbongo_webhooks_waiting',
    'gauge',
    `Webhook events that wait, of the first ${MAX_WATCHED} of each shard.`,
    ['tried'],
    () => {
      const { watched } = look();
      return TRIED.map(([tried, kind]) => ({ labels: { tried }, value: waitingOf(watched, kind)?.count ?? 0 }));
    },
  );
  metrics.read(
    'mbongo_webhook_oldest_waiting_seconds',
    'gauge',
    'Age of the oldest webhook event that waits; 0: none does.',
    ['tried'],
    () => {
      const { watched, at } = look();
      return TRIED.map(([tried, kind]) => {
        return { labels: { tried }, value: secondsSince(waitingOf(watched, kind)?.oldest, at) };
      });
    },
  );
  metrics.read(
    'mbongo_webhook_late_merchants',
    'gauge',
    'Merchants with an event that is over a minute old and was never tried.',
    [],
    () => [{ labels: {}, value: waitingOf(look().watched, 'webhook_late')?.count ?? 0 }],
  );
  metrics.read(
    'mbongo_work_overdue_seconds',
    'gauge',
    'For how long the most overdue piece of work has been due; 0: nothing is.',
    ['kind'],
    () => {
      const { watched, at } = look();
      const since = new Map(watched.overdue.map((one) => [one.kind, one.since]));
      return DUE_KINDS.map((kind) => ({ labels: { kind }, value: secondsSince(since.get(kind), at) }));
    },
  );
}

function waitingOf({ waiting }: Watched, kind: Waiting['kind']): Waiting | undefined {
  return waiting.find((one) => one.kind === kind);
}

function secondsSince(instant: number | undefined, now: number): number {
  return instant === undefined ? 0 : Math.max(0, now - instant) / 1_000;
}
