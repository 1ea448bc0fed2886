/**
 * The courier: posts webhook events, and records the outcome of every try.
 *
 * Invariant: an event is posted only while this process holds its lease, and counts as delivered only once that is committed; if
 * the process dies in between, the round claims the event, and the receiver gets it again under the same id. A merchant's
 * receiver that hangs delays no other merchant's events, not even those for the same host.
 */

import { afterLateTry, afterTry, DELIVERY_TIMEOUT_MS, readRetryAfter, type Try } from '../domain/webhook.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import type { OutboundAnswer } from '../platform/platform.ts';
import type { CallOutcome } from './call-outcome.ts';
import { cachedFirst, type Deps, idsOf } from './deps.ts';
import type { FairQueueLimits } from './fair-shares.ts';
import { commitDecision } from './perform.ts';
import { createSender, notSent, type Sender } from './sender.ts';
import { createSigner, type Signer } from './webhook-sign.ts';

/** What the courier is handed. */
export type CourierDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'secrets' | 'outbound' | 'log'>;

/** Posts webhook events from memory. */
export interface Courier extends Pick<Sender<WebhookEvent>, 'idle' | 'close'> {
  /**
   * Takes on an event that has just been committed, or that the round has claimed. Returns false when there is no room
   * for it, or nothing to post: then it is left to the round.
   */
  offer(event: WebhookEvent): boolean;
  /**
   * When an event that found no room should be offered again (ms): after as long as its receiver has been silent, or, if it
   * answers, by when it should have handled what was turned away before. At most `most`; 0: unknown.
   */
  retryAfterMs(event: WebhookEvent, most: number): number;
}

/** A host may serve many merchants: even if some of their paths hang, every other merchant keeps one post. */
const LIMITS: FairQueueLimits = {
  atReceiver: 64,
  newcomersAtReceiver: 192,
  inAll: 1_024,
  waitingAtReceiver: 2_000,
  waitingInAll: 20_000,
};
/** 1024 bytes of a response's body are read, only so that the connection can be reused: the body does not matter. */
const MAX_ANSWER_BYTES = 1_024;
const CHANCE = 1_000_000;

/**
 * Makes the courier of this process; `limits` say how many posts may be in flight and how many events queued. An event without
 * room, or whose outcome cannot be written, is delivered by the round once its lease has run out (contract §6).
 */
export function createCourier(deps: CourierDeps, limits: FairQueueLimits = LIMITS): Courier {
  const sign = createSigner(deps);
  const sender = createSender<WebhookEvent>(deps, limits, {
    kind: 'webhook',
    about: (event) => ({ event_id: event.id, merchant_id: event.merchant_id }),
    send: async (event) => {
      if (!hasTimeLeft(deps, event)) return notSent();
      const headers = await sign(event);
      // A slow database may have held up the secrets for seconds.
      if (!hasTimeLeft(deps, event)) return notSent();
      const result = await tryOnce(deps, headers, event);
      return { outcome: outcomeOfTry(result), written: record(deps, event, result) };
    },
  });
  return {
    offer(event) {
      if (event.status !== 'waiting' || event.url === null) return false;
      return sender.add(event.merchant_id, originOf(event.url), event);
    },
    retryAfterMs({ merchant_id, url }, most) {
      if (url === null) return 0;
      const receiver = originOf(url);
      const silence = sender.silence(merchant_id, receiver);
      return silence > 0 ? Math.min(most, silence) : sender.sendAway(merchant_id, receiver, most);
    },
    idle: sender.idle,
    close: sender.close,
  };
}

/**
 * Commits the outcome of a try. If the event was replayed since it was posted, or leased by another process, the try only goes
 * into the history. Under its own lease it counts, even if such a history entry was written in between.
 */
async function record(deps: CourierDeps, tried: WebhookEvent, result: Try): Promise<void> {
  const { shard, id } = tried;
  const jitter = deps.random.below(CHANCE) / CHANCE;
  const newId = idsOf(deps);
  const read = cachedFirst<WebhookEvent | undefined>(tried, () => deps.store.event.get(shard, id));
  const counts = await commitDecision(deps.store, read, (event) => {
    if (event === undefined) return { answer: false };
    const isItsOwn = event.status === 'waiting' && event.next_at === tried.next_at;
    const { update, history } = isItsOwn ? afterTry(event, result, jitter, newId) : afterLateTry(event, result, newId);
    return { change: { updates: [update], inserts: [history] }, answer: isItsOwn };
  });
  const fields = {
    event_id: id,
    merchant_id: tried.merchant_id,
    transaction_id: tried.transaction_id,
    attempt: tried.attempts + 1,
    status: result.status,
    reason: result.error,
    ms: result.durationMs,
  };
  if (!counts) deps.log.info('webhook_tried_elsewhere', fields);
  else if (result.status !== undefined && result.status < 300) deps.log.debug('webhook_delivered', fields);
  else deps.log.info('webhook_failed', fields);
}

/** The error of a try that posted nothing. */
const NO_SECRET = 'no_signing_secret';

/** Failures of DNS or of our own network count as the receiver's silence. */
function outcomeOfTry({ status, error }: Try): CallOutcome {
  if (error === NO_SECRET) return 'not_called';
  return status === undefined ? 'silent' : 'answered';
}

/** Whether enough of the lease is left for a whole try; if not, the round will claim the event anew. */
function hasTimeLeft({ clock }: CourierDeps, event: WebhookEvent): boolean {
  return clock.now() + DELIVERY_TIMEOUT_MS <= event.next_at;
}

async function tryOnce(deps: CourierDeps, headers: Awaited<ReturnType<Signer>>, event: WebhookEvent): Promise<Try> {
  const at = deps.clock.now();
  const begun = deps.clock.wall();
  if (headers === undefined || event.url === null) {
    return { at, durationMs: 0, status: undefined, retryAfter: undefined, error: NO_SECRET };
  }
  const answer = await deps.outbound.request({
    method: 'POST',
    url: event.url,
    headers,
    body: event.body,
    timeout: DELIVERY_TIMEOUT_MS,
    trust: 'merchant',
    answerLimit: MAX_ANSWER_BYTES,
    enough: 'status',
  });
  const ended = deps.clock.wall();
  return { at, durationMs: Math.max(0, ended - begun), ...outcomeOf(answer, ended) };
}

/** `ended` is when the answer came, by the machine's clock. */
function outcomeOf(answer: OutboundAnswer, ended: number): Pick<Try, 'status' | 'retryAfter' | 'error'> {
  if (answer.kind !== 'answered') return { status: undefined, retryAfter: undefined, error: answer.reason };
  const retryAfter = readRetryAfter(answer.headers['retry-after'], ended);
  return { status: answer.status, retryAfter, error: undefined };
}

/** The receiver that a URL reaches: its origin. A text that is no URL counts as its own receiver, and `outbound` refuses it. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
