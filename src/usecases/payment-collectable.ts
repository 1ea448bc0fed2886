/**
 * A collect under way: what it asks for, what it checks, and the payment that it writes.
 *
 * Invariant: amount, currency and customer reference are the session's; what the body repeats of them must be equal
 * to the byte (specification, rule 1).
 */

import { requireBinding, requireCollector, requirePaymentsLeft, termFaults } from '../domain/collection.ts';
import { feeColumns } from '../domain/fee.ts';
import { requireCarried, requireOffered, requireWithinLimits } from '../domain/method.ts';
import type { DeliveryBehaviour, FeeCoveredBy, Merchant, Payment, PaymentMethod, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { requireOpen } from '../domain/session.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import type { PageMade, PageWanted } from './checkout-make.ts';
import type { Deps } from './deps.ts';
import { urlFaults } from './merchant-urls.ts';

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

/** A collect under way. Only the session may be read anew while it lasts. */
export interface Collect {
  readonly deps: Deps;
  readonly merchant: Merchant;
  readonly command: PaymentCollectCommand;
  /** The new payment's id. */
  readonly id: string;
  readonly page: PageMade;
  /** The methods that the merchant offers. */
  readonly offered: readonly PaymentMethod[];
  readonly onlyAccount?: BankAccount | undefined;
}

/** Refuses what `collectPayment` says, by the session as it was read. */
export function requireCollectable({ deps, merchant, command, offered }: Collect, session: Session, now: number): void {
  requireCollector(session);
  requireBinding(session, command);
  requireTermsAndUrls(deps, merchant, command);
  if (command.method !== 'none') requireOffered(command.method, 'payment_method', offered);
  requireOpen(session, now);
  requirePaymentsLeft(session, now);
  requireWithinLimits(merchant, command.method, session.amount_minor, session.currency);
  const { total_minor } = feeColumns(merchant, command.method, session, command.fee_covered_by);
  requireCarried(command.method, total_minor, session.currency);
}

function requireTermsAndUrls(deps: Deps, merchant: Merchant, command: PaymentCollectCommand): void {
  const details = [...termFaults(merchant, command), ...urlFaults(deps, merchant, command)];
  if (details.length > 0) throw new Refusal(1110, { details });
}

/** The payment as it is collected, with its fee; a card's form comes on top. */
export function newPayment({ merchant, command, id, page }: Collect, session: Session, now: number): Payment {
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
    checkout_id: page.id,
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
