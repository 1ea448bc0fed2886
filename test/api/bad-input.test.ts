/**
 * Values that a well-formed body must not hold: amounts, currencies, texts, identifiers. Refused completely, and nothing is
 * written.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, type Fields, openPaying, type Paying } from '../support/flows.ts';
import { MINT, sendMint } from '../support/mints.ts';
import { mintBytes } from '../support/raw.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { collectBody, mint, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let bearer: string;
let paying: Paying;

beforeAll(async () => {
  ({ world, merchant, bearer, paying } = await openPaying());
});
afterAll(() => world.close());

const mintWith = (body: unknown) => sendMint(world, merchant, { body });
const mintRaw = (raw: string, headers = {}) => sendMint(world, merchant, { raw, headers });

describe('amounts', () => {
  const NO_AMOUNTS = [
    ['1e3', '1E+2', '0.001', '-0', '0', '0.0', '0.00', ' 1', '1 ', 'NaN', 'Infinity', '٣', '１', '1,000', '01'],
    ['00.10', '.5', '5.', '+1', '1_000', '0x10', '1n', '', '1\u200b', '1\ufeff', '\u22121', "1'000", '1\n', '\t1'],
    ['1.', '1..2', '1.2.3', '--1', '1-', '½', '1/2', '1 000', '$1', '1usd', 'null', 'true', '[]'],
    ['9'.repeat(16), `9.${'9'.repeat(28)}`, '9'.repeat(64), '9'.repeat(400), '1000000000000000'],
  ].flat();

  test.each(NO_AMOUNTS.map((amount) => [amount.slice(0, 40), amount]))(
    '%j is not one (1101)',
    async (_name, amount) => {
      expectRefusal(await mintWith({ ...MINT, amount }), 400, '1101', 'INVALID_AMOUNT');
    },
  );

  test('that are not text are refused, and leave no row', async () => {
    await expectNothingWritten(world, async () => {
      for (const amount of [1, 10.5, 1e3, 0, -1, true, false, ['5'], {}, { amount: '5' }, [[]]]) {
        expectRefusal(await mintWith({ ...MINT, amount }), 400, '1101', 'INVALID_AMOUNT');
      }
      for (const amount of ['1e400', '-1e400', '1e999']) {
        const raw = `{"amount":${amount},"currency":"usd","customer_reference":"x"}`;
        expectRefusal(await mintRaw(raw), 400, '1101', 'INVALID_AMOUNT');
      }
      expectRefusal(await mintWith({ ...MINT, amount: null }), 400, '1109', 'REQUIRED');
    });
  });

  test.each([
    ['usd', ['1', '1.5', '1.50', '0.01', '1000000', '1000000.00', '1000000.01', '999999999999999.99']],
    ['xof', ['1', '500', '999999999999999']],
  ])('plain decimals in %s are accepted and echoed to the byte', async (currency, amounts) => {
    for (const amount of amounts) {
      const minted = await mintWith({ ...MINT, currency, amount });
      expect(minted.status, minted.text).toBe(201);
      expect(minted.json.amount).toBe(amount);
    }
  });

  test('a currency without fraction digits accepts none', async () => {
    for (const currency of ['xof', 'xaf', 'ugx', 'rwf', 'bif']) {
      for (const amount of ['1.0', '1.5', '500.00']) {
        expectRefusal(await mintWith({ ...MINT, currency, amount }), 400, '1101');
      }
    }
  });

  test('a collect may repeat the bound values, to the byte', async () => {
    const { token, reference } = await mint(world, merchant);
    const repeat = (more: Fields) =>
      world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none', more) });
    const bound = { amount: '12.50', currency: 'usd', customer_reference: reference };
    expect((await repeat(bound)).status).toBe(200);
    expect((await repeat({ amount: null, currency: null, customer_reference: null })).status).toBe(200);
    for (const amount of ['12.5', '12.500', '012.50', ' 12.50', '12.51', '1e1', '']) {
      expectRefusal(await repeat({ ...bound, amount }), 400, '1101');
    }
    for (const amount of [12.5, 12, true, ['12.50']]) expectRefusal(await repeat({ ...bound, amount }), 400, '1101');
    for (const currency of ['USD', 'cdf', 'usd ', '']) expectRefusal(await repeat({ ...bound, currency }), 400, '1102');
    for (const customer_reference of [`${reference} `, '', 'other']) {
      expectRefusal(await repeat({ ...bound, customer_reference }), 400, '1103', 'BINDING_DRIFT');
    }
    for (const customer_reference of [7, true, [reference], { reference }, 'x'.repeat(256)]) {
      expectRefusal(await repeat({ ...bound, customer_reference }), 400, '1103');
    }
    const all = await repeat({ amount: '1', currency: 'cdf', customer_reference: 'x' });
    expectRefusal(all, 400, '1101', 'BINDING_DRIFT');
    expect(all.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'amount',
      'currency',
      'customer_reference',
    ]);
  });

  test('a difference from the binding is reported together with everything else that is wrong', async () => {
    const { token } = await mint(world, merchant);
    const faults = async (path: string, more: Fields) => {
      const body = collectBody(world, 'none', more);
      const { json } = await world.call('POST', path, { bearer: token, body });
      return [json.error_code, ...json.details.map(({ field, code }: Fields) => `${field} ${code}`)];
    };
    for (const path of ['/payments/collect', '/payments/collect-redirect']) {
      expect(await faults(path, { amount: '12.5', notify_url: 'ftp://127.0.0.1/x', customer_reference: 'x' })).toEqual([
        '1110',
        'notify_url INVALID_URL',
        'amount BINDING_DRIFT',
        'customer_reference BINDING_DRIFT',
      ]);
      expect(await faults(path, { amount: '12.5', user_info: undefined })).toEqual([
        '1109',
        'user_info REQUIRED',
        'amount BINDING_DRIFT',
      ]);
      expect(await faults(path, { transactional_currency: 'zzz', customer_reference: 7 })).toEqual([
        '1102',
        'transactional_currency INVALID_CURRENCY',
        'customer_reference WRONG_TYPE',
      ]);
    }
  });
});

describe('fields', () => {
  test('missing fields come first, and every bad field is named', async () => {
    const refused = await mintWith({ amount: 5, ttl_seconds: 'soon', scope: 'everything' });
    expectRefusal(refused, 400, '1109');
    expect(refused.json.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual([
      ['currency', 'REQUIRED'],
      ['customer_reference', 'REQUIRED'],
      ['amount', 'INVALID_AMOUNT'],
      ['ttl_seconds', 'WRONG_TYPE'],
      ['scope', 'NOT_AN_OPTION'],
    ]);
    const collected = await world.call('POST', '/payments/collect', { bearer: paying.token, body: {} });
    expectRefusal(collected, 400, '1109');
    expect(collected.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'payment_method',
      'user_info',
      'payment_method_info',
      'fee_covered_by',
      'delivery_behaviour',
    ]);
  });

  test.each([
    ['collect', { payment_method: 'cash' }, '1103'],
    ['collect', { payment_method: 5 }, '1103'],
    ['collect', { payment_method: 'Wallet' }, '1103'],
    ['collect', { payment_method: 'card', cardnet_payment_method: 'DIRECT_CAPTURE' }, '1103'],
    ['collect', { user_info: 'some' }, '1110'],
    ['collect', { payment_method_info: null }, '1109'],
    ['collect', { fee_covered_by: 'nobody' }, '1110'],
    ['collect', { delivery_behaviour: [] }, '1110'],
    ['collect', { payment_method: 'wallet' }, '1109'],
    ['collect', { payment_method: 'wallet', wallet_number: '5707', wallet_pin: '' }, '1109'],
    ['collect', { payment_method: 'wallet', wallet_number: '5707', wallet_pin: '12a4' }, '1110'],
    ['collect', { payment_method: 'wallet', wallet_number: '5707', wallet_pin: 1234 }, '1110'],
    ['collect', { email: 'nobody' }, '1105'],
    ['collect', { email: 'a b@shop.example' }, '1105'],
    ['collect', { phone_number: '0810000042' }, '1110'],
    ['collect', { transactional_currency: 7 }, '1102'],
    ['collect', { first_name: 'x'.repeat(201) }, '1110'],
    ['collect', { notify_url: 'ftp://127.0.0.1/x' }, '1110'],
    ['collect', { notify_url: 'http://user:secret@127.0.0.1/x' }, '1110'],
    ['collect', { notify_url: `http://127.0.0.1/${'x'.repeat(2_048)}` }, '1110'],
    ['collect', { notify_url: 'not an address' }, '1110'],
    ['collect', { notify_url: 'javascript:alert(1)' }, '1110'],
    ['collect', { success_redirect_url: '//shop.example' }, '1110'],
    ['collect', { fail_redirect_url: 'data:text/html,x' }, '1110'],
    ['submit', { payment_id: 'short' }, '1110'],
    ['submit', { payment_id: 7 }, '1110'],
    ['submit', { payment_id: null }, '1109'],
    ['submit', { payment_method_id: 'cash' }, '1103'],
    ['submit', { payment_method_id: 'pm_01m7we2g0ge1frrwvmq1z69dvv' }, '1103'],
    ['submit', { payment_method_id: 'google_pay' }, '1103'],
    ['submit', { payment_method_id: 'card' }, '1109'],
    ['submit', { ewallet_number: null }, '1109'],
    ['submit', { payment_id: 'short', ewallet_pin: null }, '1109'],
    ['submit', { payment_method_id: 'flash', flash_number: '5707', flash_pin: 'x' }, '1110'],
    ['submit', { payment_method_id: '' }, '1110'],
    ['verify-otp', { otp_code: '12345' }, '1110'],
    ['verify-otp', { otp_code: '1234567' }, '1110'],
    ['verify-otp', { otp_code: '12345٣' }, '1110'],
    ['verify-otp', { otp_code: 123456 }, '1110'],
    ['verify-otp', { otp_code: ' 123456' }, '1110'],
    ['resend-otp', { payment_id: 'x'.repeat(9) }, '1110'],
    ['resend-otp', { payment_id: ['x'.repeat(20)] }, '1110'],
  ])('%s refuses %j with %s', async (name, change, code) => {
    const base: Fields = {
      collect: collectBody(world, 'none'),
      submit: {
        payment_id: paying.payment_id,
        payment_method_id: 'wallet',
        ewallet_number: '5707',
        ewallet_pin: '1234',
      },
      'verify-otp': { payment_id: paying.payment_id, otp_code: '123456' },
      'resend-otp': { payment_id: paying.payment_id },
    }[name] as Fields;
    await expectNothingWritten(world, async () => {
      const body = { ...base, ...change };
      expectRefusal(await world.call('POST', `/payments/${name}`, { bearer: paying.token, body }), 400, code);
    });
  });

  test('a malformed PIN or one-time code is told how many digits it has', async () => {
    const told = async (name: string, body: Fields) => {
      const headers = { 'accept-language': 'en' };
      const answer = await world.call('POST', `/payments/${name}`, { bearer: paying.token, headers, body });
      expectRefusal(answer, 400, '1110');
      return answer.json.details;
    };
    const noPin = (field: string) => [
      { field, message: `${field} is not a PIN. Send its four to eight digits, as a string.`, code: 'MALFORMED_PIN' },
    ];
    const { payment_id } = paying;
    for (const pin of ['12a4', '123', '123456789', 1234]) {
      const collect = collectBody(world, 'wallet', { wallet_number: '5707', wallet_pin: pin });
      expect(await told('collect', collect)).toEqual(noPin('wallet_pin'));
      const wallet = { payment_id, payment_method_id: 'wallet', ewallet_number: '5707', ewallet_pin: pin };
      expect(await told('submit', wallet)).toEqual(noPin('ewallet_pin'));
      const flash = { payment_id, payment_method_id: 'flash', flash_number: '5707', flash_pin: pin };
      expect(await told('submit', flash)).toEqual(noPin('flash_pin'));
    }
    for (const otp_code of ['', '12345', '1234567', 123456]) {
      const message = 'otp_code is not a one-time code. Send its six digits, as a string.';
      const details = [{ field: 'otp_code', message, code: 'MALFORMED_OTP' }];
      expect(await told('verify-otp', { payment_id, otp_code })).toEqual(details);
    }
  });

  test('a number that no double reaches is ignored in an unknown field, and of the wrong type or size in a known one', async () => {
    const named = '"amount":"5","currency":"usd"';
    const key = { 'idempotency-key': 'beyond-doubles' };
    const minted = await mintRaw(`{${named},"customer_reference":"x","extra":{"n":[1e999,-1e999]}}`, key);
    expect(minted.status, minted.text).toBe(201);
    const again = await mintRaw(`{"extra":{"n":[1e999,-1e999]},${named},"customer_reference":"x"}`, key);
    expect(again.text).toBe(minted.text);
    expectRefusal(await mintRaw(`{${named},"customer_reference":1e999}`), 400, '1110', 'WRONG_TYPE');
    expectRefusal(
      await mintRaw(`{${named},"customer_reference":"x","ttl_seconds":1e999}`),
      400,
      '1110',
      'OUT_OF_RANGE',
    );
  });

  test('text that is not valid is ignored in an unknown field, with and without a key, and refused in a known one', async () => {
    const named = '"amount":"5","currency":"usd"';
    const text = `{${named},"customer_reference":"x","merchant":{"name":"Boutique \\ud83d","tags":["\\u0000"]}}`;
    expect((await mintRaw(text)).status).toBe(201);
    const key = { 'idempotency-key': 'half-a-character' };
    const minted = await mintRaw(text, key);
    expect(minted.status, minted.text).toBe(201);
    expect((await mintRaw(text, key)).text).toBe(minted.text);
    expectRefusal(await mintRaw(text.replace('ud83d', 'ud83e'), key), 409, '1203', 'IDEMPOTENCY_BODY');
    expectRefusal(await mintRaw(`{${named},"customer_reference":"x\\ud83d"}`), 400, '1110', 'INVALID_TEXT');
  });

  test('text that is not valid is ignored by a call that reads no field', async () => {
    const path = `/internal/deliveries/${makeId('txn', world.clock.now(), Buffer.alloc(16), merchant.merchant.shard)}/release`;
    const asked = { bearer: bearerOf(merchant), raw: '{"note":"Boutique \\ud83d"}' };
    expectRefusal(await world.call('POST', path, asked), 404, '1204');
  });

  test('unknown fields are ignored, and null in an optional one counts as absent', async () => {
    const minted = await mintWith({ ...MINT, merchant: { id: 1, tags: [] }, ttl_seconds: null, scope: null });
    expect(minted.status, minted.text).toBe(201);
    expect(Date.parse(minted.json.expires_at) - Date.parse(minted.json.issued_at)).toBe(1_800_000);
    const body = collectBody(world, 'none', { email: null, phone_number: null, wallet_pin: null, extra: [{}] });
    expect((await world.call('POST', '/payments/collect', { bearer: paying.token, body })).status).toBe(200);
  });
});

describe('texts', () => {
  test.each([
    ['an emoji of four bytes', 'order 🛒👩🏽‍🚀'],
    ['composed', 'caf\u00e9'],
    ['decomposed', 'cafe\u0301'],
    ['zero width', 'a\u200bb'],
    ['quotes and SQL', `'; drop table session; --"\\`],
    ['markup', '<script>alert(1)</script>'],
    ['the name of a property', '__proto__'],
    ['the last code point', '\u{10ffff}'],
    ['the longest', 'x'.repeat(255)],
  ])('%s is kept as it is', async (_name, customer_reference) => {
    const minted = await mintWith({ ...MINT, customer_reference });
    expect(minted.status, minted.text).toBe(201);
    expect(minted.json.customer_reference).toBe(customer_reference);
    const body = collectBody(world, 'none', { customer_reference });
    const made = await world.call('POST', '/payments/collect', { bearer: minted.json.session_token, body });
    expect(made.json.customer_reference, made.text).toBe(customer_reference);
  });

  test('characters that break, hide or reverse a line are refused in a customer reference', async () => {
    for (const char of [
      '\n',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u2028',
      '\u2029',
      '\u202a',
      '\u202e',
      '\u2066',
      '\u2069',
    ]) {
      for (const customer_reference of [char, `order${char}1`]) {
        const refused = await mintWith({ ...MINT, customer_reference });
        expectRefusal(refused, 400, '1110', 'INVALID_TEXT');
        expect(refused.json.details[0].field).toBe('customer_reference');
      }
    }
    for (const customer_reference of ['Bestellung № 7', '订单 7', 'طلب ٧', 'o\u200dx', '🧺']) {
      expect((await mintWith({ ...MINT, customer_reference })).json.customer_reference).toBe(customer_reference);
    }
  });

  test('NUL and half a surrogate pair are refused by name in every field that the call reads (INVALID_TEXT)', async () => {
    await expectNothingWritten(world, async () => {
      for (const bad of ['\\u0000', 'a\\u0000b', '\\ud83d', '\\ude00', 'x\\ud83dx', '\\ude00\\ud83d']) {
        const text = (field: string): string => {
          const body: Record<string, string> = { ...MINT };
          body[field] = '@';
          return JSON.stringify(body).replace('@', bad);
        };
        for (const field of ['customer_reference', 'currency', 'scope']) {
          const refused = await mintRaw(text(field));
          expectRefusal(refused, 400, '1110', 'INVALID_TEXT');
          expect(refused.json.details[0].field).toBe(field);
        }
      }
    });
  });

  test('bytes that are not UTF-8 are refused', async () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0x80]]) {
      const [before, after] = JSON.stringify({ ...MINT, customer_reference: '@' }).split('@');
      const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]);
      expectRefusal(await mintBytes(world, bearer, body), 400, '1110', 'INVALID_TEXT');
    }
  });

  test('a reference that is too long or empty is refused', async () => {
    for (const customer_reference of ['', 'x'.repeat(256), 'x'.repeat(100_000)]) {
      expectRefusal(await mintWith({ ...MINT, customer_reference }), 400, '1110');
    }
  });
});

test('none of this was reported as our fault, and the books balance', async () => {
  expect(world.log.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
