/** Identifiers with flipped bits, and bodies by chance: never a 5xx, always the envelope, and no row of a refused call. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectEnvelope, expectRefusal } from '../support/envelope.ts';
import { type Fields, neighbourOf, openPaying, type Paying } from '../support/flows.ts';
import { MINT } from '../support/mints.ts';
import { mintBytes } from '../support/raw.ts';
import { countRows } from '../support/rows.ts';
import { type Answer, collectBody, mint, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let bearer: string;
let paying: Paying;

beforeAll(async () => {
  ({ world, merchant, bearer, paying } = await openPaying());
});
afterAll(() => world.close());

describe('identifiers', () => {
  const read = (id: string, token = paying.token) =>
    world.call('GET', `/payments/mobile-money/status/${encodeURIComponent(id)}`, { bearer: token });

  test('a payment_id with any bit flipped names nothing', async () => {
    const id = paying.payment_id;
    expect((await read(id)).status).toBe(200);
    const sealed = Buffer.from(id.slice(4), 'base64url');
    const flipped = Array.from({ length: sealed.length * 8 }, (_, bit) => {
      const bytes = Buffer.from(sealed);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return `pay_${bytes.toString('base64url')}`;
    });
    const answers: Answer[] = [];
    // As many as are always admitted at once: of more, a machine short of CPU time sheds some.
    while (flipped.length > 0) answers.push(...(await Promise.all(flipped.splice(0, 64).map((one) => read(one)))));
    const [unknown] = answers;
    for (const answer of answers) {
      expectRefusal(answer, 404, '1204');
      expect(answer.text.length).toBe(unknown?.text.length);
    }
  });

  test('truncated, stretched, or written otherwise, it names nothing; below ten characters it is 1110', async () => {
    const id = paying.payment_id;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const others = [
      ...Array.from({ length: id.length - 10 }, (_, at) => id.slice(0, 10 + at)),
      ...alphabet
        .split('')
        .map((char) => id.slice(0, -1) + char)
        .filter((one) => one !== id),
      ...['A', '=', '==', '+', '/', ' ', '.', '\n', 'é', '%00'].map((tail) => id + tail),
      id.toUpperCase(),
      id.slice(4),
      `txn_${id.slice(4)}`,
      ` ${id}`,
      paying.transaction_id,
      'x'.repeat(300),
    ].filter((one) => one !== id && one.length >= 10);
    for (const one of others) expectRefusal(await read(one), 404, '1204');
    for (let length = 1; length < 10; length += 1) {
      expectRefusal(await read(id.slice(0, length)), 400, '1110', 'TOO_SHORT');
    }
  });

  test('the same holds in bodies, ten kilobytes included', async () => {
    for (const payment_id of [`${paying.payment_id}A`, paying.transaction_id, 'x'.repeat(10_000), '€'.repeat(20)]) {
      for (const name of ['verify-otp', 'resend-otp', 'submit']) {
        const body = {
          payment_id,
          otp_code: '123456',
          payment_method_id: 'wallet',
          ewallet_number: 'x',
          ewallet_pin: '1234',
        };
        const answer = await world.call('POST', `/payments/${name}`, { bearer: paying.token, body });
        expectRefusal(answer, 404, '1204');
      }
    }
  });

  test('transaction ids: other kinds, other cases, other characters', async () => {
    const id = paying.transaction_id;
    const changed = [id.toUpperCase(), id.replace('txn_', 'ses_'), id.slice(0, -1), `${id}0`, id.replace('_', '%5f_')];
    const bits = Array.from({ length: 26 }, (_, at) => {
      const char = id[4 + at] === '0' ? '1' : '0';
      return id.slice(0, 4 + at) + char + id.slice(5 + at);
    });
    for (const one of [...changed, ...bits, paying.payment_id, '-', '..', 'null']) {
      const answer = await world.call('GET', `/payments/status/${one}`, { bearer: paying.token });
      expect(answer.status, one).toBe(404);
    }
  });

  test('another merchant’s live session finds none of them', async () => {
    const stranger = await neighbourOf(world, merchant);
    const { token } = await mint(world, stranger);
    expectRefusal(await read(paying.payment_id, token), 404, '1204');
  });
});

describe('fuzz', () => {
  const PATHS = [
    '/internal/sessions/create',
    '/payments/collect',
    '/payments/submit',
    '/payments/verify-otp',
    '/payments/resend-otp',
  ];
  const names = [
    ['amount', 'currency', 'customer_reference', 'ttl_seconds', 'scope', 'payment_method', 'user_info'],
    ['payment_method_info', 'fee_covered_by', 'delivery_behaviour', 'notify_url', 'email', 'phone_number'],
    ['wallet_number', 'wallet_pin', 'payment_id', 'payment_method_id', 'ewallet_number', 'ewallet_pin', 'otp_code'],
    ['mobile_money_phone_number', 'transactional_currency', 'first_name', 'native_pay_token', '__proto__'],
  ].flat();
  const likely = fc.constantFrom<unknown>(
    ...[
      ['12.50', 'usd', 'xof', 'wallet', 'mobile_money', 'none', 'full', 'buyer', 'direct_delivery', 'collect', '1234'],
      ['+243810000042', '5707000000000000', 'http://127.0.0.1:9/x', '123456', 'a@b.example', 60, null, '', '0'],
    ].flat(),
  );
  const value = fc.oneof({ weight: 3, arbitrary: likely }, fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }));
  const field = fc.tuple(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...names) }, fc.string()), value);
  const bodies: readonly Fields[] = [
    MINT,
    { ...collectBody({ receiver: { url: 'http://127.0.0.1:9/x' } } as World, 'none') },
    { payment_id: 'pay_', payment_method_id: 'wallet', ewallet_number: '5707000000000000', ewallet_pin: '1234' },
    { payment_id: 'pay_', otp_code: '123456' },
    { payment_id: 'pay_' },
  ];

  let wrongPins = 0;

  /** Demands the envelope and no fault of ours; returns whether the request was accepted. */
  function judge(answer: Answer): boolean {
    if (answer.json?.error_code === '1302') wrongPins += 1;
    expect(answer.status, answer.text).toBeLessThan(500);
    if (answer.status >= 400) expectEnvelope(answer);
    return answer.status < 400;
  }

  /** Runs, and demands that exactly the accepted requests have left rows. */
  async function expectOnlyTaken(run: (taken: number[]) => Promise<unknown>): Promise<void> {
    const before = await countRows(world);
    const taken = PATHS.map(() => 0);
    wrongPins = 0;
    await run(taken);
    const { pin_guard: guards = 0, checkout: pages = 0, ...after } = await countRows(world);
    // A wrong PIN leaves its count, if it is the number's first, and a collect its page, if the method is still open.
    const { pin_guard: guardsBefore = 0, checkout: pagesBefore = 0, ...others } = before;
    expect(guards - guardsBefore).toBeLessThanOrEqual(wrongPins);
    expect(pages - pagesBefore).toBeLessThanOrEqual(taken[1] ?? 0);
    expect(after).toEqual({
      ...others,
      session: (before.session ?? 0) + (taken[0] ?? 0),
      payment: (before.payment ?? 0) + (taken[1] ?? 0),
    });
  }

  test('bodies of every POST: no 5xx, always the envelope, and no row from a refused one', async () => {
    await expectOnlyTaken((taken) =>
      fc.assert(
        fc.asyncProperty(fc.nat(PATHS.length - 1), fc.array(field, { maxLength: 4 }), async (at, changes) => {
          const base = bodies[at] ?? {};
          const id = base.payment_id === undefined ? {} : { payment_id: paying.payment_id };
          const entries = [...Object.entries({ ...base, ...id }), ...changes];
          const body = Object.fromEntries(entries.map(([name, given]) => [name, given]));
          const bearerNow = at === 0 ? bearer : paying.token;
          const answer = await world.call('POST', PATHS[at] ?? '', { bearer: bearerNow, body });
          if (judge(answer)) taken[at] = (taken[at] ?? 0) + 1;
        }),
        { seed: 20_261_120, numRuns: 500 },
      ),
    );
  });

  test('bytes of valid bodies, changed: the same', async () => {
    await expectOnlyTaken((taken) =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { minLength: 1, maxLength: 6 }),
          async (changes) => {
            const bytes = Buffer.from(JSON.stringify(MINT));
            for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
            if (judge(await mintBytes(world, bearer, bytes))) taken[0] = (taken[0] ?? 0) + 1;
          },
        ),
        { seed: 20_261_121, numRuns: 300 },
      ),
    );
  });

  test('headers: whatever Accept-Language, fingerprint and key say, the answer is defined', async () => {
    const text = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (language, fingerprint, key) => {
        const headers = { 'accept-language': language, 'x-device-fingerprint': fingerprint, 'idempotency-key': key };
        judge(await world.call('POST', '/payments/collect', { bearer: paying.token, body: {}, headers }));
      }),
      { seed: 20_261_122, numRuns: 100 },
    );
    const long = await world.call('GET', `/payments/status/${paying.transaction_id}`, {
      bearer: paying.token,
      headers: { 'accept-language': 'en,'.repeat(3_000) },
    });
    expect(long.status).toBe(200);
  });
});

test('none of this was reported as our fault, and the books balance', async () => {
  expect(world.log.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
