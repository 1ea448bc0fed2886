/** One Idempotency-Key is one effect and one answer to the byte, also for a hundred calls at once (contract §7). */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rotateCredential } from '../../src/usecases/credential-rotate.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  bearerOf,
  codeOn,
  collect,
  collectWith,
  debitsOf,
  type Fields,
  freshKey,
  neighbourOf,
  numberEnding,
  payByPhone,
  payFromWallet,
  untilStatus,
} from '../support/flows.ts';
import { MINT, sendMint } from '../support/mints.ts';
import { rawPost, sendRaw } from '../support/raw.ts';
import { askCode } from '../support/route-samples.ts';
import { countRows } from '../support/rows.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

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

/** Expects the same answer for all, with all but one marked as a replay. */
function expectOneAnswer(answers: readonly Answer[]): Answer {
  const [first] = answers;
  if (first === undefined) throw new Error('no answers');
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)), first.text).toHaveProperty('size', 1);
  const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
  expect(replayed).toHaveLength(answers.length - 1);
  return first;
}

function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, work));
}

/** How many rows these tables gain while `work` runs. */
async function grown(tables: readonly string[], work: () => Promise<unknown>): Promise<number[]> {
  const before = await countRows(world);
  await work();
  const after = await countRows(world);
  return tables.map((table) => (after[table] ?? 0) - (before[table] ?? 0));
}

describe('a hundred calls at once under one key are one', () => {
  test('mints', async () => {
    const key = freshKey();
    const rows = await grown(['session', 'idempotency'], async () => {
      expect(expectOneAnswer(await times(100, () => mintWith(key))).status).toBe(201);
    });
    expect(rows).toEqual([1, 1]);
  });

  test('collects', async () => {
    const { token } = await mint(world, merchant);
    const key = freshKey();
    const body = collectBody(world, 'none');
    const rows = await grown(['payment', 'idempotency'], async () => {
      const one = () => world.call('POST', '/payments/collect', { bearer: token, body, headers: key });
      expect(expectOneAnswer(await times(100, one)).status).toBe(200);
    });
    expect(rows).toEqual([1, 1]);
  });

  test('wallet submits', async () => {
    const wallet = await world.wallet();
    const paying = await collect(world, merchant);
    const key = freshKey();
    const rows = await grown(['ledger_transfer', 'webhook_event', 'idempotency'], async () => {
      const answer = expectOneAnswer(await times(100, () => payFromWallet(world, paying, wallet, key)));
      expect(answer.json).toMatchObject({ status: 'approved' });
    });
    expect(rows).toEqual([1, 1, 1]);
    const account = await world.gateway.store.account.get(Number(wallet.number.slice(4, 6)), wallet.number);
    expect(account?.balance).toBe(37_50n);
  });

  test('mobile money submits', async () => {
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('01');
    const key = freshKey();
    const rows = await grown(['attempt', 'idempotency'], async () => {
      const answer = expectOneAnswer(await times(100, () => payByPhone(world, paying, msisdn, key)));
      expect(answer.json).toMatchObject({ status: 'pending_mobile_money_verification' });
    });
    expect(rows).toEqual([1, 1]);
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  });

  test('verifications, and the replay still answers when the session is consumed and the clock has moved', async () => {
    const asked = await askCode(world, merchant);
    const body = { payment_id: asked.payment_id, otp_code: await codeOn(world, asked.phone) };
    const key = freshKey();
    const verify = () => world.call('POST', '/payments/verify-otp', { bearer: asked.token, body, headers: key });
    const first = expectOneAnswer(await times(100, verify));
    expect(first.json).toMatchObject({ status: 'approved' });
    await world.pass(60_000);
    expect((await verify()).text).toBe(first.text);
  });

  test('a hundred calls under two keys on one session pay once', async () => {
    const wallet = await world.wallet();
    const paying = await collect(world, merchant);
    const both = [freshKey(), freshKey()];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => payFromWallet(world, paying, wallet, both[at % 2])),
    );
    const approved = answers.filter(({ json }) => json.status === 'approved');
    expect(approved).toHaveLength(50);
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
    }
    const account = await world.gateway.store.account.get(Number(wallet.number.slice(4, 6)), wallet.number);
    expect(account?.balance).toBe(37_50n);
  });
});

describe('what counts as the same body', () => {
  const raw = (headers: Readonly<Record<string, string>>, text: string) =>
    world.call('POST', '/internal/sessions/create', { bearer: bearerOf(merchant), raw: text, headers });

  test('the order of keys, white space and the notation of characters do not matter', async () => {
    const key = freshKey();
    const first = await raw(key, '{"amount":"1.00","currency":"usd","customer_reference":"é","x":{"b":1,"a":[1,2]}}');
    expect(first.status, first.text).toBe(201);
    for (const same of [
      '{"x":{"a":[1,2],"b":1},"customer_reference":"é","currency":"usd","amount":"1.00"}',
      ' {\n "currency" : "usd",\t"customer_reference":"\\u00e9","amount":"1.00","x":{"a":[1, 2],"b":1.0} }\r\n',
    ]) {
      expect((await raw(key, same)).text).toBe(first.text);
    }
  });

  test('anything else does: 1203, even for an ignored field or another notation of the same amount', async () => {
    const key = freshKey();
    await mintWith(key);
    const others = [
      { ...MINT, amount: '12.5' },
      { ...MINT, customer_reference: 'order-1 ' },
      { ...MINT, unknown: 1 },
      { ...MINT, ttl_seconds: 1800 },
      // The schema is checked after idempotency: a body that would be a 400 is a different body first.
      { ...MINT, amount: 12.5 },
      {},
    ];
    for (const body of others) expectRefusal(await mintWith(key, body), 409, '1203', 'IDEMPOTENCY_BODY');
  });
});

describe('how long, and for whom', () => {
  test('24 hours, and not a millisecond longer', async () => {
    const key = freshKey();
    const first = await mintWith(key);
    await world.pass(24 * 60 * 60_000 - 1);
    const last = await mintWith(key);
    expect(last.text).toBe(first.text);
    await world.clock.advance(1);
    const next = await mintWith(key);
    expect(next.status).toBe(201);
    expect(next.headers.get('idempotent-replayed')).toBeNull();
    expect(next.json.session_id).not.toBe(first.json.session_id);
    expect((await mintWith(key)).text).toBe(next.text);
    // Then a different body is a new operation, too.
    await world.pass(24 * 60 * 60_000);
    expect((await mintWith(key, { ...MINT, amount: '1.00' })).status).toBe(201);
  });

  test('two merchants, two sessions and two routes may use the same key', async () => {
    const key = freshKey();
    const other = await neighbourOf(world, merchant);
    const [mine, theirs] = [await mintWith(key), await mintWith(key, MINT, other)];
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.json.session_id).not.toBe(mine.json.session_id);
    const tokens = [mine.json.session_token, (await mint(world, merchant)).token, theirs.json.session_token];
    const body = collectBody(world, 'none');
    const collects = await Promise.all(
      tokens.map((bearer) => world.call('POST', '/payments/collect', { bearer, body, headers: key })),
    );
    expect(new Set(collects.map(({ json }) => json.transaction_id)).size).toBe(3);
    const wallet = await world.wallet();
    const [token = '', paying] = [tokens[0], collects[0]?.json];
    const paid = await payFromWallet(world, { token, payment_id: paying.payment_id }, wallet, key);
    expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  });

  test('a mint is remembered for the merchant: another credential of the merchant’s finds it', async () => {
    const shop = await world.merchant('Pharmacie Bukavu');
    const key = freshKey();
    const first = await mintWith(key, MINT, shop);
    const rotated = await rotateCredential(world.gateway.deps, shop.key_id, 60_000);
    const again = await mintWith(key, MINT, { ...shop, ...rotated });
    expect(again.text).toBe(first.text);
  });

  test('a caller that is no longer authorised gets no replay either', async () => {
    const { token } = await mint(world, merchant, { ttl_seconds: 60 });
    const key = freshKey();
    const body = collectBody(world, 'none');
    const one = () => world.call('POST', '/payments/collect', { bearer: token, body, headers: key });
    expect((await one()).status).toBe(200);
    await world.clock.advance(60_000);
    expectRefusal(await one(), 401, '1005');
  });
});

describe('the header', () => {
  test.each([
    ['the shortest', 'k'],
    ['the longest', 'k'.repeat(255)],
    ['every visible character', '!#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~"x'],
    ['a UUID', '0190b6a4-7b0e-7c3a-8f00-1234567890ab'],
  ])('may be %s', async (_what, key) => {
    const [first, again] = [
      await mintWith({ 'idempotency-key': key }),
      await mintWith({ 'IDEMPOTENCY-KEY': `"${key}"` }),
    ];
    expect(first.status, first.text).toBe(201);
    // One pair of quotes is stripped, provided the key is not too long with them.
    expect(again.text).toBe(first.text);
  });

  test.each([
    ['empty', ''],
    ['quoted and empty', '""'],
    ['too long', 'k'.repeat(256)],
    ['two words', 'a b'],
    ['with a tab', 'a\tb'],
    ['not ASCII', 'clé'],
  ])('may not be %s (1110)', async (_what, key) => {
    const rows = await grown(['session', 'idempotency'], async () => {
      expectRefusal(await mintWith({ 'idempotency-key': key }), 400, '1110', 'INVALID_IDEMPOTENCY_KEY');
    });
    expect(rows).toEqual([0, 0]);
  });

  test('may not be given twice (1110), whether the same or not', async () => {
    for (const second of ['a', 'b']) {
      const lines = [
        `Authorization: Bearer ${bearerOf(merchant)}`,
        'Content-Type: application/json',
        'Idempotency-Key: a',
        `idempotency-key: ${second}`,
      ];
      const answer = await sendRaw(world, rawPost('/internal/sessions/create', lines, JSON.stringify(MINT)));
      expectRefusal(answer, 400, '1110', 'DUPLICATE_HEADER');
    }
  });

  test('means nothing on a read, and without it each call is separate', async () => {
    const paying = await collect(world, merchant);
    const key = freshKey();
    const read = () =>
      world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token, headers: key });
    for (const answer of [await read(), await read()]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('idempotent-replayed')).toBeNull();
    }
    const [first, second] = [await mintWith({}), await mintWith({})];
    expect(first.json.session_id).not.toBe(second.json.session_id);
    const more = await collectWith(world, paying.token);
    expect(more.transaction_id).not.toBe(paying.transaction_id);
  });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
