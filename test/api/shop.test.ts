/**
 * The demo shop with the real gateway: what a merchant's integration does, end to end over HTTP.
 *
 * Invariant: nothing stands in for either side; payments are made by the API, with the order's own session.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Order } from '../../sandbox/shop/orders.ts';
import { type Customer, openCustomer } from '../../sandbox/shop/testing/customer.ts';
import { anOrder } from '../../sandbox/shop/testing/order.ts';
import { shopWords } from '../../sandbox/shop/words.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

const words = shopWords.en;
const TTL_MS = 1_800_000;

let world: World;
let merchant: MerchantCreated;
/** Everything that the shop has shown or sent, to search for secrets. */
const shown: string[] = [];

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
  expect(await tell(merchant)).toBe(204);
});
afterAll(() => world.close());

async function tell({ key_id, secret, webhook_secret }: MerchantCreated, credential = `${key_id}:${secret}`) {
  const answer = await fetch(`${world.sandboxUrl}/shop/credential`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ gateway_url: world.url, credential, webhook_secret }),
  });
  return answer.status;
}

/** A customer whose every answer is kept. */
function visitor(language = 'en'): Customer {
  const customer = openCustomer(world.sandboxUrl, language);
  const keep = async (answer: ReturnType<Customer['get']>) => {
    const { text, headers } = await answer;
    shown.push(text, [...headers].join('\n'));
    return answer;
  };
  return {
    ...customer,
    get: (path) => keep(customer.get(path)),
    post: (path, fields) => keep(customer.post(path, fields)),
  };
}

const pageOf = ({ id }: Pick<Order, 'id'>) => `/shop/return/${id}`;

/** An order as buying leaves it, with a payment begun by the API. */
async function begun(notifyUrl: string, minted: Readonly<Record<string, unknown>> = {}): Promise<Order> {
  const { token, reference } = await mint(world, merchant, minted);
  return another({ token, reference }, notifyUrl);
}

async function another(session: { token: string; reference: string }, notifyUrl: string): Promise<Order> {
  const { json } = await world.call('POST', '/payments/collect', {
    bearer: session.token,
    body: collectBody(world, 'none', { notify_url: notifyUrl }),
  });
  const id = Buffer.from(session.reference).toString('hex');
  world.sandbox.orders.add(
    anOrder({
      id,
      reference: session.reference,
      amount: json.amount,
      transaction_id: json.transaction_id,
      session_token: session.token,
      redirect_url: `${world.url}/`,
    }),
  );
  return { ...orderOf(id), transaction_id: json.transaction_id };
}

function orderOf(id: string): Order {
  const order = world.sandbox.orders.get(id);
  if (order === undefined) throw new Error(`the shop has no order ${id}`);
  return order;
}

/** Pays as the page would: by the order's own session. */
async function pay({ session_token, transaction_id }: Order): Promise<void> {
  const wallet = await world.wallet();
  const { json } = await world.call('GET', `/payments/transaction/${transaction_id}`, { bearer: session_token });
  const paid = await world.call('POST', '/payments/submit', {
    bearer: session_token,
    body: {
      payment_id: json.payment_id,
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    },
  });
  expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
}

describe('an order’s outcome', () => {
  test('comes by the gateway’s webhook, which verifies, while its page is open', async () => {
    const customer = visitor();
    const order = await begun(`${world.sandboxUrl}/shop/webhooks`);
    const page = await customer.hear(`${pageOf(order)}/events`);
    await pay(order);
    await page.changed;
    const { text } = await customer.get(pageOf(order));
    for (const sentence of [words.outcome.paid.title, 'verified webhook', order.transaction_id])
      expect(text).toContain(sentence);
    expect((await customer.get('/shop/orders')).text).toContain(order.reference);
  });

  test('is inquired about, whatever the address says', async () => {
    const customer = visitor();
    const order = await begun(world.receiver.url);
    const lie = `${pageOf(order)}?transaction_id=${order.transaction_id}&status=approved`;
    expect((await customer.get(lie)).text).toContain(words.outcome.waiting.title);
    await pay(order);
    const { text } = await customer.get(`${pageOf(order)}?transaction_id=${order.transaction_id}&status=declined`);
    expect(text).toContain(words.outcome.paid.title);
    expect(text).toContain('asked the gateway');
    expect(orderOf(order.id)).toMatchObject({ status: 'approved', webhook_at: null });
  });

  test('of another order, named in the address, is not adopted', async () => {
    const customer = visitor();
    const [mine, other] = [await begun(world.receiver.url), await begun(world.receiver.url)];
    await pay(other);
    for (const hint of [other.transaction_id, 'txn_nothing', '..%2F..%2Fhealth']) {
      const { text } = await customer.get(`${pageOf(mine)}?transaction_id=${hint}&status=approved`);
      expect(text).toContain(words.outcome.waiting.title);
    }
  });

  test('is found by the address if another payment of the same session paid it', async () => {
    const customer = visitor();
    const first = await begun(world.receiver.url);
    const second = await another({ token: first.session_token, reference: first.reference }, world.receiver.url);
    expect(second.transaction_id).not.toBe(first.transaction_id);
    await pay(second);
    const { text } = await customer.get(`${pageOf(first)}?transaction_id=${second.transaction_id}&status=approved`);
    expect(text).toContain(words.outcome.paid.title);
    expect(orderOf(first.id).transaction_id).toBe(second.transaction_id);
  });

  test('can still be inquired about when the order’s session has expired', async () => {
    const customer = visitor();
    const [paid, unpaid] = [await begun(world.receiver.url), await begun(world.receiver.url)];
    await pay(paid);
    await world.pass(TTL_MS + 1_000);
    expect((await customer.get(pageOf(paid))).text).toContain(words.outcome.paid.title);
    expect((await customer.get(pageOf(unpaid))).text).toContain(words.outcome.expired.title);
  });
});

describe('buying', () => {
  const fill = async (customer: Customer) => {
    await customer.post('/shop/cart', { good: 'coffee', quantity: '2' });
    await customer.post('/shop/cart', { good: 'tea', quantity: '1' });
  };
  const newest = (): Order => {
    const [order] = world.sandbox.orders.newest(1);
    if (order === undefined) throw new Error('the shop has sold nothing');
    return order;
  };

  test('leads to the payment page, and once it is paid to a receipt and an empty cart', async () => {
    const customer = visitor();
    await fill(customer);
    const bought = await customer.post('/shop/buy', {
      fee_covered_by: 'merchant',
      delivery_behaviour: 'delayed_delivery',
    });
    expect([bought.status, new URL(bought.location).origin]).toEqual([303, world.url]);
    const order = newest();
    expect(order).toMatchObject({ amount: '23.60', currency: 'usd', redirect_url: bought.location });
    const { json } = await world.call('GET', `/payments/transaction/${order.transaction_id}`, {
      bearer: order.session_token,
    });
    expect(json).toMatchObject({
      amount: '23.60',
      customer_reference: order.reference,
      fee_covered_by: 'merchant',
      delivery_behaviour: 'delayed_delivery',
    });

    const page = await customer.hear(`${pageOf(order)}/events`);
    await pay(order);
    await page.changed;
    const receipt = await customer.get(pageOf(order));
    expect(receipt.text).toContain(words.outcome.paid.title);
    expect(receipt.text).toContain('2 × Kivu coffee');
    expect((await customer.get('/shop/cart')).text).toContain(words.cartEmpty.title);
  });

  test('twice at once, and once more, is one order', async () => {
    const customer = visitor();
    await fill(customer);
    const before = world.sandbox.orders.newest(1_000).length;
    const presses = await Promise.all([customer.post('/shop/buy'), customer.post('/shop/buy')]);
    expect(presses.map(({ status }) => status)).toEqual([303, 303]);
    expect(new Set(presses.map(({ location }) => location)).size).toBe(1);
    expect(await customer.post('/shop/buy')).toMatchObject({ status: 303, location: pageOf(newest()) });
    expect(world.sandbox.orders.newest(1_000)).toHaveLength(before + 1);
  });

  test('from a cart page that stayed open while its order was paid buys nothing', async () => {
    const customer = visitor();
    await fill(customer);
    await customer.post('/shop/buy');
    const order = newest();
    const page = await customer.hear(`${pageOf(order)}/events`);
    await pay(order);
    await page.changed;
    expect(await customer.post('/shop/buy')).toMatchObject({ status: 303, location: '/shop/cart' });
    expect(newest().id).toBe(order.id);
  });

  test('other goods meanwhile, or after an unpaid end, is another order', async () => {
    const customer = visitor();
    await fill(customer);
    await customer.post('/shop/buy');
    const first = newest();
    await customer.post('/shop/cart', { good: 'honey', quantity: '1' });
    expect((await customer.post('/shop/buy')).location).toContain(world.url);
    const second = newest();
    expect(second.reference).not.toBe(first.reference);
    await world.pass(TTL_MS + 1_000);
    expect((await customer.get(pageOf(second))).text).toContain(words.outcome.expired.title);
    expect(await customer.post(`${pageOf(second)}/again`)).toMatchObject({ location: '/shop/cart' });
    expect((await customer.post('/shop/buy')).location).toContain(world.url);
    expect(newest()).toMatchObject({ amount: second.amount });
    expect(newest().reference).not.toBe(second.reference);
  });

  test('in each currency binds an amount that the gateway takes', async () => {
    for (const currency of ['usd', 'cdf', 'xof', 'kes', 'ngn']) {
      const customer = visitor();
      await customer.get(`/shop?currency=${currency}`);
      await fill(customer);
      expect((await customer.post('/shop/buy')).location).toContain(world.url);
      expect(newest().currency).toBe(currency);
    }
  });

  test('with a revoked credential shows the gateway’s own message, in the customer’s language', async () => {
    await tell(merchant, `${merchant.key_id}:sk_test_wrong`);
    const customer = visitor('fr');
    await fill(customer);
    const { status, text } = await customer.post('/shop/buy');
    expect(status).toBe(502);
    expect(text).toContain(shopWords.fr.trouble);
    const refused = await world.call('POST', '/internal/sessions/create', {
      bearer: `${merchant.key_id}:sk_test_wrong`,
      body: { amount: '1.00', currency: 'usd', customer_reference: 'x' },
      headers: { 'accept-language': 'fr' },
    });
    expect(text).toContain(String(refused.json.message).replaceAll("'", '&#39;'));
    await tell(merchant);
    expect((await customer.post('/shop/buy')).location).toContain(world.url);
  });
});

test('no page, redirect or cookie contains a secret', () => {
  const secrets = [
    merchant.secret,
    merchant.webhook_secret,
    ...world.sandbox.orders.newest(1_000).map((one) => one.session_token),
  ];
  expect(shown.length).toBeGreaterThan(20);
  for (const secret of secrets) expect(shown.some((text) => text.includes(secret))).toBe(false);
});
