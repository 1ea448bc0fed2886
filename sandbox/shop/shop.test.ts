// The shop over HTTP, for a customer without script and for a gateway that connects it; buying is tested with the real gateway.
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { languages } from '../pages/languages.ts';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';
import { type Customer, openCustomer } from './testing/customer.ts';
import { anOrder } from './testing/order.ts';
import { shopWords } from './words.ts';

const webhook_secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const credential = 'key_1:sk_test_very_secret';
/** No server listens there. */
const gateway_url = 'http://127.0.0.1:1';
const words = shopWords.en;

let running: RunningSandbox;
let customer: Customer;
beforeEach(async () => {
  running = await startSandbox({ gatewayUrl: 'http://gateway.example:8080' });
  customer = openCustomer(running.url);
});
afterEach(() => running.close());

const tell = (more: Readonly<Record<string, unknown>> = {}) =>
  running.call('PUT', '/shop/credential', { gateway_url, credential, webhook_secret, ...more });
const put = (good: string, quantity: string) => customer.post('/shop/cart', { good, quantity });
const plain = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/gu, ' ');

describe('the credential', () => {
  test('is asked for until it is known, and never shown', async () => {
    await put('tea', '1');
    for (const path of ['/shop', '/shop/cart']) {
      const { text } = await customer.get(path);
      expect(text).toContain(words.noGateway.title);
      expect(text).toContain(`curl -X PUT ${running.url}/shop/credential`);
      expect(text).toContain('http://gateway.example:8080');
    }
    expect(await customer.post('/shop/buy')).toMatchObject({ status: 303, location: '/shop/cart' });
    expect((await tell()).status).toBe(204);
    for (const path of ['/shop', '/shop/cart', '/shop/orders']) {
      const { text, headers } = await customer.get(path);
      expect(text).not.toContain(words.noGateway.title);
      expect(text).not.toMatch(/sk_test|whsec_|key_1/);
      expect(headers.get('content-security-policy')).toContain(`form-action 'self' ${gateway_url};`);
    }
    expect((await running.call('GET', '/shop/credential')).status).toBe(404);
  });

  test.each([
    ['gateway_url', { gateway_url: 'ftp://example.com' }],
    ['gateway_url', { gateway_url: 5 }],
    ['api', { api: 'javascript:alert(1)' }],
    ['credential', { credential: 'sk_test_alone' }],
    ['credential', { credential: 'key_1:sk\r\nx-evil: 1' }],
    ['webhook_secret', { webhook_secret: 'hunter2' }],
  ])('with a wrong %s is refused, naming it', async (name, more) => {
    const { status, json, text } = await tell(more);
    expect([status, json]).toMatchObject([
      400,
      { error: 'invalid_credential', message: expect.stringContaining(name) },
    ]);
    expect(text).not.toContain('very_secret');
  });
});

describe('the window', () => {
  test.each(languages)('speaks %s, with one h1 and nothing inline or from elsewhere', async (language) => {
    const reader = openCustomer(running.url, language);
    await reader.post('/shop/cart', { good: 'honey', quantity: '2' });
    for (const path of ['/shop', '/shop/cart', '/shop/orders', '/shop/return/unknown']) {
      const { text, headers } = await reader.get(path);
      expect(text).toContain(`<html lang="${language}">`);
      expect(text.match(/<h1/g)).toHaveLength(1);
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/<style|<script>|\sstyle=|\son\w+=/);
      expect(text).not.toMatch(/(src|action)="https?:/);
      expect(text, 'every blank of a sentence is filled').not.toMatch(/\{\w+\}/);
      for (const [, file] of text.matchAll(/(?:href|src)="(\/(?:assets|shop\/files)\/[^"]+\.(?:css|svg))"/g))
        expect((await reader.get(file ?? '')).status).toBe(200);
    }
  });

  test('remembers the language and the currency that were chosen', async () => {
    expect((await customer.get('/shop?lang=fr')).text).toContain('<html lang="fr">');
    expect(plain((await customer.get('/shop?currency=xof')).text)).toContain('5 700 XOF');
    expect((await customer.get('/shop?lang=xx&currency=btc')).text).toContain('<html lang="fr">');
    expect(plain((await customer.get('/shop')).text)).toContain('5 700 XOF');
  });

  test('serves its own files and no other', async () => {
    for (const name of ['..%2froutes.ts', 'routes.js', 'nothing.svg'])
      expect((await customer.get(`/shop/files/${name}`)).status).toBe(404);
  });
});

describe('the cart', () => {
  test('adds, changes and removes goods, by plain forms', async () => {
    await tell();
    expect(await put('coffee', '2')).toMatchObject({ status: 303, location: '/shop/cart#coffee' });
    await put('wax', '1');
    expect(plain((await customer.get('/shop/cart')).text)).toContain('Total 43.00 USD');
    await put('coffee', '3');
    expect(plain((await customer.get('/shop/cart')).text)).toContain('Buy for 52.50 USD');
    await put('wax', '0');
    await put('coffee', '0');
    expect((await customer.get('/shop/cart')).text).toContain(words.cartEmpty.title);
  });

  test('holds at most twenty of each good, and nothing that the shop does not sell', async () => {
    await put('tea', '999');
    expect(plain((await customer.get('/shop/cart')).text)).toContain('Total 92.00 USD');
    for (const [good, quantity] of [
      ['<b>', '1'],
      ['tea', '-1'],
      ['tea', '1e3'],
      ['toString', '1'],
    ] as const)
      await put(good, quantity);
    expect(plain((await customer.get('/shop/cart')).text)).toContain('Total 92.00 USD');
  });

  test('belongs to one customer, under an id that the shop issued', async () => {
    const cookie = (await put('tea', '1')).headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^shop_cart=[0-9a-f]{32}; Path=\/shop; HttpOnly; SameSite=Lax$/);
    expect((await openCustomer(running.url).get('/shop/cart')).text).toContain(words.cartEmpty.title);
    const chosen = { cookie: 'shop_cart=mine', 'content-type': 'application/x-www-form-urlencoded' };
    const given = await running.call('POST', '/shop/cart', new URLSearchParams({ good: 'tea', quantity: '1' }), chosen);
    expect(given.headers.get('set-cookie')).not.toContain('mine');
  });
});

test('if the gateway does not answer, a page says so and offers to try again', async () => {
  await tell();
  await put('tea', '2');
  const { status, text } = await customer.post('/shop/buy', { fee_covered_by: 'merchant' });
  expect(status).toBe(502);
  for (const sentence of [words.trouble, words.noAnswer, words.notCharged, words.tryAgain])
    expect(text).toContain(sentence);
  expect(text, 'what was chosen is kept').toMatch(/value="merchant" checked/);
  expect(plain((await customer.get('/shop/cart')).text)).toContain('Total 9.20 USD');
  expect(await customer.get('/shop/buy?lang=fr')).toMatchObject({ status: 303, location: '/shop/cart' });
  expect((await customer.get('/shop/orders')).text).toContain(shopWords.fr.noOrders.title);
});

describe('an order’s page', () => {
  const order = anOrder();
  const page = (query = '') => customer.get(`/shop/return/${order.id}${query}`);
  beforeEach(() => {
    running.sandbox.orders.add(order);
  });
  const answered = (status: string) =>
    running.sandbox.orders.answered(
      order.id,
      { ...order, customer_reference: order.reference, status },
      running.world.now(),
    );

  test('waits without script, whatever the address claims', async () => {
    const { text } = await page('?transaction_id=txn_1&status=approved');
    expect(text).toContain(words.outcome.waiting.title);
    expect(text).toContain(words.waitsFor.pending);
    expect(text).toContain('<noscript><meta http-equiv="refresh" content="4"></noscript>');
    expect(text).toContain('href="http://gateway.example/pay/1"');
    expect(text).not.toContain('sess_secret');
  });

  test('says when the gateway cannot be reached', async () => {
    await tell();
    const { text } = await page();
    expect(text).toContain(words.cannotAsk);
    expect(text).toContain(words.noAnswer);
  });

  test.each([
    ['approved', 'paid'],
    ['declined', 'refused'],
    ['failed', 'refused'],
    ['cancelled', 'cancelled'],
    ['expired', 'expired'],
    ['refunded', 'refunded'],
  ] as const)('%s is shown as %s, and asks no more', async (status, state) => {
    answered(status);
    const { text } = await page();
    expect(text).toContain(words.outcome[state].title);
    expect(text).not.toContain('http-equiv="refresh"');
    expect(text.includes(words.buyAgain)).toBe(state !== 'paid');
  });

  test('puts the same goods into the cart again', async () => {
    answered('failed');
    expect(await customer.post(`/shop/return/${order.id}/again`)).toMatchObject({
      status: 303,
      location: '/shop/cart',
    });
    expect(plain((await customer.get('/shop/cart')).text)).toContain('Total 19.00 USD');
  });

  test('and the list show by which way an outcome was learned', async () => {
    answered('approved');
    for (const { text } of [await page(), await customer.get('/shop/orders')])
      expect(plain(text)).toContain('asked the gateway, Nov 20, 2026, 14:02:00');
  });

  test('another customer’s order is a page, not an error', async () => {
    for (const path of ['/shop/return/nothing', '/shop/return/%3Cscript%3E']) {
      const { status, text } = await customer.get(path);
      expect([status, text.includes(words.noOrder.title)]).toEqual([404, true]);
      expect(text).not.toContain('<script>');
    }
    expect((await customer.post('/shop/return/nothing/again')).status).toBe(404);
    expect((await customer.get('/shop/return/nothing/events')).status).toBe(404);
  });
});

describe('the webhook route', () => {
  const order = anOrder();
  const send = (more: Readonly<Record<string, string>> = {}, key = webhook_secret) => {
    const at = new Date(running.world.now());
    const { transaction_id, reference: customer_reference, amount, currency } = order;
    const body = JSON.stringify({ transaction_id, customer_reference, status: 'approved', amount, currency });
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(key).sign('evt_1', at, body),
      'webhook-sequence': '1',
      ...more,
    };
    return fetch(`${running.url}/shop/webhooks`, { method: 'POST', headers, body });
  };

  test('accepts what verifies, notifies open pages at once, and ignores the rest', async () => {
    running.sandbox.orders.add(order);
    expect((await send()).status).toBe(401);
    await tell();
    expect((await send({}, `whsec_${Buffer.alloc(32, 8).toString('base64')}`)).status).toBe(401);
    expect((await send({ 'webhook-id': 'evt_2' })).status).toBe(401);
    expect((await fetch(`${running.url}/shop/webhooks`, { method: 'POST' })).status).toBe(401);
    expect(running.sandbox.orders.get(order.id)?.status).toBe('pending');

    const one = await customer.hear(`/shop/return/${order.id}/events`);
    const all = await customer.hear('/shop/orders/events');
    expect((await send()).status).toBe(204);
    await Promise.all([one.changed, all.changed]);
    const { text } = await customer.get(`/shop/return/${order.id}/parts`);
    expect(plain(text)).toContain('verified webhook, Nov 20, 2026, 14:02:00');
    expect(text).not.toContain('data-every');
    expect((await send()).status, 'a repeated one is heard').toBe(204);
  });

  test('acknowledges a signed event about an order that it has forgotten', async () => {
    await tell();
    expect((await send()).status).toBe(204);
    expect((await customer.get('/shop/orders')).text).toContain(words.noOrders.title);
  });
});
