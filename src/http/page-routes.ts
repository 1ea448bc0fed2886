/**
 * Serves the pages of other rooms: reads the request into plain values, and sends what the page answers.
 *
 * Invariant: a page never sees a card number that was typed into its form, and learns of every form whether it came
 * from one of our own pages.
 */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { codingFor, prefersJson, wantsHtml } from '../messages/accept.ts';
import type { Page, PageAnswer, PageRequest, Pages } from '../messages/page.ts';
import type { Clock } from '../platform/platform.ts';
import { countBy } from './call-counts.ts';
import { isCardField, isCardNumber } from './card-data.ts';
import type { ClientAddress } from './client-address.ts';
import { retryAfterOf } from './envelope.ts';
import { type ExchangeParts, exchangeOf, noteFailure, refuse, writable } from './exchange.ts';
import type { Limits } from './limits.ts';
import { isForm, readMultipart } from './multipart.ts';
import type { LoadClass } from './overload.ts';
import { browserOf } from './payment-commands.ts';
import { isUrlEncoded } from './request-headers.ts';
import { type ClockCheck, requireRightClock } from './right-clock.ts';
import type { UploadSlots } from './upload-slots.ts';

export interface PageParts extends ExchangeParts, ClockCheck {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly limits: Limits;
  /** Shared with the API, because a file takes as much memory there. */
  readonly uploads: UploadSlots;
  readonly addressOf: ClientAddress;
}

/** Many times any form of ours: it is read before the browser has proved that the page is its own. A file has its own limit. */
const MAX_FORM_BYTES = 16 * 1024;

/**
 * Adds a route for each page. What goes wrong on a page is answered by a page, or for a script in the envelope. A form has at
 * most 16 KiB.
 */
export function addPages(app: FastifyInstance, parts: PageParts, pages: Pages): void {
  for (const page of pages.list) {
    app.route({
      method: page.method,
      url: page.path,
      config: { takesFile: page.file !== undefined },
      bodyLimit: MAX_FORM_BYTES,
      handler: async (request, reply) => {
        exchangeOf(request).route = page.path;
        const held: (() => void)[] = [];
        const asked = pageRequest(parts, page, request, reply, held);
        try {
          await requireRightClock(parts, page.method);
          const answer = await page.show(asked);
          if (answer.refusal !== undefined && takesEnvelope(request)) throw answer.refusal;
          return send(request, reply, answer);
        } catch (error) {
          // Only scripts poll, whatever their Accept header says.
          if (page.isPoll === true) return reply.send(refuse(parts, request, reply, error));
          return failPage(parts, pages, request, reply, error);
        } finally {
          for (const giveBack of held) giveBack();
        }
      },
    });
  }
}

/** A page's class for load shedding: sending its form is what a submit is, and opening it begins nothing new. */
export function loadClassOf({ method, isPoll }: Page): LoadClass {
  if (method === 'POST') return 'finish';
  return isPoll === true ? 'read' : 'collect';
}

/**
 * Whether a failure is answered in the envelope: for scripts, which ask for JSON; below the API's root for all clients but those
 * that name HTML (contract §2).
 */
function takesEnvelope({ headers: { accept }, url }: FastifyRequest): boolean {
  return prefersJson(accept) || (url.startsWith('/api/v1/') && !wantsHtml(accept));
}

/** Answers a failure that no handler has answered: as a page if one of the pages was requested, otherwise in the envelope. */
export function failRequest(
  parts: ExchangeParts & { readonly pages?: Pages },
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const { pages } = parts;
  if (pages !== undefined && isForPage(pages, request)) return failPage(parts, pages, request, reply, error);
  return reply.send(refuse(parts, request, reply, error));
}

/** Answers that a page could not be shown: as a page, or for a script in the envelope. */
function failPage(
  parts: ExchangeParts,
  pages: Pages,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (takesEnvelope(request)) return reply.send(refuse(parts, request, reply, error));
  const refusal = noteFailure(parts, request, error);
  const seconds = retryAfterOf(refusal);
  if (seconds !== null) reply.header('Retry-After', String(seconds));
  return send(request, reply, pages.failed(refusal, { ...readerOf(request), path: pathOf(request) }));
}

/** Whether a request that never came to a page is a browser's, for one of the pages. */
function isForPage(pages: Pages, { headers, method, url }: FastifyRequest): boolean {
  if (!wantsHtml(headers.accept)) return false;
  const path = pathOf({ url });
  const asked = method === 'HEAD' ? 'GET' : method;
  return path.startsWith(pages.root) || pages.list.some((page) => page.path === path && page.method === asked);
}

function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split(/[?#]/, 1)[0] ?? '';
}

/** The parts of a request that tell of its reader. */
function readerOf(request: FastifyRequest): Pick<PageRequest, 'header' | 'query' | 'cookie' | 'cookieNames'> {
  const cookies = readCookies(request.headers.cookie);
  return {
    query: plain(request.query),
    header: (name) => request.headers[name]?.toString(),
    cookie: (name) => cookies.get(name),
    cookieNames: () => [...cookies.keys()],
  };
}

/** `held` collects the functions that give back the slots of files once the page has been shown. */
function pageRequest(
  parts: PageParts,
  page: Page,
  request: FastifyRequest,
  reply: FastifyReply,
  held: (() => void)[],
): PageRequest {
  const reader = readerOf(request);
  const { header } = reader;
  const form = page.method === 'POST' ? readForm(request) : {};
  return {
    ...reader,
    method: request.method === 'HEAD' ? 'HEAD' : page.method,
    params: plain(request.params),
    form,
    // Searched on demand, so that it costs us nothing for forms of strangers.
    get cardField() {
      const found = Object.entries(form).find(([name, value]) => isCardField(name, value) || isCardNumber(value));
      return found?.[0];
    },
    async readFile(session, merchant) {
      if (page.file === undefined || !isForm(request.headers)) return undefined;
      held.push(parts.uploads.take(session.id, merchant.id));
      const { file } = await readMultipart(request.raw, page.file, parts.clock);
      held.push(await parts.uploads.finish());
      return file;
    },
    isForeign: page.method === 'POST' && isForeign(header, parts.publicUrl),
    get browser() {
      return browserOf({ header, address: () => parts.addressOf(request) });
    },
    count(session, merchant) {
      countBy({ parts, reply }, 'payments', session.id, merchant);
    },
    note(merchantId, transactionId) {
      const exchange = exchangeOf(request);
      exchange.merchantId = merchantId;
      exchange.transactionId = transactionId;
    },
  };
}

/** The first value of each name, as text. */
function plain(given: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') values[name] = first;
  }
  return values;
}

/** More fields than any form of ours has. */
const MAX_FIELDS = 30;

function readForm(request: FastifyRequest): Record<string, string> {
  const fields: Record<string, string> = {};
  if (!isUrlEncoded(request.headers) || typeof request.body !== 'string') return fields;
  let count = 0;
  for (const [name, value] of new URLSearchParams(request.body)) {
    count += 1;
    if (count > MAX_FIELDS) break;
    if (!Object.hasOwn(fields, name)) fields[name] = value;
  }
  return fields;
}

/** All cookies, in order: Node.js bounds how long the header is. */
function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0) cookies.set(part.slice(0, at).trim(), part.slice(at + 1).trim());
  }
  return cookies;
}

/**
 * Whether a form was sent by a page that is not ours. Modern browsers say so themselves (Fetch Metadata). For older ones
 * the Origin is compared, which our own referrer policy makes `null`: then the cookie's SameSite has to suffice.
 */
function isForeign(header: (name: string) => string | undefined, publicUrl: string): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin';
  const origin = header('origin');
  if (origin === undefined || origin === 'null') return false;
  return origin !== new URL(publicUrl).origin && origin.replace(/^https?:\/\//, '') !== header('host');
}

function send(request: FastifyRequest, reply: FastifyReply, answer: PageAnswer): FastifyReply {
  const { status, type, body, headers = {}, cookies = [] } = answer;
  for (const [name, value] of Object.entries(headers)) writable(name, value);
  reply.code(status).headers({ 'Content-Type': type, ...headers });
  for (const cookie of cookies) reply.header('Set-Cookie', cookie);
  if (typeof body !== 'string' || body.length < WORTH_COMPRESSING) return reply.send(body);
  reply.header('Vary', 'Accept-Encoding');
  const coding = codingFor(request.headers['accept-encoding']?.toString());
  if (coding === undefined) return reply.send(body);
  const packed = coding === 'br' ? brotliCompressSync(body, BROTLI) : gzipSync(body);
  return reply.header('Content-Encoding', coding).send(packed);
}

/** Bytes: below one packet, compression gains nothing. */
const WORTH_COMPRESSING = 1_000;
/** As small as gzip's best, at a third of its time on 10 KB of HTML. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
