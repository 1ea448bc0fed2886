/**
 * The hosted page under measurement: how long a browser waits for its first page, and for the answer to its next look.
 *
 * Invariant: one request at a time, over one connection kept open, so that what is measured is the page and no queue.
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
  /** Milliseconds from the request to the last byte: the first page, its ticket claimed. */
  readonly first: Latency;
  /** The same page once more, by its cookie. */
  readonly again: Latency;
  /** Of the first page, compressed. */
  readonly bytes: number;
}

/** Pages that are opened before anything is measured: compilers and caches get warm. */
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
