import { expect, test } from 'vitest';
import type { DecisionContext } from './change.ts';
import { makeId } from './ids.ts';
import type { LateTarget } from './late-money.ts';
import { bookLateOut } from './late-money-out.ts';
import type { Refund } from './outgoing-records.ts';
import { makeRefund } from './refund-order.ts';
import { attemptWith } from './testing/attempts.ts';
import { paid, SHARD, UPSTREAM } from './testing/refund-world.ts';

const context: DecisionContext = { now: 5, newId: (prefix, shard) => makeId(prefix, 5, new Uint8Array(16), shard) };
const sources = { payment: paid, earlier: [], availableMinor: 10_000n };
const { refund, payment } = makeRefund(sources, { amount: undefined, note: null }, () => UPSTREAM, context);
const late = attemptWith({
  shard: SHARD,
  id: 'att_late',
  merchant_id: paid.merchant_id,
  payment_id: refund.id,
  purpose: 'refund',
  status: 'approved',
  amount_minor: refund.amount_minor,
});

/** What is written of the refund and its payment when its late money is booked. */
function written(columns: Partial<Refund>, to: LateTarget) {
  const order = { kind: 'refund', refund: { ...refund, ...columns }, payment } as const;
  const beside = { others: [], guards: [] };
  const { change } = bookLateOut(late, order, to, { ids: ['trf_1', 'trf_2'], now: 5 }, beside);
  return change.updates?.map(({ table, row }) => [table, row]).slice(1);
}

test.each<[string, LateTarget, Partial<Refund>, string | null]>([
  ['failed', 'merchant', { status: 'failed', late_attempt_id: late.id }, late.id],
  ['failed', 'gateway', { status: 'failed', late_attempt_id: null }, late.id],
  ['failed', 'upstream', { status: 'failed', late_attempt_id: late.id }, null],
  // Another attempt has paid it late, or it was paid in time.
  ['failed', 'upstream', { status: 'failed', late_attempt_id: 'att_other' }, 'att_other'],
  ['completed', 'gateway', { status: 'completed', late_attempt_id: null }, null],
])('a %s refund whose late money goes to the %s: with its payment, so that no other is decided on it', (...given) => {
  const [, to, columns, late_attempt_id] = given;
  expect(written(columns, to)).toEqual([
    ['refund', { late_attempt_id }],
    ['payment', {}],
  ]);
});
