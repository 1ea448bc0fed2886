/**
 * The one-time code: where it went, one field for it, and another code when none has arrived.
 *
 * Invariant: a code is never put back into its field, and how many tries and codes are left is always said.
 */

import { mostResends } from '../domain/one-time-code.ts';
import { type Html, html } from '../messages/html.ts';
import { joinSentences } from '../messages/messages.ts';
import { leftText } from './amounts.ts';
import { orderSection } from './choose.ts';
import { maskedPhone } from './phone.ts';
import { about, field, noticeOf, pathOf, payButton, returnLink, type Shown, text, textAround } from './shown.ts';
import { isCodeOver } from './state.ts';

type CodeView = Shown['view'];

/** Characters that the field takes: a pasted code may be grouped, and have blanks around it. */
const MAX_TYPED = 12;

/** The title; any other than `code_title` belongs to a page that asks for nothing any more. */
export function codeTitle(view: CodeView): 'code_title' | 'paid_before' | 'code_dead' {
  if (view.isPaidAside) return 'paid_before';
  return isCodeOver(view) && resendsLeft(view) <= 0 ? 'code_dead' : 'code_title';
}

function resendsLeft({ merchant, code, isCodeOutdated }: CodeView): number {
  return isCodeOutdated ? 0 : mostResends(merchant) - (code?.resends ?? 0);
}

/** What the page for the one-time code shows. If no code can pay any more, it says why, and asks for nothing. */
export function codeMain(shown: Shown): Html {
  const title = codeTitle(shown.view);
  if (title === 'paid_before') return asideMain(shown);
  if (title === 'code_dead') return deadMain(shown);
  const { payment, code, now } = shown.view;
  const resends = resendsLeft(shown.view);
  const expired = isCodeOver(shown.view);
  const left = Math.min(code?.expires_at ?? now, payment.expires_at) - now;
  const sent = text(shown, 'code_sent', { phone: code === undefined ? '' : maskedPhone(code.sent_to) });
  return html`${orderSection(shown)}<section class="card">${noticeOf(shown)}<h1>${text(shown, 'code_title')}</h1>
<p>${expired ? text(shown, 'code_dead') : sent}</p>
${expired ? undefined : codeForm(shown, left)}
<form class="second" method="post" action="${pathOf(shown, 'resend')}" data-once>${
    resends > 0
      ? html`<button class="${expired ? 'button' : 'quiet'}">${text(shown, 'code_resend')}</button> <span class="soft">${text(shown, 'code_resends', { left: String(resends) })}</span>`
      : html`<p class="soft">${text(shown, 'resends_used')}</p>`
  }</form><p class="back">${returnLink(shown, 'quiet')}</p></section>`;
}

/** `left`: milliseconds for which the code is still valid. */
function codeForm(shown: Shown, left: number): Html {
  const [before, after] = textAround(shown, 'code_valid', 'time');
  const time = leftText(shown.language, left);
  return html`<form method="post" action="${pathOf(shown, 'code')}" data-once novalidate>${field({
    name: 'code',
    scope: 'otp',
    label: text(shown, 'code_label'),
    help: html`${before}<span data-left="${left}">${time}</span>${after}`,
    fault: shown.faults.fields.code,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    maxlength: MAX_TYPED,
  })}${payButton(shown, shown.view.payment.total_minor)}</form>`;
}

/** Once money has come in another way: no code is asked for, because none would be accepted. */
function asideMain(shown: Shown): Html {
  return html`<section class="card ended"><span class="seal bad" aria-hidden="true">!</span><h1>${text(shown, 'paid_before')}</h1>${about(shown)}${returnLink(shown, 'main', { mayBePaid: true })}</section>`;
}

/** For a code that has expired with no resend left: nothing that could be entered here would pay. */
function deadMain(shown: Shown): Html {
  const why = joinSentences(shown.language, text(shown, 'code_over'), text(shown, 'expired_text'));
  return html`<section class="card ended"><span class="seal bad" aria-hidden="true">!</span><h1>${text(shown, 'code_dead')}</h1><p>${why}</p>${about(shown)}${returnLink(shown, 'main')}</section>`;
}
