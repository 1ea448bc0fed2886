import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openWorld, type World } from '../support/world.ts';
import {
  answerChallenge,
  type CallbackFields,
  type CardPaying,
  capturesOf,
  challenged,
  collectByCard,
  postCallback,
  postForm,
  readyToPay,
  signed,
  submitCard,
} from './card-payments.ts';
import { collect, expectRefusal, statusOf, untilStatus, withoutIds } from './flows.ts';
import { attemptOf, onlyHook } from './phone-payments.ts';
import { openSecond } from './second-gateway.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect(await world.gateway.store.audit()).toEqual([]);
  await world.close();
});

/** A callback that we sign ourselves, about that payment. */
function callbackFor(
  paying: Pick<CardPaying, 'transaction_id'>,
  more: Partial<Parameters<typeof signed>[0]> = {},
): CallbackFields {
  return signed({
    order_id: paying.transaction_id,
    transaction_id: paying.transaction_id,
    result: 'AUTHENTICATED',
    timestamp: String(Math.floor(world.clock.now() / 1000)),
    nonce: randomUUID(),
    ...more,
  });
}

const SUCCESS = 'https://shop.example/thanks?order=7&q=a%20b#top';
const FAIL = 'https://shop.example/again#x';
const urls = { body: { success_redirect_url: SUCCESS, fail_redirect_url: FAIL } };

describe('the customer comes back', () => {
  test('passed, as JSON: approved, the status read, told once', async () => {
    const paying = await challenged(world, merchant);
    const answer = await postCallback(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ transaction_id: paying.transaction_id, status: 'approved', amount: '12.50' });
    expect(answer.json.completed_at).toMatch(/Z$/);
    expect(answer.headers.get('location')).toBeNull();
    expect(capturesOf(world, paying)).toMatchObject([{ amount: '12.50', times: 1 }]);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('passed, as a browser: 303 to success_redirect_url, whose query and fragment are kept', async () => {
    const paying = await challenged(world, merchant, 'challenge', urls);
    const answer = await postForm(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.status, answer.text).toBe(303);
    const more = `transaction_id=${paying.transaction_id}&status=approved`;
    expect(answer.location).toBe(`https://shop.example/thanks?order=7&q=a%20b&${more}#top`);
    expect(capturesOf(world, paying)).toHaveLength(1);
  });

  test.each(['fail', 'cancel'] as const)('%s, as a browser: declined, and 303 to fail_redirect_url', async (result) => {
    const paying = await challenged(world, merchant, 'challenge', urls);
    const answer = await postForm(world, await answerChallenge(world, paying, result));
    expect(answer.status, answer.text).toBe(303);
    const more = `transaction_id=${paying.transaction_id}&status=declined`;
    expect(answer.location).toBe(`https://shop.example/again?${more}#x`);
    expect(await statusOf(world, paying)).toBe('declined');
    expect((await onlyHook(world, paying)).body.status).toBe('declined');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('a program that accepts HTML is sent on as well; without addresses the browser goes to the hosted page', async () => {
    const paying = await challenged(world, merchant);
    const fields = await answerChallenge(world, paying, 'pass');
    const response = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/html' },
      body: JSON.stringify(fields),
      redirect: 'manual',
    });
    await response.text();
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toMatch(new RegExp(`^${world.url}/checkout/chk_`));
  });

  test('by the network’s own transaction id and the merchant’s reference, too', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const { id } = await attemptOf(world, paying);
    const answer = await postCallback(
      world,
      callbackFor(paying, { order_id: paying.reference, transaction_id: `${id}-3ds` }),
    );
    expect(answer.json, answer.text).toMatchObject({ status: 'approved' });
  });

  test('the signature may come in the header', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const { signature = '', ...fields } = callbackFor(paying);
    expectRefusal(await postCallback(world, fields), 401, '1304');
    const answer = await postCallback(
      world,
      { ...fields, timestamp: Number(fields.timestamp) },
      { 'x-cardnet-signature': signature },
    );
    expect(answer.json, answer.text).toMatchObject({ status: 'approved' });
  });
});

describe('an address of return that we made proves itself', () => {
  /** The address that the network was given, and what a network posts that signs nothing. */
  async function returning(): Promise<{ paying: CardPaying; query: string; fields: CallbackFields }> {
    const paying = await readyToPay(world, merchant, 'challenge');
    const asked = world.sandbox.app;
    let query = '';
    asked.server.prependListener('request', (request) => {
      if (request.method !== 'PUT') return;
      request.on('data', (chunk: Buffer) => {
        const found = /3ds-callback(\?[^"]+)"/.exec(chunk.toString());
        if (found?.[1] !== undefined) query = found[1];
      });
    });
    expect((await submitCard(world, paying)).status).toBe(202);
    const { id } = await attemptOf(world, paying);
    const fields = {
      'order.id': paying.transaction_id,
      'transaction.id': `${id}-3ds`,
      'response.gatewayRecommendation': 'PROCEED',
      result: 'SUCCESS',
    };
    return { paying, query, fields };
  }

  test('it is believed in place of a signature, and remembered', async () => {
    const { paying, query, fields } = await returning();
    await answerChallenge(world, paying, 'pass');
    const first = await postForm(world, fields, query);
    expect(first.status, first.text).toBe(303);
    expect(await statusOf(world, paying)).toBe('approved');
    expect(await postForm(world, fields, query)).toEqual(first);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('altered, about another order, or too late: 1304, and nothing changes', async () => {
    const { paying, query, fields } = await returning();
    const other = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const altered = new URLSearchParams(query);
    altered.set('t', (await attemptOf(world, other)).id);
    const later = new URLSearchParams(query);
    later.set('e', String(Number(later.get('e')) + 600));
    for (const wrong of [`?${altered}`, `?${later}`, query.replace('s=', 's=A')]) {
      const answer = await postForm(world, fields, wrong);
      expect(answer.status, answer.text).toBe(401);
    }
    // A signature that is there has to be right, whatever the address proves.
    const both = { ...callbackFor(paying), signature: 'f'.repeat(64) };
    expect((await postForm(world, both, query)).status).toBe(401);
    const foreign = await postForm(world, { ...fields, 'order.id': other.transaction_id }, query);
    expect(foreign.status, foreign.text).toBe(401);
    expect(await statusOf(world, paying)).toBe('processing');
    expect(capturesOf(world, paying)).toEqual([]);
  });
});

describe('callbacks that prove nothing', () => {
  test('forged, altered, stale or from the future: 1304, in the same bytes for an order that is not there', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const right = callbackFor(paying);
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
      callbackFor(paying, { timestamp: at(-301) }),
      callbackFor(paying, { timestamp: at(301) }),
      callbackFor(paying, { timestamp: '0' }),
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
    // At the edge of its five minutes it counts.
    expect((await postCallback(world, callbackFor(paying, { timestamp: at(-299) }))).json).toMatchObject({
      status: 'approved',
    });
  });

  test('without fields: 1109 names them all; of another form: 1110', async () => {
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
    for (const wrong of [{ result: 'SUCCESS' }, { timestamp: 'now' }, { nonce: 'a.b' }]) {
      expectRefusal(await postCallback(world, callbackFor(paying, wrong)), 400, '1110');
    }
    const twice = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'order_id=1&order_id=2',
    });
    expect(twice.status).toBe(400);
    expect(await twice.json()).toMatchObject({ error_code: '1110', details: [{ code: 'DUPLICATE_KEY' }] });
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

  test('well signed, about nothing, about another method, or about two payments at once: 1204', async () => {
    const paying = await challenged(world, merchant);
    const other = await challenged(world, merchant);
    const wallet = await collect(world, merchant, {
      method: 'wallet',
      body: { wallet_number: '1', wallet_pin: '1234' },
    });
    const about = (transaction_id: string, order_id = transaction_id) =>
      postCallback(world, callbackFor(paying, { transaction_id, order_id }));
    expectRefusal(await about('txn_01aaaaaaaaaaaaaaaaaaaaaaaa'), 404, '1204');
    expectRefusal(await about('nothing'), 404, '1204');
    expectRefusal(await about(wallet.transaction_id), 404, '1204');
    expectRefusal(await about(paying.transaction_id, other.transaction_id), 404, '1204');
    expectRefusal(await about(paying.transaction_id, other.reference), 404, '1204');
    expect(await statusOf(world, paying)).toBe('processing');
  });
});

describe('the callback is a hint', () => {
  test('it says passed while the issuer has heard nobody: processing, and nothing changes', async () => {
    const paying = await challenged(world, merchant);
    const answer = await postCallback(world, callbackFor(paying));
    expect(answer.json, answer.text).toMatchObject({ status: 'processing' });
    expect((await attemptOf(world, paying)).status).toBe('challenged');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('it says passed where the issuer said no: declined', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'fail');
    expect((await postCallback(world, callbackFor(paying))).json).toMatchObject({ status: 'declined' });
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('it says rejected where the issuer said yes: the network’s word counts', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const answer = await postCallback(world, callbackFor(paying, { result: 'REJECTED' }));
    expect(answer.json).toMatchObject({ status: 'approved' });
  });

  test('before the submit: the payment is as it was, and pays as ever', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    expect((await postCallback(world, callbackFor(paying))).json).toMatchObject({ status: 'pending' });
    const submitted = await submitCard(world, paying);
    expect(submitted.status).toBe(202);
    const answer = await postCallback(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.json).toMatchObject({ status: 'approved' });
  });

  test('after the end: a final payment never changes, whatever is said', async () => {
    const paying = await challenged(world, merchant);
    await postCallback(world, await answerChallenge(world, paying, 'fail'));
    for (const result of ['AUTHENTICATED', 'REJECTED', 'UNAVAILABLE']) {
      expect((await postCallback(world, callbackFor(paying, { result }))).json).toMatchObject({ status: 'declined' });
    }
    await onlyHook(world, paying);
  });

  test('after the time is over: expired, and nothing is taken although the issuer says yes', async () => {
    const paying = await challenged(world, merchant, 'challenge', { minted: { ttl_seconds: 7_200 } });
    await world.pass(11 * 60_000);
    await untilStatus(world, paying, 'expired', 2_000);
    expect((await postCallback(world, callbackFor(paying))).json).toMatchObject({ status: 'expired' });
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('the network is away: processing; it goes on when it is back', async () => {
    const paying = await challenged(world, merchant);
    const fields = await answerChallenge(world, paying, 'pass');
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect((await postCallback(world, fields)).json).toMatchObject({ status: 'processing' });
    world.sandbox.faults.clear();
    await untilStatus(world, paying, 'approved', 6_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  test('PAY’s answer is lost: the browser is sent on as processing, and it is approved later, once', async () => {
    const paying = await challenged(world, merchant, 'lost', urls);
    const answer = await postForm(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.status, answer.text).toBe(303);
    expect(answer.location).toContain('/thanks?');
    expect(answer.location).toContain('status=processing');
    await untilStatus(world, paying, 'approved', 10_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });
});

describe('again', () => {
  test('the same callback answers as the first did: status, Location and body, whatever happened since', async () => {
    const paying = await challenged(world, merchant, 'challenge', urls);
    const early = callbackFor(paying);
    const before = await postForm(world, early);
    expect(before.location).toContain('status=processing');
    const fields = await answerChallenge(world, paying, 'pass');
    const first = await postForm(world, fields);
    expect(first.location).toContain('status=approved');
    expect(await postForm(world, fields)).toEqual(first);
    const json = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
      redirect: 'manual',
    });
    expect({ status: json.status, text: await json.text() }).toEqual({ status: 303, text: first.text });
    expect(await postForm(world, early)).toEqual(before);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  test.each([
    ['of the same', true],
    ['with other nonces', false],
  ])('twenty %s at once, here and at another process, and the round among them: one PAY', async (_name, same) => {
    const paying = await challenged(world, merchant);
    const second = await openSecond(world, world.clock);
    const fields = await answerChallenge(world, paying, 'pass');
    const asked = requestsFor((await attemptOf(world, paying)).id);
    const post = (url: string) =>
      fetch(`${url}/api/v1/payments/card/3ds-callback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(same ? fields : callbackFor(paying)),
      }).then(async (answer) => ({ status: answer.status, json: (await answer.json()) as { status: string } }));
    // Both processes have asked before either is answered.
    world.sandbox.faults.set('cardnet', { delay_ms: 500 });
    const posts = Array.from({ length: 20 }, (_, n) => post(n % 2 === 0 ? world.url : second.url));
    const answers = await untilAll(posts);
    await second.close();
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      expect(['approved', 'processing']).toContain(json.status);
    }
    expect(await statusOf(world, paying)).toBe('approved');
    expect(asked()).toBe(1);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  /** Counts what the network is asked to do under an attempt's own reference: that is PAY. */
  function requestsFor(attemptId: string): () => number {
    let count = 0;
    world.sandbox.app.server.prependListener('request', ({ method, url }) => {
      if (method === 'PUT' && url?.endsWith(`/transaction/${attemptId}`) === true) count += 1;
    });
    return () => count;
  }

  /** Lets the rounds run beside them: whoever waits for a neighbour waits by the clock. */
  async function untilAll<T>(posts: readonly Promise<T>[]): Promise<T[]> {
    let done = false;
    const all = Promise.all(posts).finally(() => {
      done = true;
    });
    while (!done) await world.pass(100);
    return all;
  }

  test('sixty a minute and order, then 1301; another order is not concerned', async () => {
    const paying = await challenged(world, merchant);
    const other = await challenged(world, merchant);
    const most = 60;
    for (let count = 0; count < most; count += 1) {
      const answer = await postCallback(world, callbackFor(paying));
      expect(answer.status, answer.text).toBe(200);
      if (count === 0) expect(answer.headers.get('ratelimit-policy')).toBe('"card_callbacks";q=60;w=60');
    }
    const refused = await postCallback(world, callbackFor(paying));
    expectRefusal(refused, 429, '1301');
    expect(refused.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    expect((await postCallback(world, callbackFor(other))).status).toBe(200);
    // A forged one is not counted against its order.
    expectRefusal(await postCallback(world, { ...callbackFor(other), signature: 'x' }), 401, '1304');
  });
});

describe('reads', () => {
  test('cardnet/status and its alias tell of the authentication, and where it is, while it is', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    const read = async (network: string) => {
      const answer = await world.call('GET', `/payments/${network}/status/${paying.transaction_id}`, {
        bearer: paying.token,
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    };
    const none = { status: null, eci: null, challenge_url: null };
    expect(await read('cardnet')).toMatchObject({ status: 'pending', three_ds: none });
    const submitted = await submitCard(world, paying);
    expect(await read('cardnet')).toMatchObject({
      transaction_id: paying.transaction_id,
      status: 'processing',
      amount: '12.50',
      three_ds: { status: 'AUTHENTICATION_PENDING', eci: null, challenge_url: submitted.json.redirect_url },
    });
    await postCallback(world, await answerChallenge(world, paying, 'pass'));
    const after = await read('mastercard');
    expect(after).toMatchObject({
      status: 'approved',
      three_ds: { status: 'AUTHENTICATION_SUCCESSFUL', eci: '05', challenge_url: null },
    });
    expect(await read('cardnet')).toEqual(after);
  });

  test('check-status asks the network anew, by each of its names, and settles what it hears', async () => {
    const paying = await challenged(world, merchant);
    const check = async (name: string) => {
      const answer = await world.call('GET', `/payments/check-status/${encodeURIComponent(name)}`, {
        bearer: paying.token,
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    };
    const open = { status: 'processing', upstream_status: 'AUTHENTICATION_INITIATED' };
    expect(await check(paying.reference)).toMatchObject(open);
    expect(await check(paying.transaction_id)).toMatchObject(open);
    await answerChallenge(world, paying, 'pass');
    expect(await check(paying.reference)).toMatchObject({ status: 'approved', upstream_status: 'CAPTURED' });
    // Final: answered from what is kept, also while nobody could be asked.
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect(await check(paying.transaction_id)).toMatchObject({ status: 'approved', upstream_status: 'CAPTURED' });
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('an unknown order is 1204, a stranger’s too; one of another method is 1205', async () => {
    const paying = await collectByCard(world, merchant);
    const stranger = await collectByCard(world, await world.merchant('Librairie Goma'));
    const wallet = await collect(world, merchant, {
      method: 'wallet',
      body: { wallet_number: '1', wallet_pin: '1234' },
    });
    const get = (path: string) => world.call('GET', path, { bearer: paying.token });
    for (const name of ['nothing', stranger.reference, stranger.transaction_id]) {
      expectRefusal(await get(`/payments/check-status/${name}`), 404, '1204');
    }
    expectRefusal(await get(`/payments/cardnet/status/${stranger.transaction_id}`), 404, '1204');
    expectRefusal(await get(`/payments/check-status/${wallet.transaction_id}`), 409, '1205', 'NOT_A_CARD');
    expectRefusal(await get(`/payments/cardnet/status/${wallet.transaction_id}`), 409, '1205', 'NOT_A_CARD');
  });
});
