/**
 * Starts a payment on a session: checks it against the binding, computes the fee, and writes it as `pending`.
 *
 * Invariant: amount, currency and customer reference are the session's; what the body repeats of them must be equal
 * to the byte (specification, rule 1). The session counts its payments, so that the submit that consumes it can end the others.
 */

import { merged } from '../domain/change.ts';
import { requireBinding, requireCollector, requirePaymentsLeft } from '../domain/collection.ts';
import { feeColumns } from '../domain/fee.ts';
import { requireCarried, requireOffered, requireWithinLimits } from '../domain/method.ts';
import type { DeliveryBehaviour, FeeCoveredBy, Merchant, Payment, PaymentMethod, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { requireOpen, updateSession } from '../domain/session.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { sessionAsTold } from './acceptances.ts';
import type { SessionCaller } from './callers.ts';
import { openForm } from './card-form.ts';
import { makePage, type PageNow, type PageWanted, readPageNow } from './checkout-make.ts';
import { cachedFirst, type Deps, newId } from './deps.ts';
import { urlFaults } from './merchant-urls.ts';
import { bankAccountsFor, offeredFor, offeredWith } from './method-reach.ts';
import {
  alsoInDoubt,
  intendByToken,
  isNative,
  type NativeIntended,
  payByToken,
  refusalByEarlier,
} from './native-pay.ts';
import { type Answering, type Decision, perform, type Reply, refusalOf, refuse } from './perform.ts';

/** A collect whose form has been checked. PINs are checked for form by `http` and are not passed on. */
export interface PaymentCollectCommand {
  readonly method: PaymentMethod | 'none';
  readonly fee_covered_by: FeeCoveredBy;
  readonly delivery_behaviour: DeliveryBehaviour;
  readonly notify_url: string | undefined;
  readonly success_redirect_url: string | undefined;
  readonly fail_redirect_url: string | undefined;
  /** What the body repeats of the binding, as older clients do. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  readonly transactional_currency: string | undefined;
  readonly customer_reference: string | undefined;
  readonly language: string;
  /** Whether a hosted page shows the payment, and which. */
  readonly page: PageWanted;
  /** The token of Google Pay or Apple Pay. */
  readonly native_pay_token?: string | undefined;
}

/** What a collect answers: the payment, and the address of its hosted page, if it has a new one. */
export interface Collected {
  readonly payment: Payment;
  readonly pageUrl?: string | undefined;
  /** For a bank transfer, the account that it goes to, if there is only one. */
  readonly onlyAccount?: BankAccount | undefined;
}

/**
 * Writes a `pending` payment on the session: for `card` with the network's form, and with a hosted page if one is wanted.
 * Google Pay and Apple Pay are paid at once, and so consume the session (specification, Endpoints, rules 1 and 2; contract §3,
 * §4).
 *
 * @throws Refusal 1101, 1102 or 1103 for what differs from the binding; 1110 for an address; 1103 for a method that is not
 * offered; 1001 or 1005 when the session is not open; 1003 when its scope is payouts; 1301 when it has too many payments;
 * 1202 when an amount is out of limits; 1203 when Google Pay or Apple Pay finds the session held by a submit; 1404 when the
 * network opened no form, or cannot say what became of an earlier payment of the session before a token is sent; 1110 when such a
 * payment was paid too late to count.
 */
export async function collectPayment(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentCollectCommand,
  answering: Answering<Collected>,
): Promise<Reply> {
  const id = newId(deps, 'txn', caller.session.shard);
  const { shard } = caller.session;
  const page = makePage(deps, command.page, shard);
  const { method } = command;
  const { offered, onlyAccount } = await methodsFor(deps, caller, method);
  const form = method === 'card' ? await formFor(deps, caller, command, id, offered, answering) : undefined;
  if (form !== undefined && 'status' in form) return form;
  let paying: NativeIntended | undefined;
  let checked = caller.session;
  const decide = (rows: Rows): Decision<Collected> => {
    const { session, siblings, shown } = rows;
    // The customer started again twice: the page shows the payment that the first request made.
    if (shown.leadsTo !== undefined) return { answer: { payment: shown.leadsTo } };
    if (session === undefined) throw new Refusal(1001);
    if (isNative(method) && session.version !== checked.version) throw new SessionMoved(session);
    const now = deps.clock.now();
    requireCollectable(deps, session, caller.merchant, command, offered, now);
    const payment: Payment = {
      ...newPayment(id, session, caller.merchant, command, now),
      checkout_id: page.id,
      hosted_session_id: form?.sessionId ?? null,
    };
    paying = isNative(method) ? intendByToken(deps, session, siblings, payment, method) : undefined;
    const collected = paying?.change ?? {
      updates: [updateSession(session, { payments: session.payments + 1 })],
      inserts: [{ table: 'payment', row: payment } as const],
    };
    return {
      change: merged(collected, page.writes(payment, session, now, shown.checkout)),
      answer: { payment: paying?.payment ?? payment, pageUrl: page.url, onlyAccount },
    };
  };
  const collect = (to: Answering<Collected>): Promise<Reply> =>
    perform(deps.store, to, rowsOf(deps, { ...caller, session: checked }, command), decide);
  let reply: Reply | undefined;
  while (reply === undefined) {
    const refused = isNative(method)
      ? await refusalBefore(deps, { ...caller, session: checked }, command, offered)
      : undefined;
    if (refused !== undefined) return refuse(deps.store, answering, refused);
    paying = undefined;
    reply = await alsoInDoubt(deps, answering, collect, () => paying).catch((error: unknown) => {
      if (!(error instanceof SessionMoved)) throw error;
      checked = error.session;
      return undefined;
    });
  }
  const { native_pay_token: token } = command;
  if (paying !== undefined && reply.replayed !== true && isNative(method) && token !== undefined) {
    deps.background(payByToken(deps, paying, method, token));
  }
  return reply;
}

/** What a submit has asked for meanwhile must be inquired about, too, before a token is sent. */
class SessionMoved extends Error {
  readonly session: SessionCaller['session'];

  constructor(session: SessionCaller['session']) {
    super('the session has moved');
    this.session = session;
  }
}

/** Inquires before a token is sent; what would be refused in any case costs the network nothing. */
async function refusalBefore(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentCollectCommand,
  offered: readonly PaymentMethod[],
): Promise<Refusal | undefined> {
  const { session, merchant } = caller;
  const isAllowed = (): void => requireCollectable(deps, session, merchant, command, offered, deps.clock.now());
  return refusalOf(isAllowed) === undefined ? refusalByEarlier(deps, caller) : undefined;
}

/** The methods that the merchant offers, read as far as `method` needs; for a bank transfer also its account, if only one. */
async function methodsFor(
  deps: Deps,
  { merchant, session: { currency } }: SessionCaller,
  method: PaymentCollectCommand['method'],
): Promise<{ readonly offered: readonly PaymentMethod[]; readonly onlyAccount?: BankAccount | undefined }> {
  if (method === 'none') return { offered: [] };
  if (method !== 'bank_transfer') return { offered: await offeredFor(deps, merchant, currency, method) };
  const accounts = await bankAccountsFor(deps, merchant, currency);
  const [first, second] = accounts;
  return {
    offered: offeredWith(deps, merchant, currency, accounts),
    onlyAccount: second === undefined ? first : undefined,
  };
}

interface Rows {
  readonly session: SessionCaller['session'] | undefined;
  /** Read only if the collect ends them. */
  readonly siblings: readonly Payment[];
  readonly shown: PageNow;
}

function rowsOf(
  deps: Deps,
  caller: SessionCaller,
  { method, page }: Pick<PaymentCollectCommand, 'method' | 'page'>,
): () => Promise<Rows> {
  const { shard, id } = caller.session;
  const read = async (): Promise<Rows> => {
    const [session, shown] = await Promise.all([sessionAsTold(deps, shard, id), readPageNow(deps, page)]);
    const ends = isNative(method) && session !== undefined && session.payments > 0;
    return { session, siblings: ends ? await deps.store.payment.ofSession(shard, id) : [], shown };
  };
  const atHand = !isNative(method) || caller.session.payments === 0;
  const checkout = page !== 'none' && 'led' in page ? page.led : undefined;
  const known: Rows = { session: caller.session, siblings: [], shown: { checkout, leadsTo: undefined } };
  return atHand ? cachedFirst(known, read) : read;
}

/** Opens the card network's form before the payment is written, if it may be; or returns the remembered reply. */
async function formFor(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentCollectCommand,
  id: string,
  offered: readonly PaymentMethod[],
  answering: Answering<Collected>,
): Promise<Reply | { readonly sessionId: string }> {
  const stored = await answering.receipt?.stored();
  if (stored !== undefined) return { ...stored, replayed: true };
  const { session, merchant } = caller;
  const now = deps.clock.now();
  const refused = refusalOf(() => requireCollectable(deps, session, merchant, command, offered, now));
  if (refused !== undefined) return refuse(deps.store, answering, refused);
  return { sessionId: await openForm(deps, newPayment(id, session, merchant, command, now)) };
}

function requireCollectable(
  deps: Deps,
  session: Session,
  merchant: Merchant,
  command: PaymentCollectCommand,
  offered: readonly PaymentMethod[],
  now: number,
): void {
  requireCollector(session);
  requireBinding(session, command);
  requireUrls(deps, merchant, command);
  if (command.method !== 'none') requireOffered(command.method, 'payment_method', offered);
  requireOpen(session, now);
  requirePaymentsLeft(session, now);
  requireWithinLimits(merchant, command.method, session.amount_minor, session.currency);
  const { total_minor } = feeColumns(merchant, command.method, session, command.fee_covered_by);
  requireCarried(command.method, total_minor, session.currency);
}

function requireUrls(deps: Deps, merchant: Merchant, command: PaymentCollectCommand): void {
  const details = urlFaults(deps, merchant, command);
  if (details.length > 0) throw new Refusal(1110, { details });
}

function newPayment(
  id: string,
  session: Session,
  merchant: Merchant,
  command: PaymentCollectCommand,
  now: number,
): Payment {
  const fee = feeColumns(merchant, command.method, session, command.fee_covered_by);
  return {
    shard: session.shard,
    id,
    version: 1,
    merchant_id: session.merchant_id,
    session_id: session.id,
    status: 'pending',
    method: command.method,
    amount: session.amount,
    amount_minor: session.amount_minor,
    currency: session.currency,
    customer_reference: session.customer_reference,
    ...fee,
    fee_covered_by: command.fee_covered_by,
    delivery_behaviour: command.delivery_behaviour,
    notify_url: command.notify_url ?? null,
    success_redirect_url: command.success_redirect_url ?? null,
    fail_redirect_url: command.fail_redirect_url ?? null,
    wallet_number: null,
    msisdn: null,
    carrier: null,
    hosted_session_id: null,
    bank_account_id: null,
    checkout_id: null,
    attempt_id: null,
    provider_reference: null,
    reason: null,
    events: 0,
    language: command.language,
    created_at: now,
    submitted_at: null,
    completed_at: null,
    released_at: null,
    refunded_minor: 0n,
    refunding_minor: 0n,
    expires_at: session.expires_at,
  };
}
