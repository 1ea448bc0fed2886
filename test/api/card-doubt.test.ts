/**
 * Card payments whose network is in doubt, changes its answer, or is no longer there: what may have been paid is not asked
 * for again, and the customer is told so.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { createSessionTurns } from '../../src/usecases/session-turns.ts';
import { archive, growOld } from '../support/archive-scenes.ts';
import {
  type CardPaying,
  callbackFor,
  collectByCard,
  collectCardWith,
  openFormOf,
  postCallback,
  submitCard,
} from '../support/card-payments.ts';
import { callerOf, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { type FickleNetwork, refusal } from '../support/fickle-network.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  detailOf,
  numberEnding,
  payByPhone,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, onlyHook, unsureOf } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { collectBody, mint, type World } from '../support/world.ts';

let desk: FickleDesk;
let network: FickleNetwork;
let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  desk = await openFickleDesk();
  ({ network, world, merchant } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

describe('a payment whose method was open takes over method and fee with a submit in doubt', () => {
  test('by card', async () => {
    const { deps } = world.gateway;
    const shop = await world.merchant('Librairie Goma');
    const fee = { rate: '2', fixed: 0n, min: undefined, max: undefined, currency: 'usd', method: 'card' } as const;
    await setFee(deps, { merchantId: shop.merchant.id, ...fee });
    const paying = await collect(world, shop);
    const form = await openFormOf(world, paying);
    network.issuer = 'SUCCESSFUL';
    network.instead('pay', 'cuts');
    const unsure = await submitCard(world, { ...paying, form });
    const money = { status: 'processing', fee_amount: '0.25', total_amount: '12.75' };
    expect(unsure.json, unsure.text).toMatchObject(money);
    expect(await detailOf(world, paying)).toMatchObject({ ...money, payment_method: 'card' });
  });

  test('by mobile money', async () => {
    const shop = await world.merchant('Librairie Goma');
    const fee = { rate: '2', fixed: 0n, min: undefined, max: undefined, currency: 'usd' } as const;
    await setFee(world.gateway.deps, { merchantId: shop.merchant.id, ...fee, method: 'mobile_money' });
    // From now on the carrier's token is there.
    expect((await payByPhone(world, await collect(world, shop), numberEnding('42'))).status).toBe(200);
    const paying = await collect(world, shop);
    world.sandbox.faults.set('mtn', { answer_lost_rate: 1 });
    const unsure = await payByPhone(world, paying, numberEnding('42'));
    const money = { status: 'processing', fee_amount: '0.25', total_amount: '12.75' };
    expect(unsure.json, unsure.text).toMatchObject(money);
    expect(await detailOf(world, paying)).toMatchObject({ ...money, payment_method: 'mobile_money' });
    expect(await unsureOf(world, paying)).toMatchObject([{ connector: 'mtn-momo', kind: 'unknown' }]);
  });
});

describe('a submit that ends at once without paying', () => {
  test.each([
    ['cancelled at the network', 'cancelled', { issuer: 'SUCCESSFUL', pays: 'CANCELLED' }],
    ['given up by the issuer', 'expired', { issuer: 'TIMED_OUT' }],
  ] as const)('%s: 1502, final, told, and the session can pay another payment', async (_name, status, says) => {
    const paying = await desk.collected();
    Object.assign(network, says);
    const headers = { 'idempotency-key': `ended-${paying.transaction_id}` };
    const refused = await submitCard(world, paying, { headers });
    expectRefusal(refused, 402, '1502', 'AUTHENTICATION_FAILED');
    expect((await submitCard(world, paying, { headers })).text).toBe(refused.text);
    expect(await statusOf(world, paying)).toBe(status);
    expect((await onlyHook(world, paying)).body.status).toBe(status);
    expectRefusal(await submitCard(world, paying), 409, '1205', 'STATE');
    Object.assign(network, { issuer: 'SUCCESSFUL', pays: 'APPROVED' });
    const next = await collectCardWith(world, paying.token);
    expect((await submitCard(world, { ...next, token: paying.token })).json).toMatchObject({ status: 'approved' });
    expect(await statusOf(world, paying)).toBe(status);
  });
});

test('a challenge without a form, even as the first answer: 1404, and the payment is pending again', async () => {
  const paying = await desk.collected();
  network.instead('initiate', {
    status: 200,
    body: JSON.stringify({ transaction: { authenticationStatus: 'AUTHENTICATION_PENDING' } }),
  });
  const refused = await submitCard(world, paying);
  expectRefusal(refused, 502, '1404');
  expect(refused.json).toMatchObject({ transaction_id: paying.transaction_id, retryable: true, retry_after: 10 });
  expect(await statusOf(world, paying)).toBe('pending');
});

test.each([
  ['has paid already', 'session.id', 'Session was already used in a payment', 'FORM_USED'],
  ['lacks a part of its card', 'sourceOfFunds.provided.card.securityCode', 'Missing parameter', 'CARD_NOT_ENTERED'],
] as const)(
  'a form of which the network says that it %s: 1110, and no money is asked for',
  async (_name, field, says, code) => {
    const paying = await desk.collected();
    const pays = network.count('pay');
    network.instead('initiate', refusal('INVALID_REQUEST', says, field));
    expectRefusal(await submitCard(world, paying), 400, '1110', code);
    expect(network.count('pay')).toBe(pays);
    expect(await statusOf(world, paying)).toBe('pending');
  },
);

test('an empty form is simply filled in, even if nobody can say whether an earlier try has paid', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(world, paying), 502, '1404');
  network.instead('inquire', 'cuts');
  const field = 'sourceOfFunds.provided.card.securityCode';
  network.instead('initiate', refusal('INVALID_REQUEST', 'Missing parameter', field));
  expectRefusal(await submitCard(world, paying), 400, '1110', 'CARD_NOT_ENTERED');
  network.instead('initiate', undefined);
  const unclear = await submitCard(world, paying);
  expectRefusal(unclear, 502, '1404', 'EARLIER_TRY_OPEN');
  expect(unclear.json).toMatchObject({ transaction_id: paying.transaction_id, retryable: true, retry_after: 10 });
});

test.each([
  ['the customer is sent to the issuer', 'PENDING', /^processing http.*\/checkout\/challenge\/\w/],
  ['if the round has heard of the issuer since, the customer has paid', 'SUCCESSFUL', /^approved nowhere$/],
] as const)('a challenge whose commit takes effect while its rows are read again: %s', async (_name, issuer, said) => {
  const paying = await desk.collected();
  const caller = await callerOf(world, merchant, paying);
  const { deps } = world.gateway;
  const { store } = deps;
  let lost: Change | undefined;
  /** The database loses its answer, and takes the change once the attempt has been read: before the session is. */
  const late: Pick<typeof store, 'commit' | 'attempt'> = {
    commit(change) {
      const challenges = change.updates?.some(({ table, row }) => table === 'attempt' && row.status === 'challenged');
      if (lost !== undefined || challenges !== true) return store.commit(change);
      lost = change;
      return Promise.reject(new CommitUnknown());
    },
    attempt: {
      ...store.attempt,
      async get(shard, id) {
        const read = await store.attempt.get(shard, id);
        if (lost === undefined || read?.status !== 'intended') return read;
        expect(await store.commit(lost)).toBe('won');
        network.issuer = issuer;
        // Another process's round: its turns are not ours.
        const round = { ...deps, sessionTurns: createSessionTurns(deps.clock) };
        await inquireAttempt(round, await attemptOf(world, paying), 'due');
        return read;
      },
    },
  };
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const submitted = submitPayment(
    { ...deps, store: { ...store, ...late } },
    caller,
    submitOf(paying, { method: 'card', formId: paying.form, browser }),
    {
      ...plainly,
      render: ({ payment, redirectUrl = 'nowhere' }) => ({ status: 200, body: `${payment.status} ${redirectUrl}` }),
    },
  );
  expect((await whileTimePasses(world, submitted)).body).toMatch(said);
  expect(lost).toBeDefined();
  network.issuer = 'SUCCESSFUL';
  expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'approved' });
});

test('a challenge that comes after the round has given the payment back: 1404, and the customer may try again', async () => {
  const paying = await desk.collected();
  const slow = network.hold('authenticate');
  const submitted = submitCard(world, paying);
  await slow.asked;
  // As if the process had stood still: the round has heard “not found” twice.
  await untilStatus(world, paying, 'pending', 30_000);
  slow.answer();
  expectRefusal(await submitted, 502, '1404', 'CARRIER_DOWN');
  expect(await statusOf(world, paying)).toBe('pending');
  network.issuer = 'SUCCESSFUL';
  expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
});

test('the round leaves a submit alone while PAY may be on its way, for forty seconds', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  const slow = network.hold('pay');
  const submitted = submitCard(world, paying);
  await slow.asked;
  await world.pass(10_000, 4);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'intended', inquiries: 0, not_found_at: null });
  slow.answer();
  expect((await submitted).json).toMatchObject({ status: 'approved' });
});

test('PAY is answered while another payment of the session is being paid: nobody is told to pay this one again', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  const slow = network.hold('pay');
  const first = submitCard(world, paying);
  await slow.asked;
  // As if the process had stood still: the round has heard “not found” twice, and has given the session back.
  await untilStatus(world, paying, 'pending', 30_000);
  const other = { ...paying, ...(await collectCardWith(world, paying.token)) };
  const begun = network.hold('form');
  const next = submitCard(world, other);
  await begun.asked;
  slow.answer();
  expectRefusal(await first, 502, '1404', 'EARLIER_TRY_OPEN');
  expect(await statusOf(world, paying)).toBe('pending');
  begun.answer(refusal('SERVER_BUSY'));
  expectRefusal(await next, 502, '1404');
  await untilStatus(world, paying, 'approved', 60_000);
  expect(await statusOf(world, other)).toBe('cancelled');
});

test('an amount with more digits than the network takes: 1202 at collect; another method takes it', async () => {
  const { token } = await mint(world, merchant, { amount: '1000000000000.00' });
  const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
  const refused = await world.call('POST', '/payments/collect', { bearer: token, body });
  expectRefusal(refused, 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
  expect(refused.json.details[0].message).toContain('999999999999.99');
  const other = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') });
  expect(other.status, other.text).toBe(200);
  const most = await mint(world, merchant, { amount: '999999999999.99' });
  await collectCardWith(world, most.token);
});
describe('late card money while its session is open', () => {
  interface Tried {
    readonly paying: CardPaying;
    readonly attemptId: string;
  }

  /** A payment that its issuer declined. */
  async function declined(of = desk.collected()): Promise<Tried> {
    const paying = await of;
    Object.assign(network, { issuer: 'SUCCESSFUL', pays: 'DECLINED' });
    expectRefusal(await submitCard(world, paying), 402, '1502');
    return { paying, attemptId: (await attemptOf(world, paying)).id };
  }

  /** The network says later that it was paid after all. */
  async function paidLate(tried = declined()): Promise<Tried> {
    const { paying, attemptId } = await tried;
    network.took(attemptId);
    await world.pass(16 * 60_000);
    expect(await attemptOf(world, paying)).toMatchObject({ status: 'approved', reason: 'late_success' });
    return { paying, attemptId };
  }

  const book = (attemptId: string) =>
    bookLateMoney(world.gateway.deps, attemptId, { to: 'merchant', by: 'amina', why: 'it was delivered' });

  test('cannot be booked to its merchant while the customer is paying the order otherwise', async () => {
    const { paying, attemptId } = await declined();
    const other = { ...paying, ...(await collectWith(world, paying.token)) };
    const msisdn = numberEnding('42');
    expect((await payByPhone(world, other, msisdn)).status).toBe(200);
    network.took(attemptId);
    await inquireAttempt(world.gateway.deps, await attemptOf(world, paying), 'hint');
    expect(await attemptOf(world, paying)).toMatchObject({ status: 'approved', reason: 'late_success' });
    const open = `${other.transaction_id}, which is pending_mobile_money_verification: wait`;
    await expect(book(attemptId)).rejects.toThrow(open);
    await answerPrompt(world, msisdn, 'approve');
    await untilStatus(world, other, 'approved');
    await expect(book(attemptId)).rejects.toThrow(`was paid by ${other.transaction_id}`);
  });

  test('keeps the session from paying once more, and cannot be booked to its merchant before that is over', async () => {
    const { paying, attemptId } = await paidLate();
    await expect(book(attemptId)).rejects.toThrow(/session is open until .*Z: .*--to payer/);
    const other = { ...paying, ...(await collectWith(world, paying.token)) };
    expectRefusal(await payByPhone(world, other, numberEnding('42')), 400, '1110', 'PAID_BEFORE');
  });

  test('is not reported as the decline that it was believed to be', async () => {
    const { paying } = await paidLate();
    const read = await world.call('GET', `/payments/check-status/${paying.transaction_id}`, { bearer: paying.token });
    expect(read.json).toMatchObject({ status: 'declined', upstream_status: null });
  });

  test('can be booked to its merchant once the session is over', async () => {
    const { attemptId } = await paidLate();
    await world.pass(105 * 60_000);
    // Two hours and a minute: the clock of the process that takes payments may be behind.
    await expect(book(attemptId)).rejects.toThrow(/session is open until/);
    await world.pass(5 * 60_000);
    expect((await book(attemptId)).attempt.reason).toBe('late_success_kept');
  });

  test('can be booked to its merchant once, even if the payment that brought it has been archived', async () => {
    const first = await declined();
    const { paying } = first;
    const more = collectCardWith(world, paying.token).then((other) => ({ ...paying, ...other }));
    const other = await declined(more);
    network.took(other.attemptId);
    const { attemptId } = await paidLate(Promise.resolve(first));
    const { id: second, reason } = await attemptOf(world, other.paying);
    expect(reason).toBe('late_success');
    await growOld(world);
    await book(attemptId);
    const before = await places(paying);
    await archive(world);
    expect([before, await places(paying)]).toEqual([['live'], ['archive']]);
    await expect(book(second)).rejects.toThrow(`was paid by ${attemptId}`);
  });

  async function places({ transaction_id: id }: CardPaying): Promise<string[]> {
    const found = await rowsOf<{ place: string }>(
      world,
      `select 'live' as place from payment where id = $1 union all select 'archive' from archive.payment where id = $1`,
      [id],
    );
    return found.map(({ place }) => place);
  }
});

test('if the card network is removed from the configuration, an open challenge ends by time', async () => {
  const paying = await desk.collected();
  expect((await submitCard(world, paying)).status).toBe(202);
  const { deps } = world.gateway;
  const attempt = await attemptOf(world, paying);
  const without = { ...deps, connectors: { ...deps.connectors, card: undefined, upstream: () => undefined } };
  await inquireAttempt(without, attempt, 'due');
  expect(await statusOf(world, paying)).toBe('processing');
  const clock = manualClock(deps.clock.now() + 11 * 60_000);
  await inquireAttempt({ ...without, clock }, await attemptOf(world, paying), 'due');
  const payment = await world.gateway.store.payment.get(merchant.merchant.shard, paying.transaction_id);
  expect(payment?.status).toBe('expired');
});

describe('a submit that hears that an earlier try has paid once the round has given it up', () => {
  async function heardLate() {
    network.issuer = 'SUCCESSFUL';
    network.instead('pay', refusal('SERVER_BUSY'));
    const paying = await collectByCard(world, merchant, { minted: { ttl_seconds: 300 } });
    expectRefusal(await submitCard(world, paying), 502, '1404');
    network.instead('pay', undefined);
    const tries = 'select id from attempt where payment_id = $1';
    const [{ id: first } = { id: '' }] = await rowsOf<{ id: string }>(world, tries, [paying.transaction_id]);
    network.took(first);
    const slow = network.hold('inquire');
    const submitted = submitCard(world, paying);
    await slow.asked;
    await untilStatus(world, paying, 'pending', 30_000);
    return { id: paying.transaction_id, first, slow, submitted };
  }
  const earlier = (id: string) => world.gateway.store.attempt.get(merchant.merchant.shard, id);

  test('does not say that nothing was charged if its payment has expired', async () => {
    const { id, first, slow, submitted } = await heardLate();
    await world.pass(300_000, 5);
    slow.answer();
    expectRefusal(await submitted, 400, '1110', 'PAID_BEFORE');
    expect(await earlier(first)).toMatchObject({ status: 'approved', reason: 'late_success' });
    expect((await world.gateway.store.payment.get(merchant.merchant.shard, id))?.status).toBe('expired');
  });

  test('has that try looked at again soon while another payment’s submit holds the session', async () => {
    const { id, first, slow, submitted } = await heardLate();
    const held = 'update session set submitting_payment_id = $1, version = version + 1';
    await rowsOf(world, `${held} where id = (select session_id from payment where id = $2)`, ['txn_other', id]);
    slow.answer();
    expectRefusal(await submitted, 502, '1404', 'EARLIER_TRY_OPEN');
    const next = (await earlier(first))?.next_inquiry_at;
    expect((next ?? Number.NaN) - world.gateway.deps.clock.now()).toBeLessThan(120_000);
  });
});
