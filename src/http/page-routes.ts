/**
 * Serves the pages of other rooms: reads the request into plain values, and sends what the page answers.
 *
 * Invariant: a page never sees a card number that was typed into its form, and learns of every form whether it came
 * from one of our own pages.
 */

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import type { Page, PageAnswer, PageRequest, Pages } from '../messages/page.ts';
import { holdsCardNumber, isCardField } from './card-data.ts';
import type { clientAddressReader } from './client-address.ts';
import { retryAfterOf } from './envelope.ts';
import { type ExchangeParts, exchangeOf, noteFailure } from './exchange.ts';
import { type Limits, limitHeaders } from './limits.ts';
import { isForm, readForm as readMultipart } from './multipart.ts';

export interface PageParts extends ExchangeParts {
  readonly limits: Limits;
  readonly addressOf: ReturnType<typeof clientAddressReader>;
}

export function addPages(app: FastifyInstance, parts: PageParts, pages: Pages): void {
  for (const page of pages.list) {
    app.route({
      method: page.method,
      url: page.path,
      handler: async (request, reply) => {
        exchangeOf(request).route = page.path;
        const asked = pageRequest(parts, page, request, reply);
        try {
          return send(request, reply, await page.show(asked));
        } catch (error) {
          const refusal = noteFailure(parts, request, error);
          const seconds = retryAfterOf(refusal);
          if (seconds !== null) reply.header('Retry-After', String(seconds));
          return send(request, reply, pages.failed(refusal, asked));
        } finally {
          // What nobody wanted to read would keep the connection waiting.
          if (page.file !== undefined) request.raw.resume();
        }
      },
    });
  }
}

function pageRequest(parts: PageParts, page: Page, request: FastifyRequest, reply: FastifyReply): PageRequest {
  const cookies = readCookies(request.headers.cookie);
  const form = page.method === 'POST' ? readForm(request) : {};
  const header = (name: string): string | undefined => request.headers[name]?.toString();
  return {
    method: request.method === 'HEAD' ? 'HEAD' : page.method,
    params: plain(request.params),
    query: plain(request.query),
    form,
    cardField: Object.entries(form).find(([name, value]) => isCardField(name, value) || holdsCardNumber(value))?.[0],
    readFile: () => readFile(page, request),
    isForeign: page.method === 'POST' && isForeign(header, parts.publicUrl),
    get address() {
      return parts.addressOf(request.socket.remoteAddress, header('x-forwarded-for'));
    },
    header,
    cookie: (name) => cookies.get(name),
    count(session, merchant) {
      const standing = parts.limits.take('payments', session.id, merchant.settings.rate_limits?.payments);
      if (standing === undefined) return;
      const { policy, state } = limitHeaders('payments', standing);
      reply.header('RateLimit-Policy', policy).header('RateLimit', state);
      if (!standing.allowed) throw new Refusal(1301, { retryAfter: standing.retryAfter });
    },
    note(merchantId, transactionId) {
      const exchange = exchangeOf(request);
      exchange.merchantId = merchantId;
      exchange.transactionId = transactionId;
    },
  };
}

/** Files that are held in memory at once, each of some megabytes. */
const FILES_AT_ONCE = 24;
let filesNow = 0;

async function readFile(page: Page, request: FastifyRequest): Promise<Uint8Array | undefined> {
  if (page.file === undefined || !isForm(request.headers)) return undefined;
  if (filesNow >= FILES_AT_ONCE) throw new Refusal(1402, { retryAfter: 2 });
  filesNow += 1;
  try {
    return (await readMultipart(request.raw, page.file)).file;
  } finally {
    filesNow -= 1;
  }
}

/** The first of each name, as text. */
function plain(given: unknown): Record<string, string> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') values[name] = first;
  }
  return values;
}

/** More fields than any form of ours has. */
const MOST_FIELDS = 30;

function readForm(request: FastifyRequest): Record<string, string> {
  const fields: Record<string, string> = {};
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  if (!isForm || typeof request.body !== 'string') return fields;
  let count = 0;
  for (const [name, value] of new URLSearchParams(request.body)) {
    count += 1;
    if (count > MOST_FIELDS) break;
    if (!Object.hasOwn(fields, name)) fields[name] = value;
  }
  return fields;
}

function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  for (const part of (header ?? '').split(';', 100)) {
    const at = part.indexOf('=');
    if (at > 0) cookies.set(part.slice(0, at).trim(), part.slice(at + 1).trim());
  }
  return cookies;
}

/**
 * Whether a form was sent by a page that is not ours. Browsers of today say so themselves (Fetch Metadata); of older
 * ones the Origin is compared, which our own referrer policy makes `null`: then the cookie's SameSite has to do.
 */
function isForeign(header: (name: string) => string | undefined, publicUrl: string): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin';
  const origin = header('origin');
  if (origin === undefined || origin === 'null') return false;
  return origin !== new URL(publicUrl).origin && origin.replace(/^https?:\/\//, '') !== header('host');
}

function send(request: FastifyRequest, reply: FastifyReply, answer: PageAnswer): FastifyReply {
  const { status, type, body, headers, cookies = [] } = answer;
  reply.code(status).headers({ 'Content-Type': type, ...headers });
  for (const cookie of cookies) reply.header('Set-Cookie', cookie);
  if (typeof body !== 'string' || body.length < WORTH_COMPRESSING) return reply.send(body);
  const accepted = request.headers['accept-encoding']?.toString() ?? '';
  reply.header('Vary', 'Accept-Encoding');
  if (/\bbr\b/.test(accepted)) return reply.header('Content-Encoding', 'br').send(brotliCompressSync(body, BROTLI));
  if (/\bgzip\b/.test(accepted)) return reply.header('Content-Encoding', 'gzip').send(gzipSync(body));
  return reply.send(body);
}

/** Below one packet nothing is gained. */
const WORTH_COMPRESSING = 1_000;
/** As small as gzip's best, at a third of its time on 10 KB of HTML. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
