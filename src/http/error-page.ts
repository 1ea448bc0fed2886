/**
 * The pages that explain each error: `/docs/errors` and `/docs/errors/{code}`, where `documentation_url` points.
 *
 * Invariant: everything on them comes from the refusal table and the messages, so a page cannot contradict an
 * answer. The language is chosen by `?lang=`.
 */

import { REASONS } from '../domain/reason.ts';
import { REFUSALS, Refusal, type RefusalCode, type RefusalDetail, type Words } from '../domain/refusal.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { type Language, say, sayNames } from '../messages/messages.ts';
import { type MessageKey, type PageWord, WORDS } from '../messages/sentences.ts';
import type { DocsPage } from './docs/frame.ts';
import { code as codeBlock } from './docs/prose.ts';
import { renderEnvelope } from './envelope.ts';

/** The codes that have a page, in numerical order. */
export const ERROR_CODES = Object.keys(REFUSALS).map(Number).sort() as RefusalCode[];

/** The code that a path names, for example `1101`; undefined when there is no such error. */
export function errorCodeOf(text: string): RefusalCode | undefined {
  return ERROR_CODES.find((code) => String(code) === text);
}

/** One error: what happened, what to do, whether to try again, and what the answer looks like. */
export function renderErrorPage(code: RefusalCode, language: Language): DocsPage {
  const title = word(language, 'title', { code: String(code), name: REFUSALS[code].name });
  const words = { state: EXAMPLE_STATE };
  return page(
    language,
    `/docs/errors/${code}`,
    title,
    html`<h1>${breakable(title)}</h1>
<dl class="error paper">
  ${fact(word(language, 'cause'), say(language, `cause.${code}`, words))}
  <div class="remedy"><dt>${word(language, 'remedy')}</dt><dd>${say(language, `remedy.${code}`, words)}</dd></div>
  ${fact(word(language, 'retry'), word(language, retryWord(code)))}
  ${fact(word(language, 'http_status'), statusesOf(code).join(', '))}
  ${fact(word(language, 'summary'), html`<code>${REFUSALS[code].summary}</code>`)}
</dl>
<h2>${word(language, 'example')}</h2>
<p class="lead">${word(language, 'example_intro')}</p>
${codeBlock('JSON', exampleOf(code, language))}
<p><a class="back" href="/docs/errors?lang=${language}">${word(language, 'all_errors')}</a></p>`,
  );
}

/** All errors by group, the codes that details can carry, and those that say why something ended as it did. */
export function renderErrorIndex(language: Language): DocsPage {
  const title = word(language, 'index_title');
  return page(
    language,
    '/docs/errors',
    title,
    html`<h1>${title}</h1>
<p class="lead">${word(language, 'index_intro')}</p>
${GROUPS.map((group) => renderGroup(group, language))}
<h2 id="details">${word(language, 'details_title')}</h2>
<p class="lead">${word(language, 'details_intro')}</p>
<ul class="list paper">${Object.keys(WORDS).map(
      (code) => html`
  <li><code>${code}</code><p>${sayNames(language, `detail.${code}` as MessageKey, (name) => `‹${name}›`)}</p></li>`,
    )}
</ul>
<h2 id="reasons">${word(language, 'reasons_title')}</h2>
<p class="lead">${word(language, 'reasons_intro')}</p>
<ul class="list paper">${REASONS.map(
      (reason) => html`
  <li><code>${reason}</code><p>${say(language, `reason.${reason}`)}</p></li>`,
    )}
</ul>`,
  );
}

/** The HTTP statuses that a code can come with: one, except for the code that covers every malformed request. */
export function statusesOf(code: RefusalCode): readonly number[] {
  return code === 1403 ? [400, 404, 405, 408, 413, 415, 417, 431] : [REFUSALS[code].http];
}

const GROUPS = ['10', '11', '12', '13', '14', '15'] as const;

function renderGroup(group: (typeof GROUPS)[number], language: Language): Html {
  const codes = ERROR_CODES.filter((code) => String(code).startsWith(group));
  return html`<h2>${group}xx · ${word(language, `group_${group}`)}</h2>
<ul class="list paper">${codes.map(
    (code) => html`
  <li>
    <a href="/docs/errors/${code}?lang=${language}">${code} <code>${REFUSALS[code].name}</code></a>
    <span class="http">HTTP ${statusesOf(code).join(', ')}</span>
    <p>${say(language, `cause.${code}`, { state: '‹state›' })}</p>
  </li>`,
  )}
</ul>`;
}

function page(language: Language, path: string, title: string, main: Html): DocsPage {
  return { path, title, language, translated: true, sections: [], main, skip: word(language, 'skip') };
}

/** Lets a long symbolic name break after its underscores, on a narrow screen. */
function breakable(text: string): Piece[] {
  return text.split('_').map((part, i) => (i === 0 ? part : html`_<wbr>${part}`));
}

function fact(name: string, value: string | Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function word(language: Language, name: PageWord, words?: Words): string {
  return say(language, `page.${name}`, words);
}

function retryWord(code: RefusalCode): PageWord {
  if (code === 1203) return 'retry_sometimes';
  return REFUSALS[code].retryable ? 'retry_yes' : 'retry_no';
}

const EXAMPLE_STATE = 'approved';

/** A detail that is typical of a code. */
const EXAMPLE_DETAILS: { readonly [code in RefusalCode]?: RefusalDetail } = {
  1001: { field: 'Authorization', code: 'SESSION_CONSUMED' },
  1003: { field: 'Authorization', code: 'WRONG_CREDENTIAL_KIND' },
  1005: { field: 'Authorization', code: 'SESSION_EXPIRED' },
  1101: { field: 'amount', code: 'BINDING_DRIFT' },
  1102: { field: 'currency', code: 'INVALID_CURRENCY' },
  1103: {
    field: 'payment_method',
    code: 'METHOD_NOT_AVAILABLE',
    words: { method: 'bank_transfer', options: 'wallet, mobile_money, flash' },
  },
  1105: { field: 'email', code: 'INVALID_EMAIL' },
  1109: { field: 'payment_method', code: 'REQUIRED' },
  1110: { field: 'phone_number', code: 'INVALID_PHONE_NUMBER' },
  1202: { field: 'amount', code: 'AMOUNT_ABOVE_MAXIMUM', words: { maximum: '2500.00', currency: 'usd' } },
  1203: { field: 'Idempotency-Key', code: 'IDEMPOTENCY_BODY' },
  1205: { field: 'payment_id', code: 'STATE', words: { state: EXAMPLE_STATE } },
  1302: { field: 'ewallet_pin', code: 'INVALID_PIN', words: { left: 4 } },
  1403: { field: 'path', code: 'UNKNOWN_PATH' },
  1404: { field: 'mobile_money_phone_number', code: 'CARRIER_DOWN', words: { carrier: 'MTN MoMo' } },
};

/** Whole seconds, where an answer says how long to wait. */
const EXAMPLE_WAITS: { readonly [code in RefusalCode]?: number } = { 1301: 12, 1303: 900, 1402: 1 };

const ABOUT_A_TRANSACTION: readonly RefusalCode[] = [1201, 1205, 1302, 1303, 1404, 1502];

const EXAMPLE_TIME = Date.UTC(2026, 0, 31, 9, 30);

/** An envelope as an answer would carry it, laid out for reading. */
function exampleOf(code: RefusalCode, language: Language): string {
  const detail = EXAMPLE_DETAILS[code];
  const wait = EXAMPLE_WAITS[code];
  const refusal = new Refusal(code, {
    ...(detail === undefined ? {} : { details: [detail] }),
    ...(wait === undefined ? {} : { retryAfter: wait }),
    ...(ABOUT_A_TRANSACTION.includes(code) ? { transactionId: 'txn_01kg9k3m8f5w7y9a1c3e5g7j9m' } : {}),
  });
  const envelope: unknown = JSON.parse(
    renderEnvelope(refusal, {
      language,
      requestId: 'req_01kg9k3m8f4t2v6x8z0b2d4f6h',
      now: EXAMPLE_TIME,
      publicUrl: 'https://pay.example.com',
    }),
  );
  return JSON.stringify(envelope, null, 2);
}
