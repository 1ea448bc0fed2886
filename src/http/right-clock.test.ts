/** What a process answers while its clock is known to be wrong, or cannot be compared. */

import { afterEach, expect, it } from 'vitest';
import type { Page, Pages } from '../messages/page.ts';
import { StoreUnavailable } from '../store/errors.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

const ORDER = { amount: '1.00', currency: 'usd', payment_method: 'wallet' };

let world: SmallWorld;
let posted = 0;

const page = (method: Page['method']): Page => ({
  method,
  path: '/pay/:id',
  show: async () => {
    if (method === 'POST') posted += 1;
    return { status: 200, type: 'text/html; charset=utf-8', body: '<p>200' };
  },
});
const pages: Pages = {
  root: '/pay/',
  list: [page('GET'), page('POST')],
  failed: ({ http }) => ({ status: http, type: 'text/html; charset=utf-8', body: `<p>${http}` }),
};

afterEach(() => world.app.close());

/** What is answered to an order and to a page's form; then what is answered to reads. */
async function answers() {
  const { app, merchantAuth: authorization } = world;
  const json = { authorization, 'content-type': 'application/json', 'idempotency-key': 'a' };
  const order = await app.inject({ method: 'POST', url: '/api/v1/orders', headers: json, payload: ORDER });
  const form = await app.inject({ method: 'POST', url: '/pay/1', headers: { accept: 'text/html' } });
  const reads = [await app.inject('/pay/1'), await app.inject({ url: '/api/v1/nowhere', headers: { authorization } })];
  return { order, form, reads: reads.map(({ statusCode }) => statusCode) };
}

it.each([
  ['wrong', () => Promise.resolve(false), '5'],
  ['not to be compared', () => Promise.reject(new StoreUnavailable()), '1'],
])('a process whose clock is %s refuses what may change something', async (_what, isClockRight, seconds) => {
  posted = 0;
  world = smallWorld({ pages, isClockRight });
  const { order, form, reads } = await answers();
  expect([order.statusCode, order.headers['retry-after'], form.statusCode, form.body]).toEqual([
    503,
    seconds,
    503,
    '<p>503',
  ]);
  expect(order.json()).toMatchObject({ error_code: '1402', retryable: true });
  expect([world.rows.runs, world.rows.memories.size, posted]).toEqual([0, 0, 0]);
  expect(reads).toEqual([200, 404]);
});

it('a process whose clock is right does it', async () => {
  posted = 0;
  world = smallWorld({ pages });
  const { order, form, reads } = await answers();
  expect([order.statusCode, form.statusCode, world.rows.runs, posted, reads]).toEqual([201, 200, 1, 1, [200, 404]]);
});
