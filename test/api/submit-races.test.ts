/**
 * Submits that meet another one on their session: they wait for its outcome, but no longer than promised.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import {
  answerChallenge,
  collectByCard,
  fillForm,
  postCallback,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { callerOf, meansOf, oncePinIsJudged, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  collect,
  debitsOf,
  freshKey,
  numberEnding,
  payByPhone,
  payFromWallet,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { carrierAsked } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { stillness } from '../support/stillness.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  // From now on the gateway holds the carrier's token: the next request is the one for money.
  expect((await payByPhone(world, await collect(world, merchant), numberEnding('42'))).status).toBe(200);
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

test('a submit waits ten seconds for the previous one in the same process, then says so', async () => {
  const paying = await collect(world, merchant);
  const msisdn = numberEnding('01');
  world.sandbox.faults.set('mtn', { delay_ms: 15_000 });
  const asked = carrierAsked(world);
  const first = payByPhone(world, paying, msisdn);
  await asked;
  world.sandbox.faults.clear();
  const second = await whileTimePasses(world, payByPhone(world, paying, msisdn), 100);
  expectRefusal(second, 409, '1203', 'IN_PROGRESS');
  expect(second.json).toMatchObject({ retryable: true, retry_after: 5, transaction_id: paying.transaction_id });
  expect((await whileTimePasses(world, first, 250)).status).toBe(200);
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('a clock that is set back while a submit waits does not make it wait longer', async () => {
  const paying = await collect(world, merchant);
  const msisdn = numberEnding('01');
  world.sandbox.faults.set('mtn', { delay_ms: 15_000 });
  const asked = carrierAsked(world);
  const first = payByPhone(world, paying, msisdn);
  await asked;
  world.sandbox.faults.clear();
  const second = payByPhone(world, paying, msisdn);
  // Now both wait for the clock alone: the first for its carrier, the second for the first.
  await stillness();
  world.clock.setBack(3_600_000);
  expectRefusal(await whileTimePasses(world, second, 100), 409, '1203', 'IN_PROGRESS');
  expect((await whileTimePasses(world, first, 250)).status).toBe(200);
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('a submit that waited pays nothing if its credential was revoked meanwhile', async () => {
  const shop = await world.merchant();
  const paying = await collect(world, shop);
  world.sandbox.faults.set('mtn', { delay_ms: 5_000 });
  const asked = carrierAsked(world);
  // The carrier turns the first one away, and the session is free again.
  const first = payByPhone(world, paying, numberEnding('06'));
  await asked;
  world.sandbox.faults.clear();
  const msisdn = numberEnding('01');
  const second = payByPhone(world, paying, msisdn);
  // The second one waits for the first, which waits for its carrier.
  await stillness();
  await revokeCredential(world.gateway.deps, shop.key_id);
  await whileTimePasses(world, first, 250);
  expectRefusal(await whileTimePasses(world, second, 250), 401, '1001');
  expect(debitsOf(world, msisdn)).toEqual([]);
});

test('a submit that waited for the first run of its key pays nothing if its credential was revoked meanwhile', async () => {
  const shop = await world.merchant();
  const paying = await collect(world, shop);
  const key = freshKey();
  const msisdn = numberEnding('06');
  world.sandbox.faults.set('mtn', { delay_ms: 5_000 });
  const asked = carrierAsked(world);
  // Both are authenticated before either has called the carrier.
  const both = Promise.all([1, 2].map(() => payByPhone(world, paying, msisdn, key)));
  await asked;
  await revokeCredential(world.gateway.deps, shop.key_id);
  const answers = await whileTimePasses(world, both, 250);
  const [revoked, turnedAway] = answers.sort((a, b) => a.status - b.status);
  expectRefusal(turnedAway as Answer, 502, '1404');
  expectRefusal(revoked as Answer, 401, '1001');
});

test('a submit from a wallet pays nothing if its credential is revoked while the PIN is verified', async () => {
  const shop = await world.merchant();
  const [paying, wallet] = [await collect(world, shop), await world.wallet()];
  const { deps } = world.gateway;
  const revoked = oncePinIsJudged(deps, () => revokeCredential(deps, shop.key_id));
  const command = submitOf(paying, meansOf(wallet));
  const submitted = submitPayment(revoked, await callerOf(world, shop, paying), command, plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1001 });
  const { shard } = shop.merchant;
  expect(await deps.store.payment.get(shard, paying.transaction_id)).toMatchObject({ status: 'pending' });
});

/** A call as left by a process that began it and died before it recorded the answer. */
async function neverAnswered(call: () => Promise<Answer>): Promise<Answer> {
  const before = await rowsOf<{ id: string }>(world, 'select id from idempotency');
  const answer = await call();
  const left = await rowsOf(
    world,
    `update idempotency set status = 102, body = '', version = version + 1 where id <> all($1) returning id`,
    [before.map(({ id }) => id)],
  );
  expect(left).toHaveLength(1);
  return answer;
}

/** Once: between the read of a payment and the read of its attempt, something happens. */
function betweenTheReads(happens: () => Promise<unknown>): void {
  const { attempt } = world.gateway.deps.store;
  const { get } = attempt;
  Object.assign(attempt, {
    get: async (...key: Parameters<typeof get>) => {
      Object.assign(attempt, { get });
      await happens();
      return get(...key);
    },
  });
}

test('an unanswered run whose customer is at the issuer continues there: 202 and the address', async () => {
  const paying = await readyToPay(world, merchant, 'challenge');
  const headers = freshKey();
  const first = await neverAnswered(() => submitCard(world, paying, { headers }));
  expect(first.status, first.text).toBe(202);
  const again = await submitCard(world, paying, { headers });
  expect(again.status, again.text).toBe(202);
  expect(again.json.redirect_url).toBe(first.json.redirect_url);
  expect((await submitCard(world, paying, { headers })).text).toBe(again.text);
});

test('a payment that is given back while its repeated call reads it is asked for again', async () => {
  const paying = await collect(world, merchant);
  const headers = freshKey();
  const msisdn = numberEnding('42');
  expect((await neverAnswered(() => payByPhone(world, paying, msisdn, headers))).status).toBe(200);
  const { shard } = merchant.merchant;
  // It had not even reached the carrier.
  const change = (sql: string) => rowsOf<{ id: string }>(world, `${sql} and shard = ${shard} returning id`);
  const its = `payment_id = '${paying.transaction_id}'`;
  await change(`update attempt set status = 'intended', settled_at = null, reference = gen_random_uuid()::text,
    version = version + 1 where ${its}`);
  await change(`update payment set status = 'processing', version = version + 1 where id = '${paying.transaction_id}'`);
  await change(`update session set status = 'ACTIVE', submitting_payment_id = '${paying.transaction_id}', version = version + 1
    where id = (select session_id from payment where id = '${paying.transaction_id}')`);

  // The inquiry round learns that the carrier has nothing, just between the two reads of the repeated call.
  betweenTheReads(async () => {
    await change(`update attempt set status = 'not_sent', reason = 'not_sent', settled_at = now(), version = version + 1
      where ${its}`);
    await change(`update payment set status = 'pending', attempt_id = null, submitted_at = null, version = version + 1
      where id = '${paying.transaction_id}'`);
    await change(`update session set submitting_payment_id = null, version = version + 1
      where submitting_payment_id = '${paying.transaction_id}'`);
  });
  const again = await whileTimePasses(world, payByPhone(world, paying, msisdn, headers), 50);
  expect(again.json, again.text).toMatchObject({ success: true, status: 'pending_mobile_money_verification' });
  expect(await rowsOf(world, `select id from attempt where ${its}`)).toHaveLength(2);
});

test('a card that is declined while its repeated call reads it is refused, and the refusal is remembered', async () => {
  const paying = await readyToPay(world, merchant, 'challenge');
  const headers = freshKey();
  expect((await neverAnswered(() => submitCard(world, paying, { headers }))).status).toBe(202);
  const fields = await answerChallenge(world, paying, 'fail');
  betweenTheReads(async () => {
    expect((await postCallback(world, fields)).json).toMatchObject({ status: 'declined' });
  });
  const again = await submitCard(world, paying, { headers });
  expectRefusal(again, 402, '1502', 'AUTHENTICATION_FAILED');
  expect((await submitCard(world, paying, { headers })).text).toBe(again.text);
});

test('a key whose run took nothing may be used with a corrected body: another number, another form', async () => {
  const paying = await collect(world, merchant);
  const key = freshKey();
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  expectRefusal(await payByPhone(world, paying, numberEnding('01'), key), 502, '1404');
  world.sandbox.faults.clear();
  const other = numberEnding('01');
  const paid = await payByPhone(world, paying, other, key);
  expect(paid.json, paid.text).toMatchObject({ status: 'pending_mobile_money_verification' });
  expect((await payByPhone(world, paying, other, key)).text).toBe(paid.text);
  expectRefusal(await payByPhone(world, paying, numberEnding('02'), key), 409, '1203', 'IDEMPOTENCY_BODY');
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, other)).toMatchObject([{ times: 1 }]);
});

test('a key whose card form was empty may be used again once the form has been filled', async () => {
  const empty = await collectByCard(world, merchant);
  const headers = freshKey();
  expectRefusal(await submitCard(world, empty, { headers }), 400, '1110', 'CARD_NOT_ENTERED');
  await fillForm(world, empty.form, 'frictionless');
  const body = { note: 'another body' };
  const paid = await submitCard(world, empty, { headers, body });
  expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  expect((await submitCard(world, empty, { headers, body })).text).toBe(paid.text);
});

test('a wallet submit whose payment another submit pays while it reads is told so, not that money is missing', async () => {
  const wallet = await world.wallet({ balance: 12_50n });
  const paying = await collect(world, merchant);
  const { deps } = world.gateway;
  const { store } = deps;
  let session: Promise<unknown> | undefined;
  let payment: Promise<unknown> | undefined;
  let other: Promise<Answer> | undefined;
  let reads = 0;
  // The rows are read once for the PIN, and again to decide: then the money leaves, once session and payment have been read.
  const paidMeanwhile = async (): Promise<void> => {
    if (reads < 2) return;
    await Promise.all([session, payment]);
    other ??= payFromWallet(world, paying, wallet);
    await other;
  };
  const slow: typeof store = {
    ...store,
    session: {
      ...store.session,
      caller: (...key) => {
        reads += 1;
        const read = store.session.caller(...key);
        session = read;
        return read;
      },
    },
    payment: {
      ...store.payment,
      get: (...key) => {
        const read = store.payment.get(...key);
        payment = read;
        return read;
      },
    },
    wallet: { ...store.wallet, get: (...key) => paidMeanwhile().then(() => store.wallet.get(...key)) },
    account: { ...store.account, get: (...key) => paidMeanwhile().then(() => store.account.get(...key)) },
  };
  const caller = await callerOf(world, merchant, paying);
  const submitted = submitPayment({ ...deps, store: slow }, caller, submitOf(paying, meansOf(wallet)), plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1001 });
  expect((await other)?.json).toMatchObject({ status: 'approved' });
  expect(await statusOf(world, paying)).toBe('approved');
});
