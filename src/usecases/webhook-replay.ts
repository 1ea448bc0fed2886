/**
 * Sends webhook events again: one, or those of a time range (contract §6).
 *
 * Invariant: the same id, sequence and bytes are sent; only the signature's time is new, and the schedule of tries begins
 * anew. An event that is in flight when it is replayed may arrive twice.
 */

import { SHARDS, shardOf } from '../domain/ids.ts';
import { afterReplay } from '../domain/webhook.ts';
import type { EventStatus, WebhookEvent } from '../domain/webhook-records.ts';
import { isTransient } from '../store/errors.ts';
import { findEvent } from './archive-find.ts';
import type { OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';
import { commitDecision } from './perform.ts';

type ReplayDeps = Pick<OperatorDeps, 'store' | 'clock'>;

/** Which events to send again. */
export interface EventRange {
  readonly merchantId: string | undefined;
  /** Milliseconds; events made from here on, inclusive. */
  readonly from: number;
  /** Milliseconds; events made before this. */
  readonly to: number;
  /** Undefined: every event that has a target. */
  readonly status: EventStatus | undefined;
}

const PAGE = 500;

/**
 * Makes one event due now. Without `merchantId` the operator replays it, who may replay any merchant's.
 *
 * @throws OperatorError when there is no such event of that merchant, or it has no target.
 */
export async function replayEvent(
  deps: ReplayDeps & Pick<OperatorDeps, 'random'>,
  merchantId: string | undefined,
  eventId: string,
): Promise<WebhookEvent> {
  requireId('evt', eventId, 'event');
  const shard = shardOf(eventId);
  return decideOnce(deps, shard, 'see `mbongo webhook list`', async () => {
    const event = await deps.store.event.get(shard, eventId);
    if (event === undefined && (await findEvent(deps, shard, eventId)) !== undefined) {
      throw new OperatorError(`event ${eventId} has been archived: it is not sent again`);
    }
    if (event === undefined || (merchantId !== undefined && event.merchant_id !== merchantId)) {
      throw new OperatorError(`there is no event ${eventId}: see \`mbongo webhook list\``);
    }
    const replayed = afterReplay(event, deps.clock.now());
    if (replayed === undefined)
      throw new OperatorError(`event ${eventId} was made without a notify_url: there is nowhere to send it`);
    return { change: { updates: [replayed.update] }, answer: replayed.event };
  });
}

/** What replaying a range would send of one merchant. */
export interface ReplayShare {
  readonly merchantId: string;
  readonly events: number;
  /** Of these, how many its receiver has acknowledged before. */
  readonly delivered: number;
}

/** What `replayRange` would send again now, by merchant, the largest share first. Nothing is changed. */
export async function countRange(deps: Pick<ReplayDeps, 'store'>, range: EventRange): Promise<readonly ReplayShare[]> {
  const shares = new Map<string, ReplayShare>();
  for await (const events of pagesOf(deps, range)) {
    for (const { merchant_id, status } of events) {
      const share = shares.get(merchant_id) ?? { merchantId: merchant_id, events: 0, delivered: 0 };
      const delivered = share.delivered + (status === 'delivered' ? 1 : 0);
      shares.set(merchant_id, { ...share, events: share.events + 1, delivered });
    }
  }
  return [...shares.values()].toSorted((one, other) => other.events - one.events);
}

/**
 * Makes every event of the range due now. Returns how many there were; events archived meanwhile are left out.
 *
 * @throws OperatorError that says how many are due, when the database goes away before the others are; its own error when none is
 */
export async function replayRange(deps: ReplayDeps, range: EventRange): Promise<number> {
  let replayed = 0;
  try {
    for await (const events of pagesOf(deps, range)) {
      const done = await Promise.allSettled(events.map((event) => replayListed(deps, event)));
      replayed += done.filter((one) => one.status === 'fulfilled' && one.value).length;
      const failed = done.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    return replayed;
  } catch (error) {
    if (replayed === 0 || !isTransient(error)) throw error;
    const what = `only ${replayed} of the webhooks could be made due again: ${error.message}`;
    throw new OperatorError(`${what}: give it again for the others; some may then be sent twice`);
  }
}

/** The events of a range that have a target, a page at a time. */
async function* pagesOf({ store }: Pick<ReplayDeps, 'store'>, { merchantId, from, to, status }: EventRange) {
  const shards = merchantId === undefined ? Array.from({ length: SHARDS }, (_, shard) => shard) : [shardOf(merchantId)];
  const filter = { merchantId, status, notStatus: 'no_target', from, until: to, order: 'oldest', limit: PAGE } as const;
  for (const shard of shards) {
    for (let beyond: string | undefined, isLast = false; !isLast; ) {
      const { rows, next }: Awaited<ReturnType<typeof store.pageOfEvents>> = await store.pageOfEvents({
        ...filter,
        shard,
        beyond,
      });
      yield rows;
      beyond = next;
      isLast = next === undefined;
    }
  }
}

/** Makes a listed event due now. Returns false if it has been archived since it was listed. */
function replayListed(deps: ReplayDeps, { shard, id }: WebhookEvent): Promise<boolean> {
  return commitDecision(
    deps.store,
    () => deps.store.event.get(shard, id),
    (event) => {
      const replayed = event && afterReplay(event, deps.clock.now());
      return replayed === undefined ? { answer: false } : { change: { updates: [replayed.update] }, answer: true };
    },
  );
}
