/**
 * Two gateways on one database: what one of them writes, the other sees at once. Neither relies on what it has
 * in memory, so that any process can continue what another began.
 */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueCredential } from '../../src/usecases/credential-issue.ts';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { rotateWebhookSecret } from '../../src/usecases/webhook-secret-rotate.ts';
import { postsAbout } from '../support/flows.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { type Answer, collectBody, openWorld, type World } from '../support/world.ts';

let world: World;
let second: Second;
/** The addresses of both, to be used in turn. */
let urls: readonly [string, string];

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  second = await openSecond(world, world.clock);
  urls = [world.url, second.url];
});
afterAll(async () => {
  await second.close();
  await world.close();
});

async function post(url: string, path: string, bearer: string, body: object, key?: string): Promise<Answer> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'accept-language': 'en',
      authorization: `Bearer ${bearer}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

function credentialOf({ key_id, secret }: Pick<MerchantCreated, 'key_id' | 'secret'>): string {
  return `${key_id}:${secret}`;
}

let orders = 0;

function mintAt(url: string, bearer: string, amount = '12.50', key?: string): Promise<Answer> {
  orders += 1;
  const customer_reference = key ?? `order-${orders}`;
  return post(url, '/internal/sessions/create', bearer, { amount, currency: 'usd', customer_reference }, key);
}

/** Mints, collects and submits at addresses that take turns, from a wallet; returns the submit's answer. */
async function payFromWallet(merchant: MerchantCreated, amount: string, phone: string) {
  const [here, there] = urls;
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const minted = await mintAt(here, credentialOf(merchant), amount);
  const token: string = minted.json.session_token;
  const collected = await post(there, '/payments/collect', token, collectBody(world, 'none'));
  const payment_id: string = collected.json.payment_id;
  const submitted = await post(here, '/payments/submit', token, {
    payment_id,
    payment_method_id: 'wallet',
    ewallet_number: wallet.number,
    ewallet_pin: wallet.pin,
  });
  return { token, payment_id, transaction_id: collected.json.transaction_id as string, submitted };
}

interface PhoneState {
  readonly messages: readonly { readonly code: string | null }[];
}

/** The code on a phone, once it has arrived. */
async function codeOn(phone: string): Promise<string> {
  for (;;) {
    const state = (await (await fetch(`${world.sandboxUrl}/phone/${phone}/state`)).json()) as PhoneState;
    const code = state.messages.find((message) => message.code !== null)?.code;
    if (typeof code === 'string') return code;
  }
}

it('a payment alternates between the two at every step, and its webhook is posted once', async () => {
  const { token, transaction_id, submitted } = await payFromWallet(await world.merchant(), '12.50', '+243810000201');
  expect(submitted.json, submitted.text).toMatchObject({ status: 'approved' });
  const [, there] = urls;
  const read = await fetch(`${there}/api/v1/payments/status/${transaction_id}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await read.json()).toMatchObject({ status: 'approved' });
  await world.receiver.about(transaction_id);
  // Its delivery is recorded after the receiver's answer; a clock that leapt before that would end its lease.
  await Promise.all([world, second].map(({ gateway }) => gateway.courier.idle()));
  await world.pass(60_000);
  expect(postsAbout(world, transaction_id).map(({ body }) => body.status)).toEqual(['approved']);
});

it('one key at both at once makes one session, and both answer the same bytes', async () => {
  const merchant = await world.merchant();
  const answers = await Promise.all(
    [...urls, ...urls].map((url) => mintAt(url, credentialOf(merchant), '12.50', 'the-key')),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

it('a merchant that is suspended at one is refused by the other at once, and accepted again at once', async () => {
  const merchant = await world.merchant();
  const { id } = merchant.merchant;
  const [here, there] = urls;
  const asked = async (): Promise<number[]> => {
    const answers = await Promise.all([here, there].map((url) => mintAt(url, credentialOf(merchant))));
    return answers.map(({ status }) => status);
  };
  expect(await asked()).toEqual([201, 201]);
  await setMerchantStatus(world.gateway.deps, id, 'SUSPENDED');
  expect(await asked()).toEqual([403, 403]);
  await setMerchantStatus(second.gateway.deps, id, 'ALLOWED');
  expect(await asked()).toEqual([201, 201]);
});

it('a credential that is issued at one works at the other, until it is revoked', async () => {
  const { merchant } = await world.merchant();
  const issued = credentialOf(await issueCredential(world.gateway.deps, merchant.id, null));
  const [here, there] = urls;
  expect((await mintAt(there, issued)).status).toBe(201);
  await revokeCredential(world.gateway.deps, issued.split(':')[0] ?? '');
  expect([(await mintAt(here, issued)).status, (await mintAt(there, issued)).status]).toEqual([401, 401]);
});

it('a setting that is changed at one applies at the other, even for merchants that it has seen before', async () => {
  const merchant = await world.merchant();
  const [, there] = urls;
  expect((await mintAt(there, credentialOf(merchant))).status).toBe(201);
  await setMerchant(world.gateway.deps, merchant.merchant.id, { currencies: ['cdf'] });
  expect((await mintAt(there, credentialOf(merchant))).status).toBe(400);
});

it('guesses of a one-time code are counted together, at whichever process they are made', async () => {
  const { token, payment_id, submitted } = await payFromWallet(await world.merchant(), '150.00', '+243810000202');
  expect(submitted.json, submitted.text).toMatchObject({ status: 'pending_otp_verification' });
  const right = Number(await codeOn('+243810000202'));
  const guess = (index: number): Promise<Answer> => {
    const otp_code = String((right + 1 + index) % 1_000_000).padStart(6, '0');
    return post(urls[index % 2] ?? '', '/payments/verify-otp', token, { payment_id, otp_code });
  };
  const codes = (await Promise.all(Array.from({ length: 40 }, (_, index) => guess(index)))).map(
    ({ json }) => json.error_code as string,
  );
  expect(codes.filter((code) => code === '1302')).toHaveLength(5);
  expect(codes.filter((code) => code === '1301')).toHaveLength(35);
});

it('a webhook secret that is rotated at one is used by the other within a second', async () => {
  const merchant = await world.merchant();
  const before = await payFromWallet(merchant, '1.00', '+243810000203');
  await world.receiver.about(before.transaction_id);
  const { webhook_secret } = await rotateWebhookSecret(second.gateway.deps, merchant.merchant.id, 0);
  await world.clock.advance(1_000);
  const after = await payFromWallet(merchant, '1.00', '+243810000204');
  const { headers, raw } = await world.receiver.about(after.transaction_id);
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signed = new Webhook(webhook_secret).sign(String(headers['webhook-id']), at, raw);
  expect(headers['webhook-signature']).toBe(signed);
});
