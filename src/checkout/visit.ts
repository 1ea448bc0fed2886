/**
 * Whose visit a request is: the key in its cookie, the reader's language, whether a person is behind it.
 *
 * Invariant: a page's key travels in a cookie of its own that no script reads, and in nothing else.
 */

import { PAGE_LIFE_MS } from '../domain/checkout.ts';
import { secondsUntil } from '../domain/elapsed.ts';
import type { Checkout } from '../domain/page-records.ts';
import { wantsHtml } from '../messages/accept.ts';
import { isLanguage, type Language, languageOf } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { PageRequest } from '../messages/page.ts';
import type { Deps } from '../usecases/deps.ts';

const LANGUAGE_COOKIE = 'mbongo_lang';
const YEAR_S = 365 * 24 * 60 * 60;

const PAGE_COOKIES = 'mbongo_checkout_';
/** How many pages' keys one browser keeps: somebody who pays for others all day opens many, and a header has its limit. */
const MAX_PAGES = 60;

/** The name of a page's cookie: the ends of ids differ, and a browser may pay in several windows. */
function cookieName(id: string): string {
  return PAGE_COOKIES + id.slice(-12);
}

/** The key that this browser shows for the page of that id, not verified; undefined if none of its cookies is for that page. */
export function keyOf(request: Pick<PageRequest, 'cookie'>, id: string): string | undefined {
  return request.cookie(cookieName(id));
}

/** Keeps the key of a page that has just been opened, and gives up those of the oldest pages beyond sixty. */
export function keyCookies(
  deps: Pick<Deps, 'publicUrl' | 'clock'>,
  request: Pick<PageRequest, 'cookieNames'>,
  checkout: Checkout,
  key: string,
): string[] {
  const name = cookieName(checkout.id);
  const seconds = secondsUntil(checkout.expires_at + PAGE_LIFE_MS, deps.clock.now());
  const others = request.cookieNames().filter((other) => other.startsWith(PAGE_COOKIES) && other !== name);
  const given = others.slice(0, Math.max(0, others.length + 1 - MAX_PAGES));
  const cookie = (of: string, value: string, life: number): string =>
    `${of}=${value}; Path=/; Max-Age=${life}; HttpOnly; SameSite=Lax${secure(deps)}`;
  return [cookie(name, key, seconds), ...given.map((old) => cookie(old, '', 0))];
}

function secure({ publicUrl }: Pick<Deps, 'publicUrl'>): string {
  return publicUrl.startsWith('https:') ? '; Secure' : '';
}

type Reader = Pick<PageRequest, 'query' | 'cookie' | 'header'>;

/**
 * The language chosen on a page, now or before; else the one the browser asks for; else the one in which the payment was made.
 */
export function readerLanguage(request: Reader, fallback?: string): Language {
  const chosen = request.query.lang ?? request.cookie(LANGUAGE_COOKIE);
  if (isLanguage(chosen)) return chosen;
  const asked = request.header('accept-language');
  return asked === undefined || asked === '' || asked === '*' ? languageOf(fallback) : negotiate(asked);
}

/** Keeps a language that was chosen just now. */
export function languageCookies(deps: Pick<Deps, 'publicUrl'>, request: Reader): string[] {
  const { lang } = request.query;
  if (!isLanguage(lang)) return [];
  return [`${LANGUAGE_COOKIE}=${lang}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Lax${secure(deps)}`];
}

/** Who is behind a request: a person, nobody, or we cannot tell and let a button ask. */
export type Visit = 'person' | 'nobody' | 'unsure';

/**
 * HEAD and prefetches have nobody behind them. A request that does not name HTML may be a link's preview as well as a plain
 * browser: a person then presses the page's button, which no preview does.
 */
export function visitOf(request: Pick<PageRequest, 'method' | 'header' | 'query'>): Visit {
  const purpose = `${request.header('purpose') ?? ''} ${request.header('sec-purpose') ?? ''} ${request.header('x-moz') ?? ''}`;
  if (request.method !== 'GET' || /prefetch|preview|prerender/i.test(purpose)) return 'nobody';
  return wantsHtml(request.header('accept')) || request.query.open === '1' ? 'person' : 'unsure';
}

/** The country that the reader's language tag names, for example of `fr-SN`. */
export function readerCountry(request: Pick<PageRequest, 'header'>): string | undefined {
  return /-([A-Z]{2})\b/.exec(request.header('accept-language') ?? '')?.[1];
}
