/**
 * The test clock in a running gateway: what is waiting becomes due at once, and checks against other clocks still hold.
 */

import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { answerChallenge, challenged, postCallback } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, debitsOf, freshKey, payFromWallet, statusOf } from '../support/flows.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { openReceiver } from '../support/receiver.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

let world: World;
let merchant: MerchantCreated;

// Starts at the machine's own time, because the library that verifies webhooks uses that.
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, start: systemClock().wall() });
  merchant = await world.merchant();
});
afterAll(() => world.close());

test('after thirty days a webhook still verifies, with the library that receivers use', async () => {
  await world.leap(30 * DAY);
  const paying = await collect(world, merchant);
  const paid = await payFromWallet(world, paying, await world.wallet());
  expect(paid.json).toMatchObject({ status: 'approved' });
  expect(Date.parse(paid.json.created_at) - world.clock.now()).toBeGreaterThanOrEqual(30 * DAY);
  const { raw, headers } = await world.receiver.about(paying.transaction_id);
  const signed = new Webhook(merchant.webhook_secret).verify(raw, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
  expect(signed).toMatchObject({ transaction_id: paying.transaction_id, status: 'approved' });
});

test('after thirty days the network’s callback is fresh, and a challenge can be passed', async () => {
  await world.leap(30 * DAY);
  const paying = await challenged(world, merchant);
  const back = await postCallback(world, await answerChallenge(world, paying, 'pass'));
  expect(back.status, back.text).toBe(200);
  await until(async () => ((await statusOf(world, paying)) === 'approved' ? true : undefined));
});

test('a session expires, and so does the payment that it had collected', async () => {
  const paying = await collect(world, merchant, { minted: { ttl_seconds: 3_600 } });
  await world.leap(HOUR - 1_000);
  expect(await statusOf(world, paying)).toBe('pending');
  await world.leap(1_000);
  const late = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token });
  expectRefusal(late, 401, '1005');
  const other = await collect(world, merchant, { minted: { ttl_seconds: 3_600 } });
  expect(await statusOf(world, { ...paying, token: other.token })).toBe('expired');
});

test('a Retry-After date is relative to the receiver’s clock, which is not moved', async () => {
  await world.leap(30 * DAY);
  const inAnHour = new Date(systemClock().wall() + HOUR).toUTCString();
  const hooks = await openReceiver((response) => response.writeHead(503, { 'retry-after': inAnHour }).end());
  const paying = await collect(world, merchant, { body: { notify_url: hooks.url } });
  const paid = await payFromWallet(world, paying, await world.wallet());
  const nextAt = await until(async () => {
    const [event] = await rowsOf<{ attempts: number; next_at: string }>(
      world,
      'select attempts, next_at from webhook_event where transaction_id = $1',
      [paying.transaction_id],
    );
    return event?.attempts === 1 ? Number(event.next_at) : undefined;
  });
  // A date has whole seconds.
  expect(nextAt - Date.parse(paid.json.created_at)).toBeGreaterThan(HOUR - 1_000);
  await hooks.close();
});

test('a receiver that was down gets its event when the retry is due', async () => {
  const hooks = await openReceiver((response, _hook, number) => response.writeHead(number === 1 ? 503 : 204).end());
  const paying = await collect(world, merchant, { body: { notify_url: hooks.url } });
  await payFromWallet(world, paying, await world.wallet());
  await hooks.reached(1);
  await until(async () => {
    const [event] = await rowsOf<{ attempts: number }>(
      world,
      'select attempts from webhook_event where transaction_id = $1',
      [paying.transaction_id],
    );
    return event?.attempts === 1 ? true : undefined;
  });
  await world.leap(HOUR);
  await hooks.reached(2);
  expect(hooks.hooks[1]?.headers['webhook-id']).toBe(hooks.hooks[0]?.headers['webhook-id']);
  await hooks.close();
});

test('an Idempotency-Key is forgotten after a day, and not before', async () => {
  const headers = freshKey();
  const mint = () =>
    world.call('POST', '/internal/sessions/create', {
      bearer: bearerOf(merchant),
      body: { amount: '1.00', currency: 'usd', customer_reference: 'again' },
      headers,
    });
  const first = await mint();
  await world.leap(DAY - 60_000);
  const replayed = await mint();
  expect([replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  await world.leap(60_000);
  const anew = await mint();
  expect(anew.status).toBe(201);
  expect(anew.json.session_token).not.toBe(first.json.session_token);
});

test('a carrier that does not call back is inquired at once', async () => {
  const paying = await pushed(world, merchant, '08', { ttl_seconds: 86_400 });
  // The carrier has its own clock: it needs its second.
  await world.clock.advance(1_000);
  await until(async () => debitsOf(world, paying.msisdn).length > 0 || undefined);
  // By now its acceptance is due to be written; an inquiry before that has nothing to ask about.
  await attemptOf(world, paying);
  await world.leap(HOUR);
  await until(async () => ((await statusOf(world, paying)) === 'approved' ? true : undefined));
});

test('skipped time proves nothing: two leaps do not make the gateway give up what a carrier does not know', async () => {
  const paying = await pushed(world, merchant, '42', { ttl_seconds: 86_400 });
  const attempt = await attemptOf(world, paying);
  // As if its answer had been lost, and the carrier had not received the request yet: it does not know the reference.
  await rowsOf(world, "update attempt set status = 'unknown', reference = $2 where id = $1", [
    attempt.id,
    randomUUID(),
  ]);
  for (let leaps = 0; leaps < 3; leaps += 1) await world.leap(HOUR);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'unknown', not_found_at: null });
  // One minute that really passes, and another: now it is certain that nothing was taken.
  await world.pass(60_000, 40);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'not_sent' });
});
