/**
 * Pays from a wallet or flash account: the PIN is verified, and either the money moves at once or a one-time code is
 * asked for first.
 *
 * Invariant: a wrong PIN is counted before it is answered. Every answer to a right PIN, a refusal too, guards the wallet's
 * version, so that no guess gets past a lock; the debit has a floor, so that no balance goes below zero.
 */

import { guard, guardedUpdate, merged } from '../domain/change.ts';
import { type MintedBy, requireMintingSecret } from '../domain/credential.ts';
import { CODE_LIFE_MS, CODE_THRESHOLDS, expiryWithCode, writeCode } from '../domain/one-time-code.ts';
import { advancePayment, type PaymentColumns } from '../domain/payment.ts';
import type { Merchant, Payment, Session, Wallet } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { consumeSession } from '../domain/settlement.ts';
import {
  type AccountMeans,
  methodColumns,
  requireMine,
  requireSubmittable,
  type Submitted,
} from '../domain/submission.ts';
import { decidingCount, lockedFor, UNLOCKED } from '../domain/wallet.ts';
import type { SessionCaller } from './callers.ts';
import { locked, readCodeCounts, requireCodesOpen } from './code-lockout.ts';
import { type CodeAsked, sendingCode } from './code-send.ts';
import { type Deps, idsOf } from './deps.ts';
import type { LimitCounters } from './limit-counters.ts';
import { findPaidAsideInSession, paidBefore } from './paid-aside.ts';
import type { FoundSubmit } from './payment-submit-found.ts';
import { type Decision, decisionOf, perform, type Reply, refusalOf, refuse } from './perform.ts';
import {
  countOf,
  countWrongPin,
  judgePin,
  type PinRows,
  type PinVerdict,
  readPinRows,
  renewPinHash,
} from './pin-check.ts';
import { readSessionPayments } from './session-payments.ts';
import { guardOfSessionPins, readSessionPins, type SessionPins, sessionPinFailed } from './session-pins.ts';
import { readTextCounts, textCounted } from './text-limit.ts';
import { approvedStep, type Step } from './wallet-approve.ts';

interface Rows extends PinRows {
  /** The wrong PINs of the session, at whatever accounts. */
  readonly sessionPins: SessionPins;
  readonly session: (Session & MintedBy) | undefined;
  readonly payment: Payment | undefined;
  readonly sessionPayments: readonly Payment[];
  /** Whether money has come for the session's order, too late to count: perhaps while the PIN waited to be verified. */
  readonly isPaidAside: boolean;
  /** The wrong codes of the account, if a code is asked for. */
  readonly codeCounts: LimitCounters;
  /** The codes that were sent for the account, likewise. */
  readonly textCounts: LimitCounters;
}

/**
 * Pays from a wallet or flash account with its PIN; from the merchant's threshold on, a one-time code is sent and asked for
 * first (contract §4).
 *
 * @throws Refusal 1302 for a wrong PIN, with the tries that are left; 1303 while the account or the session is locked, or a code
 * would be asked for and too many were wrong, with the seconds; 1102 for a wallet of another currency; 1201 when the balance does not
 * cover the total; 1301 when a code would be asked for and too many were sent; 1402 when a code would be asked for and no texts can be
 * sent; 1202 when the amount is out of limits; and as `requireSubmittable`, for the session and the payment.
 */
export async function submitFromWallet(
  deps: Deps,
  { caller, payment, answering }: FoundSubmit,
  means: AccountMeans,
): Promise<Reply> {
  const code = writeCode(deps.random.below(1_000_000));
  const submit: AccountSubmit = { deps, merchant: caller.merchant, means, code };
  const read = (): Promise<Rows> => readRows(deps, caller, payment.id, means);
  const first = await read();
  const closed = refusalOf(() =>
    requireSubmittable(first.session ?? caller.session, first.payment ?? payment, deps.clock.now()),
  );
  if (closed !== undefined) return refuse(deps.store, answering, closed);
  const readJudged = await verifiedReads(submit, first, read);
  let wallet: Wallet | undefined;
  let asked: CodeAsked | undefined;
  const reply = await sendingCode(
    deps,
    caller.merchant,
    () => asked,
    () =>
      perform(deps.store, answering, readJudged, (rows) => {
        const decision = decide(submit, rows);
        wallet = rows.wallet;
        asked = codeToSend(submit, rows, decision.answer?.payment);
        return decision;
      }),
  );
  if (wallet !== undefined && reply.replayed !== true) deps.background(renewPinHash(deps, wallet, means.pin));
  return reply;
}

async function readRows(deps: Deps, caller: SessionCaller, paymentId: string, means: AccountMeans): Promise<Rows> {
  const { shard, id } = caller.session;
  const [session, payment, pinRows, sessionPins] = await Promise.all([
    deps.store.session.caller(shard, id),
    deps.store.payment.get(shard, paymentId),
    readPinRows(deps, means.number, means.method),
    readSessionPins(deps, caller.session),
  ]);
  // For numbers without an account, too: how long an answer takes must not tell whether there is one.
  const asking = payment !== undefined && asksForCode(caller.merchant, payment) ? means.number : null;
  const [codeCounts, textCounts] = await Promise.all([readCodeCounts(deps, asking), readTextCounts(deps, asking)]);
  const [sessionPayments, aside] = await Promise.all([
    readSessionPayments(deps, session),
    payment && session && findPaidAsideInSession(deps, payment, session),
  ]);
  const isPaidAside = aside !== undefined;
  return { session, payment, ...pinRows, sessionPins, sessionPayments, isPaidAside, codeCounts, textCounts };
}

/** The code to be sent, to the phone that it is kept with; undefined if none is asked for. */
function codeToSend(
  { code, means }: AccountSubmit,
  { wallet }: Rows,
  payment: Payment | undefined,
): CodeAsked | undefined {
  if (payment?.status !== 'pending_otp_verification' || wallet === undefined) return undefined;
  return { payment, text: { phone: wallet.phone, code, language: means.language } };
}

/** Until the account and the session are both open to tries; undefined if they are. */
function secondsLocked(rows: Pick<Rows, keyof PinRows | 'sessionPins'>, now: number): number | undefined {
  return lockedFor(decidingCount([countOf(rows, now), rows.sessionPins], now), now);
}

/** The result for a PIN; `unverified` if account or session was locked, so that no hash was computed. */
type Verdict = PinVerdict | 'unverified';

/** Rows with the verdict on the PIN, which is about the hash that the account has in these rows. */
interface JudgedRows extends Rows {
  readonly verdict: Verdict;
}

/**
 * Verifies the PIN against the `first` rows, and returns a read of fresh rows with their verdict. The PIN is verified again only if
 * the account has another hash by then: of another PIN, or of the same one hashed anew. The rows are read again after it, because
 * a verification may wait for its turn.
 */
async function verifiedReads(
  submit: AccountSubmit,
  first: Rows,
  read: () => Promise<Rows>,
): Promise<() => Promise<JudgedRows>> {
  let { wallet: judged } = first;
  let verdict = await judge(submit, first);
  return async () => {
    for (;;) {
      const rows = await read();
      const isJudged = rows.wallet?.pin_hash === judged?.pin_hash;
      judged = rows.wallet;
      if (isJudged) return { verdict, ...rows };
      verdict = await judge(submit, rows);
    }
  };
}

async function judge({ deps, means, merchant }: AccountSubmit, rows: Rows): Promise<Verdict> {
  const isLocked = secondsLocked(rows, deps.clock.now()) !== undefined;
  return isLocked ? 'unverified' : judgePin(deps, rows, means.pin, merchant.id);
}

function decide(submit: AccountSubmit, rows: JudgedRows): Decision<Submitted> {
  const { deps } = submit;
  const now = deps.clock.now();
  const { session, verdict } = rows;
  if (session === undefined) throw new Refusal(1001);
  // The session was read anew after the PIN was verified: a credential revoked or merchant suspended meanwhile pays nothing.
  requireMintingSecret(session, now);
  const payment = requireMine(rows.payment, session);
  requireSubmittable(session, payment, now);
  // If a lock ended between the two reads, the PIN was not verified: nothing is counted.
  const seconds = secondsLocked(rows, now) ?? (verdict === 'unverified' ? 1 : undefined);
  if (seconds !== undefined) throw locked(seconds, payment, now, payment.expires_at);
  const { wallet } = rows;
  if (verdict !== 'right' || wallet === undefined) return wrongPin(submit, { ...rows, session, payment }, now);
  const decision = decisionOf(() => pay(submit, { ...rows, session, payment, wallet }, now));
  if (decision.refusal === undefined) return decision;
  // The wallet, because of many guesses verified at once, one made after the lock would otherwise learn from this refusal that it
  // was right; the payment, because another submit may have paid it before the account was read.
  const updates = [guard('wallet', wallet), guard('payment', payment), ...guardOfSessionPins(rows.sessionPins)];
  return { change: { updates }, refusal: decision.refusal };
}

/** What a submit is decided on besides the rows: what was typed, and the code that would be asked for. */
interface AccountSubmit {
  readonly deps: Deps;
  readonly merchant: Merchant;
  readonly means: AccountMeans;
  readonly code: string;
}

/** The rows once the PIN is right. */
interface Opened extends Rows {
  readonly session: Session & MintedBy;
  readonly payment: Payment;
  readonly wallet: Wallet;
}

/** @throws Refusal 1102, 1110, 1201, 1202, 1301, 1303 or 1402. */
function pay(submit: AccountSubmit, opened: Opened, now: number): Decision<Submitted> {
  const { deps, merchant, means } = submit;
  const { session, payment, wallet, account, sessionPayments } = opened;
  if (opened.isPaidAside) throw paidBefore(payment, 'payment_id');
  if (wallet.currency !== payment.currency) {
    throw refuseField(1102, means.numberField, 'WALLET_CURRENCY', { currency: wallet.currency });
  }
  const columns = {
    wallet_number: wallet.id,
    submitted_at: now,
    ...methodColumns(payment, merchant, means.method),
  };
  const ready: Payment = { ...payment, ...columns };
  if ((account?.balance ?? 0n) < ready.total_minor) throw new Refusal(1201, { transactionId: payment.id });
  const unlocked = guardedUpdate('wallet', wallet, UNLOCKED);
  const codeAsked = asksForCode(merchant, payment);
  // A code that could not be evaluated, or never arrive for want of a text sender: refused before the session is consumed.
  if (codeAsked) requireCodesOpen(opened.codeCounts, payment, now, payment.expires_at);
  if (codeAsked && deps.connectors.texts === undefined) throw new Refusal(1402, { transactionId: payment.id });
  const counted = codeAsked ? textCounted(deps, opened.textCounts, wallet.id, payment, now) : {};
  const paying = { columns, ...opened, payment: ready };
  const consumed = consumeSession({ payment, sessionPayments }, session, { now, newId: idsOf(deps) });
  const change = codeAsked ? askCode(submit, paying, now) : approve(submit, paying, now);
  return {
    change: merged(
      { updates: [unlocked, ...guardOfSessionPins(opened.sessionPins)] },
      counted,
      consumed,
      change.change,
    ),
    answer: { payment: change.payment },
  };
}

function wrongPin(
  { deps, means }: AccountSubmit,
  rows: Rows & Pick<Opened, 'session' | 'payment'>,
  now: number,
): Decision<Submitted> {
  const { payment, session, sessionPins } = rows;
  const ofAccount = countWrongPin(deps, rows, means.number, means.method, now);
  const ofSession = sessionPinFailed(sessionPins, session, now);
  const left = Math.min(ofAccount.left, ofSession.left);
  const details = [{ field: means.pinField, code: 'INVALID_PIN', words: { left } }] as const;
  const refusal = new Refusal(1302, { transactionId: payment.id, details });
  return { change: merged(ofAccount.change, ofSession.change), refusal };
}

/** Whether the amount reaches the merchant's threshold for the currency (contract §4). */
function asksForCode(merchant: Merchant, payment: Payment): boolean {
  const set = merchant.settings.code_thresholds?.[payment.currency];
  const threshold = set === undefined ? CODE_THRESHOLDS[payment.currency] : BigInt(set);
  return payment.amount_minor >= threshold;
}

/** The rows once the PIN is right, and the columns that this method sets on the payment. */
interface Paying extends Opened {
  readonly columns: PaymentColumns;
}

function approve({ deps }: AccountSubmit, { payment, columns, wallet }: Paying, now: number): Step {
  const moved = advancePayment(payment, 'account_debited', null, now, columns);
  return approvedStep(deps, moved, wallet.id, now);
}

function askCode({ deps, code }: AccountSubmit, { payment, columns, wallet }: Paying, now: number): Step {
  const expiry = { expires_at: now + CODE_LIFE_MS };
  const waiting = { expires_at: expiryWithCode(payment, expiry), ...columns };
  const moved = advancePayment(payment, 'code_asked', null, now, waiting);
  return {
    change: {
      updates: [moved.update],
      inserts: [moved.history],
      claims: [
        {
          table: 'one_time_code',
          row: {
            shard: payment.shard,
            id: payment.id,
            version: 1,
            code_hash: deps.secrets.mac('one_time_code', payment.id, code),
            sent_to: wallet.phone,
            resends: 0,
            account_changes: wallet.changes,
            tries: [],
            ...expiry,
            created_at: now,
          },
        },
      ],
    },
    payment: moved.payment,
  };
}
