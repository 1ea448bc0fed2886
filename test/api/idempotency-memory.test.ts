/** Which answers an Idempotency-Key remembers, which it does not (contract §7). */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { creditWallet } from '../../src/usecases/wallet-credit.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  bearerOf,
  codeOn,
  collect,
  debitsOf,
  type Fields,
  freshKey,
  numberEnding,
  payByPhone,
  payFromWallet,
  phoneState,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { MINT, sendMint } from '../support/mints.ts';
import { fund } from '../support/payout-batches.ts';
import { payoutBody } from '../support/payout-flows.ts';
import { carrierAsked } from '../support/phone-payments.ts';
import { askCode, nothing } from '../support/route-samples.ts';
import { countRows, rowsOf } from '../support/rows.ts';
import { openSecond, submitAt } from '../support/second-gateway.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { type Answer, mint, openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

const mintWith = (headers: Readonly<Record<string, string>>, body: Fields = MINT, of = merchant) =>
  sendMint(world, of, { body, headers });

describe('what is remembered', () => {
  /** Expects the same bytes again, although the call would end differently after `mend`. */
  async function expectRemembered(one: () => Promise<Answer>, status: number, mend: () => Promise<unknown>) {
    const first = await one();
    expect(first.status, first.text).toBe(status);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    await mend();
    const again = await one();
    expect({ status: again.status, text: again.text }).toEqual({ status, text: first.text });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  }

  test('402: too little money, even if there is enough later; a new key pays', async () => {
    const wallet = await world.wallet({ balance: 1_00n });
    const paying = await collect(world, merchant);
    const key = freshKey();
    await expectRemembered(
      () => payFromWallet(world, paying, wallet, key),
      402,
      () => creditWallet(world.gateway.deps, wallet.number, '50.00'),
    );
    expect((await payFromWallet(world, paying, wallet, freshKey())).json).toMatchObject({ status: 'approved' });
  });

  test.each(['submit', 'verify-otp', 'resend-otp'])('404: what %s does not find', async (name) => {
    const { token } = await mint(world, merchant);
    const key = freshKey();
    const body = {
      payment_id: nothing(world, merchant).payment_id,
      otp_code: '123456',
      payment_method_id: 'wallet',
      ewallet_number: '5707000000000000',
      ewallet_pin: '1234',
    };
    const one = () => world.call('POST', `/payments/${name}`, { bearer: token, body, headers: key });
    await expectRemembered(one, 404, () => world.clock.advance(1_000));
    const other = await world.call('POST', `/payments/${name}`, {
      bearer: token,
      body: { ...body, more: 1 },
      headers: key,
    });
    expectRefusal(other, 409, '1203');
  });

  test('409: a step that the state does not allow', async () => {
    const paying = await collect(world, merchant);
    const key = freshKey();
    const body = { payment_id: paying.payment_id, otp_code: '123456' };
    const one = () => world.call('POST', '/payments/verify-otp', { bearer: paying.token, body, headers: key });
    await expectRemembered(one, 409, () => world.clock.advance(1_000));
    expect((await one()).json).toMatchObject({ error_code: '1205', transaction_id: paying.transaction_id });
  });

  test('sealed: neither a token nor a PIN is in the database', async () => {
    const key = freshKey();
    const minted = await mintWith(key);
    const rows = await countRows(world);
    expect(rows.idempotency).toBeGreaterThan(0);
    const dumped = JSON.stringify(await rowsOf(world, 'select * from idempotency, session'));
    expect(dumped).not.toContain(minted.json.session_token);
    expect(dumped).not.toContain(minted.json.session_token.slice(5 + 26));
    expect(dumped).not.toContain(key['idempotency-key']);
  });
});

describe('what is not remembered', () => {
  test('400: the corrected body may use the same key', async () => {
    const key = freshKey();
    const bad = { ...MINT, amount: '0' };
    const [first, again] = [await mintWith(key, bad), await mintWith(key, bad)];
    for (const refused of [first, again]) {
      expectRefusal(refused, 400, '1101');
      expect(refused.headers.get('idempotent-replayed')).toBeNull();
    }
    expect(again.json.request_id).not.toBe(first.json.request_id);
    expect((await mintWith(key)).status).toBe(201);
  });

  test('401: the right credential may use the same key', async () => {
    const key = freshKey();
    const wrong = { ...merchant, secret: `${merchant.secret.slice(0, -1)}_` };
    expectRefusal(await mintWith(key, MINT, wrong), 401, '1001');
    expect((await mintWith(key)).status).toBe(201);
  });

  test('400 and 403: a wrong PIN and a lock; once that is over, the same call pays', async () => {
    const wallet = await world.wallet();
    const paying = await collect(world, merchant);
    const key = freshKey();
    const wrong = { ...wallet, pin: '9999' };
    for (let tries = 0; tries < 5; tries += 1)
      expectRefusal(await payFromWallet(world, paying, wrong, key), 400, '1302');
    expectRefusal(await payFromWallet(world, paying, wallet, key), 403, '1303');
    await world.clock.advance(15 * 60_000);
    expect((await payFromWallet(world, paying, wallet, key)).json).toMatchObject({ status: 'approved' });
  });

  test('429: when there are tries again, the same call pays', async () => {
    const asked = await askCode(world, merchant);
    const otp_code = await codeOn(world, asked.phone);
    const verify = (code: string, headers = {}) =>
      world.call('POST', '/payments/verify-otp', {
        bearer: asked.token,
        body: { payment_id: asked.payment_id, otp_code: code },
        headers,
      });
    const wrong = otp_code === '000000' ? '000001' : '000000';
    for (let tries = 0; tries < 5; tries += 1) expectRefusal(await verify(wrong), 400, '1302');
    const key = freshKey();
    expectRefusal(await verify(otp_code, key), 429, '1301');
    await world.clock.advance(5 * 60_000);
    expect((await verify(otp_code, key)).json).toMatchObject({ status: 'approved' });
  });

  test('502: when the carrier is back, the same call continues', async () => {
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('01');
    const key = freshKey();
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    expectRefusal(await payByPhone(world, paying, msisdn, key), 502, '1404');
    world.sandbox.faults.clear();
    const paid = await payByPhone(world, paying, msisdn, key);
    expect(paid.json, paid.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    expect((await payByPhone(world, paying, msisdn, key)).text).toBe(paid.text);
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  });

  test('502: since nothing of it is under way any more, the same key may pay from another phone', async () => {
    const paying = await collect(world, merchant);
    const key = freshKey();
    expectRefusal(await payByPhone(world, paying, numberEnding('06'), key), 502, '1404');
    const paid = await payByPhone(world, paying, numberEnding('01'), key);
    expect(paid.json, paid.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    await untilStatus(world, paying, 'approved');
  });
});

describe('two processes', () => {
  test('sixty calls under one key, half of them at each: one effect, one answer', async () => {
    const second = await openSecond(world, manualClock(0));
    try {
      const paying = await collect(world, merchant);
      const msisdn = numberEnding('01');
      const key = freshKey();
      const urls = [world.url, second.url];
      const calls = Array.from({ length: 60 }, (_, at) => submitAt(urls[at % 2] ?? '', paying, msisdn, key));
      // In small steps: a call that has waited ten seconds is told to come again.
      const answers = await whileTimePasses(world, Promise.all(calls), 20);
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, answers[0]?.text).toBe(1);
      expect(answers[0]?.status).toBe(200);
      await untilStatus(world, paying, 'approved');
      expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    } finally {
      await second.close();
    }
  });

  test('the same resend at each, of which both have drawn a code: one text, with the code that counts', async () => {
    const asked = await askCode(world, merchant);
    const second = await openSecond(world, world.clock);
    const stores = [world.gateway.deps.store, second.gateway.deps.store];
    const commits = stores.map(({ commit }) => commit);
    const held: (() => void)[] = [];
    for (const [at, store] of stores.entries()) {
      const commit: typeof store.commit = async (change) => {
        if (change.updates?.some(({ table }) => table === 'one_time_code'))
          await new Promise<void>((go) => {
            held.push(go);
            if (held.length === 2) for (const each of held) each();
          });
        return (commits[at] as typeof commit)(change);
      };
      Object.assign(store, { commit });
    }
    try {
      const headers = { ...freshKey(), 'content-type': 'application/json', authorization: `Bearer ${asked.token}` };
      const body = JSON.stringify({ payment_id: asked.payment_id });
      const resend = (url: string) => fetch(`${url}/api/v1/payments/resend-otp`, { method: 'POST', headers, body });
      const answers = await Promise.all([world.url, second.url].map(resend));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const [one, other] = await Promise.all(answers.map((answer) => answer.text()));
      expect(other).toBe(one);
    } finally {
      for (const [at, store] of stores.entries()) Object.assign(store, { commit: commits[at] });
      // A gateway finishes what it has begun.
      await second.close();
    }
    await world.gateway.background.idle();
    expect((await phoneState(world, asked.phone)).messages).toHaveLength(2);
    const verified = { payment_id: asked.payment_id, otp_code: await codeOn(world, asked.phone, 2) };
    const paid = await world.call('POST', '/payments/verify-otp', { bearer: asked.token, body: verified });
    expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  });

  test('one whose commit loses, and which then finds the last try used by the other one: the other one’s answer', async () => {
    const asked = await askCode(world, merchant);
    const second = await openSecond(world, world.clock);
    const { store } = second.gateway.deps;
    const { commit, code } = store;
    const verify = async (url: string, otp_code: string, headers = {}) => {
      const body = JSON.stringify({ payment_id: asked.payment_id, otp_code });
      const authorization = `Bearer ${asked.token}`;
      const sent = { 'content-type': 'application/json', authorization, ...headers };
      const answer = await fetch(`${url}/api/v1/payments/verify-otp`, { method: 'POST', headers: sent, body });
      return { status: answer.status, text: await answer.text() };
    };
    const right = await codeOn(world, asked.phone);
    for (const _ of [1, 2, 3, 4]) await verify(world.url, right === '000000' ? '000001' : '000000');
    const key = freshKey();
    let paid: ReturnType<typeof verify> | undefined;
    const losing: typeof commit = async (change) => {
      Object.assign(store, { commit });
      await rowsOf(world, 'update wallet set version = version + 1 where id = $1', [asked.wallet]);
      // After the key has been looked up again, and found unused.
      const get: typeof code.get = async (...of) => {
        paid ??= verify(world.url, right, key);
        await paid;
        return code.get(...of);
      };
      Object.assign(store, { code: { ...code, get } });
      return commit(change);
    };
    Object.assign(store, { commit: losing });
    const answer = await verify(second.url, right, key);
    await second.close();
    expect(answer).toEqual(await paid);
    expect(answer.status, answer.text).toBe(200);
  });

  test('the first one hangs after the money was taken: the other one continues its call', async () => {
    const second = await openSecond(world, manualClock(0));
    world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('05');
    const key = freshKey();
    const hanging = submitAt(second.url, paying, msisdn, key);
    await until(async () => ((await phoneState(world, msisdn)).prompts.length > 0 ? true : undefined));
    const taken = await whileTimePasses(world, payByPhone(world, paying, msisdn, key), 500);
    expect(taken.status, taken.text).toBe(200);
    await untilStatus(world, paying, 'approved');
    const again = await payByPhone(world, paying, msisdn, key);
    expect(again.text).toBe(taken.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expectRefusal(await payByPhone(world, paying, msisdn, freshKey()), 401, '1001', 'SESSION_CONSUMED');
    expectRefusal(await payByPhone(world, paying, numberEnding('01'), key), 409, '1203', 'IDEMPOTENCY_BODY');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    // The first one resumes, and gives the other one's answer.
    await second.cut();
    expect(await hanging).toEqual({ status: 200, text: taken.text });
    await second.close();
  });

  test('the first one hangs until the session is consumed: the other one still answers its call', async () => {
    const second = await openSecond(world, manualClock(0));
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('05');
    const key = freshKey();
    const hanging = submitAt(second.url, paying, msisdn, key);
    await untilStatus(world, paying, 'approved');
    const answered = await payByPhone(world, paying, msisdn, key);
    expect(answered.status, answered.text).toBe(200);
    expectRefusal(await payByPhone(world, paying, msisdn, freshKey()), 401, '1001', 'SESSION_CONSUMED');
    await second.cut();
    expect(await hanging).toEqual({ status: 200, text: answered.text });
    await second.close();
  });

  test('the first one hangs before anything was taken: once that is certain, the same call sends it', async () => {
    const second = await openSecond(world, manualClock(0));
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('01');
    const key = freshKey();
    world.sandbox.faults.set('mtn', { drop_rate: 1 });
    const asked = carrierAsked(world);
    const hanging = submitAt(second.url, paying, msisdn, key);
    await asked;
    world.sandbox.faults.clear();
    // At another process, beside the one that hangs: a call that waits ten seconds is told to come again.
    const beside = await whileTimePasses(world, submitAt(second.url, paying, msisdn, key), 500);
    expect([beside.status, JSON.parse(beside.text)], beside.text).toMatchObject([
      409,
      { error_code: '1203', retryable: true, retry_after: 5, details: [{ code: 'IN_PROGRESS' }] },
    ]);
    const early = await whileTimePasses(world, payByPhone(world, paying, msisdn, key), 500);
    expectRefusal(early, 409, '1203', 'IN_PROGRESS');
    expect(early.json.retryable).toBe(true);
    await untilStatus(world, paying, 'pending', 5_000);
    const sent = await payByPhone(world, paying, msisdn, key);
    expect(sent.json, sent.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    await second.cut();
    await hanging;
    expect((await payByPhone(world, paying, msisdn, key)).text).toBe(sent.text);
    expect(await statusOf(world, paying)).toBe('approved');
    await second.close();
  });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

describe('while a new master key is rolled out', () => {
  beforeAll(() => fund(world, merchant, 1_000_00n));

  const [older, newer] = [WORLD_MASTER_KEY, Buffer.alloc(32, 9).toString('base64')];

  /** A payout under one key, at a process with that ring and at ours, which has only the older key. */
  async function sendAtBoth(ring: readonly string[], isTogether: boolean, oursFirst: boolean) {
    const { random } = world.gateway.deps;
    const transactionIds = { bytesOf: bytesOfId, idOf: (bytes: Uint8Array) => idOfBytes('txn', bytes) };
    const secrets = openSecrets({ masterKeys: ring, random, transactionIds });
    const second = await openSecond(world, manualClock(0), world.databaseUrl, { secrets });
    const headers = {
      ...freshKey(),
      'content-type': 'application/json',
      authorization: `Bearer ${bearerOf(merchant)}`,
    };
    const customer_reference = `salaries-${headers['idempotency-key']}`;
    const body = JSON.stringify(payoutBody(world, { customer_reference }));
    const send = async (url: string) => {
      const answer = await fetch(`${url}/api/v1/internal/payouts`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    const urls = oursFirst ? [world.url, second.url] : [second.url, world.url];
    const answers = [];
    if (isTogether) answers.push(...(await Promise.all(urls.map(send))));
    else for (const url of urls) answers.push(await send(url));
    await second.cut();
    await second.close();
    const made = await rowsOf(world, 'select id from payout_batch where customer_reference = $1', [customer_reference]);
    return { answers, made: made.length };
  }

  test.each([
    ['at once', true, false],
    ['first where it is the active one', false, false],
    ['first where it is not there yet', false, true],
  ] as const)('a key that is used at both processes, %s, makes one payout', async (_how, isTogether, oursFirst) => {
    const { answers, made } = await sendAtBoth([newer, older], isTogether, oursFirst);
    expect(made).toBe(1);
    // What the new key has sealed cannot be repeated without it, but a different body is never reported.
    for (const { status, text } of answers) expect([200, 201, 500], text).toContain(status);
    expect(answers.filter(({ status }) => status !== 500)).not.toEqual([]);
  });

  test('as long as the new key stands behind the older one, both processes give the same answer', async () => {
    const { answers, made } = await sendAtBoth([older, newer], true, false);
    expect([made, new Set(answers.map(({ text }) => text)).size]).toEqual([1, 1]);
  });
});
