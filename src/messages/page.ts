/**
 * The interface between `http` and the rooms that make pages: what a page is told of a request, and what it answers.
 *
 * Invariant: a page sees checked, plain values only. It knows nothing of sockets, and `http` knows nothing of markup.
 */

import type { Merchant, Session } from '../domain/records.ts';
import type { Refusal } from '../domain/refusal.ts';
import type { BrowserFacts } from '../domain/submission.ts';

export interface PageRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Path parameters, by name. */
  readonly params: Readonly<Record<string, string>>;
  /** Query parameters, the first of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Fields of the form, the first of each name; empty for GET. */
  readonly form: Readonly<Record<string, string>>;
  /** The field into which a card number was typed, if one was: nothing of such a form is used. */
  readonly cardField: string | undefined;
  /** The form was sent by a page of another origin. */
  readonly isForeign: boolean;
  /**
   * Reads the file of a form that has one: only on demand, so that nothing from unknown senders is kept. It takes an upload slot
   * of that session and merchant until the page is shown.
   *
   * @throws Refusal 1301 or 1402 when there is no slot, 1403 for one that is too large or does not come, 1109 or 1110
   *   for what is no such form.
   */
  readFile(session: Pick<Session, 'id'>, merchant: Pick<Merchant, 'id'>): Promise<Uint8Array | undefined>;
  /** What a card's issuer may want to know of the browser. */
  readonly browser: BrowserFacts;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  cookie(name: string): string | undefined;
  /** In the browser's order: of equal paths the oldest come first (RFC 6265 §5.4). */
  cookieNames(): readonly string[];
  /** Counts the request under its session's limit. @throws Refusal 1301. */
  count(session: Pick<Session, 'id'>, merchant: Merchant): void;
  /** Names the transaction in the request's log line. */
  note(merchantId: string, transactionId: string): void;
}

export interface PageAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: { readonly [name: string]: string };
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  /** The refusal that it puts into words: a client that asked for JSON gets its envelope. */
  readonly refusal?: Refusal;
}

export interface Page {
  readonly method: 'GET' | 'POST';
  /** From the root, parameters with a colon. */
  readonly path: string;
  /** Its form carries one file: the field's name and the most bytes that it may have. */
  readonly file?: { readonly field: string; readonly most: number };
  /** An open page requests it again and again. */
  readonly isPoll?: boolean;
  show(request: PageRequest): PageAnswer | Promise<PageAnswer>;
}

/** What is told of a request that failed, perhaps before it came to its page. `path`: its address, without the query. */
export type FailedRequest = Pick<PageRequest, 'header' | 'query' | 'cookie'> & { readonly path: string };

/** The pages of a room, and how it shows that one of them could not be shown. */
export interface Pages {
  /** The root of their addresses: an address below it that no page has is answered in words, too. */
  readonly root: string;
  readonly list: readonly Page[];
  failed(refusal: Refusal, request: FailedRequest): PageAnswer;
}
