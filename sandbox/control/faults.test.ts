// Faults: drawn from the seed, repeatable; and their effect on real requests.
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import {
  type MomoClient,
  momoClient,
  newReference,
  type RunningSandbox,
  startSandbox,
} from '../testing/start-sandbox.ts';
import { createFaults, type Faults, seededRandom } from './faults.ts';

const fates = (faults: Faults, count: number) =>
  Array.from({ length: count }, () => [faults.drawRequest('mtn'), faults.drawCallback('mtn')]);

describe('drawing', () => {
  const plan = {
    drop_rate: 0.2,
    refuse_rate: 0.1,
    error_rate: 0.1,
    answer_lost_rate: 0.3,
    duplicate_callback_rate: 0.3,
    lose_callback_rate: 0.3,
  };

  test('the same seed and plan give the same fates; another seed gives others', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (seed, other) => {
        fc.pre(seed !== other);
        const [one, two, three] = [createFaults(seed), createFaults(seed), createFaults(other)];
        for (const faults of [one, two, three]) faults.set('mtn', plan);
        const first = fates(one, 200);
        expect(fates(two, 200)).toEqual(first);
        expect(fates(three, 200)).not.toEqual(first);
        one.reseed(seed);
        expect(fates(one, 200)).toEqual(first);
      }),
      { numRuns: 50 },
    );
  });

  test('changing one rate does not shift the draws of another', () => {
    const [one, two] = [createFaults('s'), createFaults('s')];
    one.set('mtn', { answer_lost_rate: 0.5 });
    two.set('mtn', { answer_lost_rate: 0.5, error_rate: 0.5, delay_ms: 10 });
    const lost = (faults: Faults) => Array.from({ length: 200 }, () => faults.drawRequest('mtn').answer_lost);
    expect(lost(two)).toEqual(lost(one));
  });

  test('rates are met, 0 never happens and 1 always does', () => {
    const random = seededRandom('even');
    const below = Array.from({ length: 10_000 }, random).filter((draw) => draw < 0.3).length;
    expect(below).toBeGreaterThan(2_800);
    expect(below).toBeLessThan(3_200);
    const faults = createFaults('s');
    expect(fates(faults, 100).flat()).not.toContainEqual(expect.objectContaining({ answer_lost: true }));
    faults.set('mtn', { error_rate: 1 });
    expect(Array.from({ length: 100 }, () => faults.drawRequest('mtn').end)).toEqual(Array(100).fill('error'));
    faults.clear();
    expect(faults.drawRequest('mtn')).toEqual({ delay_ms: 0, end: 'none', answer_lost: false });
  });
});

describe('over HTTP', () => {
  let running: RunningSandbox;
  let momo: MomoClient;
  let receiver: Receiver;
  const paying = '243810000101';
  const setFaults = (body: unknown) => running.call('POST', '/control/faults', body);

  beforeEach(async () => {
    running = await startSandbox();
    momo = await momoClient(running);
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await running.close();
    await receiver.close();
  });

  test('errors and refusals take nothing', async () => {
    await setFaults({ upstream: 'mtn', error_rate: 1 });
    const failed = await momo.pay(paying);
    expect(failed).toMatchObject({ status: 500, json: { code: 'INTERNAL_PROCESSING_ERROR' } });
    await setFaults({ upstream: 'mtn', error_rate: 0, refuse_rate: 1 });
    expect((await momo.pay(paying)).status).toBe(503);
    await running.call('DELETE', '/control/faults');
    expect((await momo.status(failed.reference)).status).toBe(404);
    expect((await momo.pay(paying)).status).toBe(202);
  });

  test('an ordered refusal meets requests for money alone, and takes nothing', async () => {
    expect((await setFaults({ upstream: 'mtn', refusal: { status: 200, code: 'NO' } })).status).toBe(400);
    await setFaults({ upstream: 'mtn', refusal: { status: 404, code: 'PAYER_NOT_FOUND' } });
    const refused = await momo.pay(paying);
    expect(refused).toMatchObject({ status: 404, json: { code: 'PAYER_NOT_FOUND' } });
    expect(await momo.status(refused.reference)).toMatchObject({ status: 404, json: { code: 'RESOURCE_NOT_FOUND' } });
    await setFaults({ upstream: 'mtn', refusal: null });
    expect((await momo.pay(paying)).status).toBe(202);
  });

  test('a request whose answer is lost was taken all the same', async () => {
    const reference = newReference();
    await setFaults({ upstream: 'mtn', answer_lost_rate: 1 });
    await expect(momo.pay(paying, { reference })).rejects.toThrow();
    await running.call('DELETE', '/control/faults');
    running.world.advance(1_000);
    expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  });

  test('a dropped request was never taken and is never answered', async () => {
    const reference = newReference();
    await setFaults({ upstream: 'mtn', drop_rate: 1 });
    const gaveUp = new AbortController();
    const arrived = once(running.sandbox.app.server, 'request');
    const hanging = fetch(`${running.url}/mtn/collection/v1_0/requesttopay`, {
      method: 'POST',
      headers: { ...momo.headers, 'content-type': 'application/json', 'x-reference-id': reference },
      body: '{}',
      signal: gaveUp.signal,
    }).catch((error: Error) => error.name);
    await arrived;
    await running.call('DELETE', '/control/faults');
    expect((await momo.status(reference)).status).toBe(404);
    gaveUp.abort();
    expect(await hanging).toBe('AbortError');
  });

  test('a delay holds a request until its time', async () => {
    await setFaults({ upstream: 'sms', delay_ms: 5_000 });
    const arrived = once(running.sandbox.app.server, 'request');
    const message = { to: '243810000042', text: 'x' };
    const sent = running.call('POST', '/sms', message, { authorization: 'Bearer sandbox-sms' });
    await arrived;
    const received = async () => (await running.call('GET', '/phone/243810000042/state')).json;
    running.world.advance(4_999);
    expect(await received()).toMatchObject({ messages: [] });
    running.world.advance(1);
    expect((await sent).status).toBe(202);
    expect(await received()).toMatchObject({ messages: [{ text: 'x' }] });
  });

  test('callbacks are lost or duplicated', async () => {
    await setFaults({ upstream: 'mtn', duplicate_callback_rate: 1 });
    await momo.pay(paying, { callbackUrl: receiver.url });
    running.world.advance(1_000);
    const seen = await receiver.came(2);
    expect(seen[0]).toEqual(seen[1]);
    await setFaults({ upstream: 'mtn', duplicate_callback_rate: 0, lose_callback_rate: 1 });
    await momo.pay(paying, { callbackUrl: receiver.url });
    running.world.advance(1_000);
    await setFaults({ upstream: 'mtn', lose_callback_rate: 0 });
    await momo.pay(paying, { callbackUrl: receiver.url });
    running.world.advance(1_000);
    expect(await receiver.came(3)).toHaveLength(3);
  });

  test('an inbox answers with the status that it was set to, or not at all', async () => {
    const post = (signal?: AbortSignal) =>
      fetch(`${running.url}/inbox/demo`, { method: 'POST', body: 'x', ...(signal ? { signal } : {}) });
    await setFaults({ upstream: 'inbox', status: 410 });
    expect((await post()).status).toBe(410);
    await setFaults({ upstream: 'inbox', status: null, hang: true });
    const gaveUp = new AbortController();
    const hanging = post(gaveUp.signal).catch((error: Error) => error.name);
    const caught = async () => (await running.call('GET', '/inbox/demo/messages')).json;
    await expect.poll(caught).toMatchObject({ messages: [{ answered: null }, { answered: 410 }] });
    gaveUp.abort();
    expect(await hanging).toBe('AbortError');
  });

  test('a run is repeated from its seed', async () => {
    await setFaults({ upstream: 'mtn', error_rate: 0.5 });
    const run = async () => {
      expect((await running.call('POST', '/control/seed', { seed: 'run-7' })).status).toBe(200);
      const statuses: number[] = [];
      for (let n = 0; n < 20; n += 1) statuses.push((await momo.pay(paying)).status);
      return statuses;
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set([202, 500]));
    expect(await run()).toEqual(first);
  });

  test('a request with a wrong value is refused as a whole, and unknown fields are ignored', async () => {
    for (const body of [
      { upstream: 'bank' },
      { upstream: 'mtn', drop_rate: 2 },
      { upstream: 'mtn', drop_rate: '0.1' },
      { upstream: 'mtn', delay_ms: -1 },
    ])
      expect(await setFaults(body)).toMatchObject({ status: 400, json: { error: 'bad_request' } });
    const message = 'body/upstream must be equal to one of the allowed values: mtn, cardnet, inbox, sms';
    expect(await setFaults({ upstream: 'bank' })).toMatchObject({ json: { message } });
    const set = await setFaults({ upstream: 'mtn', drop_rate: 0, colour: 'red' });
    expect(set).toMatchObject({ status: 200, json: { seed: 'test', faults: { mtn: { drop_rate: 0 } } } });
    expect(set.text).not.toContain('colour');
    expect((await running.call('POST', '/control/settings', { decline_ms: 1.5 })).status).toBe(400);
  });

  test('the page’s forms do the same as the JSON calls', async () => {
    const form = {
      upstream: 'inbox',
      delay_ms: '0',
      drop_rate: '0',
      refuse_rate: '0',
      error_rate: '0.25',
      answer_lost_rate: '0',
      status: '503',
    };
    expect(
      (await running.call('POST', '/control/form/faults', new URLSearchParams(form))).headers.get('location'),
    ).toBe('/control');
    const plans = async () => (await running.call('GET', '/control/faults')).json;
    expect(await plans()).toMatchObject({ faults: { inbox: { error_rate: 0.25, status: 503, hang: false } } });
    const refused = await running.call(
      'POST',
      '/control/form/faults',
      new URLSearchParams({ ...form, error_rate: '7' }),
    );
    expect(refused.headers.get('location')).toBe('/control?refused=1');
    await running.call('POST', '/control/form/clear', new URLSearchParams());
    expect(await plans()).toMatchObject({ faults: { inbox: { error_rate: 0, status: null } } });
  });
});
