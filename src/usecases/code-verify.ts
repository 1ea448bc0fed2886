/**
 * Verifies a one-time code and pays.
 *
 * Invariant: at most five codes, or the merchant's lower limit, are evaluated in five minutes per payment. Every evaluation, the
 * right one too, is a guarded write on the code's row, so that parallel guesses are decided one after the other. The
 * approving change also guards the wallet's version, so that of two payments from one wallet the later one answers the balance
 * that both have left.
 */

import { guard, guardedUpdate, merged, type Update } from '../domain/change.ts';
import { isOutdated, type Left, mostResends, recentTries, resendsLeft, triesLeft } from '../domain/one-time-code.ts';
import { advancePayment, refuseState, requireInTime } from '../domain/payment.ts';
import type { Account, OneTimeCode, Payment, Wallet } from '../domain/records.ts';
import { Refusal, type Words } from '../domain/refusal.ts';
import { guardedCalls } from '../domain/traffic-limit.ts';
import { PIN_LOCK_MS, shardOfWallet } from '../domain/wallet.ts';
import type { SessionCaller } from './callers.ts';
import { type CodeCalls, countedOnce } from './code-calls.ts';
import { codeFailed, codeSucceeded, readCodeCounts, requireCodesOpen } from './code-lockout.ts';
import type { Deps } from './deps.ts';
import type { LimitCounters } from './limit-counters.ts';
import { findPaidAsideInSession, paidBefore } from './paid-aside.ts';
import { readByPaymentId } from './payment-read.ts';
import { type Answering, type Decision, perform, type Reply } from './perform.ts';
import { approvedStep } from './wallet-approve.ts';

export interface CodeVerifyCommand {
  readonly payment_id: string;
  readonly otp_code: string;
}

export interface CodeVerified {
  readonly payment: Payment;
  /** The amount debited from the wallet, and the balance left in it, in minor units. */
  readonly debitMinor: bigint;
  readonly balanceMinor: bigint;
  readonly verifiedAt: number;
}

interface Rows {
  readonly payment: Payment;
  readonly code: OneTimeCode | undefined;
  readonly wallet: Wallet | undefined;
  readonly account: Account | undefined;
  /** The wrong codes of the account, over all of its payments. */
  readonly counts: LimitCounters;
  /** How many tries are allowed in five minutes. */
  readonly most: number;
  /** How many further codes can be sent. */
  readonly resends: number;
  /** The tries that were left when these rows were read. */
  readonly left: Left;
  /** Whether money has come for the session's order, too late to count. */
  readonly isPaidAside: boolean;
}

/** @throws Refusal 1201, 1204, 1205, 1301, 1302 or 1303; 1110 when the order has been paid, too late to count. */
export function verifyCode(
  deps: Deps,
  caller: SessionCaller,
  command: CodeVerifyCommand,
  answering: Answering<CodeVerified>,
  calls: CodeCalls,
): Promise<Reply> {
  const countOnce = countedOnce(calls);
  return perform(
    deps.store,
    answering,
    async () => {
      const rows = await readRows(deps, caller, command.payment_id);
      calls.tell(rows.left);
      return rows;
    },
    (rows) => {
      // The limits come before the state: the sixth try answers 1301, right or wrong (contract §8).
      requireTry(rows);
      countOnce(rows.payment);
      return decide(deps, rows, command.otp_code, calls.tell);
    },
  );
}

async function readRows(deps: Deps, caller: SessionCaller, paymentId: string): Promise<Rows> {
  const payment = await readByPaymentId(deps, caller, paymentId);
  const number = payment.wallet_number;
  const [code, wallet, aside] = await Promise.all([
    deps.store.code.get(payment.shard, payment.id),
    number === null ? undefined : deps.store.wallet.get(shardOfWallet(number), number),
    findPaidAsideInSession(deps, payment, caller.session),
  ]);
  // Read after the wallet, whose guarded version ensures that no other payment was made from it in between, and no code judged.
  const [account, counts] = await Promise.all([
    number === null ? undefined : deps.store.account.get(shardOfWallet(number), number),
    readCodeCounts(deps, number),
  ]);
  const now = deps.clock.now();
  const most = guardedCalls('codes', caller.merchant.settings.rate_limits);
  const mostSent = isOutdated(code, wallet) ? 0 : mostResends(caller.merchant);
  const resends = resendsLeft(code?.resends ?? 0, mostSent, payment.expires_at, now).count;
  const left = triesLeft(code, now, most);
  return { payment, code, wallet, account, counts, most, resends, left, isPaidAside: aside !== undefined };
}

function requireTry({ payment, left: { count, seconds } }: Rows): void {
  if (count === 0) throw new Refusal(1301, { transactionId: payment.id, retryAfter: seconds, words: { seconds } });
}

function decide(deps: Deps, rows: Rows, given: string, tell: CodeCalls['tell']): Decision<CodeVerified> {
  const { payment, code, wallet } = rows;
  const now = deps.clock.now();
  if (code === undefined || payment.status !== 'pending_otp_verification') throw refuseState(payment);
  requireInTime(payment, now);
  if (rows.isPaidAside) throw paidBefore(payment, 'payment_id');
  requireCodesOpen(rows.counts, payment, now, code.expires_at);
  const tries = [...recentTries(code, now), now];
  const leftAfter = tell(triesLeft({ tries }, now, rows.most));
  if (wallet === undefined) throw new Error('a code without the account that it is for');
  // On every verdict: codes for two payments from one account are evaluated one after the other.
  const judging = [guardedUpdate('one_time_code', code, { tries }), guard('wallet', wallet)];
  const judged: Judged = { judging, leftAfter, ...rows, wallet };
  switch (verdictOf(deps, code, wallet, given, now)) {
    case 'wrong':
      return countWrong(deps, judged, now);
    case 'expired': {
      const words = { left: leftAfter.count, resends: rows.resends };
      return { change: { updates: judging }, refusal: refuseCode(payment, 'OTP_EXPIRED', words) };
    }
    case 'right':
      return payByCode(deps, judged, now);
  }
}

/** The rows of a try that counts. */
interface Judged extends Rows {
  readonly wallet: Wallet;
  /** The tries that the caller has left after this one. */
  readonly leftAfter: Left;
  /** Written whatever the verdict is. */
  readonly judging: readonly Update[];
}

/** A wrong code counts for its payment and for its account, whichever has fewer tries left. */
function countWrong(
  deps: Deps,
  { payment, counts, wallet, judging, leftAfter }: Judged,
  now: number,
): Decision<CodeVerified> {
  const failed = codeFailed(deps, counts, wallet.id, now);
  const words =
    failed.left === 0 ? { left: 0, seconds: PIN_LOCK_MS / 1000 } : { left: Math.min(leftAfter.count, failed.left) };
  return {
    change: merged({ updates: judging }, failed.change),
    refusal: refuseCode(payment, 'INVALID_OTP', words),
  };
}

function payByCode(
  deps: Deps,
  { payment, counts, wallet, account, judging }: Judged,
  now: number,
): Decision<CodeVerified> {
  const balance = account?.balance ?? 0n;
  if (balance < payment.total_minor) {
    // The account was read after the payment: another submit may have paid this payment from it in between, hence the guard.
    return {
      change: { updates: [...judging, guard('payment', payment)] },
      refusal: new Refusal(1201, { transactionId: payment.id }),
    };
  }
  const moved = advancePayment(payment, 'code_confirmed', null, now);
  const approved = approvedStep(deps, moved, wallet.id, now);
  return {
    // A right code says nothing about the PIN, so the count of wrong PINs stays.
    change: merged({ updates: judging }, codeSucceeded(counts, now), approved.change),
    answer: {
      payment: approved.payment,
      debitMinor: payment.total_minor,
      balanceMinor: balance - payment.total_minor,
      verifiedAt: now,
    },
  };
}

function verdictOf(
  deps: Deps,
  code: OneTimeCode,
  wallet: Wallet,
  given: string,
  now: number,
): 'right' | 'wrong' | 'expired' {
  // Under each key of the ring: a code that was sent before the master key changed is still the code.
  const hashes = deps.secrets.macs('one_time_code', code.id, given);
  const isRight = hashes.some((hash) => deps.secrets.equal(code.code_hash, hash));
  if (code.expires_at <= now || isOutdated(code, wallet)) return 'expired';
  return isRight ? 'right' : 'wrong';
}

/** `seconds` among the words of a wrong code: how long it has locked the account's codes, which is longer than the payment's. */
function refuseCode(payment: Payment, code: 'INVALID_OTP' | 'OTP_EXPIRED', words: Words): Refusal {
  return new Refusal(1302, { transactionId: payment.id, details: [{ field: 'otp_code', code, words }] });
}
