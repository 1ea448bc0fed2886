// MTN's wire format: what is refused, with which status and body (upstreams §1.2, §1.3).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  basic,
  type MomoClient,
  momoClient,
  newReference,
  type RunningSandbox,
  startSandbox,
  subscription,
} from '../testing/start-sandbox.ts';

let running: RunningSandbox;
let momo: MomoClient;
const phone = '243810000101';

beforeAll(async () => {
  running = await startSandbox();
  momo = await momoClient(running);
});
afterAll(() => running.close());

describe('token', () => {
  test.each(['/mtn/collection/token/', '/mtn/collection/token'])('%s gives a token for an hour', async (path) => {
    const answer = await running.call('POST', path, undefined, { ...subscription, authorization: basic });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ access_token: expect.any(String), token_type: 'access_token', expires_in: 3600 });
  });
  test('a wrong key and a wrong subscription are refused', async () => {
    const wrong = { ...subscription, authorization: `Basic ${btoa('5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e:other')}` };
    expect(await running.call('POST', '/mtn/collection/token/', undefined, wrong)).toMatchObject({
      status: 401,
      json: { error: 'login_failed' },
    });
    const other = { authorization: basic, 'ocp-apim-subscription-key': 'other' };
    const denied = await running.call('POST', '/mtn/collection/token/', undefined, other);
    expect(denied).toMatchObject({
      status: 401,
      json: { statusCode: 401, message: expect.stringContaining('invalid subscription key') },
    });
  });
  test('an expired token is refused, a fresh one works', async () => {
    const own = await startSandbox();
    const client = await momoClient(own);
    own.world.advance(3_599_999);
    expect((await client.pay(phone)).status).toBe(202);
    own.world.advance(1);
    expect((await client.pay(phone)).status).toBe(401);
    expect((await (await momoClient(own)).pay(phone)).status).toBe(202);
    await own.close();
  });
});

describe('request to pay', () => {
  test.each<[string, Record<string, string>, number]>([
    ['no subscription key', { 'ocp-apim-subscription-key': 'x' }, 401],
    ['an unknown token', { authorization: 'Bearer x' }, 401],
    ['another environment', { 'x-target-environment': 'mtnuganda' }, 500],
    ['an empty environment', { 'x-target-environment': '' }, 400],
    ['a reference that is no UUID', { 'x-reference-id': 'order-1' }, 400],
    ['a UUID of another version', { 'x-reference-id': '018f3a4e-1111-7abc-8def-0123456789ab' }, 400],
    ['an empty callback address', { 'x-callback-url': '' }, 500],
    ['a callback address of another protocol', { 'x-callback-url': 'ftp://127.0.0.1/x' }, 500],
  ])('%s', async (_name, headers, status) => {
    const answer = await momo.pay(phone, { headers });
    expect(answer.status).toBe(status);
    expect(answer.json).toHaveProperty(status === 401 ? 'message' : 'code');
  });

  test.each<[string, Record<string, unknown>, number, string]>([
    ['an amount that is a number', { amount: 5 }, 400, 'BAD_REQUEST'],
    ['an amount of zero', { amount: '0.00' }, 400, 'BAD_REQUEST'],
    ['an unknown currency', { currency: 'JPY' }, 500, 'INVALID_CURRENCY'],
    ['no external id', { externalId: undefined }, 400, 'BAD_REQUEST'],
    ['a party that is no number', { payer: { partyIdType: 'EMAIL', partyId: 'a@example.com' } }, 400, 'BAD_REQUEST'],
    ['a number with its plus', { payer: { partyIdType: 'MSISDN', partyId: '+243810000101' } }, 400, 'BAD_REQUEST'],
    ['no payer', { payer: null }, 400, 'BAD_REQUEST'],
    ['too long a note', { payeeNote: 'x'.repeat(161) }, 400, 'BAD_REQUEST'],
  ])('%s', async (_name, body, status, code) => {
    const { reference, ...answer } = await momo.pay(phone, { body });
    expect(answer).toMatchObject({ status, json: { code } });
    expect((await momo.status(reference)).status).toBe(404);
  });

  test('malformed JSON is 400 in MTN’s own shape', async () => {
    const answer = await fetch(`${running.url}/mtn/collection/v1_0/requesttopay`, {
      method: 'POST',
      headers: { ...momo.headers, 'content-type': 'application/json', 'x-reference-id': newReference() },
      body: '{"amount":',
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
  });

  test('a repeated reference is 409, even when it races, and debits once', async () => {
    const reference = newReference();
    const answers = await Promise.all([1, 2, 3, 4].map(() => momo.pay(phone, { reference })));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({ code: 'RESOURCE_ALREADY_EXIST' });
    running.world.advance(1_000);
    const books = await running.call('GET', `/control/books?reference=${reference}`);
    expect(books.json).toMatchObject([{ reference, times: 1 }]);
  });

  test('an unknown reference is 404, and one that is not a UUID is 400', async () => {
    expect(await momo.status(newReference())).toMatchObject({ status: 404, json: { code: 'RESOURCE_NOT_FOUND' } });
    expect((await momo.status('order-1')).status).toBe(400);
  });
});

test.each([
  [phone, 200, { result: true }],
  ['243810000106', 503, { code: 'SERVICE_UNAVAILABLE' }],
])('account holder %s: %i', async (msisdn, status, json) => {
  const path = `/mtn/collection/v1_0/accountholder/msisdn/${msisdn}/active`;
  expect(await running.call('GET', path, undefined, momo.headers)).toMatchObject({ status, json });
});
