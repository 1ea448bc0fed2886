/**
 * The hosted page under measurement: how long a browser waits for its first page, and when it loads the page again.
 *
 * Invariant: one request at a time, over one kept-alive connection, so that the page is measured and not a queue.
 */

import { Pool } from 'undici';
import { type Latency, latencyOf } from './stats.ts';

export interface PageOrder {
  readonly gateway: string;
  /** `key_id:secret`. */
  readonly credential: string;
  readonly pages: number;
}

export interface PageReport {
  /** Milliseconds from the request to the last byte of the first page, including the claim of its ticket. */
  readonly first: Latency;
  /** The same page again, by its cookie. */
  readonly again: Latency;
  /** Size of the first page, compressed. */
  readonly bytes: number;
}

/** 50 pages are opened before measuring, to warm up compilers and caches. */
const WARM_UP = 50;

export async function measurePages(order: PageOrder): Promise<PageReport> {
  const pool = new Pool(order.gateway, { connections: 1 });
  const first: number[] = [];
  const again: number[] = [];
  let bytes = 0;
  for (let page = 0; page < WARM_UP + order.pages; page += 1) {
    const url = await openPayment(pool, order.credential, page);
    const shown = await show(pool, url, undefined);
    const repeated = await show(pool, url, shown.cookie);
    if (page < WARM_UP) continue;
    first.push(shown.ms);
    again.push(repeated.ms);
    bytes = shown.bytes;
  }
  await pool.close();
  return { first: latencyOf(first), again: latencyOf(again), bytes };
}

async function openPayment(pool: Pool, credential: string, number: number): Promise<string> {
  const session = { amount: '5.00', currency: 'usd', customer_reference: `page-${number}` };
  const minted = await post(pool, '/api/v1/internal/sessions/create', credential, session);
  const collect = {
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
  };
  const made = await post(pool, '/api/v1/payments/collect-redirect', minted.session_token ?? '', collect);
  const url = new URL(made.redirect_url ?? '');
  return url.pathname + url.search;
}

async function post(pool: Pool, path: string, bearer: string, body: object): Promise<Record<string, string>> {
  const { statusCode, body: answer } = await pool.request({
    method: 'POST',
    path,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Record<string, string>;
  if (statusCode >= 300) throw new Error(`${path} answered ${statusCode}`);
  return json;
}

async function show(
  pool: Pool,
  path: string,
  cookie: string | undefined,
): Promise<{ ms: number; bytes: number; cookie: string | undefined }> {
  const started = performance.now();
  const { statusCode, headers, body } = await pool.request({
    method: 'GET',
    path,
    headers: { accept: 'text/html', 'accept-encoding': 'br', ...(cookie === undefined ? {} : { cookie }) },
  });
  const bytes = (await body.arrayBuffer()).byteLength;
  if (statusCode !== 200) throw new Error(`the hosted page answered ${statusCode}`);
  const set = headers['set-cookie'];
  const given = (Array.isArray(set) ? set[0] : set)?.split(';')[0];
  return { ms: performance.now() - started, bytes, cookie: given };
}
