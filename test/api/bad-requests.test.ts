/**
 * Requests that are not what HTTP and JSON allow: broken bodies, odd headers, unknown paths. The envelope answers each of them.
 */

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectEnvelope, expectRefusal } from '../support/envelope.ts';
import { bearerOf, openPaying, type Paying } from '../support/flows.ts';
import { MINT, sendMint } from '../support/mints.ts';
import { mintBytes, rawPost, sendRaw } from '../support/raw.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { collectBody, type World } from '../support/world.ts';

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

describe('JSON', () => {
  const FIELDS = '"amount":"1.00","currency":"usd","customer_reference":"x"';

  test('names with a meaning in JavaScript change nothing', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']) {
      const answer = await mintRaw(
        `{${FIELDS},"${name}":{"polluted":"yes","scope":"payout","prototype":{"polluted":1}}}`,
      );
      expect(answer.status === 201 || answer.status === 400, answer.text).toBe(true);
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
      // No field may come from a prototype.
      expectRefusal(await mintRaw(`{"${name}":{${FIELDS}}}`), 400, '1109');
    }
  });

  test.each([
    ['at the top', `{${FIELDS},"amount":"2.00"}`, 'amount'],
    ['the same twice', `{${FIELDS},"amount":"1.00"}`, 'amount'],
    ['written in two ways', `{${FIELDS},"am\\u006funt":"2.00"}`, 'amount'],
    ['below', `{${FIELDS},"a":{"b":[{"c":1,"c":2}]}}`, 'a.b[0].c'],
  ])('a key that occurs twice %s is refused by its path', async (_name, raw, field) => {
    const refused = await mintRaw(raw);
    expectRefusal(refused, 400, '1110', 'DUPLICATE_KEY');
    expect(refused.json.details[0].field).toBe(field);
  });

  test('sixteen levels of nesting are accepted', async () => {
    const nest = (levels: number, open: string, close: string) =>
      `{${FIELDS},"a":${open.repeat(levels)}1${close.repeat(levels)}}`;
    expect((await mintRaw(nest(15, '[', ']'))).status).toBe(201);
    for (const levels of [16, 100, 5_000, 100_000]) {
      expectRefusal(await mintRaw(nest(levels, '[', ']')), 400, '1110', 'TOO_DEEP');
    }
    for (const levels of [16, 100, 5_000]) {
      expectRefusal(await mintRaw(nest(levels, '{"a":', '}')), 400, '1110', 'TOO_DEEP');
    }
  });

  test.each([
    ['a blank', ' '],
    ['half an object', `{${FIELDS}`],
    ['trailing data', `{${FIELDS}} {}`],
    ['a comma too much', `{${FIELDS},}`],
    ['single quotes', "{'amount':'1'}"],
    ['a comment', `{${FIELDS}/* x */}`],
    ['a mark of byte order', `\ufeff{${FIELDS}}`],
    ['an array', `[{${FIELDS}}]`],
    ['a text', '"amount"'],
    ['a number', '5'],
    ['null', 'null'],
    ['NaN', `{${FIELDS},"a":NaN}`],
    ['a bare line break in a text', `{${FIELDS},"a":"\n"}`],
    ['a form', 'amount=1&currency=usd'],
    ['XML', '<amount>1</amount>'],
  ])('%s is refused as a body', async (_name, raw) => {
    expectRefusal(await mintRaw(raw), 400, '1110', 'INVALID_JSON');
  });

  test('a missing body lacks every field (1109)', async () => {
    const refused = await mintRaw('');
    expectRefusal(refused, 400, '1109', 'REQUIRED');
    expect(refused.json.details).toHaveLength(3);
  });

  test('a body over 256 KiB is 413, and a wide array below that is merely ignored', async () => {
    const body = (size: number) => `{${FIELDS},"a":"${'x'.repeat(size)}"}`;
    expectRefusal(await mintRaw(body(300_000)), 413, '1403', 'BODY_TOO_LARGE');
    expect((await mintRaw(body(200_000))).status).toBe(201);
    expect((await mintRaw(`{${FIELDS},"a":[${'1,'.repeat(100_000)}1]}`)).status).toBe(201);
  });

  test.each(['/api/v1/payments/card/3ds-callback', '/checkout/chk_x/pay'])(
    '%s, which reads a form before it knows its sender, takes 16 KiB at most',
    async (path) => {
      const send = (size: number) =>
        fetch(world.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: 'a=1&'.repeat(size / 4),
        });
      expect((await send(16_000)).status).not.toBe(413);
      const refused = await send(17_000);
      expect(refused.status).toBe(413);
      expect(await refused.json()).toMatchObject({ error_code: '1403', details: [{ code: 'BODY_TOO_LARGE' }] });
    },
  );

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json;x',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8=x',
    'application/jsonx',
    'text/json',
    'application/problem+json',
    '',
    'json',
  ])('content type %j is 415', async (type) => {
    const body = Buffer.from(JSON.stringify(MINT));
    expectRefusal(await mintBytes(world, bearer, body, type), 415, '1403', 'NOT_JSON');
  });

  test.each([JSON.stringify(MINT), String(new URLSearchParams(MINT))])(
    '%s without a content type is 415',
    async (text) => {
      const raw = rawPost('/internal/sessions/create', [`Authorization: Bearer ${bearer}`], Buffer.from(text));
      expectRefusal(await sendRaw(world, raw), 415, '1403', 'NOT_JSON');
    },
  );

  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=utf8; version=1',
    'application/json;',
    'application/json; profile="a;b"',
    'application/json ; charset=utf-8',
  ])('content type %j is accepted', async (type) => {
    expect((await mintBytes(world, bearer, Buffer.from(JSON.stringify(MINT)), type)).status).toBe(201);
  });

  test('a body that is compressed, or in another encoding, is refused', async () => {
    const text = JSON.stringify(MINT);
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    for (const bytes of [gzipSync(text), bomb]) {
      expectRefusal(
        await mintBytes(world, bearer, bytes, 'application/json', ['Content-Encoding: gzip']),
        415,
        '1403',
        'BODY_ENCODED',
      );
    }
    expect((await mintBytes(world, bearer, gzipSync(text))).status).toBe(400);
    expect((await mintBytes(world, bearer, Buffer.from(text, 'utf16le'))).status).toBe(400);
  });

  test('an unauthorised caller learns nothing about a bad body: the credential is checked first', async () => {
    for (const raw of ['{', '[]', '{"amount":1}', `{${FIELDS},"amount":"2"}`]) {
      const bad = await world.call('POST', '/internal/sessions/create', { raw, bearer: paying.token });
      expectRefusal(bad, 403, '1003');
      expectRefusal(await world.call('POST', '/internal/sessions/create', { raw }), 401, '1002');
    }
  });
});

describe('card data', () => {
  const PAN = '5123450000000008';

  test.each([
    ['plain', { customer_reference: PAN }],
    ['with blanks', { customer_reference: '5123 4500 0000 0008' }],
    ['with dashes in a sentence', { note: 'card 4508-7500-1574-1019, thanks' }],
    ['in a field that nobody reads', { merchant: { deep: [{ x: PAN }] } }],
    ['as a number', { x: Number(PAN) }],
    ['another network', { x: '378282246310005' }],
    ['by its field', { card_number: '1' }],
    ['its check value', { payer: { cvv: '123' } }],
    ['its expiry', { card: { Expiry_Date: '12/30' } }],
  ])('%s is refused (CARD_DATA), kept nowhere and logged nowhere', async (_name, more) => {
    await expectNothingWritten(world, async () => {
      const refused = await mintWith({ ...MINT, ...more });
      expectRefusal(refused, 400, '1110', 'CARD_DATA');
      // Not four digits: addresses have ports, and ids contain digits too.
      expect(refused.text).not.toMatch(/5123.?4500|4508.?7500|378282/);
    });
    expect(world.log.lines.join('\n')).not.toMatch(/5123450000000008|45087500|378282246310005/);
  });

  test('an expiry without a card beside it is not card data', async () => {
    expect((await mintWith({ ...MINT, voucher: { expiry_date: '12/30' } })).status).toBe(201);
  });

  test('wallet numbers, phone numbers, UUIDs and long references pass', async () => {
    const wallets = await Promise.all(Array.from({ length: 5 }, () => world.wallet()));
    const references = [
      ...wallets.map(({ number }) => number),
      '+243810000042',
      '0190b6a4-7b0e-7c3a-8f00-1234567890ab',
      '1234567890123456',
      '20261120-0000000001',
    ];
    for (const customer_reference of references) {
      expect((await mintWith({ ...MINT, customer_reference })).status, customer_reference).toBe(201);
    }
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/api/v1/payments/nothing'],
    ['POST', '/api/v2/payments/collect'],
    ['GET', '/api/v1/'],
    ['GET', '/api/v1/payments/status/a/b'],
    ['GET', '/api/v1/payments/../internal/sessions'],
    ['GET', '/api/v1/payments/collect/'],
    ['DELETE', '/api/v1/no'],
  ])('%s %s is 404 with the envelope', async (method, path) => {
    expectRefusal(await world.call(method, path, { bearer }), 404, '1403', 'UNKNOWN_PATH');
  });

  test.each([
    ['GET', '/api/v1/payments/collect', 'POST'],
    ['PUT', '/api/v1/internal/sessions/create', 'POST'],
    ['DELETE', '/api/v1/payments/submit', 'POST'],
    ['PATCH', '/api/v1/payments/verify-otp', 'POST'],
    ['OPTIONS', '/api/v1/payments/resend-otp', 'POST'],
    ['POST', '/api/v1/payments/status/txn_x', 'GET, HEAD'],
    ['DELETE', '/api/v1/payments/transaction/txn_x', 'GET, HEAD'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    const refused = await world.call(method, path, { bearer });
    expectRefusal(refused, 405, '1403', 'WRONG_METHOD');
    expect(refused.headers.get('allow')).toBe(allow);
  });

  test('a path that cannot be decoded, or is very long, is refused in the envelope', async () => {
    const id = 'x'.repeat(10_000);
    const paths = [
      '/api/v1/payments/status/%',
      '/api/v1/payments/status/%ff',
      '/api/v1/%00',
      `/api/v1/payments/status/${id}`,
    ];
    for (const path of paths) {
      const answer = await world.call('GET', path, { bearer: paying.token });
      expect(answer.status, path).toBeGreaterThanOrEqual(400);
      expect(answer.status, path).toBeLessThan(500);
      expectEnvelope(answer);
    }
    const empty = await world.call('GET', '/payments/status/', { bearer: paying.token });
    expectRefusal(empty, 404, '1204');
    const nul = await world.call('GET', '/payments/status/txn_%00', { bearer: paying.token });
    expectRefusal(nul, 404, '1204');
  });
});

describe('raw requests', () => {
  const body = JSON.stringify(MINT);
  const type = 'Content-Type: application/json';

  test('two credentials count as none, and two fingerprints are refused', async () => {
    const mine = `Authorization: Bearer ${bearerOf(merchant)}`;
    const both = await sendRaw(world, rawPost('/internal/sessions/create', [mine, mine, type], body));
    expectRefusal(both, 401, '1002');
    const lines = [
      `Authorization: Bearer ${paying.token}`,
      type,
      ...['a', 'b'].map((digit) => `X-Device-Fingerprint: ${digit.repeat(64)}`),
    ];
    const twice = await sendRaw(world, rawPost('/payments/collect', lines, JSON.stringify(collectBody(world, 'none'))));
    expectRefusal(twice, 400, '1110', 'DUPLICATE_HEADER');
    // Neither is bound to the session, which can still post without one.
    const posted = await world.call('POST', '/payments/collect', {
      bearer: paying.token,
      body: collectBody(world, 'none'),
    });
    expect(posted.status, posted.text).toBe(200);
  });

  const start = 'POST /api/v1/internal/sessions/create HTTP/1.1\r\n';
  test.each([
    ['a length and chunks', `${start}Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['two lengths', `${start}Host: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx`, 400],
    ['a signed length', `${start}Host: x\r\nContent-Length: +5\r\n\r\nxxxxx`, 400],
    ['a blank before the colon', `${start}Host : x\r\n\r\n`, 400],
    ['a folded header', `${start}Host: x\r\nX-A: b\r\n c\r\n\r\n`, 400],
    ['a NUL in a header', `${start}Host: x\r\nX-A: b\u0000c\r\n\r\n`, 400],
    ['no HTTP at all', 'hello there\r\n\r\n', 400],
    ['a header of 20 kB', `${start}Host: x\r\nX-A: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is refused in the envelope, and the connection closed', async (_name, bytes, status) => {
    await expectNothingWritten(world, async () => {
      const answer = await sendRaw(world, bytes);
      expect(answer.status).toBe(status);
      expectEnvelope(answer);
      expect(answer.json.error_code).toBe('1403');
    });
  });
});

test('none of this was reported as our fault, and the books balance', async () => {
  expect(world.log.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
