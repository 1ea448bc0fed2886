/**
 * One-time codes are texts that cost money: for one account only so many are sent in an hour, whatever payments ask for them.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { host, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { expectRefusal } from '../support/envelope.ts';
import { codeOn, collect, numberEnding, type Paying, payFromWallet, phoneState, statusOf } from '../support/flows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { type Answer, callAt, openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let merchants: MerchantCreated[];
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0', CODES_PER_HOUR: '3' } });
  merchants = [await world.merchant(), await world.merchant('Librairie Goma')];
});
afterAll(() => world.close());

const HOUR = 3_600_000;

async function holder() {
  const phone = numberEnding('42');
  return { ...(await world.wallet({ balance: 100_000_00n, phone })), phone };
}
type Holder = Awaited<ReturnType<typeof holder>>;

/** A payment for which a code is asked, at one of the merchants in turn. */
async function ask(from: Holder, at = 0, of = world): Promise<{ readonly paying: Paying; readonly answer: Answer }> {
  const paying = await collect(world, merchants[at % 2] as MerchantCreated, {
    minted: { amount: '150.00', ttl_seconds: 86_400 },
  });
  return { paying, answer: await payFromWallet(of, paying, from) };
}

const resend = ({ token, payment_id }: Paying, at = world) =>
  at.call('POST', '/payments/resend-otp', { bearer: token, body: { payment_id } });

const sentTo = async ({ phone }: Holder): Promise<number> => (await phoneState(world, phone)).messages.length;

test('the fourth code in an hour is refused, at a submit and a resend, at any merchant; after the hour one is sent', async () => {
  const wallet = await holder();
  const first = await ask(wallet);
  expect(first.answer.json.status).toBe('pending_otp_verification');
  await world.clock.advance(HOUR / 4);
  expect((await ask(wallet, 1)).answer.json.status).toBe('pending_otp_verification');
  const last = await ask(wallet);
  await codeOn(world, wallet.phone, 3);
  const refused = await ask(wallet, 1);
  expectRefusal(refused.answer, 429, '1301', 'TEXTS_USED');
  expect(refused.answer.json).toMatchObject({ retryable: true, retry_after: (HOUR * 3) / 4 / 1_000 });
  expect(refused.answer.headers.get('retry-after')).toBe('2700');
  expectRefusal(await resend(last.paying), 429, '1301', 'TEXTS_USED');
  expect(await sentTo(wallet)).toBe(3);
  // Nothing was consumed: neither the session, nor a resend.
  expect(await statusOf(world, refused.paying)).toBe('pending');
  const small = await collect(world, merchants[0] as MerchantCreated, { minted: { amount: '5.00' } });
  expect((await payFromWallet(world, small, wallet)).json.status).toBe('approved');
  await world.clock.advance((HOUR * 3) / 4);
  expect((await payFromWallet(world, refused.paying, wallet)).json.status).toBe('pending_otp_verification');
  const resent = await resend(last.paying);
  expect(resent.json).toMatchObject({ resend_count: 1 });
  await codeOn(world, wallet.phone, 5);
});

test('of payments that ask at the same time, no more get a code than are allowed', async () => {
  const wallet = await holder();
  const asked = await Promise.all(Array.from({ length: 8 }, (_, at) => ask(wallet, at)));
  const told = asked.map(({ answer }) => answer.json.error_code ?? answer.json.status);
  expect(told.filter((one) => one === 'pending_otp_verification')).toHaveLength(3);
  expect(told.filter((one) => one === '1301')).toHaveLength(5);
  await codeOn(world, wallet.phone, 3);
  expect(await sentTo(wallet)).toBe(3);
});

test('a call that is refused otherwise counts as no code, and another account has its own', async () => {
  const [wallet, other] = [await holder(), await holder()];
  for (let at = 0; at < 4; at += 1) expect((await ask({ ...wallet, pin: '9999' })).answer.json.error_code).toBe('1302');
  for (let at = 0; at < 3; at += 1) {
    for (const one of [wallet, other]) expect((await ask(one)).answer.json.status).toBe('pending_otp_verification');
  }
  expectRefusal((await ask(wallet)).answer, 429, '1301', 'TEXTS_USED');
});

test('codes count at every process while a new master key is rolled out, whichever of them sent one', async () => {
  const secrets = openSecrets({
    masterKeys: [Buffer.alloc(32, 8).toString('base64'), WORLD_MASTER_KEY],
    random: world.gateway.deps.random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  const env = { CODES_PER_HOUR: '3' };
  const second = await openSecond(world, world.clock, world.databaseUrl, { env, secrets });
  const renewed: World = { ...world, call: (method, path, more = {}) => callAt(second.url, method, path, more) };
  const wallet = await holder();
  const { paying: one } = await ask(wallet, 0, renewed);
  expect((await resend(one)).json).toMatchObject({ resend_count: 1 });
  const { paying: other } = await ask(wallet, 0, renewed);
  expectRefusal(await resend(other, renewed), 429, '1301', 'TEXTS_USED');
  // The next hour begins at the process that has the old key alone.
  await world.clock.advance(HOUR);
  for (const paying of [one, one, other]) expect((await resend(paying)).status).toBe(200);
  expectRefusal(await resend(other, renewed), 429, '1301', 'TEXTS_USED');
  await second.close();
});

test('a payment that ends before its account may have another code, or with the wait, is not to be tried again', async () => {
  const wallet = await holder();
  for (let at = 0; at < 3; at += 1) await ask(wallet);
  for (const ttl_seconds of [1_800, 3_600]) {
    const brief = await collect(world, merchants[0] as MerchantCreated, { minted: { amount: '150.00', ttl_seconds } });
    const refused = await payFromWallet(world, brief, wallet);
    expectRefusal(refused, 429, '1301', 'TEXTS_USED');
    expect(refused.json).toMatchObject({ retryable: false, retry_after: 3_600 });
  }
});

test('the page says how long to wait', async () => {
  const wallet = await holder();
  for (let at = 0; at < 3; at += 1) await ask(wallet);
  const hosted = await host(world, merchants[0] as MerchantCreated, { minted: { amount: '150.00' } });
  const me = visitor(world);
  const page = await me.open(hosted.url);
  const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
  const refused = await me.send(stepOf(page, 'pay'), fields);
  expect(refused.status).toBe(429);
  expect(textOf(refused)).toContain('Too many codes have been sent for this account. Wait 60 min, or pay another way.');
});
