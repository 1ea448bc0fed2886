/**
 * Inquires at upstreams about attempts, without writing anything.
 *
 * Invariant: an upstream that cannot be asked counts as answering `unknown`; nothing here settles an attempt. Between the instant
 * of an inquiry and its call nothing is awaited: what the distrust of clocks sees at the call is the clock that gave the instant.
 */

import type { Inquiry, Upstream } from '../connectors/connector.ts';
import type { InquiryAnswer } from '../domain/answer.ts';
import type { Attempt } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { inParts } from './in-parts.ts';
import { refundOfAttempt } from './refund-read.ts';

/** The result of an inquiry: what the upstream answered. */
export interface InquiryResult {
  readonly answer: InquiryAnswer;
  /** When it was asked: milliseconds by this machine's clock. */
  readonly at: number;
}

/** Asks the upstream about an attempt; `unknown` if the upstream is no longer configured. */
export async function inquireUpstream(deps: Deps, attempt: Attempt): Promise<InquiryResult> {
  const connector = deps.connectors.upstream(attempt.connector);
  if (connector === undefined) {
    deps.log.error('inquiry_connector_missing', { attempt_id: attempt.id, connector: attempt.connector });
    return { at: deps.clock.now(), answer: { kind: 'unknown', reason: 'its upstream is not configured' } };
  }
  const inquiry = await inquiryOf(deps, attempt);
  const at = deps.clock.now();
  return { at, answer: believed(deps, attempt, connector, await connector.inquire(inquiry)) };
}

/**
 * What counts of an answer: an upstream finds only what the account that asks has sent. Once another one is configured, nothing
 * becomes known of attempts whose outcome is open, and an operator closes them by the old account's statement. Of an attempt that
 * was turned away, the upstream's first word stands: it is sent again by the account that took the place of a wrong one.
 */
function believed(
  { log }: Pick<Deps, 'log'>,
  { id, connector, status, upstream_account: sentBy }: Attempt,
  { account }: Pick<Upstream, 'account'>,
  answer: InquiryAnswer,
): InquiryAnswer {
  if (answer.kind !== 'not_found' || status === 'not_sent' || sentBy === null || sentBy === account) return answer;
  log.error('inquiry_other_account', { attempt_id: id, connector });
  return { kind: 'unknown', reason: 'it was sent by another account of ours' };
}

/** The question about an attempt. To an upstream, a refund is a movement of the order that it gives back. */
async function inquiryOf(deps: Deps, attempt: Attempt): Promise<Inquiry> {
  const { id, reference, payment_id, amount_minor, currency } = attempt;
  const about = { reference, attemptId: id, amountMinor: amount_minor, currency };
  if (attempt.purpose !== 'refund') return { orderId: payment_id, ...about };
  const { payment } = await refundOfAttempt(deps, attempt.shard, payment_id);
  return { orderId: payment.id, movement: 'refund', ...about };
}

/** An attempt, and the result of the inquiry about it. */
export interface AttemptInquired extends InquiryResult {
  readonly attempt: Attempt;
}

/** 4 inquiries at once: an upstream's capacity is shared by all merchants. */
const AT_ONCE = 4;

/** Asks about several attempts, `AT_ONCE` at a time. */
export function askAboutAll(deps: Deps, attempts: readonly Attempt[]): Promise<readonly AttemptInquired[]> {
  return inParts(attempts, AT_ONCE, async (attempt) => ({ attempt, ...(await inquireUpstream(deps, attempt)) }));
}
