/**
 * Callbacks of the card network and customers who come back from the issuer: a hint that the network is asked about (contract
 * §4).
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { TURN_PATIENCE_MS } from '../../src/usecases/session-turns.ts';
import {
  answerChallenge,
  callbackFor,
  capturesOf,
  challenged,
  postCallback,
  postForm,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, statusOf, untilStatus } from '../support/flows.ts';
import { attemptOf, onlyHook, unsureOf } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

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

const SUCCESS = 'https://shop.example/thanks?order=7&q=a%20b#top';
const FAIL = 'https://shop.example/again#x';
const urls = { body: { success_redirect_url: SUCCESS, fail_redirect_url: FAIL } };

describe('the customer comes back', () => {
  test('passed, as JSON: approved in the status read, and told once', async () => {
    const paying = await challenged(world, merchant);
    const answer = await postCallback(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ transaction_id: paying.transaction_id, status: 'approved', amount: '12.50' });
    expect(answer.json.completed_at).toMatch(/Z$/);
    expect(answer.headers.get('location')).toBeNull();
    expect(capturesOf(world, paying)).toMatchObject([{ amount: '12.50', times: 1 }]);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('a content type in capitals is JSON as well, and answered as such', async () => {
    const paying = await challenged(world, merchant, 'challenge', urls);
    const fields = await answerChallenge(world, paying, 'pass');
    const answer = await postCallback(world, fields, { 'content-type': 'Application/JSON' });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({ transaction_id: paying.transaction_id, status: 'approved' });
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

  test('a program that accepts HTML is redirected as well; without addresses the browser is sent back to the shop', async () => {
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
    expect(response.headers.get('location')).toBe(`${world.url}/checkout/closed/returned`);
  });

  test('by the network’s own transaction id and the merchant’s reference, too', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const { id } = await attemptOf(world, paying);
    const answer = await postCallback(
      world,
      callbackFor(world, paying, { order_id: paying.reference, transaction_id: `${id}-3ds` }),
    );
    expect(answer.json, answer.text).toMatchObject({ status: 'approved' });
  });

  test('the signature may come in the header', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const { signature = '', ...fields } = callbackFor(world, paying);
    expectRefusal(await postCallback(world, fields), 401, '1304');
    const answer = await postCallback(
      world,
      // A form also sends the fields that are left empty.
      { ...fields, timestamp: Number(fields.timestamp), signature: '' },
      { 'x-cardnet-signature': signature },
    );
    expect(answer.json, answer.text).toMatchObject({ status: 'approved' });
  });
});

describe('the callback is a hint', () => {
  test('it says passed while the issuer is still waiting: processing, and nothing changes', async () => {
    const paying = await challenged(world, merchant);
    const answer = await postCallback(world, callbackFor(world, paying));
    expect(answer.json, answer.text).toMatchObject({ status: 'processing' });
    expect((await attemptOf(world, paying)).status).toBe('challenged');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('it says passed where the issuer said no: declined', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'fail');
    expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'declined' });
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('it says rejected where the issuer said yes: the network’s word counts', async () => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, 'pass');
    const answer = await postCallback(world, callbackFor(world, paying, { result: 'REJECTED' }));
    expect(answer.json).toMatchObject({ status: 'approved' });
  });

  test('before the submit: the payment is unchanged, and can be paid as usual', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'pending' });
    const submitted = await submitCard(world, paying);
    expect(submitted.status).toBe(202);
    const answer = await postCallback(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.json).toMatchObject({ status: 'approved' });
    // A payment whose method has yet to be chosen may become a card's.
    const open = await collect(world, merchant);
    expect((await postCallback(world, callbackFor(world, open))).json).toMatchObject({ status: 'pending' });
  });

  test('after the end: a final payment never changes, whatever the callback says', async () => {
    const paying = await challenged(world, merchant);
    await postCallback(world, await answerChallenge(world, paying, 'fail'));
    for (const result of ['AUTHENTICATED', 'REJECTED', 'UNAVAILABLE']) {
      expect((await postCallback(world, callbackFor(world, paying, { result }))).json).toMatchObject({
        status: 'declined',
      });
    }
    await onlyHook(world, paying);
  });

  test('after the expiry: expired, and nothing is taken although the issuer says yes', async () => {
    const paying = await challenged(world, merchant, 'challenge', { minted: { ttl_seconds: 7_200 } });
    await world.pass(11 * 60_000);
    await untilStatus(world, paying, 'expired', 2_000);
    expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'expired' });
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('the network is unreachable: processing; the payment continues when it is back', async () => {
    const paying = await challenged(world, merchant);
    const fields = await answerChallenge(world, paying, 'pass');
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect((await postCallback(world, fields)).json).toMatchObject({ status: 'processing' });
    world.sandbox.faults.clear();
    await untilStatus(world, paying, 'approved', 6_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  test('PAY’s answer is lost: the browser is redirected as processing, and the payment is approved later, once', async () => {
    const paying = await challenged(world, merchant, 'lost', urls);
    const answer = await postForm(world, await answerChallenge(world, paying, 'pass'));
    expect(answer.status, answer.text).toBe(303);
    expect(answer.location).toContain('/thanks?');
    expect(answer.location).toContain('status=processing');
    await untilStatus(world, paying, 'approved', 10_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
    expect(await unsureOf(world, paying)).toMatchObject([{ connector: 'mastercard', kind: 'unknown' }]);
  });
});

describe('again', () => {
  test('the same callback gets the first answer again: status, Location and body, whatever happened since', async () => {
    const paying = await challenged(world, merchant, 'challenge', urls);
    const early = callbackFor(world, paying);
    const before = await postForm(world, early);
    expect(before.location).toContain('status=processing');
    const fields = await answerChallenge(world, paying, 'pass');
    const first = await postForm(world, fields);
    expect(first.location).toContain('status=approved');
    expect(await postForm(world, fields)).toEqual(first);
    expect(await postForm(world, early)).toEqual(before);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  test('a browser is redirected and a program reads the status, whichever of them came first', async () => {
    const told = await challenged(world, merchant, 'challenge', urls);
    const fields = await answerChallenge(world, told, 'pass');
    const read = await postCallback(world, fields);
    expect(read.status, read.text).toBe(200);
    const location = `https://shop.example/thanks?order=7&q=a%20b&transaction_id=${told.transaction_id}&status=approved#top`;
    const redirected = { status: 303, text: read.text, location };
    expect(await postForm(world, fields)).toEqual(redirected);
    expect(await postForm(world, fields)).toEqual(redirected);
    const returned = await challenged(world, merchant, 'challenge', urls);
    const fieldsToo = await answerChallenge(world, returned, 'fail');
    const first = await postForm(world, fieldsToo);
    expect(first).toMatchObject({ status: 303, location: expect.stringContaining('https://shop.example/again?') });
    // A program that would rather have JSON, and takes HTML if it must: as collect-redirect reads it, too.
    const either = { accept: 'application/json, text/html;q=0.1' };
    for (const again of [await postCallback(world, fieldsToo), await postCallback(world, fieldsToo, either)]) {
      expect(again).toMatchObject({ status: 200, text: first.text });
      expect(again.headers.get('location')).toBeNull();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
  });

  test('a callback that waits for its twin waits no longer if the clock is set back', async () => {
    const paying = await challenged(world, merchant);
    const fields = await answerChallenge(world, paying, 'pass');
    const first = await postCallback(world, fields);
    expect(first.status, first.text).toBe(200);
    // As left by a process that began it and died before the answer was remembered.
    const left = await rowsOf(
      world,
      "update idempotency set status = 102, body = '', version = version + 1 where status = 303 and created_at = (select max(created_at) from idempotency) returning id",
    );
    expect(left.length).toBeGreaterThan(0);
    const waiting = world.clock.pending();
    const again = postCallback(world, fields);
    await until(async () => {
      await world.call('GET', '/health');
      return world.clock.pending() > waiting ? true : undefined;
    });
    world.clock.setBack(3_600_000);
    const at = world.clock.now();
    expect(await whileTimePasses(world, again, 500)).toMatchObject({ status: 200, json: { status: 'approved' } });
    expect(world.clock.now() - at).toBeLessThan(TURN_PATIENCE_MS);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test.each([
    ['of the same', true],
    ['with other nonces', false],
  ])('twenty %s at once, here and at another process, and the round as well: one PAY', async (_name, same) => {
    const paying = await challenged(world, merchant);
    const second = await openSecond(world, world.clock);
    const fields = await answerChallenge(world, paying, 'pass');
    const asked = requestsFor((await attemptOf(world, paying)).id);
    const post = (url: string) =>
      fetch(`${url}/api/v1/payments/card/3ds-callback`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(same ? fields : callbackFor(world, paying)),
      }).then(async (answer) => ({ status: answer.status, json: (await answer.json()) as { status: string } }));
    // Both processes have asked before either is answered.
    world.sandbox.faults.set('cardnet', { delay_ms: 500 });
    const posts = Array.from({ length: 20 }, (_, n) => post(n % 2 === 0 ? world.url : second.url));
    const answers = await whileTimePasses(world, Promise.all(posts));
    await second.close();
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      expect(same ? ['approved'] : ['approved', 'processing']).toContain(json.status);
    }
    expect(await statusOf(world, paying)).toBe('approved');
    expect(asked()).toBe(1);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });

  /** Counts the requests under an attempt's own reference: that is PAY. */
  function requestsFor(attemptId: string): () => number {
    let count = 0;
    world.sandbox.app.server.on('request', ({ method, url }) => {
      if (method === 'PUT' && url?.endsWith(`/transaction/${attemptId}`) === true) count += 1;
    });
    return () => count;
  }

  test('sixty per minute and order, then 1301; another order is not affected', async () => {
    const paying = await challenged(world, merchant);
    const other = await challenged(world, merchant);
    const most = 60;
    for (let count = 0; count < most; count += 1) {
      const answer = await postCallback(world, callbackFor(world, paying));
      expect(answer.status, answer.text).toBe(200);
      if (count === 0) expect(answer.headers.get('ratelimit-policy')).toBe('"card_callbacks";q=60;w=60');
    }
    const refused = await postCallback(world, callbackFor(world, paying));
    expectRefusal(refused, 429, '1301');
    expect(refused.headers.get('retry-after')).toMatch(/^[0-9]+$/);
    expect((await postCallback(world, callbackFor(world, other))).status).toBe(200);
  });

  test('forged callbacks are counted too, but not against authenticated ones of their order', async () => {
    const paying = await challenged(world, merchant);
    const forge = () => postCallback(world, { ...callbackFor(world, paying), signature: 'x' });
    for (let count = 0; count < 60; count += 1) expectRefusal(await forge(), 401, '1304');
    const refused = await forge();
    expectRefusal(refused, 429, '1301');
    expect(refused.headers.get('ratelimit-policy')).toBe('"card_callbacks";q=60;w=60');
    expect((await postCallback(world, callbackFor(world, paying))).status).toBe(200);
  });

  test.each([
    ['the network’s own', 'order.id'],
    ['the payment’s', 'transaction_id'],
  ])('forged callbacks that name no order_id are counted by %s id', async (_whose, field) => {
    const [paying, other] = [await challenged(world, merchant), await challenged(world, merchant)];
    const forge = (of: typeof paying) => postCallback(world, { [field]: of.transaction_id, signature: 'x' });
    for (let count = 0; count < 60; count += 1) expectRefusal(await forge(paying), 401, '1304');
    expectRefusal(await forge(paying), 429, '1301');
    expectRefusal(await forge(other), 401, '1304');
    expect((await postCallback(world, callbackFor(world, paying))).status).toBe(200);
  });

  test('callbacks that were signed too long ago are counted, too', async () => {
    const stale = callbackFor(world, await challenged(world, merchant));
    await world.pass(6 * 60_000);
    for (let count = 0; count < 60; count += 1) expectRefusal(await postCallback(world, stale), 401, '1304');
    expectRefusal(await postCallback(world, stale), 429, '1301');
  });

  test('the merchant’s own limit applies, whichever name the order comes under', async () => {
    const [strict, usual] = [await world.merchant(), await world.merchant()];
    await setMerchant(world.gateway.deps, strict.merchant.id, { rate_limits: new Map([['card_callbacks', 3]]) });
    // Two merchants may have given their orders the same name.
    const order_id = 'order-of-both';
    const minted = { customer_reference: order_id };
    const paying = await challenged(world, strict, 'challenge', { minted });
    const other = await challenged(world, usual, 'challenge', { minted });
    for (const more of [{}, { order_id }, {}]) {
      const answer = await postCallback(world, callbackFor(world, paying, more));
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get('ratelimit-policy')).toBe('"card_callbacks";q=3;w=60');
    }
    expectRefusal(await postCallback(world, callbackFor(world, paying, { order_id })), 429, '1301');
    const free = await postCallback(world, callbackFor(world, other, { order_id }));
    expect(free.status, free.text).toBe(200);
    expect(free.headers.get('ratelimit')).toBe('"card_callbacks";r=59;t=60');
    // A callback that matches no payment is counted by the order that it names.
    const nobody = await postCallback(world, callbackFor(world, paying, { order_id: 'order-of-nobody' }));
    expectRefusal(nobody, 404, '1204');
    expect(nobody.headers.get('ratelimit')).toBe('"card_callbacks";r=59;t=60');
  });
});
