/**
 * Wrong one-time codes are counted by the account that pays, too: whoever knows its PIN cannot guess on with new payments, at
 * other merchants or another process.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UNCOUNTED } from '../../src/usecases/code-calls.ts';
import { locked } from '../../src/usecases/code-lockout.ts';
import { verifyCode } from '../../src/usecases/code-verify.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { host, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { callerOf, plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { codeOn, collect, type Paying, payFromWallet, phoneState } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let merchants: MerchantCreated[];
let phones = 0;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchants = [await world.merchant(), await world.merchant('Librairie Goma')];
});
afterAll(() => world.close());

const LOCK = 15 * 60_000;
const HOUR = 3_600_000;

interface Holder {
  readonly number: string;
  readonly pin: string;
  readonly phone: string;
}

async function holder(balance = 100_000_00n): Promise<Holder> {
  phones += 1;
  const phone = `+243810003${100 + phones}`;
  return { ...(await world.wallet({ balance, phone })), phone };
}

/** A payment for which a code is asked, at one of the merchants in turn. */
async function ask(from: Holder, at = 0): Promise<{ readonly paying: Paying; readonly answer: Answer }> {
  const merchant = merchants[at % merchants.length] as MerchantCreated;
  const paying = await collect(world, merchant, { minted: { amount: '150.00', ttl_seconds: 86_400 } });
  return { paying, answer: await payFromWallet(world, paying, from) };
}

function verify(paying: Paying, otp_code: string, on: Pick<World, 'call'> = world): Promise<Answer> {
  const body = { payment_id: paying.payment_id, otp_code };
  return on.call('POST', '/payments/verify-otp', { bearer: paying.token, body });
}

/** A code that is wrong for every payment of this phone. */
async function wrongFor({ phone }: Holder): Promise<string> {
  const { messages } = await phoneState(world, phone);
  const sent = messages.map(({ text }) => text).join(' ');
  for (let guess = 0; ; guess += 1) {
    const code = String(guess).padStart(6, '0');
    if (!sent.includes(code)) return code;
  }
}

/** Payments that wait for their codes, and the code of the newest. */
async function asking(
  from: Holder,
  count: number,
): Promise<{ readonly paying: readonly Paying[]; readonly code: string }> {
  const paying: Paying[] = [];
  for (let at = 0; at < count; at += 1) {
    const asked = await ask(from, at);
    expect(asked.answer.json.status, asked.answer.text).toBe('pending_otp_verification');
    paying.push(asked.paying);
  }
  return { paying, code: await codeOn(world, from.phone, count) };
}

async function guess(paying: Paying | undefined, code: string, times: number): Promise<Answer[]> {
  if (paying === undefined) throw new Error('no such payment');
  const answers: Answer[] = [];
  for (let at = 0; at < times; at += 1) answers.push(await verify(paying, code));
  return answers;
}

test('twenty wrong codes at two merchants lock the codes of their account in every process, and the right one with them', async () => {
  const wallet = await holder();
  const { paying, code } = await asking(wallet, 5);
  const last = paying.at(-1);
  const wrong = await wrongFor(wallet);
  const told: Answer[] = [];
  for (const one of paying) told.push(...(await guess(one, wrong, 4)));
  expect(told.map(({ json }) => json.error_code)).toEqual(Array.from({ length: 20 }, () => '1302'));
  // The payment alone would allow one more each time.
  expect(told.at(-3)?.json.details[0].message).toContain('2 attempts are left');
  expect(told.at(-1)?.json.details[0].message).toContain('No attempt is left');
  const [locked] = await guess(last, code, 1);
  expect(locked?.json).toMatchObject({ error_code: '1303', transaction_id: last?.transaction_id });
  expect(locked?.json.retry_after).toBe(LOCK / 1000);
  // The lock ends after the code, so the same call can never succeed.
  expect(locked?.json.retryable).toBe(false);
  expect(locked?.headers.get('ratelimit')).toContain('r=0;');
  const other = await openSecond(world, world.clock);
  try {
    const there = await fetch(`${other.url}/api/v1/payments/verify-otp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${last?.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ payment_id: last?.payment_id, otp_code: code }),
    });
    expect(await there.json()).toMatchObject({ error_code: '1303' });
  } finally {
    await other.close();
  }
});

test('while codes are locked none is sent, and smaller payments need none; the lock ends after fifteen minutes', async () => {
  const wallet = await holder();
  const { paying } = await asking(wallet, 4);
  const second = paying[1];
  const wrong = await wrongFor(wallet);
  for (const one of paying) await guess(one, wrong, 5);
  const sent = (await phoneState(world, wallet.phone)).messages.length;
  const refused = await ask(wallet);
  expectRefusal(refused.answer, 403, '1303');
  const resent = await world.call('POST', '/payments/resend-otp', {
    bearer: second?.token ?? '',
    body: { payment_id: second?.payment_id },
  });
  expectRefusal(resent, 403, '1303');
  // A payment that outlives the lock can be submitted, and get another code, after it.
  expect([refused.answer.json.retryable, resent.json.retryable]).toEqual([true, true]);
  expect((await phoneState(world, wallet.phone)).messages).toHaveLength(sent);
  const small = await collect(world, merchants[0] as MerchantCreated, { minted: { amount: '5.00' } });
  expect((await payFromWallet(world, small, wallet)).json).toMatchObject({ status: 'approved' });
  await world.clock.advance(LOCK);
  expect((await payFromWallet(world, refused.paying, wallet)).json.status).toBe('pending_otp_verification');
  const code = await codeOn(world, wallet.phone, sent + 1);
  expect((await verify(refused.paying, code)).json).toMatchObject({ status: 'approved' });
});

test('a right code clears the count, and an hour without a wrong one does, too', async () => {
  const wallet = await holder();
  const { paying, code } = await asking(wallet, 3);
  const [first, second, third] = paying;
  const wrong = await wrongFor(wallet);
  await guess(first, wrong, 5);
  await guess(second, wrong, 4);
  expect((await guess(third, code, 1))[0]?.json).toMatchObject({ status: 'approved' });
  expect(await countsOf()).toEqual([]);
  expect((await guess(second, wrong, 1))[0]?.json.details[0].code).toBe('INVALID_OTP');
  expect(await countsOf()).toEqual([{ pin_failures: 1 }]);
  await world.clock.advance(HOUR + 1);
  const later = await ask(wallet);
  await guess(later.paying, await wrongFor(wallet), 1);
  expect(await countsOf()).toEqual([{ pin_failures: 1 }]);
});

const countsOf = (): Promise<object[]> =>
  rowsOf(world, 'select pin_failures from pin_guard where locked_until is null');

test('of guesses for many payments at once no more than twenty are evaluated', async () => {
  const wallet = await holder();
  const { paying } = await asking(wallet, 8);
  const wrong = await wrongFor(wallet);
  const answers = await Promise.all(paying.flatMap((one) => Array.from({ length: 5 }, () => verify(one, wrong))));
  const codes = answers.map(({ json }) => json.error_code);
  expect(codes.filter((code) => code === '1302')).toHaveLength(20);
  expect(codes.filter((code) => code === '1303')).toHaveLength(20);
});

test('the page tells a customer whose wrong code locks the account’s codes how long that is', async () => {
  const wallet = await holder();
  const { paying } = await asking(wallet, 4);
  const { url } = await host(world, merchants[0] as MerchantCreated, { minted: { amount: '150.00' } });
  const me = visitor(world);
  const { number, pin } = wallet;
  const asked = await me.send(stepOf(await me.open(url), 'pay'), { method: 'wallet', number, pin });
  await codeOn(world, wallet.phone, 5);
  const wrong = await wrongFor(wallet);
  for (const [at, one] of paying.entries()) await guess(one, wrong, at === 0 ? 4 : 5);
  const locking = await me.send(stepOf(asked, 'code'), { code: wrong });
  expect(textOf(locking)).toContain('Too many tries. Wait 15 min, then try again.');
  const locked = await me.send(stepOf(locking, 'code'), { code: wrong });
  expect(textOf(locked)).toContain('Too many tries. Wait 15 min, then try again.');
});

test('a right code whose account is locked while it is being read does not pay', async () => {
  const wallet = await holder();
  const { paying, code } = await asking(wallet, 5);
  const last = paying.at(-1) as Paying;
  const wrong = await wrongFor(wallet);
  const other = paying[3] as Paying;
  for (const one of paying.slice(0, 4)) await guess(one, wrong, one === other ? 4 : 5);
  const { deps } = world.gateway;
  const { store } = deps;
  // The lock falls between two reads of the right code's call.
  let guessed: Promise<Answer> | undefined;
  const get: typeof store.wallet.get = async (...key) => {
    guessed ??= verify(other, wrong);
    await guessed;
    return store.wallet.get(...key);
  };
  const slow = { ...deps, store: { ...store, wallet: { ...store.wallet, get } } };
  const caller = await callerOf(world, merchants[0] as MerchantCreated, last);
  const paid = verifyCode(slow, caller, { payment_id: last.payment_id, otp_code: code }, plainly, UNCOUNTED);
  await expect(paid).rejects.toMatchObject({ code: 1303 });
  expect((await guessed)?.json.error_code).toBe('1302');
  expect(await rowsOf(world, 'select pin_failures from pin_guard where locked_until is not null')).toContainEqual({
    pin_failures: 20,
  });
});

test('a right code for a payment that another call pays meanwhile is told so, not that money is missing', async () => {
  const wallet = await holder(150_00n);
  const { paying, code } = await asking(wallet, 1);
  const last = paying[0] as Paying;
  const { deps } = world.gateway;
  const { store } = deps;
  // The other call pays between the read of the payment and those of its code and account, and leaves too little for a second time.
  let other: Promise<Answer> | undefined;
  const paidMeanwhile = async (): Promise<void> => {
    other ??= verify(last, code);
    await other;
  };
  const slow: typeof store = {
    ...store,
    code: { ...store.code, get: (...key) => paidMeanwhile().then(() => store.code.get(...key)) },
    wallet: { ...store.wallet, get: (...key) => paidMeanwhile().then(() => store.wallet.get(...key)) },
  };
  const caller = await callerOf(world, merchants[0] as MerchantCreated, last);
  const command = { payment_id: last.payment_id, otp_code: code };
  const paid = verifyCode({ ...deps, store: slow }, caller, command, plainly, UNCOUNTED);
  await expect(paid).rejects.toMatchObject({ code: 1205 });
  expect((await other)?.json).toMatchObject({ status: 'approved' });
});

test('a lock that ends when its payment does leaves nothing to be retried; one that ends before does', () => {
  const isRetryable = (endsAt: number) => locked(LOCK / 1_000, { id: 'txn_1' }, 0, endsAt).retryable;
  expect([LOCK - 1, LOCK, LOCK + 1].map(isRetryable)).toEqual([false, false, true]);
});
