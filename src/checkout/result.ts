/**
 * How it ended: paid, refunded, refused, cancelled, out of time; and what the customer does now.
 *
 * Invariant: what went wrong is said in words with the next step; a way to pay again is shown only while the session can
 * still pay.
 */

import { DECLINE_STATUS, type Reason } from '../domain/reason.ts';
import type { Payment, PaymentMethod } from '../domain/records.ts';
import { shopAddress } from '../domain/return-address.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { joinSentences, type Language, say } from '../messages/messages.ts';
import { spanText } from './amounts.ts';
import {
  about,
  amountLine,
  line,
  moment,
  money,
  names,
  noticeOf,
  pathOf,
  returnLink,
  type Shown,
  text,
  textAround,
} from './shown.ts';

/** How long a receipt is shown before the browser goes back to the shop. */
export const RETURN_AFTER_S = 20;

/** `stays`: the customer asked to stay on this page. */
export function paidMain(shown: Shown, stays: boolean): Html {
  const { payment, merchant } = shown.view;
  return html`<section class="card receipt"><span class="seal" aria-hidden="true">✓</span>
<h1>${text(shown, 'paid_title')}</h1>${amountLine(money(shown, payment.total_minor))}
<p>${text(shown, 'paid_text', { merchant: merchant.name })}</p>${lines(shown, html`${feeLines(shown)}${refundLine(shown)}`)}${returnLink(shown, 'main')}${
    stays || shopAddress(payment) === undefined ? undefined : announceReturn(shown)
  }</section>`;
}

function announceReturn(shown: Shown): Html {
  const milliseconds = RETURN_AFTER_S * 1_000;
  const time = spanText(shown.language, milliseconds);
  const [before, after] = textAround(shown, 'return_soon', 'time');
  return html`<p class="soft returning"><span>${before}<span data-counts="${milliseconds}">${time}</span>${after}</span> <a class="quiet-link" href="${pathOf(shown)}?stay=1">${text(shown, 'return_stay')}</a></p>`;
}

/** The amount is what was sent back: without the fee that the customer paid on top. */
export function refundedMain(shown: Shown): Html {
  return html`<section class="card receipt"><span class="seal" aria-hidden="true">↩</span><h1>${text(shown, 'refunded_title')}</h1>${amountLine(money(shown, shown.view.payment.refunded_minor))}<p>${text(shown, 'refunded_text')}</p>${lines(shown)}${returnLink(shown, 'main')}</section>`;
}

/** What the total is made of, where the customer has paid a fee on top. */
function feeLines(shown: Shown): Piece {
  const { fee_covered_by, fee_minor, amount_minor } = shown.view.payment;
  if (fee_covered_by !== 'buyer' || fee_minor === 0n) return undefined;
  return html`${line(text(shown, 'amount'), money(shown, amount_minor))}
${line(text(shown, 'fee'), money(shown, fee_minor))}
`;
}

/** What of a paid amount has been sent back. */
function refundLine(shown: Shown): Piece {
  const { refunded_minor } = shown.view.payment;
  return refunded_minor === 0n ? undefined : line(text(shown, 'refunded_title'), money(shown, refunded_minor));
}

/** The time is that of the payment, also once it has been refunded. */
function lines(shown: Shown, sums?: Piece): Html {
  const { payment, now } = shown.view;
  return html`<dl class="sums">${sums}${payment.method === 'none' ? undefined : line(text(shown, 'method'), methodText(shown, payment.method))}
${line(text(shown, payment.status === 'refunded' ? 'paid_title' : 'date'), moment(shown, payment.completed_at ?? now))}
${names(shown)}</dl>`;
}

function methodText(shown: Shown, method: PaymentMethod): string {
  const name = say(shown.language, `method.${method}`);
  const { carrier } = shown.view.payment;
  return method === 'mobile_money' && carrier !== null ? carrier : name;
}

/** The title for a payment that was declined, failed or cancelled. */
export function endedTitle({ payment: { status } }: Shown['view']): CheckoutWord {
  if (status === 'declined') return 'declined_title';
  return status === 'cancelled' ? 'cancelled_title' : 'failed_title';
}

/** Declined, failed or cancelled. */
export function endedMain(shown: Shown): Html {
  return html`<section class="card ended">${noticeOf(shown)}<span class="seal bad" aria-hidden="true">!</span><h1>${text(shown, endedTitle(shown.view))}</h1>
${endedText(shown)}${about(shown)}
${waysOn(shown)}</section>`;
}

/** Why it has ended, and what the customer does now. */
function endedText(shown: Shown): Html {
  const { payment } = shown.view;
  if (payment.reason === 'sibling_paid') return html`<p>${text(shown, 'other_paid_text')}</p>`;
  const next = text(shown, nextStep(shown.view));
  const step = isUncharged(shown.view) ? joinSentences(shown.language, text(shown, 'uncharged'), next) : next;
  return html`<p>${whyText(shown.language, payment)}</p><p>${step}</p>`;
}

/** Whether an upstream has said no, and no money has come another way: for other reasons nobody may know, or their words tell. */
function isUncharged({ payment, isPaidAside }: Shown['view']): boolean {
  return payment.reason !== null && Object.hasOwn(DECLINE_STATUS, payment.reason) && !isPaidAside;
}

function nextStep(view: Shown['view']): CheckoutWord {
  if (view.isPaidAside) return 'paid_before';
  // The customer may have transferred the money, and only the proof was not good enough.
  if (view.payment.reason === 'proof_declined') return 'transferred_text';
  return view.isOpen ? 'again_text' : 'back_text';
}

/** The way to pay again, if there is one, and the way back to the shop. */
function waysOn(shown: Shown): Piece {
  const { isOpen, isPaidAside } = shown.view;
  if (!isOpen || isPaidAside) return returnLink(shown, 'main', { mayBePaid: isPaidAside });
  return html`<form method="post" action="${pathOf(shown, 'again')}" data-once><button class="button">${text(shown, 'again_button')}</button></form>${returnLink(shown, 'quiet')}`;
}

/** Reasons whose subject is the reader: this page addresses the customer, other texts speak about the customer. */
const OWN_REASONS: { readonly [reason in Reason]?: CheckoutWord } = {
  customer_rejected: 'rejected_text',
  authentication_cancelled: 'bank_cancelled_text',
};

/** Why the payment has ended, for its customer. */
export function whyText(language: Language, { status, reason }: Pick<Payment, 'status' | 'reason'>): string {
  if (reason === null) return say(language, `status.${status}`);
  const own = OWN_REASONS[reason];
  return own === undefined ? say(language, `reason.${reason}`) : checkoutText(language, own);
}

/**
 * A customer whose money came too late to count asks the shop, at the address where the shop checks: its failure address would ask
 * for the money again. A customer who was shown an account may have transferred the money: then nobody can say that nothing has been charged.
 */
export function expiredMain(shown: Shown): Html {
  const { payment, isPaidAside } = shown.view;
  const promised =
    payment.bank_account_id === null
      ? text(shown, 'expired_text')
      : joinSentences(shown.language, text(shown, 'overdue_text'), text(shown, 'transferred_text'));
  const words = isPaidAside ? text(shown, 'paid_before') : promised;
  return html`<section class="card ended"><span class="seal bad" aria-hidden="true">!</span><h1>${text(shown, 'expired_title')}</h1><p>${words}</p>${about(shown)}${returnLink(shown, 'main', { mayBePaid: isPaidAside })}</section>`;
}
