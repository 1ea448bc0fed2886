/** What a card network's callback has to prove before anything is asked because of it (contract §4). */

import type { IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RETURN_LIFE_MS } from '../../src/usecases/card-challenge.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import {
  answerChallenge,
  type CallbackFields,
  type CardPaying,
  callbackFor,
  capturesOf,
  challenged,
  postCallback,
  postForm,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { expectRefusal, withoutIds } from '../support/envelope.ts';
import { collect, type Fields, statusOf } from '../support/flows.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { rawPost, sendRaw } from '../support/raw.ts';
import { openWorld, type World } from '../support/world.ts';

/** Not in the contract's form; each value is text, as a form sends it. */
const ILL_FORMED = [{ result: 'SUCCESS' }, { nonce: 'a.b' }, { timestamp: '1795176000000' }];

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

describe('a return address that we made authenticates itself', () => {
  /** The return address that the network was given, and the fields that a network posts which signs nothing. */
  async function returning(body: Fields = {}): Promise<{ paying: CardPaying; query: string; fields: CallbackFields }> {
    const paying = await readyToPay(world, merchant, 'challenge', { body });
    const { server } = world.sandbox.app;
    let query = '';
    const listen = (request: IncomingMessage): void => {
      if (request.method !== 'PUT') return;
      request.on('data', (chunk: Buffer) => {
        const found = /3ds-callback(\?[^"]+)"/.exec(chunk.toString());
        if (found?.[1] !== undefined) query = found[1];
      });
    };
    server.prependListener('request', listen);
    expect((await submitCard(world, paying)).status).toBe(202);
    server.off('request', listen);
    const { id } = await attemptOf(world, paying);
    const fields = {
      'order.id': paying.transaction_id,
      'transaction.id': `${id}-3ds`,
      'response.gatewayRecommendation': 'PROCEED',
      result: 'SUCCESS',
    };
    return { paying, query, fields };
  }

  test('it is accepted in place of a signature, and remembered', async () => {
    const { paying, query, fields } = await returning();
    await answerChallenge(world, paying, 'pass');
    const first = await postForm(world, fields, query);
    expect(first.status, first.text).toBe(303);
    expect(await statusOf(world, paying)).toBe('approved');
    expect(await postForm(world, fields, query)).toEqual(first);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('a customer who came back without a result and then passed the challenge is heard at the same address', async () => {
    const success_redirect_url = 'https://shop.example/thanks';
    const body = { success_redirect_url, fail_redirect_url: 'https://shop.example/again' };
    const { paying, query, fields } = await returning(body);
    for (let times = 0; times < 2; times += 1) {
      const open = await postForm(world, fields, query);
      expect(new URL(open.location ?? '').searchParams.get('status'), open.text).toBe('processing');
    }
    await answerChallenge(world, paying, 'pass');
    const passed = await postForm(world, fields, query);
    expect(passed.location).toBe(`${success_redirect_url}?transaction_id=${paying.transaction_id}&status=approved`);
    expect(await postForm(world, fields, query)).toEqual(passed);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('altered, for another order, or too late: 1304, and nothing changes', async () => {
    const { paying, query, fields } = await returning();
    const other = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const altered = new URLSearchParams(query);
    altered.set('t', (await attemptOf(world, other)).id);
    const later = new URLSearchParams(query);
    later.set('e', String(Number(later.get('e')) + 600));
    const forged = query.replace('s=', 's=A');
    for (const wrong of [`?${altered}`, `?${later}`, forged, `${query}${'0'.repeat(64)}`]) {
      const answer = await postForm(world, fields, wrong);
      expect(answer.status, answer.text).toBe(401);
    }
    // Nothing is said about the form of fields that are not authenticated.
    expect((await postForm(world, { ...fields, result: 'x'.repeat(300) }, forged)).status).toBe(401);
    // A signature that is present has to be right, whatever the address proves.
    const both = { ...callbackFor(world, paying), signature: 'f'.repeat(64) };
    expect((await postForm(world, both, query)).status).toBe(401);
    const foreign = await postForm(world, { ...fields, 'order.id': other.transaction_id }, query);
    expect(foreign.status, foreign.text).toBe(401);
    expect(await statusOf(world, paying)).toBe('processing');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('for as long as a customer may be on the way back, and no longer', async () => {
    const { query, fields } = await returning();
    await world.pass(RETURN_LIFE_MS - 1_000);
    expect((await postForm(world, fields, query)).status).toBe(303);
    await world.pass(2_000);
    expect((await postForm(world, fields, query)).status).toBe(401);
  });
});

describe('callbacks without proof', () => {
  test('forged, altered, stale or from the future: 1304, in the same bytes as for an unknown order', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const right = callbackFor(world, paying);
    const at = (seconds: number): string => String(Math.floor(world.clock.now() / 1000) + seconds);
    const forged: CallbackFields[] = [
      { ...right, signature: '' },
      { ...right, signature: 'f'.repeat(64) },
      { ...right, signature: right.signature?.slice(0, -1) ?? '' },
      { ...right, signature: `${right.signature}0` },
      { ...right, result: 'REJECTED' },
      { ...right, nonce: `${right.nonce}x` },
      { ...right, timestamp: at(1) },
      { ...right, order_id: 'another' },
      callbackFor(world, paying, { timestamp: at(-301) }),
      callbackFor(world, paying, { timestamp: at(301) }),
      callbackFor(world, paying, { timestamp: '0' }),
    ];
    const unknown = await postCallback(world, {
      ...right,
      order_id: 'txn_01aaaaaaaaaaaaaaaaaaaaaaaa',
      transaction_id: 'txn_01aaaaaaaaaaaaaaaaaaaaaaaa',
    });
    expectRefusal(unknown, 401, '1304');
    for (const fields of forged) {
      const answer = await postCallback(world, fields);
      expectRefusal(answer, 401, '1304');
      expect(withoutIds(answer)).toEqual(withoutIds(unknown));
      expect((await postForm(world, fields)).status).toBe(401);
    }
    expect(await statusOf(world, paying)).toBe('processing');
    expect(capturesOf(world, paying)).toEqual([]);
    // At the very end of its five minutes it is still valid.
    await world.clock.advance((1_000 - (world.clock.now() % 1_000)) % 1_000);
    expect((await postCallback(world, callbackFor(world, paying, { timestamp: at(-300) }))).json).toMatchObject({
      status: 'approved',
    });
  });

  test('without fields: 1109 names them all; malformed: 1110', async () => {
    const empty = await postCallback(world, {});
    expectRefusal(empty, 400, '1109', 'REQUIRED');
    expect(empty.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'order_id',
      'transaction_id',
      'result',
      'timestamp',
      'nonce',
    ]);
    const paying = await challenged(world, merchant);
    for (const wrong of [...ILL_FORMED, { timestamp: 'now' }]) {
      expectRefusal(await postCallback(world, callbackFor(world, paying, wrong)), 400, '1110');
    }
    const { nonce: _none, ...without } = callbackFor(world, paying, { nonce: '' });
    expectRefusal(await postCallback(world, without), 400, '1109', 'REQUIRED');
    const twice = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'order_id=1&order_id=2',
    });
    expect(twice.status).toBe(400);
    expect(await twice.json()).toMatchObject({ error_code: '1110', details: [{ code: 'DUPLICATE_KEY' }] });
  });

  test('the form of unsigned fields is not reported: 1304', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    for (const wrong of ILL_FORMED) {
      const { signature = '', ...unsigned } = callbackFor(world, paying, wrong);
      const forged = signature.startsWith('0') ? `1${signature.slice(1)}` : `0${signature.slice(1)}`;
      expectRefusal(await postCallback(world, unsigned), 401, '1304');
      const { order_id: _order, nonce: _nonce, timestamp: _timestamp, ...part } = unsigned;
      expectRefusal(await postCallback(world, part), 401, '1304');
      expectRefusal(await postCallback(world, { 'order.id': paying.transaction_id }), 401, '1304');
      expectRefusal(await postCallback(world, { ...unsigned, signature: forged }), 401, '1304');
      expectRefusal(await postCallback(world, unsigned, { 'x-cardnet-signature': forged }), 401, '1304');
      expect((await postForm(world, { ...unsigned, signature: forged })).status).toBe(401);
      expect((await postForm(world, { ...unsigned }, '?s=x')).status).toBe(401);
    }
    const right = callbackFor(world, paying);
    for (const wrong of [{ order_id: {} }, { result: 7 }, { nonce: ['a'] }, { signature: 7 }]) {
      expectRefusal(await postCallback(world, { ...right, ...wrong }), 401, '1304');
    }
    expectRefusal(await postCallback(world, { signature: right.signature }), 401, '1304');
    expectRefusal(await postCallback(world, {}, { 'x-cardnet-signature': right.signature ?? '' }), 401, '1304');
    expect(await statusOf(world, paying)).toBe('processing');
  });

  test('shifting text across the separators of the signed fields gives other fields: 1110', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const right = callbackFor(world, paying, { order_id: 'x.y' });
    const { nonce, transaction_id } = right;
    for (const moved of [
      { nonce: `${nonce}.x`, order_id: 'y' },
      { order_id: 'x', transaction_id: `y.${transaction_id}` },
    ]) {
      expectRefusal(await postCallback(world, { ...right, ...moved }), 400, '1110', 'INVALID_FORMAT');
    }
    expect(await statusOf(world, paying)).toBe('processing');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('an Idempotency-Key that is malformed or given twice: 1110; a valid one changes nothing', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const right = callbackFor(world, paying);
    for (const key of ['', 'a b', 'k'.repeat(256)]) {
      const refused = await postCallback(world, right, { 'idempotency-key': key });
      expectRefusal(refused, 400, '1110', 'INVALID_IDEMPOTENCY_KEY');
    }
    const lines = ['Content-Type: application/json', 'Idempotency-Key: 1', 'Idempotency-Key: 2'];
    const twice = await sendRaw(world, rawPost('/payments/card/3ds-callback', lines, JSON.stringify(right)));
    expectRefusal(twice, 400, '1110', 'DUPLICATE_HEADER');
    expect(await statusOf(world, paying)).toBe('processing');
    const first = await postCallback(world, right, { 'idempotency-key': '1' });
    expect(first.json).toMatchObject({ status: 'approved' });
    expect((await postCallback(world, right, { 'idempotency-key': '2' })).text).toBe(first.text);
  });

  test('other types of body are 415', async () => {
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/xml']) {
      const answer = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: 'x',
      });
      expect(answer.status, type).toBe(415);
      await answer.text();
    }
  });

  test('more than 16 KiB is refused, whoever sends it: 413', async () => {
    const right = callbackFor(world, await challenged(world, merchant));
    const room = 16 * 1024 - JSON.stringify({ ...right, more: '' }).length;
    const refused = await postCallback(world, { ...right, more: 'x'.repeat(room + 1) });
    expectRefusal(refused, 413, '1403', 'BODY_TOO_LARGE');
    expect(refused.json.message).toContain('16');
    expect((await postCallback(world, { ...right, more: 'x'.repeat(room) })).status).toBe(200);
  });

  test('correctly signed, about nothing, another method, or two payments at once: 1204', async () => {
    const paying = await challenged(world, merchant);
    const other = await challenged(world, merchant);
    const wallet = await collect(world, merchant, {
      method: 'wallet',
      body: { wallet_number: '1', wallet_pin: '1234' },
    });
    const about = (transaction_id: string, order_id = transaction_id) =>
      postCallback(world, callbackFor(world, paying, { transaction_id, order_id }));
    expectRefusal(await about('txn_01aaaaaaaaaaaaaaaaaaaaaaaa'), 404, '1204');
    expectRefusal(await about('nothing'), 404, '1204');
    expectRefusal(await about(wallet.transaction_id), 404, '1204');
    expectRefusal(await about(paying.transaction_id, other.transaction_id), 404, '1204');
    expectRefusal(await about(paying.transaction_id, other.reference), 404, '1204');
    expect(await statusOf(world, paying)).toBe('processing');
  });
});
