/** What a new refund may ask for, given the earlier ones. */
import { expect, test } from 'vitest';
import type { DecisionContext } from './change.ts';
import { makeId } from './ids.ts';
import type { Refund } from './outgoing-records.ts';
import { START_LEASE_MS } from './payout.ts';
import { makeRefund, REFUNDS_OF_A_PAYMENT, type RefundRoute } from './refund-order.ts';
import { paid, SHARD, txn, UPSTREAM, WALLET } from './testing/refund-world.ts';

test('a payment can be refunded in a limited number of parts, and one too many is refused before anything is written', () => {
  const context: DecisionContext = { now: 1, newId: (prefix) => makeId(prefix, 1, new Uint8Array(16), SHARD) };
  const part = { amount: '0.01', note: null };
  const nothing = { payment: paid, earlier: [], availableMinor: 1000n };
  const { refund } = makeRefund(nothing, part, () => UPSTREAM, context);
  const after = (parts: number) => () =>
    makeRefund({ ...nothing, earlier: Array<Refund>(parts).fill(refund) }, part, () => UPSTREAM, context);
  expect(after(REFUNDS_OF_A_PAYMENT - 1)).not.toThrow();
  // If nothing is left, the refusal says that: nobody should give the rest back another way.
  const spent = { ...paid, refunding_minor: paid.amount_minor };
  const all = { ...nothing, payment: spent, earlier: Array<Refund>(REFUNDS_OF_A_PAYMENT).fill(refund) };
  for (const amount of ['0.01', undefined]) {
    expect(() => makeRefund(all, { ...part, amount }, () => UPSTREAM, context)).toThrow(
      expect.objectContaining({
        more: expect.objectContaining({ details: [expect.objectContaining({ code: 'REFUND_UNDER_WAY' })] }),
      }),
    );
  }
  expect(after(REFUNDS_OF_A_PAYMENT)).toThrow(
    expect.objectContaining({
      code: 1202,
      more: expect.objectContaining({
        transactionId: txn,
        details: [expect.objectContaining({ code: 'REFUNDS_USED' })],
      }),
    }),
  );
});

const nobody = { msisdn: null, wallet_number: null, connector: null, carrier: null };
const waits = { status: 'pending', tries: 0, started_at: null, completed_at: null, next_start_at: null };
const { kind: _kind, ...upstream } = UPSTREAM;

test.each<[RefundRoute, object]>([
  [WALLET, { ...nobody, wallet_number: '990500000001', status: 'completed', tries: 1, started_at: 7, completed_at: 7 }],
  [UPSTREAM, { ...nobody, ...upstream, ...waits, next_start_at: 7 + START_LEASE_MS }],
  [{ kind: 'by_hand' }, { ...nobody, ...waits }],
])('%o: the refund says where the money goes, and waits only where it has to be sent', (route, expected) => {
  const context: DecisionContext = { now: 7, newId: (prefix) => makeId(prefix, 1, new Uint8Array(16), SHARD) };
  const sources = { payment: paid, earlier: [], availableMinor: 1000n };
  expect(makeRefund(sources, { amount: '10', note: 'words' }, () => route, context).refund).toMatchObject({
    amount: '10',
    amount_minor: 1000n,
    note: 'words',
    ...expected,
  });
});

test('a refund of all is written as the payment’s amount was, one of the rest with all of the currency’s digits', () => {
  const context: DecisionContext = { now: 7, newId: (prefix) => makeId(prefix, 1, new Uint8Array(16), SHARD) };
  const all = { amount: undefined, note: null };
  const amountOf = (payment: typeof paid): string =>
    makeRefund({ payment, earlier: [], availableMinor: payment.amount_minor }, all, () => UPSTREAM, context).refund
      .amount;
  const whole = { ...paid, amount: '10', amount_minor: 10_00n };
  expect(amountOf(whole)).toBe('10');
  expect(amountOf({ ...whole, refunding_minor: 3_00n })).toBe('7.00');
});
