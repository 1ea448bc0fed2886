/**
 * Waiting: for the customer's phone, for the bank, for the operator who checks a proof.
 *
 * Invariant: a page that waits says for what and how much longer, and what to do meanwhile; it never invites to pay twice.
 */

import { shopAddress } from '../domain/return-address.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { clockText, momentText } from './amounts.ts';
import { maskedPhone, menuCode } from './phone.ts';
import { about, money, noticeOf, pathOf, returnLink, type Shown, text, textAround } from './shown.ts';
import { isLate, sentAt } from './state.ts';

/**
 * How long a carrier's request is taken to wait on the phone: no carrier says it, and the specification (rules for polling) gives
 * up after five minutes. The payment may have longer.
 */
const PROMPT_MS = 5 * 60_000;

function carrierOf({ payment, attempt }: Shown['view']): string {
  return payment.carrier ?? attempt?.carrier ?? '';
}

/** The title: what to do, or, once the carrier is late, whom the page waits for. */
export function phoneTitle(shown: Shown): string {
  return isLate(shown.view) ? text(shown, 'slow_title', { carrier: carrierOf(shown.view) }) : text(shown, 'wait_title');
}

/** The customer confirms on the phone. */
export function phoneMain(shown: Shown): Html {
  const { payment, attempt, merchant } = shown.view;
  const carrier = carrierOf(shown.view);
  const msisdn = payment.msisdn ?? attempt?.msisdn;
  const since = sentAt(shown.view);
  if (isLate(shown.view)) return lateMain(shown);
  return html`<section class="wait"><p class="soft"><span class="isolated">${merchant.name}</span> · ${money(shown, payment.total_minor)}</p>
${ring(shown, since)}
<h1>${phoneTitle(shown)}</h1>
<p class="soft">${msisdn === undefined || msisdn === null ? undefined : html`<span class="whole">${maskedPhone(msisdn)} ·</span> `}<span class="whole">${carrier}</span></p>
${noticeOf(shown)}
${steps(shown, carrier, msisdn, since)}
<p class="soft center">${text(shown, 'wait_open')}</p>${refresh(shown)}
${leave(shown)}</section>`;
}

/** What is yet to come is grey; to whom it is read out, a word says so: nobody may take the payment for confirmed. */
function steps(shown: Shown, carrier: string, msisdn: string | null | undefined, since: number): Html {
  const returns = shopAddress(shown.view.payment, { mayBePaid: true }) !== undefined;
  const code = msisdn === undefined || msisdn === null ? undefined : menuCode(msisdn, carrier);
  const help = code === undefined ? text(shown, 'wait_look', { carrier }) : text(shown, 'wait_dial', { code });
  const [before, after] = textAround(shown, 'wait_pin', 'carrier');
  return html`<ol class="card steps">
<li class="done"><span class="step" aria-hidden="true">✓</span><div><strong>${text(shown, 'wait_sent')}</strong><p class="soft"><time datetime="${new Date(since).toISOString()}" data-clock>${momentText(shown.language, since)}</time></p></div></li>
<li class="now" aria-current="step"><span class="step" aria-hidden="true">2</span><div><strong>${before}<span class="whole">${carrier}</span>${after}</strong><p class="soft">${help}</p></div></li>
<li class="later"><span class="step" aria-hidden="true">3</span><div><strong><span class="hush">${text(shown, 'wait_next')} </span>${text(shown, 'wait_done')}</strong>${returns ? html`<p class="soft">${text(shown, 'wait_return')}</p>` : undefined}</div></li></ol>`;
}

/** The circle's circumference at a radius of 60. */
const ROUND = 377;

/** The time that is left to confirm, as a ring that empties: with a script each second, without one at every load. */
function ring(shown: Shown, since: number): Piece {
  const { payment, now } = shown.view;
  const end = Math.min(since + PROMPT_MS, payment.expires_at);
  const whole = Math.max(1, end - since);
  const left = end - now;
  if (left <= 0) return undefined;
  const arc = Math.round((ROUND * left) / whole);
  const clock = clockText(left);
  return html`<div class="ring" data-ring="${left}" data-whole="${whole}" role="timer" aria-label="${text(shown, 'wait_left', { time: clock })}" data-label="${text(shown, 'wait_left', { time: '{time}' })}"><svg viewBox="0 0 132 132" width="132" height="132" aria-hidden="true"><circle class="track" cx="66" cy="66" r="60"/><circle class="arc" cx="66" cy="66" r="60" stroke-dasharray="${arc} ${ROUND}" transform="rotate(-90 66 66)"/></svg><span class="clock" aria-hidden="true">${clock}</span></div>`;
}

/** The carrier has not answered: it may have the request or not, and is asked again. */
function lateMain(shown: Shown): Html {
  return html`<section class="card calm">${spinner()}<h1>${phoneTitle(shown)}</h1><p>${text(shown, 'slow_text')}</p>${about(shown)}${refresh(shown)}${leave(shown)}</section>`;
}

/** An upstream is asked, and the customer has nothing to do. */
export function askedMain(shown: Shown): Html {
  return html`<section class="card calm">${spinner()}<h1>${text(shown, 'bank_asked_title')}</h1><p>${text(shown, 'bank_asked_text')}</p>${about(shown)}${refresh(shown)}${leave(shown)}</section>`;
}

/** The proof of a bank transfer has arrived: an operator checks the transfer, and the customer has nothing to do. */
export function proofSentMain(shown: Shown): Html {
  return html`<section class="card calm"><span class="seal" aria-hidden="true">✓</span><h1>${text(shown, 'proof_wait_title')}</h1><p>${text(shown, 'proof_wait_text')}</p>${about(shown)}${refresh(shown)}${returnLink(shown, 'main', { mayBePaid: true })}</section>`;
}

function spinner(): Html {
  return html`<span class="spinner" aria-hidden="true"></span>`;
}

/** Lets a customer leave who does not want to wait: the shop has to ask for the outcome. */
function leave(shown: Shown): Html {
  return html`<p class="back">${returnLink(shown, 'quiet', { mayBePaid: true })}</p>`;
}

/**
 * Without a script the page is reloaded, at once by this link and by itself after a while. The script takes the link away once it
 * polls: it may not have arrived over a poor network, or may be too new for the browser, and nothing else would tell.
 */
function refresh(shown: Shown): Html {
  return html`<p class="center" data-refresh><a class="quiet-link" href="${pathOf(shown)}">${text(shown, 'wait_refresh')}</a></p>`;
}
