/**
 * Card money that came although the network had turned the try away, or said no: it is not asked for again, on the same session,
 * whatever its customer does next (decision 30).
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CommitUnknown } from '../../src/store/errors.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { collectPayment } from '../../src/usecases/payment-collect.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { type CardPaying, collectByCard, collectCardWith, submitCard } from '../support/card-payments.ts';
import { textOf, visitor } from '../support/checkout-flows.ts';
import { BY_TOKEN, callerOf, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { refusal } from '../support/fickle-network.ts';
import { codeOn, collectWith, payFromWallet, statusOf, untilStatus } from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { onlyHook } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { collectBody, type World } from '../support/world.ts';

let desk: FickleDesk;
let world: World;
beforeAll(async () => {
  desk = await openFickleDesk();
  ({ world } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

const collected = (amount = '12.50'): Promise<CardPaying> =>
  collectByCard(world, desk.merchant, { minted: { ttl_seconds: 7_200, amount } });
const again = async (first: CardPaying): Promise<CardPaying> => ({
  ...first,
  ...(await collectCardWith(world, first.token)),
});
const byToken = ({ token }: CardPaying) => {
  const more = { native_pay_token: 'tok_approved', native_pay_token_type: 'google_pay' };
  return world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'google_pay', more) });
};
const pays = (): number => desk.network.count('pay');

/** The only attempt at a payment. */
async function tryOf({ transaction_id }: CardPaying) {
  const found = 'select id, shard, status, reason from attempt where payment_id = $1';
  const [row] = await rowsOf<{ id: string; shard: number; status: string; reason: string }>(world, found, [
    transaction_id,
  ]);
  if (row === undefined) throw new Error('no try has been made');
  return row;
}
const took = async (paying: CardPaying): Promise<void> => desk.network.took((await tryOf(paying)).id);

async function turnAway(paying: CardPaying): Promise<void> {
  desk.network.issuer = 'SUCCESSFUL';
  desk.network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(world, paying), 502, '1404');
  desk.network.instead('pay', undefined);
}
/** The first payment of a session, whose PAY the network turned away; `taken`: and carried out all the same. */
async function turnedAway({ taken }: { readonly taken: boolean }): Promise<CardPaying> {
  const first = await collected();
  await turnAway(first);
  if (taken) await took(first);
  return first;
}

async function decline(paying: CardPaying): Promise<void> {
  Object.assign(desk.network, { issuer: 'SUCCESSFUL', pays: 'DECLINED' });
  expectRefusal(await submitCard(world, paying), 402, '1502');
  desk.network.pays = 'APPROVED';
}
/** The network says now that this try, whose payment has ended, was paid. */
async function paidLate(paying: CardPaying): Promise<void> {
  await took(paying);
  const { deps } = world.gateway;
  const { shard, id } = await tryOf(paying);
  const attempt = await deps.store.attempt.get(shard, id);
  if (attempt !== undefined) await inquireAttempt(deps, attempt, 'hint');
  expect(await tryOf(paying)).toMatchObject({ status: 'approved', reason: 'late_success' });
}

describe('a payment that was turned away and carried out', () => {
  test('another payment’s submit asks for nothing, and the first payment is paid', async () => {
    const first = await turnedAway({ taken: true });
    const second = await again(first);
    const before = pays();
    const submitted = await whileTimePasses(world, submitCard(world, second));
    // It is paid in time: nobody has to give that back.
    expectRefusal(submitted, 401, '1001', 'SESSION_CONSUMED');
    expect(pays()).toBe(before);
    expect(await statusOf(world, first)).toBe('approved');
    expect(await statusOf(world, second)).toBe('cancelled');
  });

  test('a token of Google Pay asks for nothing, and the first payment is paid', async () => {
    const first = await turnedAway({ taken: true });
    const before = pays();
    const collected = await byToken(first);
    await world.gateway.background.idle();
    expect(collected.status, collected.text).not.toBe(201);
    expect(pays()).toBe(before);
    expect(await statusOf(world, first)).toBe('approved');
  });
});

describe('a payment that was turned away, and of which the network cannot say more', () => {
  test('the submit may be repeated, and is told that an earlier try is open', async () => {
    const first = await turnedAway({ taken: false });
    const second = await again(first);
    const before = pays();
    desk.network.instead('inquire', refusal('SERVER_BUSY'));
    expectRefusal(await submitCard(world, second), 502, '1404', 'EARLIER_TRY_OPEN');
    expectRefusal(await byToken(first), 502, '1404', 'EARLIER_TRY_OPEN');
    expect(pays()).toBe(before);
  });
});

test('if it was not carried out, the second payment pays', async () => {
  const second = await again(await turnedAway({ taken: false }));
  const submitted = await submitCard(world, second);
  expect(submitted.json.status, submitted.text).toBe('approved');
});

test('a submit that was allowed before the clock was set back does not ask for money half an hour later', async () => {
  const { network } = desk;
  const paying = await collected();
  network.issuer = 'SUCCESSFUL';
  const before = pays();
  const slow = network.hold('form');
  const submitted = submitCard(world, paying);
  await slow.asked;
  world.clock.setBack(3_600_000);
  await world.clock.advance(1_800_000);
  slow.answer();
  expectRefusal(await submitted, 502, '1404');
  expect(pays()).toBe(before);
});

test.each(['card', 'token'] as const)(
  'no %s is charged when the inquiry before it finds that a declined payment was paid',
  async (by) => {
    const first = await collected();
    await decline(first);
    await took(first);
    const before = pays();
    const said = by === 'card' ? await submitCard(world, await again(first)) : await byToken(first);
    await world.gateway.background.idle();
    expect(pays()).toBe(before);
    expectRefusal(said, 400, '1110', 'PAID_BEFORE');
  },
);

test('a payment that was turned away and carried out pays itself, also beside another of its session', async () => {
  const first = await turnedAway({ taken: true });
  await again(first);
  expect((await submitCard(world, first)).json).toMatchObject({ status: 'approved' });
});

test('a submit that hears that an earlier try has paid after the round has given it up is paid by it', async () => {
  const paying = await turnedAway({ taken: true });
  const slow = desk.network.hold('inquire');
  const submitted = submitCard(world, paying);
  await slow.asked;
  await untilStatus(world, paying, 'pending', 30_000);
  slow.answer();
  expect((await submitted).json).toMatchObject({ status: 'approved' });
  await world.gateway.background.idle();
  expect((await onlyHook(world, paying)).body.status).toBe('approved');
  expectRefusal(await submitCard(world, paying), 401, '1001', 'SESSION_CONSUMED');
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('two tabs: one is turned away and charged while the other inquires about an earlier payment', async () => {
  const { network } = desk;
  const c = await collected();
  await turnAway(c);
  const b = await again(c);
  const a = await again(c);
  const slow = network.hold('inquire');
  const second = submitCard(world, b);
  await slow.asked;
  await turnAway(a);
  await took(a);
  const before = pays();
  const order = { id: b.transaction_id, amount: '12.50', currency: 'USD', reference: b.transaction_id };
  const form = { session: { id: b.form }, order, sourceOfFunds: { provided: { card: {} } } };
  network.instead('form', { status: 200, body: JSON.stringify(form) });
  slow.answer();
  await whileTimePasses(world, second);
  expect(pays()).toBe(before);
});

test('two tabs: nothing is charged twice if the first was authenticated when the session had no other payment', async () => {
  const a = await collected();
  desk.network.issuer = 'SUCCESSFUL';
  const caller = await callerOf(world, desk.merchant, a);
  const b = await again(a);
  await turnAway(b);
  await took(b);
  const before = pays();
  const order = { id: a.transaction_id, amount: '12.50', currency: 'USD', reference: a.transaction_id };
  const form = { session: { id: a.form }, order, sourceOfFunds: { provided: { card: {} } } };
  desk.network.instead('form', { status: 200, body: JSON.stringify(form) });
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(a, { method: 'card', formId: a.form, browser });
  const submitted = submitPayment(world.gateway.deps, caller, command, plainly).catch((error) => error);
  await whileTimePasses(world, submitted);
  expect(pays()).toBe(before);
});

test('three tabs: a submit that finds the first payment paid, while the third holds the session, may be repeated', async () => {
  const { network } = desk;
  const first = await turnedAway({ taken: false });
  const second = await again(first);
  const caller = await callerOf(world, desk.merchant, second);
  const third = await again(first);
  const slow = network.hold('form');
  const holding = submitCard(world, third);
  await slow.asked;
  await took(first);
  const before = pays();
  // It was authenticated before the third held the session.
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(second, { method: 'card', formId: second.form, browser });
  const details = [{ field: 'session_id', code: 'EARLIER_TRY_OPEN' }];
  const submitted = submitPayment(world.gateway.deps, caller, command, plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1404, more: { details } });
  slow.answer(refusal('SERVER_BUSY'));
  expectRefusal(await holding, 502, '1404');
  await untilStatus(world, first, 'approved', 60_000);
  expect(pays()).toBe(before);
});

test('a token that came while a card submit held the session is not sent once that was turned away and charged', async () => {
  const first = await collected();
  desk.network.issuer = 'SUCCESSFUL';
  const slow = desk.network.hold('pay');
  const submitted = submitCard(world, first);
  await slow.asked;
  // Authenticated now; its commit comes after the submit has ended.
  const caller = await callerOf(world, desk.merchant, first);
  slow.answer(refusal('SERVER_BUSY'));
  expectRefusal(await submitted, 502, '1404');
  await took(first);
  const before = pays();
  await collectPayment(world.gateway.deps, caller, BY_TOKEN, plainly).catch(() => undefined);
  await world.gateway.background.idle();
  expect(pays()).toBe(before);
});

test('a charged card is not charged again after four payments of the session that were tried otherwise', async () => {
  const first = await collected();
  await turnAway(first);
  await took(first);
  const poor = await world.wallet({ balance: 0n });
  for (let n = 0; n < 4; n += 1) {
    const other = { ...first, ...(await collectWith(world, first.token)) };
    expectRefusal(await payFromWallet(world, other, poor), 402, '1201');
  }
  const last = await again(first);
  const before = pays();
  await whileTimePasses(world, submitCard(world, last));
  expect(pays()).toBe(before);
});

test.each(['card', 'token'] as const)('once the money has been given back, the order can be paid by %s', async (by) => {
  const first = await collected();
  await decline(first);
  await paidLate(first);
  const { id } = await tryOf(first);
  await bookLateMoney(world.gateway.deps, id, givenBack(id));
  const paid = by === 'card' ? await submitCard(world, await again(first)) : await byToken(first);
  expect(paid.status, paid.text).toBe(200);
});

test('a customer back from the issuer is not charged if another payment of the session has paid late meanwhile', async () => {
  const first = await collected();
  await turnAway(first);
  const second = await again(first);
  desk.network.issuer = 'PENDING';
  const submitted = await submitCard(world, second);
  expect(submitted.status, submitted.text).toBe(202);
  await paidLate(first);
  const before = pays();
  desk.network.issuer = 'SUCCESSFUL';
  await world.pass(60_000, 12);
  expect(pays()).toBe(before);
});

test('a challenge that has failed is not kept open for ever because nobody can say whether an earlier try has paid', async () => {
  const { network } = desk;
  const paying = await turnedAway({ taken: false });
  network.issuer = 'PENDING';
  expect((await submitCard(world, paying)).status).toBe(202);
  network.issuer = 'FAILED';
  network.instead('inquire', 'cuts');
  // As long as a customer may be on the way back from the issuer, and no longer.
  await world.pass(60_000, 14);
  expect(await statusOf(world, paying)).toBe('processing');
  await untilStatus(world, paying, 'declined', 60_000);
});

test('a wallet is not debited by a code that was sent before another payment of the session has paid late', async () => {
  const first = await collected('600.00');
  await turnAway(first);
  const wallet = await world.wallet({ balance: 1_000_00n });
  const second = { ...first, ...(await collectWith(world, first.token)) };
  const asked = await payFromWallet(world, second, wallet);
  expect(asked.json.status, asked.text).toBe('pending_otp_verification');
  await paidLate(first);
  const body = { payment_id: second.payment_id, otp_code: await codeOn(world, wallet.phone) };
  const said = await world.call('POST', '/payments/verify-otp', { bearer: second.token, body });
  expectRefusal(said, 400, '1110', 'PAID_BEFORE');
});

test('a submit that meets the approval of its own payment is not told that money came too late', async () => {
  const { deps } = world.gateway;
  const paying = await collected();
  await turnAway(paying);
  await took(paying);
  const caller = await callerOf(world, desk.merchant, paying);
  const { attempt } = deps.store;
  let asked = false;
  const store: typeof deps.store = {
    ...deps.store,
    attempt: {
      ...attempt,
      async ofCardPayment(shard, id) {
        // The inquiry round approves the payment by its first try just now, in time.
        const own = asked ? undefined : await attempt.get(shard, (await tryOf(paying)).id);
        asked = true;
        if (own !== undefined) await inquireAttempt(deps, own, 'hint');
        return attempt.ofCardPayment(shard, id);
      },
    },
  };
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
  const said = await submitPayment({ ...deps, store }, caller, command, plainly).catch((error) => error);
  expect(await statusOf(world, paying)).toBe('approved');
  expect(said.more?.details?.[0]?.code).not.toBe('PAID_BEFORE');
});

test('a submit by which an earlier try has paid says so, even if the database’s answer to that is lost', async () => {
  const paying = await turnedAway({ taken: true });
  const caller = await callerOf(world, desk.merchant, paying);
  const { deps } = world.gateway;
  const { store } = deps;
  let isLost = false;
  const commit: typeof store.commit = async (change) => {
    const outcome = await store.commit(change);
    const pays = change.updates?.some(({ table, row }) => table === 'payment' && row.status === 'approved');
    if (isLost || pays !== true) return outcome;
    isLost = true;
    throw new CommitUnknown();
  };
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
  const submitted = submitPayment({ ...deps, store: { ...store, commit } }, caller, command, {
    ...plainly,
    render: ({ payment }) => ({ status: 200, body: payment.status }),
  });
  expect((await whileTimePasses(world, submitted)).body).toBe('approved');
  expect(isLost).toBe(true);
});

test('no page of a session whose money has come late says that nothing has been charged', async () => {
  const first = await collected();
  await decline(first);
  const { payment_method: _none, ...body } = collectBody(world, 'none');
  const made = await world.call('POST', '/payments/collect-redirect', { bearer: first.token, body });
  expect(made.status, made.text).toBe(200);
  const customer = visitor(world);
  const page = await customer.open(made.json.redirect_url);
  await paidLate(first);
  // First before a round has written that its time is over.
  await world.clock.advance(2 * 60 * 60_000);
  expect(textOf(await customer.open(page.url))).not.toContain('Nothing has been charged');
  await world.pass(1_000);
  expect(textOf(await customer.open(page.url))).not.toContain('Nothing has been charged');
});
