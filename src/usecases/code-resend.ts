/**
 * Sends another one-time code; the previous one is invalid from then on.
 *
 * Invariant: a resend does not give more tries: those already made still count. The payment lives as long as its newest
 * code; one that already expires later is not written.
 */

import { guard, guardedUpdate, merged, type Update } from '../domain/change.ts';
import { secondsUntil } from '../domain/elapsed.ts';
import {
  CODE_LIFE_MS,
  expiryWithCode,
  isOutdated,
  mostResends,
  resendsLeft,
  writeCode,
} from '../domain/one-time-code.ts';
import { refuseState, requireInTime } from '../domain/payment.ts';
import type { OneTimeCode, Payment, Wallet } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { guardedCalls } from '../domain/traffic-limit.ts';
import { shardOfWallet } from '../domain/wallet.ts';
import type { SessionCaller } from './callers.ts';
import { type CodeCalls, countedOnce } from './code-calls.ts';
import { readCodeCounts, requireCodesOpen } from './code-lockout.ts';
import { type CodeAsked, sendingCode } from './code-send.ts';
import type { Deps } from './deps.ts';
import type { LimitCounters } from './limit-counters.ts';
import { findPaidAsideInSession, paidBefore } from './paid-aside.ts';
import { readByPaymentId } from './payment-read.ts';
import { type Answering, type Decision, perform, type Reply } from './perform.ts';
import { readTextCounts, textCounted } from './text-limit.ts';

/** A code that was sent again: to which phone (E.164), and until when it is valid. */
export interface CodeResent {
  readonly payment: Payment;
  readonly sentTo: string;
  readonly resends: number;
  /** How many resends the payment gets in all. */
  readonly most: number;
  readonly resentAt: number;
  readonly expiresAt: number;
}

export interface CodeResendCommand {
  /** Sealed, as clients know it. */
  readonly payment_id: string;
  /** The language of the text message; absent: the payment's. */
  readonly language?: string;
}

/** @throws Refusal 1204, 1205, 1301, 1303, or 1110 `PAID_BEFORE`. */
export async function resendCode(
  deps: Deps,
  caller: SessionCaller,
  { payment_id: paymentId, language }: CodeResendCommand,
  answering: Answering<CodeResent>,
  calls: CodeCalls,
): Promise<Reply> {
  const code = writeCode(deps.random.below(1_000_000));
  const most = mostResends(caller.merchant);
  const mayCallOn = guardedCalls('resends', caller.merchant.settings.rate_limits) > most;
  const countOnce = countedOnce(calls);
  let resent: CodeResent | undefined;
  const read = async (): Promise<Rows> => {
    const rows = await readRows(deps, caller, paymentId);
    const left = isOutdated(rows.code, rows.wallet) ? 0 : most;
    calls.tell(resendsLeft(rows.code?.resends ?? 0, left, rows.payment.expires_at, deps.clock.now()));
    return rows;
  };
  const decide = ({ payment, code: known, wallet, counts, texts, isPaidAside }: Rows): Decision<CodeResent> => {
    // If calls and codes run out together, report the codes: unlike the call limit, that is permanent.
    const hasLast = isOutdated(known, wallet) || (known !== undefined && known.resends >= most);
    if (!hasLast || mayCallOn) countOnce(payment);
    const now = deps.clock.now();
    const before = requireResendable(payment, known, hasLast, most, now);
    if (isPaidAside) throw paidBefore(payment, 'payment_id');
    requireCodesOpen(counts, payment, now, payment.expires_at);
    const { wallet_number: number } = payment;
    const counted = number === null ? {} : textCounted(deps, texts, number, payment, now);
    const expiresAt = now + CODE_LIFE_MS;
    const row = {
      code_hash: deps.secrets.mac('one_time_code', payment.id, code),
      resends: before.resends + 1,
      expires_at: expiresAt,
    };
    resent = { payment, sentTo: before.sent_to, resends: row.resends, most, resentAt: now, expiresAt };
    calls.tell(resendsLeft(row.resends, most, expiryWithCode(payment, row), now));
    const updates: Update[] = [guardedUpdate('one_time_code', before, row), ...prolonged(payment, row)];
    // So that no text goes to a phone that an operator is just replacing.
    if (wallet !== undefined) updates.push(guard('wallet', wallet));
    return { change: merged({ updates }, counted), answer: resent };
  };
  const codeAsked = (): CodeAsked | undefined =>
    resent && { payment: resent.payment, text: { phone: resent.sentTo, code, language } };
  return sendingCode(deps, caller.merchant, codeAsked, () => perform(deps.store, answering, read, decide));
}

interface Rows {
  readonly payment: Payment;
  readonly code: OneTimeCode | undefined;
  /** The account that is to pay. */
  readonly wallet: Wallet | undefined;
  /** The wrong codes of the account, over all of its payments. */
  readonly counts: LimitCounters;
  /** The codes that were sent for the account, likewise. */
  readonly texts: LimitCounters;
  /** Whether the order has been paid, too late to count: a code could pay nothing. */
  readonly isPaidAside: boolean;
}

async function readRows(deps: Deps, caller: SessionCaller, paymentId: string): Promise<Rows> {
  const payment = await readByPaymentId(deps, caller, paymentId);
  const number = payment.wallet_number;
  const [code, wallet, counts, texts, aside] = await Promise.all([
    deps.store.code.get(payment.shard, payment.id),
    number === null ? undefined : deps.store.wallet.get(shardOfWallet(number), number),
    readCodeCounts(deps, number),
    readTextCounts(deps, number),
    findPaidAsideInSession(deps, payment, caller.session),
  ]);
  return { payment, code, wallet, counts, texts, isPaidAside: aside !== undefined };
}

/** The update that keeps a payment alive until its new code expires; none if it already lives that long. */
function prolonged(payment: Payment, code: Pick<OneTimeCode, 'expires_at'>): Update[] {
  const expires_at = expiryWithCode(payment, code);
  return expires_at === payment.expires_at ? [] : [guardedUpdate('payment', payment, { expires_at })];
}

function requireResendable(
  payment: Payment,
  code: OneTimeCode | undefined,
  hasLast: boolean,
  most: number,
  now: number,
): OneTimeCode {
  if (code === undefined || payment.status !== 'pending_otp_verification') throw refuseState(payment);
  requireInTime(payment, now);
  if (hasLast) {
    throw new Refusal(1301, {
      transactionId: payment.id,
      retryAfter: secondsUntil(payment.expires_at, now),
      retryable: false,
      details: [{ field: 'payment_id', code: 'RESENDS_USED', words: { maximum: most } }],
    });
  }
  return code;
}
