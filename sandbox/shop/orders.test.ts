// What the shop concludes about a payment, in whatever order it is told.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaymentEvent } from './merchant.ts';
import { createOrders, type Orders, stateOf } from './orders.ts';
import { anOrder } from './testing/order.ts';

const order = anOrder();
const paid = {
  transaction_id: order.transaction_id,
  customer_reference: order.reference,
  status: 'approved',
  amount: '19.00',
  currency: 'usd',
};

function event(more: Partial<PaymentEvent> = {}): PaymentEvent {
  return { id: 'evt_1', sequence: 1, ...paid, ...more };
}

function withOrder(): Orders {
  const orders = createOrders();
  orders.add(order);
  return orders;
}

describe('an order', () => {
  test('waits, and is paid by a verified webhook', () => {
    const orders = withOrder();
    expect(orders.get(order.id)).toMatchObject({ status: 'pending', asked_at: null, webhook_at: null });
    expect(orders.heard(event(), 5)).toBe('taken');
    expect(orders.get(order.id)).toMatchObject({ status: 'approved', asked_at: null, webhook_at: 5 });
  });

  test('keeps both ways by which its outcome was learned, and the first time of each', () => {
    const orders = withOrder();
    orders.answered(order.id, paid, 3);
    orders.heard(event(), 5);
    orders.heard(event({ id: 'evt_2', sequence: 2 }), 7);
    orders.answered(order.id, paid, 9);
    expect(orders.get(order.id)).toMatchObject({ status: 'approved', asked_at: 3, webhook_at: 5 });
  });

  test('a repeated event and a stale one change nothing', () => {
    const orders = withOrder();
    expect(orders.heard(event({ status: 'processing', sequence: 2 }), 1)).toBe('taken');
    expect(orders.heard(event({ status: 'processing', sequence: 2 }), 2)).toBe('repeated');
    expect(orders.heard(event({ id: 'evt_0', status: 'failed', sequence: 1 }), 3)).toBe('stale');
    expect(orders.get(order.id)).toMatchObject({ status: 'processing', webhook_at: 1 });
  });

  test.each<[string, Partial<PaymentEvent>]>([
    ['another order', { customer_reference: 'BK-OTHER' }],
    ['another amount', { amount: '1.00' }],
    ['another currency', { currency: 'cdf' }],
    ['another payment that failed', { transaction_id: 'txn_2', status: 'failed' }],
  ])('ignores an event about %s', (_name, more) => {
    const orders = withOrder();
    expect(orders.heard(event(more), 1)).toBe('unknown');
    expect(orders.get(order.id)?.status).toBe('pending');
  });

  test('ignores an answer about another order, with another amount, or with an unknown status', () => {
    const orders = withOrder();
    orders.answered(order.id, { ...paid, amount: '1.00' }, 1);
    orders.answered(order.id, { ...paid, customer_reference: 'BK-OTHER' }, 1);
    orders.answered(order.id, { ...paid, customer_reference: 'BK-OTHER', transaction_id: 'txn_2' }, 1);
    orders.answered(order.id, { ...paid, status: 'sure' }, 1);
    orders.answered(order.id, { ...paid, status: 'toString' }, 1);
    expect(orders.get(order.id)?.status).toBe('pending');
  });

  test('after a decline it can be paid by another payment of the same session', () => {
    const orders = withOrder();
    orders.answered(order.id, { ...paid, status: 'declined' }, 1);
    expect(orders.heard(event({ transaction_id: 'txn_2' }), 2)).toBe('taken');
    expect(orders.get(order.id)).toMatchObject({ status: 'approved', transaction_id: 'txn_2', webhook_at: 2 });
    expect(orders.heard(event({ id: 'evt_3', status: 'declined', sequence: 9 }), 3)).toBe('unknown');
  });

  test('after a decline it waits again for another payment, and does not go back to the first', () => {
    const orders = withOrder();
    orders.answered(order.id, { ...paid, status: 'declined' }, 1);
    orders.answered(order.id, { ...paid, transaction_id: 'txn_2', status: 'processing' }, 2);
    expect(orders.get(order.id)).toMatchObject({ status: 'processing', transaction_id: 'txn_2', asked_at: 2 });
    orders.answered(order.id, { ...paid, status: 'declined' }, 3);
    expect(orders.get(order.id)).toMatchObject({ status: 'processing', transaction_id: 'txn_2' });
  });

  test('shows a partial refund as refunded', () => {
    const orders = withOrder();
    orders.heard(event(), 1);
    orders.heard(event({ id: 'evt_2', sequence: 2, status: 'refunded', amount: '5.00' }), 2);
    expect(orders.get(order.id)).toMatchObject({ status: 'refunded', asked_at: null, webhook_at: 2 });
  });

  test('whatever is reported and whenever, a payment’s outcome stays, except that a paid one may be refunded', () => {
    const statuses = ['pending', 'processing', 'approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded'];
    const said = fc.record({
      status: fc.constantFrom(...statuses),
      transaction_id: fc.constantFrom('txn_1', 'txn_2'),
      id: fc.constantFrom('evt_1', 'evt_2', 'evt_3', undefined),
      sequence: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(said, { maxLength: 12 }), (all) => {
        const orders = withOrder();
        for (const { id, sequence, ...told } of all) {
          const before = orders.get(order.id);
          if (id === undefined) orders.answered(order.id, { ...paid, ...told }, 1);
          else orders.heard(event({ ...told, id, sequence }), 1);
          const after = orders.get(order.id);
          if (before === undefined || after === undefined || stateOf(before) === 'waiting') continue;
          const unpaid = before.status !== 'approved' && before.status !== 'refunded';
          if (unpaid && before.transaction_id !== after.transaction_id) continue;
          const moved = `${before.status} to ${after.status}`;
          expect(before.status === after.status || moved === 'approved to refunded', moved).toBe(true);
        }
      }),
    );
  });
});

test('only the newest 1 000 orders are kept, and a watcher hears only of its own order', () => {
  const orders = createOrders();
  const ids = Array.from({ length: 1_001 }, (_, n) => String(n));
  for (const id of ids) orders.add(anOrder({ id, reference: `BK-${id}`, transaction_id: `txn_${id}` }));
  expect(orders.get('0')).toBeUndefined();
  expect(orders.heard(event({ customer_reference: 'BK-0', transaction_id: 'txn_0' }), 1)).toBe('unknown');
  expect(orders.newest(2).map(({ id }) => id)).toEqual(['1000', '999']);

  const told: string[] = [];
  const unwatch = orders.watch('999', () => told.push('999'));
  orders.watch(undefined, () => told.push('any'));
  const paidFor = (id: string) => ({ ...paid, transaction_id: `txn_${id}`, customer_reference: `BK-${id}` });
  orders.answered('998', paidFor('998'), 1);
  orders.answered('999', paidFor('999'), 1);
  orders.answered('999', paidFor('999'), 2);
  unwatch();
  orders.heard(event({ customer_reference: 'BK-999', transaction_id: 'txn_999' }), 3);
  expect(told).toEqual(['any', '999', 'any', 'any']);
});
