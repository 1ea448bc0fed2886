/**
 * The card form, whose fields are frames of the card network, and the form that leads to the issuer's challenge.
 *
 * Invariant: what the customer types goes to the network from frames that we cannot read. Our own fields on this page
 * have no name, so that no browser ever sends them to us.
 */

import { type Html, html } from '../messages/html.ts';
import type { ChallengeView } from '../usecases/card-challenge.ts';
import type { Deps } from '../usecases/deps.ts';
import { orderSectionOf } from './choose.ts';
import { faultPlace, noticeOf, pathOf, payButton, returnLink, type Shown, text, totalField } from './shown.ts';

const FIELDS = [
  ['number', 'card_number', 'cc-number'],
  ['expiry-month', 'card_month', 'cc-exp-month'],
  ['expiry-year', 'card_year', 'cc-exp-year'],
  ['security-code', 'card_code', 'cc-csc'],
] as const;

/** The form. `network` is the card network's name as customers know it. */
export function cardMain(shown: Shown, network: string): Html {
  const { payment } = shown.view;
  const words = {
    failed: text(shown, 'card_failed'),
    checking: text(shown, 'card_checking'),
    cardNumber: text(shown, 'card_check_number'),
    expiry: text(shown, 'card_check_expiry'),
    securityCode: text(shown, 'card_check_code'),
  };
  return html`${orderSectionOf('card', shown)}<section class="card">${noticeOf(shown)}<h1>${text(shown, 'card_title')}</h1>
<noscript><p class="notice bad">${text(shown, 'card_noscript')}</p></noscript>
<form method="post" action="${pathOf(shown, 'pay')}" data-card="${payment.hosted_session_id ?? ''}" data-words="${JSON.stringify(words)}" hidden>
<input type="hidden" name="method" value="card">${totalField(cardTotal(shown))}
<div class="card-fields">${FIELDS.map(
    ([name, word, autocomplete]) =>
      html`<div class="field ${name}"><label class="label" for="card-${name}">${text(shown, word)}</label><div class="box"><input id="card-${name}" type="text" readonly autocomplete="${autocomplete}" aria-describedby="card-${name}-fault"></div>${faultPlace(`card-${name}-fault`)}</div>`,
  )}</div>
${faultPlace('card-fault')}
<p class="help">${text(shown, 'card_note', { network })}</p>
${payButton(shown, cardTotal(shown), { isDisabled: true })}</form>
<p class="soft" role="status" data-card-status data-loading="${text(shown, 'card_loading')}" data-failed="${text(shown, 'card_failed')}"></p>
${renewal(shown)}
${otherWay(shown)}</section>`;
}

/** A button for another form, which our script shows if the network's script does not fill this one. */
function renewal(shown: Shown): Html {
  return html`<form method="post" action="${pathOf(shown, 'card')}" data-card-renewal data-once hidden><input type="hidden" name="method" value="card"><p class="second"><button class="quiet">${text(shown, 'card_again')}</button></p></form>`;
}

function cardTotal({ view: { offers, payment } }: Shown): bigint {
  return offers.find(({ method }) => method === 'card')?.totalMinor ?? payment.total_minor;
}

function otherWay(shown: Shown): Html {
  const others = shown.view.offers.some(({ method }) => method !== 'card');
  return html`<p class="back">${others ? html`<a class="quiet-link" href="${pathOf(shown)}">${text(shown, 'other_way')}</a>` : returnLink(shown, 'quiet')}</p>`;
}

/** The form that the browser posts to the issuer: by its button, or at once by our script. */
export function challengeMain(
  words: { readonly title: string; readonly text: string; readonly go: string },
  challenge: NonNullable<ChallengeView['challenge']>,
): Html {
  return html`<section class="card calm"><h1>${words.title}</h1><p>${words.text}</p>
<form method="post" action="${challenge.action}" data-submit>${challenge.fields.map(
    ({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="button">${words.go}</button></form></section>`;
}

/**
 * Where a challenge's form may post to. Chrome also checks `form-action` against every address that the answer redirects to, and
 * issuers redirect to hosts that nobody can list: so any host is allowed, over TLS. In the sandbox, network and shop are on this
 * machine, without TLS.
 */
export function challengePosts({ mode }: Pick<Deps, 'mode'>): string {
  return mode === 'sandbox' ? 'https: http://127.0.0.1:* http://localhost:*' : 'https:';
}
