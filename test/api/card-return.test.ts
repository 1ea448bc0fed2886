/**
 * Where the customer's browser goes when the issuer has sent it back: to the shop, or to the hosted page that it came from.
 */

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import { takeCallback } from '../../src/usecases/card-callback.ts';
import {
  answerChallenge,
  type CardName,
  type CardPaying,
  callbackFor,
  challenged,
  fillForm,
  postCallback,
  postForm,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { host, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { expectRefusal } from '../support/envelope.ts';
import { statusOf } from '../support/flows.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

const URLS = { success_redirect_url: 'https://shop.example/thanks', fail_redirect_url: 'https://shop.example/again' };

/** A payment whose hosted page is open in a browser, and whose customer is at the issuer. */
async function challengedOnPage(card: CardName, more: Readonly<Record<string, string>> = URLS): Promise<CardPaying> {
  const { token, reference } = await mint(world, merchant);
  const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION', ...more });
  const made = await world.call('POST', '/payments/collect', { bearer: token, body });
  const { payment_id, transaction_id, session_id: form, payment_url } = made.json;
  expect((await visitor(world).open(payment_url)).status).toBe(200);
  await fillForm(world, form, card);
  const paying = { token, reference, payment_id, transaction_id, form };
  const submitted = await submitCard(world, paying);
  expect(submitted.status, submitted.text).toBe(202);
  return paying;
}

const CALLBACK = '/api/v1/payments/card/3ds-callback';
const pageOf = new RegExp(`^${world.url}/checkout/chk_[0-9a-z]+$`);
const shopAt = (path: string, { transaction_id }: CardPaying, status: string): string =>
  `https://shop.example/${path}?transaction_id=${transaction_id}&status=${status}`;

describe('a shop’s address in any script', () => {
  test('is written as a browser would send it, and a repeated callback redirects there again', async () => {
    const success_redirect_url = 'https://shop.example.com/заказ/готово?имя=да#конец';
    const paying = await challenged(world, merchant, 'challenge', { body: { success_redirect_url } });
    const fields = await answerChallenge(world, paying, 'pass');
    const first = await postForm(world, fields);
    expect(first.status, first.text).toBe(303);
    const url = new URL(first.location ?? '');
    expect(first.location).toMatch(/^[!-~]+$/);
    expect([url.host, decodeURIComponent(url.pathname), decodeURIComponent(url.hash)]).toEqual([
      'shop.example.com',
      '/заказ/готово',
      '#конец',
    ]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      имя: 'да',
      transaction_id: paying.transaction_id,
      status: 'approved',
    });
    expect(await postForm(world, fields)).toEqual(first);
  });

  test.each([
    ['a control character', '#\u0001'],
    ['a line break', '#a\r\nSet-Cookie: x=1'],
    ['a blank', '#a b'],
    ['a no-break blank', '?q=a\u00a0b'],
    ['a backslash', '#\\\\evil.example'],
  ])('is refused with %s, even in its fragment', async (_name, odd) => {
    for (const field of ['success_redirect_url', 'fail_redirect_url', 'notify_url']) {
      const { token } = await mint(world, merchant);
      const body = collectBody(world, 'none', { [field]: `https://shop.example/x${odd}` });
      for (const path of ['/payments/collect', '/payments/collect-redirect']) {
        const refused = await world.call('POST', path, { bearer: token, body });
        expectRefusal(refused, 400, '1110', 'INVALID_URL');
        expect(refused.json.details.map((one: { field: string }) => one.field)).toEqual([field]);
      }
    }
  });
});

describe('while the challenge is open', () => {
  test('the browser goes back to its hosted page', async () => {
    const paying = await challengedOnPage('challenge');
    expect((await postForm(world, callbackFor(world, paying))).location).toMatch(pageOf);
    expect(await statusOf(world, paying)).toBe('processing');
  });

  test('or, without an open page, to fail_redirect_url, because nothing has been asked for', async () => {
    const paying = await challenged(world, merchant, 'challenge', { body: URLS });
    const answer = await postForm(world, callbackFor(world, paying));
    expect(answer.location).toBe(shopAt('again', paying, 'processing'));
  });

  test('and before the submit as well', async () => {
    const paying = await readyToPay(world, merchant, 'challenge', { body: URLS });
    const answer = await postForm(world, callbackFor(world, paying));
    expect(answer.location).toBe(shopAt('again', paying, 'pending'));
  });
});

describe('once the money was asked for', () => {
  test('and the outcome is unknown, the browser goes back to its hosted page', async () => {
    const paying = await challengedOnPage('lost');
    expect((await postForm(world, await answerChallenge(world, paying, 'pass'))).location).toMatch(pageOf);
    expect(await statusOf(world, paying)).toBe('processing');
  });

  test('or, without an open page, to success_redirect_url, because the shop has to ask', async () => {
    const paying = await challenged(world, merchant, 'lost', { body: URLS });
    const answer = await postForm(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.location).toBe(shopAt('thanks', paying, 'processing'));
    // Another callback does not change that.
    const later = await postForm(world, callbackFor(world, paying));
    expect(later.location).toBe(shopAt('thanks', paying, 'processing'));
  });

  test.each([
    ['pass', 'thanks', 'approved'],
    ['fail', 'again', 'declined'],
  ] as const)(
    'and the payment has ended (%s), the shop is told, even if a hosted page is open',
    async (result, path, status) => {
      const paying = await challengedOnPage('challenge');
      const answer = await postForm(world, await answerChallenge(world, paying, result));
      expect(answer.location).toBe(shopAt(path, paying, status));
    },
  );
});

test('a payment that was read just before its approval is one whose money has been asked for', async () => {
  const paying = await challenged(world, merchant);
  const { deps } = world.gateway;
  const { payment } = deps.store;
  const before = await payment.get(shardOf(paying.transaction_id), paying.transaction_id);
  await postCallback(world, await answerChallenge(world, paying, 'pass'));
  const slow: typeof deps = { ...deps, store: { ...deps.store, payment: { ...payment, get: async () => before } } };
  const { order_id, transaction_id, result, timestamp, nonce, signature } = callbackFor(world, paying);
  const posted = { order_id, transaction_id, result, timestamp, nonce, signature, networkOrder: undefined };
  const proof = { t: undefined, e: undefined, n: undefined, s: undefined };
  const told: unknown[] = [];
  await takeCallback(
    slow,
    { ...posted, proof },
    () => undefined,
    ({ payment: { status }, isPaying }) => {
      told.push({ status, isPaying });
      return { status: 200, body: '' };
    },
  );
  expect(told).toEqual([{ status: 'processing', isPaying: true }]);
});

describe('a shop that gave no address, and whose own page showed the form', () => {
  const aboutShop = /tell the shop whether your payment has gone through\. Do not pay a second time/;
  const returned = `${world.url}/checkout/closed/returned`;

  test.each([
    ['pass', { fail_redirect_url: URLS.fail_redirect_url }, 'approved'],
    ['fail', { success_redirect_url: URLS.success_redirect_url }, 'declined'],
    ['pass', {}, 'approved'],
  ] as const)('has its customer (%s, %j) told to go back to it', async (result, body, status) => {
    const paying = await challenged(world, merchant, 'challenge', { body });
    const me = visitor(world);
    const shown = await me.send(CALLBACK, await answerChallenge(world, paying, result), { origin: 'null' });
    expect([shown.status, shown.url, titleOf(shown)]).toEqual([200, returned, 'Please go back to the shop']);
    expect(textOf(shown)).toMatch(aboutShop);
    expect(await statusOf(world, paying)).toBe(status);
    // The address says nothing of the payment, and anybody may open it, in any language.
    expect(textOf(await visitor(world, 'fr').open(returned))).toContain('Retournez à la boutique');
  });

  test('has a customer who comes back early told the same', async () => {
    const paying = await challenged(world, merchant);
    const shown = await visitor(world).send(CALLBACK, callbackFor(world, paying));
    expect([shown.status, shown.url]).toEqual([200, returned]);
    expect(await statusOf(world, paying)).toBe('processing');
  });

  test('and a challenge that is over is not called a page that does not exist', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    const { redirect_url } = (await submitCard(world, paying)).json;
    const me = visitor(world);
    expect((await me.open(redirect_url)).status).toBe(200);
    await me.send(CALLBACK, await answerChallenge(world, paying, 'pass'));
    const again = await me.open(redirect_url);
    expect([again.status, again.url]).toEqual([200, returned]);
  });
});

test('a signature that the body leaves empty is read from the header', async () => {
  const paying = await challenged(world, merchant);
  const { signature = '', ...fields } = await answerChallenge(world, paying, 'pass');
  const empty = { ...fields, signature: '' };
  expectRefusal(await postCallback(world, empty), 401, '1304');
  const answer = await postCallback(world, empty, { 'x-cardnet-signature': signature });
  expect(answer.json, answer.text).toMatchObject({ status: 'approved' });
});

test('a program that refuses HTML gets JSON', async () => {
  const paying = await challenged(world, merchant, 'challenge', { body: URLS });
  const accept = 'text/html;q=0, application/json';
  const answer = await postCallback(world, await answerChallenge(world, paying, 'pass'), { accept });
  expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
});

describe('the issuer’s challenge', () => {
  test('may redirect its customer to any host over TLS, and in the sandbox to this machine', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    const { redirect_url } = (await submitCard(world, paying)).json;
    const policy = (await visitor(world).open(redirect_url)).headers.get('content-security-policy');
    expect(policy).toContain("form-action 'self' https: http://127.0.0.1:* http://localhost:*;");
    const page = await visitor(world).open((await host(world, merchant)).url);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self';");
  });
});
