/**
 * Pages that show no payment: a link that was used, altered or is over, a form from elsewhere, trouble on our side.
 *
 * Invariant: an unknown link and another merchant's get the same bytes. Nothing about a payment is said to whoever has
 * not opened its page.
 */

import type { Merchant } from '../domain/records.ts';
import type { Refusal } from '../domain/refusal.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import { html } from '../messages/html.ts';
import type { Language } from '../messages/messages.ts';
import type { PageAnswer } from '../messages/page.ts';
import { spanText } from './amounts.ts';
import type { Assets } from './assets.ts';
import { documentAnswer } from './document.ts';

export type Closed = 'used' | 'unknown' | 'over' | 'foreign' | 'refused' | 'trouble' | 'busy';

const STATUS = {
  used: 410,
  unknown: 404,
  over: 410,
  foreign: 403,
  refused: 403,
  trouble: 500,
  busy: 503,
} as const satisfies { readonly [kind in Closed]: number };

const WORDS = {
  used: ['used_title', 'used_text'],
  unknown: ['unknown_title', 'unknown_text'],
  over: ['over_title', 'over_text'],
  foreign: ['foreign_title', 'foreign_text'],
  refused: ['refused_title', 'refused_text'],
  trouble: ['trouble_title', 'trouble_text'],
  busy: ['trouble_title', 'trouble_text'],
} as const satisfies { readonly [kind in Closed]: readonly [CheckoutWord, CheckoutWord] };

/** Where the language menu of such a page leads: to the same words, and never to an address with a ticket in it. */
const CLOSED_PATH = '/checkout/closed';

export function closedPage(assets: Assets, language: Language, kind: Closed): PageAnswer {
  const [title, text] = WORDS[kind];
  return wordsPage(assets, language, checkoutText(language, title), checkoutText(language, text), {
    path: `${CLOSED_PATH}/${kind}`,
    status: STATUS[kind],
  });
}

/** The kind that a path names. */
export function closedKind(text: string): Closed | undefined {
  return Object.hasOwn(STATUS, text) ? (text as Closed) : undefined;
}

/** What a preview of the link sees: whom it pays, and nothing more. The link is still good. */
export function previewPage(assets: Assets, language: Language, merchant: Merchant): PageAnswer {
  const title = checkoutText(language, 'closed_title', { merchant: merchant.name });
  return wordsPage(assets, language, title, checkoutText(language, 'closed_text'), { path: '', status: 200, merchant });
}

/** How a request that failed is shown. */
export function failedPage(assets: Assets, language: Language, refusal: Refusal): PageAnswer {
  const kind = refusal.http === 503 ? 'busy' : refusal.http >= 500 ? 'trouble' : 'refused';
  if (refusal.code !== 1301) return closedPage(assets, language, kind);
  const time = spanText(language, (refusal.more.retryAfter ?? 1) * 1_000);
  const title = checkoutText(language, 'refused_title');
  return wordsPage(assets, language, title, checkoutText(language, 'busy', { time }), {
    path: `${CLOSED_PATH}/busy`,
    status: 429,
  });
}

function wordsPage(
  assets: Assets,
  language: Language,
  title: string,
  text: string,
  more: { readonly path: string; readonly status: number; readonly merchant?: Merchant },
): PageAnswer {
  const main = html`<section class="card ended"><h1>${title}</h1><p>${text}</p></section>`;
  const { merchant, path, status } = more;
  return documentAnswer(assets, { language, title, merchant, path, main }, { status });
}
