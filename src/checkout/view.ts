/**
 * Shows a payment's page as the payment is now.
 *
 * Invariant: every state has one page; only pages that wait for something ask for news.
 */

import { isWithin } from '../domain/elapsed.ts';
import { shopAddress } from '../domain/return-address.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import { type Html, html } from '../messages/html.ts';
import type { PageAnswer } from '../messages/page.ts';
import { challengeUrl } from '../usecases/card-challenge.ts';
import type { Deps } from '../usecases/deps.ts';
import type { Assets } from './assets.ts';
import { proofMain, proofTitle } from './bank.ts';
import { cardMain } from './card.ts';
import { chooseMain, chooseTitle } from './choose.ts';
import { codeMain, codeTitle } from './code.ts';
import { documentAnswer, type Frame, type Headers } from './document.ts';
import { endedMain, endedTitle, expiredMain, paidMain, RETURN_AFTER_S, refundedMain } from './result.ts';
import { about, pathOf, returnLink, type Shown, text } from './shown.ts';
import { type PageState, stateOf, versionOf } from './state.ts';
import { askedMain, phoneMain, phoneTitle, proofSentMain } from './wait.ts';

/** What the address asks for besides the payment itself. */
export interface Wish {
  /**
   * `card`: the card form, on a page of its own, the only one that loads something of the network's. `renewal`: the form that was
   * filled is of no more use, and another one has to be opened.
   */
  readonly kind: 'page' | 'card' | 'renewal';
  /** The customer does not want to be sent back to the shop. */
  readonly stays: boolean;
}

/** Seconds between two loadings of a page that waits, where there is no script. */
const RELOAD_S = 5;

/** The titles of the states that have one each. */
const TITLES = {
  asked: 'bank_asked_title',
  challenge: 'challenge_title',
  proof_sent: 'proof_wait_title',
  paid: 'paid_title',
  refunded: 'refunded_title',
  expired: 'expired_title',
} as const satisfies { readonly [state in PageState]?: CheckoutWord };

/** Pages on which something may happen by itself, or the time runs out. */
const LIVE: readonly PageState[] = ['choose', 'phone', 'asked', 'challenge', 'code', 'proof', 'proof_sent'];
const RELOADED: readonly PageState[] = ['phone', 'asked', 'proof_sent'];

/**
 * The page of a payment in its present state. A receipt sends the browser back to the shop after some seconds, if the shop gave
 * an address, unless the customer wishes to stay.
 */
export function showPage(deps: Deps, assets: Assets, shown: Shown, wish: Wish): PageAnswer {
  const { language, view } = shown;
  const state = stateOf(view);
  const { card } = deps.connectors;
  if (state === 'choose' && card !== undefined && wantsCard(shown, wish)) return showCard(assets, shown, card);
  const frame: Frame = {
    language,
    title: titleOf(shown, state),
    merchant: view.merchant,
    path: pathOf(shown),
    // A receipt that is to stay does so in another language too.
    ...(state === 'paid' && wish.stays ? { query: { stay: '1' } } : {}),
    ...(state === 'choose' ? { keeps: pathOf(shown, 'language') } : {}),
    main: mainOf(deps, shown, state, wish),
    wide: state === 'choose' || (state === 'code' && codeTitle(view) === 'code_title'),
    scripts: ['page.js'],
    ...(LIVE.includes(state) ? { live: { state: pathOf(shown, 'state'), version: versionOf(view) } } : {}),
    ...(RELOADED.includes(state) ? { reloads: RELOAD_S } : {}),
  };
  const address = state === 'paid' && !wish.stays ? shopAddress(view.payment) : undefined;
  const headers: Headers = address === undefined ? {} : { goes: { seconds: RETURN_AFTER_S, url: address } };
  return documentAnswer(assets, frame, headers);
}

/** What the page's heading says: a screen reader reads the title first, and a tab in the background shows nothing else. */
function titleOf(shown: Shown, state: PageState): string {
  switch (state) {
    case 'choose':
      return chooseTitle(shown);
    case 'phone':
      return phoneTitle(shown);
    case 'proof':
      return proofTitle(shown);
    case 'code':
      return text(shown, codeTitle(shown.view));
    case 'ended':
      return text(shown, endedTitle(shown.view));
    default:
      return text(shown, TITLES[state]);
  }
}

/** A form lasts about a quarter of an hour at the network, and its customer needs some minutes of that. */
const FORM_OFFERED_MS = 10 * 60_000;

/**
 * Whether the card form is shown: it was asked for, or is the only way to pay; and there is one that can still be filled. The
 * form of the collect is as old as its payment.
 */
function wantsCard({ view, faults }: Shown, wish: Wish): boolean {
  const { payment, offers, now } = view;
  if (payment.hosted_session_id === null || wish.kind === 'renewal') return false;
  const alone = offers.length === 1 && offers[0]?.method === 'card' && faults.general === undefined;
  return wish.kind === 'card' || (alone && isWithin(FORM_OFFERED_MS, payment.created_at, now));
}

function showCard(assets: Assets, shown: Shown, card: NonNullable<Deps['connectors']['card']>): PageAnswer {
  const { language, view } = shown;
  const frame: Frame = {
    language,
    title: checkoutText(language, 'card_title'),
    merchant: view.merchant,
    path: pathOf(shown, 'card'),
    main: cardMain(shown, card.displayName),
    wide: true,
    scripts: ['page.js', 'card.js'],
    foreignScript: card.form.scriptUrl,
  };
  return documentAnswer(assets, frame, { network: card.form.origin });
}

function mainOf(deps: Deps, shown: Shown, state: PageState, wish: Wish): Html {
  switch (state) {
    case 'choose':
      return chooseMain(shown);
    case 'phone':
      return phoneMain(shown);
    case 'asked':
      return askedMain(shown);
    case 'challenge':
      return challengeLink(deps, shown);
    case 'code':
      return codeMain(shown);
    case 'proof':
      return proofMain(shown);
    case 'proof_sent':
      return proofSentMain(shown);
    case 'paid':
      return paidMain(shown, wish.stays);
    case 'refunded':
      return refundedMain(shown);
    case 'ended':
      return endedMain(shown);
    case 'expired':
      return expiredMain(shown);
  }
}

/** A customer who has come back from the bank without an answer is sent there again. */
function challengeLink(deps: Deps, shown: Shown): Html {
  const { attempt } = shown.view;
  const address = attempt === undefined ? pathOf(shown) : challengeUrl(deps, attempt);
  return html`<section class="card calm"><h1>${text(shown, 'challenge_title')}</h1><p>${text(shown, 'challenge_text')}</p>${about(shown)}<a class="button" href="${address}">${text(shown, 'challenge_go')}</a><p class="back">${returnLink(shown, 'quiet', { mayBePaid: true })}</p></section>`;
}
