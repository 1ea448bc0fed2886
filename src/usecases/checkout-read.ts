/**
 * Everything that a hosted page shows, read anew for every request.
 *
 * Invariant: the page acts as its session's caller, with no further rights: a suspended merchant or a revoked credential
 * ends it as it ends the session.
 */

import { requireMintingSecret } from '../domain/credential.ts';
import { isOutdated } from '../domain/one-time-code.ts';
import type { Checkout } from '../domain/page-records.ts';
import { isFinal, isPaid } from '../domain/payment.ts';
import type { Attempt, Merchant, OneTimeCode, Payment, PaymentMethod, Session } from '../domain/records.ts';
import { isSessionOpen } from '../domain/session.ts';
import { isChoosable, isSubmitted, priceBy, type SubmittedMethod } from '../domain/submission.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { shardOfWallet } from '../domain/wallet.ts';
import type { SessionCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { bankAccountsFor, offeredTo } from './method-reach.ts';
import { findPaidAsideInSession } from './paid-aside.ts';

/** A method that the customer can choose, with its fee and total in minor units. */
export interface Offer {
  readonly method: SubmittedMethod;
  readonly feeMinor: bigint;
  readonly totalMinor: bigint;
}

/** Numbers given by the shop, which the customer need not type, by method. */
export interface GivenHere {
  readonly mobile_money: { readonly msisdn: string; readonly carrier: string } | undefined;
  readonly wallet: string | undefined;
  readonly flash: string | undefined;
}

/** What a hosted page shows, and acts on. */
export interface PageView {
  readonly checkout: Checkout;
  readonly caller: SessionCaller;
  readonly merchant: Merchant;
  readonly session: Session;
  readonly payment: Payment;
  /** The methods that the page can carry out, in the order in which they are shown. */
  readonly offers: readonly Offer[];
  /** Present while the page asks for a code. */
  readonly code: OneTimeCode | undefined;
  /** Whether the account has been changed since, so that no code pays (see `isOutdated`). */
  readonly isCodeOutdated: boolean;
  /** The attempt at the upstream, when there is one. */
  readonly attempt: Attempt | undefined;
  /** The accounts that a transfer may go to, or the one that was chosen. */
  readonly accounts: readonly BankAccount[];
  /** The carriers that take the currency. */
  readonly carriers: ReturnType<Deps['connectors']['carriersFor']>;
  /** The numbers given by the shop, as far as they can be paid with here. */
  readonly given: GivenHere;
  readonly now: number;
  /** Whether a payment can still be started on the session (see `isSessionOpen`). */
  readonly isOpen: boolean;
  /** Whether the payment is over, or asks for a code or a bank transfer, and yet money has come for its session's order. */
  readonly isPaidAside: boolean;
}

/** @throws Refusal 1001, 1004 or 1005 when the session's merchant is suspended, or its credential no longer valid. */
export async function readPage(deps: Deps, checkout: Checkout): Promise<PageView> {
  const { shard } = checkout;
  await deps.acceptances.writtenOfSession(checkout.session_id);
  const [session, payment] = await Promise.all([
    deps.store.session.caller(shard, checkout.session_id),
    deps.store.payment.get(shard, checkout.payment_id),
  ]);
  if (session === undefined || payment === undefined) throw new Error('a hosted page without its payment');
  const now = deps.clock.now();
  requireMintingSecret(session, now);
  const merchant = await deps.store.merchant.at(shard, session.merchant_id, session.merchant_version);
  if (merchant === undefined) throw new Error('a session without its merchant');
  const isOpen = isSessionOpen(session, now);
  const choosing = payment.status === 'pending' && isOpen;
  const asksCode = payment.status === 'pending_otp_verification';
  const number = asksCode ? payment.wallet_number : null;
  const [offers, code, wallet, attempt, accounts, aside] = await Promise.all([
    choosing ? offersOf(deps, merchant, payment, now) : [],
    asksCode ? deps.store.code.get(shard, payment.id) : undefined,
    number === null ? undefined : deps.store.wallet.get(shardOfWallet(number), number),
    latestAttempt(deps, payment),
    accountsOf(deps, payment, choosing),
    mustKnowAside(payment, isOpen, now) ? findPaidAsideInSession(deps, payment, session) : undefined,
  ]);
  const caller: SessionCaller = { kind: 'session', merchant, session, fingerprint: undefined };
  const carriers = choosing ? deps.connectors.carriersFor(payment.currency) : [];
  const given = givenHere(deps, checkout, payment);
  return {
    checkout,
    caller,
    merchant,
    session,
    payment,
    offers,
    code,
    isCodeOutdated: isOutdated(code, wallet),
    attempt,
    accounts,
    carriers,
    given,
    now,
    isOpen,
    isPaidAside: aside !== undefined,
  };
}

/** Statuses in which time alone ends a payment, also before a round has written that. */
const TIMED: ReadonlySet<Payment['status']> = new Set([
  'pending',
  'pending_otp_verification',
  'pendingBankProofUpload',
]);

/** Whether the page says, or may say at once, that nothing can be paid any more. */
function isOver(payment: Payment, isOpen: boolean, now: number): boolean {
  if (isPaid(payment)) return false;
  return isFinal(payment.status) || (TIMED.has(payment.status) && (!isOpen || payment.expires_at <= now));
}

/**
 * Whether the page has to know if money has come too late: where it says that nothing can be paid, where it asks for a code, which
 * may be the last one and expire, and where it asks for a bank transfer, which nothing could refuse. Every other way to pay is
 * refused when it is tried.
 */
function mustKnowAside(payment: Payment, isOpen: boolean, now: number): boolean {
  const { status } = payment;
  const asks = status === 'pendingBankProofUpload' || status === 'pending_otp_verification';
  return asks || isOver(payment, isOpen, now);
}

/** The given numbers; a phone whose carrier does not take the currency is left out, so that the page asks for one. */
function givenHere({ connectors }: Deps, checkout: Checkout, { currency }: Payment): GivenHere {
  const { given_msisdn: msisdn, given_wallet_number: wallet, given_flash_number: flash } = checkout;
  const route = msisdn === null ? undefined : connectors.routeFor('payment', msisdn, currency);
  return {
    mobile_money: msisdn !== null && route?.kind === 'route' ? { msisdn, carrier: route.carrier } : undefined,
    wallet: wallet ?? undefined,
    flash: flash ?? undefined,
  };
}

/** The order in which methods are offered: first what most people in these markets pay by. */
const RANKS: { readonly [method in SubmittedMethod]: number } = {
  mobile_money: 1,
  card: 2,
  wallet: 3,
  flash: 4,
  bank_transfer: 5,
};

/**
 * The methods that the customer can choose, at the price that a submit by each would take. Google Pay and Apple Pay are left out:
 * they need third parties' buttons, which no page of ours loads.
 */
async function offersOf(deps: Deps, merchant: Merchant, payment: Payment, now: number): Promise<readonly Offer[]> {
  const offered: readonly PaymentMethod[] = await offeredTo(deps, merchant, payment.currency);
  return offered
    .filter(isSubmitted)
    .sort((a, b) => RANKS[a] - RANKS[b])
    .filter((method) => isChoosable(payment, merchant, method, now))
    .map((method) => {
      const { fee_minor, total_minor } = priceBy(method, payment, merchant);
      return { method, feeMinor: fee_minor, totalMinor: total_minor };
    });
}

async function accountsOf(deps: Deps, payment: Payment, choosing: boolean): Promise<readonly BankAccount[]> {
  if (payment.bank_account_id !== null) {
    const chosen = await deps.store.bankAccount.get(payment.shard, payment.bank_account_id);
    return chosen === undefined ? [] : [chosen];
  }
  if (!choosing) return [];
  return bankAccountsFor(deps, { shard: payment.shard, id: payment.merchant_id }, payment.currency);
}
