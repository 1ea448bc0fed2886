/**
 * Webhooks: what an event says, and what each answer of its receiver does to it (contract §6).
 *
 * Invariant: an event's body is written once and posted unchanged on every try; a retry never comes sooner than the schedule
 * says, so that a receiver that is down for three days loses nothing.
 */

import { guardedUpdate, type Insert, revise, type Update } from './change.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './durations.ts';
import { parseHttpDate } from './http-date.ts';
import type { NewId } from './ids.ts';
import { type Machine, step } from './machine.ts';
import { formatMinor } from './money.ts';
import type { PayoutLine, Refund } from './outgoing-records.ts';
import type { Payment } from './records.ts';
import type { EventStatus, WebhookAttempt, WebhookEvent, WebhookSecret } from './webhook-records.ts';

/** Milliseconds that the process which leased an event has to post it, before the round may lease it. Events are born leased. */
export const LEASE_MS = 30 * SECOND_MS;
/** Milliseconds from dialling the receiver to its answer. */
export const DELIVERY_TIMEOUT_MS = 10 * SECOND_MS;
/** Milliseconds to wait after the first, second, … failed try; if the try after the last wait fails too, the event is dead. */
export const RETRY_WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  15 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** The most milliseconds by which a receiver's Retry-After can postpone a try. */
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** The largest share of a wait that jitter adds to it. */
const MAX_JITTER = 0.2;
/** Milliseconds between delivery rounds: a due try may start this much later, which counts as part of the jitter. */
export const DELIVERY_ROUND_MS = SECOND_MS;

const DELIVERY_FACTS = ['accepted', 'failed', 'exhausted', 'target_gone', 'replayed'] as const;
/** What can happen to an event, as input to its state machine. `exhausted`: its last try failed. */
export type DeliveryFact = (typeof DELIVERY_FACTS)[number];

/** The states of a webhook event (contract §6): any final one can be sent again. */
export const DELIVERY: Machine<EventStatus, DeliveryFact> = {
  name: 'webhook_event',
  initial: 'waiting',
  final: ['delivered', 'dead', 'gone', 'no_target'],
  facts: DELIVERY_FACTS,
  table: {
    waiting: { accepted: 'delivered', failed: 'waiting', exhausted: 'dead', target_gone: 'gone', replayed: 'waiting' },
    delivered: { replayed: 'waiting' },
    dead: { replayed: 'waiting' },
    gone: { replayed: 'waiting' },
    no_target: {},
  },
};

/** An event as an insert of the change that it tells of. */
export function eventInsert(row: WebhookEvent): Insert {
  return { table: 'webhook_event', row };
}

/**
 * The event of a payment that has become final: exactly the six fields of the specification.
 *
 * `payment` is the payment as moved, whose `events` already counts this one. Without a notify_url the event is kept
 * all the same, with nowhere to go. It is born leased: the process that commits it posts it at once from memory.
 */
export function collectEvent(payment: Payment, id: string, now: number): WebhookEvent {
  return paymentEvent(payment, payment, id, now);
}

/**
 * The event of a completed refund, a partial one too: the same six fields, about what this refund gave back (contract §6).
 * `payment.events` already counts it.
 */
export function refundEvent(payment: Payment, refund: Refund, id: string, now: number): WebhookEvent {
  const { amount, completed_at } = refund;
  return paymentEvent(payment, { status: 'refunded', amount, completed_at }, id, now);
}

function paymentEvent(
  payment: Payment,
  { status, amount, completed_at }: Pick<Payment, 'status' | 'amount' | 'completed_at'>,
  id: string,
  now: number,
): WebhookEvent {
  if (completed_at === null) throw new Error('only what is final has an event');
  const body = {
    transaction_id: payment.id,
    customer_reference: payment.customer_reference,
    status,
    amount,
    currency: payment.currency,
    completed_at: new Date(completed_at).toISOString(),
  };
  return newEvent(payment, `payment.${status}`, body, id, now);
}

/**
 * The event of a payout line: one when it is made, one when it is final (specification, Events 2; contract §6).
 *
 * `line.events` already counts this one; `message` is the sentence that describes its status, in the batch's language.
 */
export function payoutEvent(line: PayoutLine, message: string, id: string, now: number): WebhookEvent {
  const receiver =
    line.receipt_mode === 'wallet' ? { wallet_number: line.wallet_number } : { phone_number: line.msisdn };
  const body = {
    event: `payout.${line.status}`,
    batch_id: line.batch_id,
    transaction_id: line.id,
    customer_reference: line.customer_reference,
    status: line.status,
    amount: line.amount,
    fee_amount: formatMinor(line.fee_minor, line.currency),
    currency: line.currency,
    receipt_mode: line.receipt_mode,
    ...receiver,
    occurrence: line.occurrence,
    scheduled_date: line.scheduled_date,
    created_at: new Date(line.created_at).toISOString(),
    completed_at: line.completed_at === null ? null : new Date(line.completed_at).toISOString(),
    message,
  };
  return newEvent(line, body.event, body, id, now);
}

/** The row of an event about a transaction, whose `events` already counts it. It is born leased. */
function newEvent(about: Payment | PayoutLine, type: string, body: object, id: string, now: number): WebhookEvent {
  return {
    shard: about.shard,
    id,
    version: 1,
    merchant_id: about.merchant_id,
    transaction_id: about.id,
    sequence: about.events,
    type,
    url: about.notify_url,
    body: JSON.stringify(body),
    status: about.notify_url === null ? 'no_target' : 'waiting',
    attempts: 0,
    replayed_after: 0,
    next_at: now + LEASE_MS,
    created_at: now,
    delivered_at: null,
    last_error: null,
  };
}

/** The outcome of one try. */
export interface Try {
  readonly at: number;
  readonly durationMs: number;
  /** The receiver's HTTP status; undefined when it gave none. */
  readonly status: number | undefined;
  /** Milliseconds, from the end of the try, that the receiver's Retry-After asks to wait; undefined if it asks for none. */
  readonly retryAfter: number | undefined;
  /** Why there was no answer, as the outbound door words it. */
  readonly error: string | undefined;
}

/** Why a try failed; null for one that was accepted. */
function errorOf(result: Try): string | null {
  return isAccepted(result) ? null : (result.error ?? `http_${result.status}`);
}

function isAccepted({ status }: Try): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/** What a try means for its event. */
function factOfTry(event: WebhookEvent, result: Try): Exclude<DeliveryFact, 'replayed'> {
  if (isAccepted(result)) return 'accepted';
  if (result.status === 410) return 'target_gone';
  return event.attempts - event.replayed_after >= RETRY_WAITS_MS.length ? 'exhausted' : 'failed';
}

/**
 * What a try writes: the event's guarded update, and one line of its history.
 *
 * `jitter` is a fraction from 0 up to 1, drawn by the caller. The wait counts from the end of the try.
 */
export function afterTry(
  event: WebhookEvent,
  result: Try,
  jitter: number,
  newId: NewId,
): { readonly update: Update; readonly history: Insert } {
  const fact = factOfTry(event, result);
  const ended = result.at + result.durationMs;
  const attempts = event.attempts + 1;
  const row = {
    status: statusAfter(event.status, fact),
    attempts,
    next_at: fact === 'failed' ? ended + waitAfter(attempts - event.replayed_after, result, jitter) : event.next_at,
    delivered_at: fact === 'accepted' ? ended : null,
    last_error: errorOf(result),
  };
  return { update: guardedUpdate('webhook_event', event, row), history: historyOf(event, attempts, result, newId) };
}

/**
 * What a try writes that ended after the event was replayed, or leased by another process: only an entry in the history. The
 * tries of the current series are not reduced by it, and they alone decide the event's status.
 */
export function afterLateTry(
  event: WebhookEvent,
  result: Try,
  newId: NewId,
): { readonly update: Update; readonly history: Insert } {
  const attempts = event.attempts + 1;
  return {
    update: guardedUpdate('webhook_event', event, { attempts, replayed_after: event.replayed_after + 1 }),
    history: historyOf(event, attempts, result, newId),
  };
}

function historyOf(event: WebhookEvent, number: number, result: Try, newId: NewId): Insert {
  const row: WebhookAttempt = {
    shard: event.shard,
    id: newId('whd', event.shard),
    event_id: event.id,
    number,
    at: result.at,
    status_code: result.status ?? null,
    duration_ms: result.durationMs,
    error: errorOf(result),
  };
  return { table: 'webhook_attempt', row };
}

/**
 * What a replay writes, and the event as it will be: due at once, with the full retry schedule if that fails. The count of
 * tries continues, and the body never changes. Undefined when the event has no target. A process that posts it from memory
 * holds it for `lease` ms.
 */
export function afterReplay(
  event: WebhookEvent,
  now: number,
  lease = 0,
): { readonly update: Update; readonly event: WebhookEvent } | undefined {
  if (step(DELIVERY, event.status, 'replayed').kind === 'conflict') return undefined;
  const row = { status: 'waiting', replayed_after: event.attempts, next_at: now + lease, delivered_at: null } as const;
  const { update, after } = revise('webhook_event', event, row);
  return { update, event: after };
}

function statusAfter(status: EventStatus, fact: DeliveryFact): EventStatus {
  const next = step(DELIVERY, status, fact);
  if (next.kind === 'conflict') throw new Error(`a webhook event that is ${status} was tried`);
  return next.kind === 'moved' ? next.to : status;
}

/** Milliseconds to wait after the `attempts`-th try of a series failed. */
function waitAfter(attempts: number, result: Try, jitter: number): number {
  const wait = RETRY_WAITS_MS[attempts - 1] ?? MAX_RETRY_AFTER_MS;
  const jittered = wait + Math.floor((wait * MAX_JITTER - DELIVERY_ROUND_MS) * jitter);
  return Math.max(jittered, Math.min(result.retryAfter ?? 0, MAX_RETRY_AFTER_MS));
}

/**
 * Milliseconds that a Retry-After asks for: whole seconds or an HTTP date; undefined for anything else. `wall` is the time
 * by the machine's clock: a receiver writes dates by its own, which a sandbox's test clock does not move.
 */
export function readRetryAfter(header: string | undefined, wall: number): number | undefined {
  const text = header?.trim();
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text) * SECOND_MS;
  const at = parseHttpDate(text, wall);
  return at === undefined ? undefined : Math.max(0, at - wall);
}

/** Whether a signing secret is in use at this time: the current one, and the old one until its grace period is over. */
export function signsAt(secret: Pick<WebhookSecret, 'status' | 'retires_at'>, now: number): boolean {
  if (secret.status === 'ALLOWED') return true;
  return secret.status === 'RETIRING' && secret.retires_at !== null && secret.retires_at > now;
}
