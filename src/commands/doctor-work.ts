/**
 * What `doctor` checks of the work: what is overdue, what has been open for too long, which receivers webhooks do not reach, and
 * which webhooks are dead.
 *
 * Invariant: it reads the same numbers as monitoring does, once.
 */

import type { Sender } from '../connectors/connector.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../domain/durations.ts';
import type { DueKind } from '../store/due.ts';
import type { DeadEvents, FailingReceiver } from '../store/server-reads.ts';
import type { Store } from '../store/store.ts';
import type { Waiting, Watched } from '../store/watch-reads.ts';
import { type Hold, readHolds } from '../usecases/holds.ts';
import { AGE_LIMITS_MS } from '../watch/database-metrics.ts';
import { type Check, fail, looking, ok, spanOf, warn } from './doctor-check.ts';
import { counted } from './output.ts';
import type { World } from './world.ts';

/** Indexes of monitoring's age classes: from an hour, and from a day. */
const OLD = 3;
const VERY_OLD = 4;
/** 1 min: rounds run every second, and the lease of a process that died runs out within a minute. */
const LATE_MS = MINUTE_MS;
const STUCK_MS = 5 * MINUTE_MS;
/** 10 d since a dead webhook was made: it was tried for three days, and its merchant's operator has had a week to see it. */
const DEAD_NEWS_MS = 10 * DAY_MS;

const WORK: { readonly [kind in DueKind]: string } = {
  inquiry: 'inquiries about attempts',
  webhook: 'webhooks',
  payout: 'payouts',
  refund: 'refunds',
  payout_run: 'dates of payout batches',
  expiry: 'expiry of payments',
};

/** Due work of these kinds is left waiting on purpose while its upstream does not answer. */
const OF_UPSTREAMS = new Set<DueKind>(['payout', 'payout_run', 'inquiry']);

/** The five checks of work, holds, open attempts, late money and what waits. What waits behind a hold is not overdue. */
export function checkWork(world: World, store: Store): Promise<readonly Check[]> {
  return looking('work', async () => {
    const now = world.clock.now();
    const { SENDERS } = await import('../connectors/registry.ts');
    const standings = await readHolds({ store }, SENDERS);
    const held = standings.flatMap(({ sender, hold }) => (hold === undefined ? [] : [{ sender, hold }]));
    const routes = held.map(({ sender }) => sender.route);
    const watched = await store.watched(now, AGE_LIMITS_MS, routes);
    return [
      overdueCheck(watched, now),
      holdsCheck(held, now),
      attemptsCheck(watched),
      lateCheck(watched, now),
      waitingCheck(watched, now),
    ];
  });
}

/**
 * Work that should have been done by `now` (milliseconds): a warning if some has been due for longer than `LATE_MS`, a failure if
 * longer than `STUCK_MS`.
 */
export function overdueCheck({ overdue }: Pick<Watched, 'overdue'>, now: number): Check {
  const late = overdue.filter(({ since }) => now - since > LATE_MS).toSorted((a, b) => a.since - b.since);
  const [worst] = late;
  if (worst === undefined) return ok('work', 'nothing is overdue');
  const what = late.map(({ kind, since }) => `${WORK[kind]} for ${spanOf(now - since)}`).join(', ');
  const start = 'start a process that does the background work (mbongo serve, or serve --role worker), or more of them';
  const waitsForUpstream = late.every(({ kind }) => OF_UPSTREAMS.has(kind));
  const wayOut = waitsForUpstream
    ? `first check whether an upstream that this work waits for is down; if none is, ${start}`
    : start;
  const detail = `overdue: ${what}; ${wayOut}`;
  return now - worst.since > STUCK_MS ? fail('work', detail) : warn('work', detail);
}

/** What operators keep from being sent. */
function holdsCheck(held: readonly { readonly sender: Sender; readonly hold: Hold }[], now: number): Check {
  const name = 'holds';
  if (held.length === 0) return ok(name, 'payouts and refunds may be sent through every connector');
  const each = held.map(({ sender: { connector }, hold: { since, by, why } }) => {
    const reason = why === null ? '' : ` (${why})`;
    return `${by} has held ${connector} for ${spanOf(now - since)}${reason}; mbongo connector resume ${connector} ends it`;
  });
  return warn(name, each.join('. '));
}

/** Attempts whose outcome is unknown: a warning if some have been open for more than an hour, a failure if for more than a day. */
export function attemptsCheck({ attempts }: Pick<Watched, 'attempts'>): Check {
  const countOf = (age: number): number =>
    attempts.filter((one) => one.age >= age).reduce((sum, { count }) => sum + count, 0);
  const name = 'open attempts';
  const wayOut = 'see mbongo attempt list, ask the upstream, and close them with mbongo attempt settle';
  const old = countOf(OLD);
  const open = (count: number): string => `${count} ${count === 1 ? 'is' : 'are'} open`;
  if (countOf(VERY_OLD) > 0) return fail(name, `${open(countOf(VERY_OLD))} for more than a day: ${wayOut}`);
  if (old > 0) return warn(name, `${open(old)} for more than an hour: ${wayOut}`);
  return ok(name, `${countOf(0)}, none older than an hour`);
}

/** Money that moved after its order had ended: an operator must decide whose it is. */
export function lateCheck({ waiting }: Pick<Watched, 'waiting'>, now: number): Check {
  const name = 'late money';
  const found = waiting.filter(({ kind }) => kind === 'late_in' || kind === 'late_out');
  if (found.length === 0) return ok(name, 'none waits to be booked');
  const count = found.reduce((sum, one) => sum + one.count, 0);
  const since = `the oldest for ${spanOf(now - Math.min(...found.map(({ oldest }) => oldest)))}`;
  const whose =
    count === 1 ? '1 attempt came, or left, after its order' : `${count} attempts came, or left, after their orders`;
  const what = `money of ${whose} had ended and waits to be booked, ${since}`;
  return warn(name, `${what}: see mbongo suspense list, and book it with mbongo attempt book`);
}

/** What waits, what to do about it, and the most milliseconds that it may wait: people do not work at all hours. */
type Wait = readonly [what: string, wayOut: string, most: number];

/** Undefined: late webhooks and late money have checks of their own. */
const WAITS: { readonly [kind in Waiting['kind']]: Wait | undefined } = {
  webhook_new: undefined,
  webhook_late: undefined,
  webhook_tried: ['webhooks that receivers do not accept', 'see mbongo webhook list --status waiting', HOUR_MS],
  payout: [
    'payout lines',
    'check whether the carrier answers, whether it is held (mbongo connector list), and whether the merchant is suspended or the batch paused; for a cancelled batch, check with the carrier, then mbongo payout cancel --not-taken',
    HOUR_MS,
  ],
  refund: [
    'refunds',
    'check whether the upstream answers, or is held (mbongo refund list, mbongo connector list)',
    HOUR_MS,
  ],
  refund_by_hand: ['refunds to carry out by hand', 'see mbongo refund list --status pending', DAY_MS],
  late_in: undefined,
  late_out: undefined,
};

/** Webhooks that receivers do not accept, payout lines and refunds: a warning for those that have waited for too long at `now`. */
export function waitingCheck({ waiting }: Pick<Watched, 'waiting'>, now: number): Check {
  const found = waiting.flatMap(({ kind, count, oldest }) => {
    const known = WAITS[kind];
    if (known === undefined) return [];
    const [what, wayOut, most] = known;
    const waits = now - oldest;
    return waits > most ? [`${what}: ${count}, the oldest for ${spanOf(waits)}; ${wayOut}`] : [];
  });
  if (found.length > 0) return warn('waiting', found.join('. '));
  return ok('waiting', 'nothing has waited for too long');
}

/** Whether receivers that do not accept webhooks can be reached from here. */
export function checkReceivers(world: World, store: Store): Promise<readonly Check[]> {
  const name = 'webhook reach';
  return looking(name, async () => {
    const failing = await store.failingReceivers();
    if (failing.length === 0) return [ok(name, 'no receiver is failing to take webhooks')];
    const { whyUnreachable } = await import('../platform/reach.ts');
    const { mode, receiverNetworks: networks } = world.config;
    const rules = { allowLoopback: mode === 'sandbox', requireHttps: mode === 'production', networks };
    return Promise.all(
      failing.map(async (receiver) => receiverCheck(receiver, await whyUnreachable(receiver.origin, rules))),
    );
  });
}

function receiverCheck({ origin, count, lastError }: FailingReceiver, why: string | undefined): Check {
  const what = `${origin} has not taken ${counted(count, 'webhook')}`;
  const reached = `it can be reached, and the last error was ${lastError ?? 'not recorded'}: tell its merchant`;
  const wayOut =
    why === undefined ? reached : `${why}: tell its merchant, or check this machine's outbound connections`;
  return warn('webhook reach', `${what}; ${wayOut}. They are retried for three days`);
}

/** Whether webhooks were given up, and the newest of them lately. */
export function checkDead(world: World, store: Store): Promise<readonly Check[]> {
  return looking('dead webhooks', async () => [deadCheck(await store.deadEvents(), world.clock.now())]);
}

/** Old ones are no more than information: their merchant may be gone for good. */
export function deadCheck({ count, newest }: DeadEvents, now: number): Check {
  const name = 'dead webhooks';
  if (newest === null) return ok(name, 'none');
  const age = now - newest;
  const what = `${count === 1 ? '1 webhook was' : `${count} webhooks were`} given up, the newest made ${spanOf(age)} ago`;
  const wayOut =
    'see mbongo webhook list --status dead, tell the merchants, and send them again with mbongo webhook replay';
  return age <= DEAD_NEWS_MS ? warn(name, `${what}: ${wayOut}`) : ok(name, what);
}
