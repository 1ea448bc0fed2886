/**
 * What surrounds one payment: its attempts, the money that moved for it, and the other payments of its session.
 *
 * Invariant: live and archived rows are read as one; each read names a shard, and begins no earlier than the payment.
 */

import { firstIdAt, ID_SLACK_MS } from '../domain/ids.ts';
import type { Attempt, LedgerTransfer, Payment } from '../domain/records.ts';
import { listOf } from './columns.ts';
import { SESSION_SPAN_MS } from './late-reads.ts';
import type { Lender } from './lender.ts';
import { inEither } from './place.ts';
import { askApart, type Question } from './read.ts';
import { columnsOf } from './tables.ts';
import { encodeArray } from './wire.ts';

const PAYMENT = columnsOf('payment');
const ATTEMPT = columnsOf('attempt');
const TRANSFER = columnsOf('ledger_transfer');

/** All attempts at a payment, in the order of their ids. */
export function attemptsAt({ shard, id, created_at }: Pick<Payment, 'shard' | 'id' | 'created_at'>): Question {
  const text = `select ${listOf(ATTEMPT)} from ${inEither('attempt')} a
where a.shard = $1::int2 and a.id >= $3 and a.id < $4 and a.payment_id = $2 order by a.id`;
  const ids = [firstIdAt('att', created_at - ID_SLACK_MS), firstIdAt('att', created_at + SESSION_SPAN_MS)];
  return { statement: { name: 'attempts_at_payment', text }, values: [String(shard), id, ...ids] };
}

/** Reads all attempts at a payment, in the order of their ids. */
export function readAttemptsAt(lender: Lender, payment: Payment): Promise<Attempt[]> {
  return askApart(lender, attemptsAt(payment), ATTEMPT);
}

/** The transfers that name one of these causes (ids of a shard), made since an instant (ms), the oldest first. */
export function transfersFor(shard: number, causes: readonly string[], since: number): Question {
  const text = `select ${listOf(TRANSFER)} from ${inEither('ledger_transfer')} t
where t.shard = $1::int2 and t.id >= $3 and t.cause_id = any($2::text[]) order by t.at, t.id`;
  const values = [String(shard), encodeArray(causes), firstIdAt('trf', since - ID_SLACK_MS)];
  return { statement: { name: 'transfers_for', text }, values };
}

/** Reads the transfers that name one of these causes, the oldest first. */
export function readTransfersFor(lender: Lender, ...asked: Parameters<typeof transfersFor>): Promise<LedgerTransfer[]> {
  return askApart(lender, transfersFor(...asked), TRANSFER);
}

type Beside = Pick<Payment, 'shard' | 'merchant_id' | 'customer_reference' | 'session_id' | 'id'>;

/** The other payments of a payment's session, the oldest first. */
export function paymentsBeside(payment: Beside): Question {
  const { shard, merchant_id, customer_reference, session_id, id } = payment;
  const text = `select ${listOf(PAYMENT)} from ${inEither('payment')} p
where p.shard = $1::int2 and p.merchant_id = $2 and p.customer_reference = $3 and p.session_id = $4 and p.id <> $5 order by p.id`;
  const values = [String(shard), merchant_id, customer_reference, session_id, id];
  return { statement: { name: 'payments_beside', text }, values };
}

/** Reads the other payments of a payment's session, the oldest first. */
export function readPaymentsBeside(lender: Lender, payment: Payment): Promise<Payment[]> {
  return askApart(lender, paymentsBeside(payment), PAYMENT);
}
