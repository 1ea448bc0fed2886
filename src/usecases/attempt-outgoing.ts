/**
 * Writes what an upstream said of an attempt that sends money out: for payout lines and refunds alike.
 *
 * Invariant: our own call's answer, callbacks and inquiries all pass through here. An answer is decided, again on fresh rows if
 * need be, until its change commits; a later one finds the attempt settled.
 */

import type { AttemptAnswer } from '../domain/answer.ts';
import type { Inquired } from '../domain/attempt-settlement.ts';
import {
  NOTHING_REMEMBERED,
  type Outgoing,
  type OutgoingSettlement,
  type Remembered,
  settleOutgoing,
} from '../domain/outgoing.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import { lineOrder } from '../domain/payout-outgoing.ts';
import type { Attempt, AttemptPurpose } from '../domain/records.ts';
import { refundOrder } from '../domain/refund-outgoing.ts';
import {
  type Asked,
  type Settling,
  settlementContext,
  upstreamOf,
  writeCallAnswer,
  writeInquiryAnswer,
} from './attempt-answer.ts';
import { recorded, whileRecording } from './attempt-record.ts';
import { cachedFirst, type Deps } from './deps.ts';
import { commitDecision } from './perform.ts';
import { refundOfAttempt } from './refund-read.ts';
import type { InquiryResult } from './upstream-inquire.ts';

type Needs = Pick<Deps, 'store' | 'payoutText'>;
type Key = Pick<Attempt, 'shard' | 'payment_id'>;

/** Reads the order that an attempt pays, by the attempt's purpose. */
const ORDERS: {
  readonly [purpose in Exclude<AttemptPurpose, 'payment'>]: (deps: Needs, key: Key) => Promise<Outgoing | undefined>;
} = {
  payout: async ({ store, payoutText }, { shard, payment_id }) => {
    const line = await store.payoutLine.get(shard, payment_id);
    return line && lineOrder(line, payoutText, await readRemembered(store, line));
  },
  refund: async (deps, { shard, payment_id }) => {
    const rows = await refundOfAttempt(deps, shard, payment_id);
    return refundOrder(rows, await readRemembered(deps.store, rows.refund));
  },
};

/**
 * The attempt that an order remembers, and the order's other attempts, read after the order. While it remembers one, they move
 * only together with the order, whose version guards decisions based on them. Orders rarely remember one.
 */
async function readRemembered(
  store: Deps['store'],
  { shard, id, late_attempt_id }: PayoutLine | Refund,
): Promise<Remembered> {
  if (late_attempt_id === null) return NOTHING_REMEMBERED;
  const all = await store.attemptsOf(shard, [id]);
  const late = all.find((one) => one.id === late_attempt_id);
  if (late === undefined) throw new Error(`${id} remembers ${late_attempt_id}, which is not there`);
  return { late, all };
}

/** An attempt and the order that it pays, as read. */
export interface OutgoingRows {
  readonly attempt: Attempt;
  readonly order: Outgoing;
}

/** The order that the attempt pays, read anew. @throws Error when it is missing. */
export async function readOrder(deps: Needs, attempt: Attempt): Promise<Outgoing> {
  const order = attempt.purpose === 'payment' ? undefined : await ORDERS[attempt.purpose](deps, attempt);
  if (order === undefined) throw new Error(`attempt ${attempt.id} has lost what it pays`);
  return order;
}

/** Reads an attempt anew, and the order that it pays. @throws Error when either is missing. */
export async function readOutgoing(deps: Needs, attempt: Attempt): Promise<OutgoingRows> {
  const [found, order] = await Promise.all([
    deps.store.attempt.get(attempt.shard, attempt.id),
    readOrder(deps, attempt),
  ]);
  if (found === undefined) throw new Error(`attempt ${attempt.id} is gone`);
  return { attempt: found, order };
}

/** What an upstream answered, and when and why it was asked. */
interface Answered {
  readonly answer: AttemptAnswer;
  readonly asked: Asked;
}

/**
 * Settles an attempt by the answer to our own call. `order` may be stale, which the guards detect; undefined if it has to be
 * read. Retried while the database is away.
 */
export function recordOutgoing(
  deps: Deps,
  attempt: Attempt,
  order: Outgoing | undefined,
  answer: AttemptAnswer,
): Promise<OutgoingSettlement> {
  const asked = { at: attempt.created_at, inquiry: false } as const;
  const write = (settling: Settling): Promise<OutgoingSettlement> => {
    const fresh = (): Promise<OutgoingRows> => readOutgoing(deps, attempt);
    const read = order === undefined ? fresh : cachedFirst({ attempt, order }, fresh);
    return settleOn(deps, attempt, read, { answer, asked }, settling);
  };
  return whileRecording(deps, attempt.id, () => writeCallAnswer(deps, write));
}

/** Settles an attempt by the answer to an inquiry, on rows read after the answer arrived. */
export async function settleOutgoingInquiry(
  deps: Deps,
  attempt: Attempt,
  { answer, at }: InquiryResult,
  inquiry: Inquired,
): Promise<OutgoingSettlement> {
  await recorded(deps, attempt.id);
  const read = (): Promise<OutgoingRows> => readOutgoing(deps, attempt);
  const asked = { at, inquiry };
  return writeInquiryAnswer(deps, (settling) => settleOn(deps, attempt, read, { answer, asked }, settling));
}

/** If the attempt has moved on since it was read, this inquiry no longer counts as the one that was due. */
function settleOn(
  deps: Deps,
  attempt: Attempt,
  read: () => Promise<OutgoingRows>,
  { answer, asked }: Answered,
  settling: Settling,
): Promise<OutgoingSettlement> {
  const upstream = upstreamOf(deps, attempt);
  return commitDecision(deps.store, read, (now) => {
    const inquiry = asked.inquiry === 'due' && now.attempt.status !== attempt.status ? 'hint' : asked.inquiry;
    const context = settlementContext(deps, upstream, { at: asked.at, inquiry });
    const settlement = settling(settleOutgoing(now.attempt, now.order, answer, context));
    return { change: settlement.change, answer: settlement };
  });
}
