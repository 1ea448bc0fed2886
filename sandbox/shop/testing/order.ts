/**
 * An order as the shop keeps it, for tests that need one without buying.
 * Invariant: whatever a test does not specify is the same every time.
 */
import type { NewOrder } from '../orders.ts';

export function anOrder(more: Partial<NewOrder> = {}): NewOrder {
  return {
    id: 'a1'.repeat(16),
    reference: 'BK-A1A1A1A1',
    amount: '19.00',
    currency: 'usd',
    language: 'en',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    lines: [{ good: 'coffee', quantity: 2 }],
    at: Date.UTC(2026, 10, 20, 14, 0, 0),
    transaction_id: 'txn_1',
    redirect_url: 'http://gateway.example/pay/1',
    session_token: 'sess_secret',
    ...more,
  };
}
