/** What a new refund may ask for, given the earlier ones. */
import { expect, test } from 'vitest';
import { makeId } from './ids.ts';
import type { Refund } from './outgoing-records.ts';
import type { RefundContext } from './refund.ts';
import { makeRefund, REFUNDS_OF_A_PAYMENT } from './refund-order.ts';
import { paid, SHARD, txn, UPSTREAM } from './testing/refund-world.ts';

test('a payment can be refunded in a limited number of parts, and one too many is refused before anything is written', () => {
  const context: RefundContext = { now: 1, newId: (prefix) => makeId(prefix, 1, new Uint8Array(16), SHARD) };
  const part = { amount: '0.01', note: null };
  const nothing = { payment: paid, earlier: [], availableMinor: 1000n };
  const { refund } = makeRefund(nothing, part, () => UPSTREAM, context);
  const after = (parts: number) => () =>
    makeRefund({ ...nothing, earlier: Array<Refund>(parts).fill(refund) }, part, () => UPSTREAM, context);
  expect(after(REFUNDS_OF_A_PAYMENT - 1)).not.toThrow();
  // If nothing is left, the refusal says that: nobody should give the rest back another way.
  const spent = { ...paid, refunding_minor: paid.amount_minor };
  const all = { ...nothing, payment: spent, earlier: Array<Refund>(REFUNDS_OF_A_PAYMENT).fill(refund) };
  expect(() => makeRefund(all, part, () => UPSTREAM, context)).toThrow(
    expect.objectContaining({
      more: expect.objectContaining({ details: [expect.objectContaining({ code: 'ABOVE_REFUNDABLE' })] }),
    }),
  );
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
