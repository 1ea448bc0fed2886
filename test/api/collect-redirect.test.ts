/** Starting a payment on the hosted page: the answer is a collect's, and its status follows the Accept header. */

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { dereferenced } from '../../src/http/testing/dereferenced.ts';
import { visitor } from '../support/checkout-flows.ts';
import { expectRefusal } from '../support/envelope.ts';
import { freshKey, payFromWallet } from '../support/flows.ts';
import { addAccount } from '../support/transfer-flows.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
await addAccount(world, merchant);
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

const MORE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  card: { cardnet_payment_method: 'HOSTED_SESSION' },
  wallet: { wallet_number: '5001', wallet_pin: '1234' },
};

describe('the answer', () => {
  test.each(['none', 'wallet', 'flash', 'mobile_money', 'card', 'bank_transfer'])(
    'by %s has every field of a collect’s answer, and the address of the page',
    async (method) => {
      const body = collectBody(world, method, MORE[method]);
      const fieldsOf = async (path: string): Promise<string[]> => {
        const made = await world.call('POST', path, { bearer: (await mint(world, merchant)).token, body });
        expect(made.status, made.text).toBe(200);
        return Object.keys(made.json).sort();
      };
      const collected = await fieldsOf('/payments/collect');
      const fields = new Set([...collected, 'payment_url', 'redirect_url']);
      expect(await fieldsOf('/payments/collect-redirect')).toEqual([...fields].sort());
    },
  );

  test.each([
    ['wallet', 'name="pin"'],
    ['card', 'data-card'],
  ])('by %s needs nothing that the page asks for', async (method, asked) => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, method);
    expectRefusal(await world.call('POST', '/payments/collect', { bearer: token, body }), 400, '1109', 'REQUIRED');
    const made = await world.call('POST', '/payments/collect-redirect', { bearer: token, body });
    expect(made.status, made.text).toBe(200);
    expect((await visitor(world).open(made.json.redirect_url)).html).toContain(asked);
  });

  test('is fully documented: 200 and 303, session_id, the transfer’s fields, 1404', async () => {
    const document = dereferenced(JSON.parse(await (await fetch(`${world.url}/openapi.json`)).text()));
    const { responses, description } = document.paths['/payments/collect-redirect'].post;
    for (const status of ['200', '303']) {
      const { properties } = responses[status].content['application/json'].schema;
      expect(Object.keys(properties)).toEqual(
        expect.arrayContaining(['session_id', 'bank_account', 'proof_upload_url', 'redirect_url']),
      );
    }
    expect(responses['502'].description).toContain('1404');
    expect(description).toContain('replayed answers too');
  });

  test('is refused to a session that was minted for payouts, whatever the body, even under the same key', async () => {
    const { token } = await mint(world, merchant, { scope: 'payout' });
    const headers = { 'idempotency-key': `redirect-${token.slice(-8)}` };
    for (const body of [collectBody(world, 'none'), collectBody(world, 'none'), { amount: 'much' }]) {
      const refused = await world.call('POST', '/payments/collect-redirect', { bearer: token, headers, body });
      expectRefusal(refused, 403, '1003', 'WRONG_SCOPE');
    }
  });

  test('says so when the card network cannot be reached', async () => {
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'card', MORE.card);
    expectRefusal(await world.call('POST', '/payments/collect-redirect', { bearer: token, body }), 502, '1404');
  });
});

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 303],
  ['text/html, application/json', 303],
  ['application/json, text/html', 200],
  ['text/html;q=0.1, application/json', 200],
  ['text/html;q=0, application/json', 200],
  ['text/html;q=0', 200],
  ['*/*', 200],
])('Accept: %s is answered %i, on a replay too', async (accept, status) => {
  const { token } = await mint(world, merchant);
  const key = freshKey();
  const start = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${world.url}/api/v1/payments/collect-redirect`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...key, ...headers },
      body: JSON.stringify(collectBody(world, 'none')),
    });
    const json = (await response.json()) as { redirect_url: string; payment_id: string };
    return { status: response.status, location: response.headers.get('location'), json };
  };
  const first = await start({ accept });
  expect(first.status).toBe(status);
  expect(first.location).toBe(status === 303 ? first.json.redirect_url : null);
  expect(await start({ accept })).toEqual(first);
  expect(await start({ accept: 'application/json' })).toEqual({ status: 200, location: null, json: first.json });
  // A remembered answer is found before the session is looked at.
  const paid = await payFromWallet(world, { token, payment_id: first.json.payment_id }, await world.wallet());
  expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  expect(await start({ accept })).toEqual(first);
});
