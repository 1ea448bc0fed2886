/**
 * Why money that left lies in suspense: sent late, sent twice, or an order that is still open.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Document } from '../support/command-line.ts';
import { collect, numberEnding, payByPhone } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { openPayer } from '../support/payout-lines.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { TURNED_AWAY as BUSY } from '../support/wavering-carrier.ts';

let desk: OutDesk;

beforeAll(async () => {
  desk = await openOutDesk();
});
afterAll(() => desk.close());

/** Why an attempt's money lies there, and what has become of its order. */
const whyOf = async ({ id }: { readonly id: string }): Promise<unknown[]> => {
  const { why, status } = await desk.cli.json(`suspense show ${id}`);
  return [why, status];
};

/** A merchant, and a payment by phone that has been approved, to be refunded. */
const paid = async () => {
  const { world } = desk;
  const merchant = await world.merchant();
  const paying = await collect(world, merchant);
  await payByPhone(world, paying, numberEnding('42'));
  await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
  return { merchant, paying };
};

test('a line that another attempt or a retry may pay is open, and has been paid twice once it has', async () => {
  const payer = await openPayer(desk.world, 100_00n);
  const { one, two } = await desk.attemptedTwice(payer);
  const { line, attempt } = await desk.failed(payer);
  const again = await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
  for (const late of [one, attempt]) await desk.hearOf(late, 'SUCCESSFUL');
  expect([await whyOf(one), await whyOf(attempt)]).toEqual([
    ['order_open', 'processing'],
    ['order_open', 'failed'],
  ]);
  for (const last of [two, again]) await desk.hearOf(last, 'SUCCESSFUL');
  expect([await whyOf(one), await whyOf(attempt)]).toEqual([
    ['sent_twice', 'completed'],
    ['sent_twice', 'failed'],
  ]);
  for (const late of [one, attempt]) await desk.book(late, 'upstream');
});

test('a failed line whose other late money its merchant has paid for has been paid twice', async () => {
  const { one, two } = await desk.attemptedTwice(await openPayer(desk.world, 100_00n));
  await desk.hearOf(two, 'FAILED');
  for (const late of [one, two]) await desk.hearOf(late, 'SUCCESSFUL');
  expect(await whyOf(two)).toEqual(['sent_late', 'failed']);
  await desk.book(one, 'merchant');
  expect(await whyOf(two)).toEqual(['sent_twice', 'failed']);
  await desk.book(two, 'upstream');
});

test('a retry of a line whose late money its merchant has paid for has been paid twice', async () => {
  const payer = await openPayer(desk.world, 100_00n);
  const { line, attempt } = await desk.failed(payer);
  const again = await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
  await desk.hearOf(again, 'FAILED');
  for (const late of [attempt, again]) await desk.hearOf(late, 'SUCCESSFUL');
  expect(await whyOf(again)).toEqual(['sent_late', 'failed']);
  await desk.book(attempt, 'merchant');
  expect(await whyOf(again)).toEqual(['sent_twice', 'failed']);
  await desk.book(again, 'upstream');
});

test('a refund is open while it may be paid by another attempt, and has been paid twice once it has', async () => {
  const { world, carrier } = desk;
  const { merchant, paying } = await paid();
  carrier.answer(BUSY);
  const { refund_id } = await refunded(world, merchant, paying);
  const one = await desk.lastAttempt(refund_id, 'not_sent');
  await desk.passMinutes(2);
  const two = await desk.lastAttempt(refund_id, 'waiting');
  await desk.hearOf(one, 'SUCCESSFUL');
  expect(await desk.cli.json(`suspense show ${one.id}`)).toMatchObject({
    why: 'order_open',
    status: 'processing',
    customer_reference: paying.reference,
  });
  await desk.hearOf(two, 'SUCCESSFUL');
  expect(await whyOf(one)).toEqual(['sent_twice', 'completed']);
  await desk.book(one, 'upstream');
});

test('a refund that failed and was paid after that has been sent late', async () => {
  const { world } = desk;
  const { merchant, paying } = await paid();
  const late = await desk.lastAttempt((await refunded(world, merchant, paying)).refund_id, 'waiting');
  for (const word of ['FAILED', 'SUCCESSFUL'] as const) await desk.hearOf(late, word);
  expect(await whyOf(late)).toEqual(['sent_late', 'failed']);
  await desk.book(late, 'upstream');
});

test('money whose order is no longer there is listed all the same, and as an archived one’s', async () => {
  const { world } = desk;
  const { merchant, paying } = await paid();
  const sent = await desk.paidLate(await openPayer(world, 100_00n));
  const returned = await desk.lastAttempt((await refunded(world, merchant, paying)).refund_id, 'waiting');
  const unpaid = await collect(world, merchant);
  await payByPhone(world, unpaid, numberEnding('42'));
  const came = await attemptOf(world, unpaid);
  for (const late of [returned, came])
    for (const word of ['FAILED', 'SUCCESSFUL'] as const) await desk.hearOf(late, word);
  const ids = [came, sent.attempt, returned].map(({ id }) => id);
  const point = (order: string) => rowsOf(world, `update attempt set payment_id = ${order} where id = any($1)`, [ids]);
  await point('reverse(payment_id)');
  const { suspense } = await desk.cli.json('suspense list');
  await point('reverse(payment_id)');
  const seen = (suspense as Document[]).filter(({ attempt_id }) => ids.includes(String(attempt_id)));
  const gone = { status: 'archived', customer_reference: null };
  expect(new Map(seen.map(({ attempt_id, ...one }) => [attempt_id, one]))).toEqual(
    new Map(ids.map((id, at) => [id, expect.objectContaining({ ...gone, why: at === 0 ? 'paid_late' : 'sent_late' })])),
  );
  await desk.book(came, 'payer');
  for (const late of [sent.attempt, returned]) await desk.book(late, 'upstream');
});
