/**
 * Finds payments by what a customer, a merchant or an upstream knows of them, and reads what surrounds one. For people, who can
 * wait: nobody pays for an index of these on the way of every payment.
 *
 * Invariant: live and archived rows are read as one, at one instant; each read is limited to a merchant, a shard or a span of time.
 */

import type { Currency } from '../domain/currency.ts';
import { firstIdAt, ID_SLACK_MS, SHARDS, shardOf } from '../domain/ids.ts';
import type { Attempt, LedgerTransfer, Payment, PaymentMethod, PaymentStatus } from '../domain/records.ts';
import { listOf } from './columns.ts';
import { asked } from './conditions.ts';
import { SESSION_SPAN_MS } from './late-reads.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import { askApart, type Question } from './read.ts';
import { createdWithin, idsWithin } from './scanned-page.ts';
import { columnsOf } from './tables.ts';
import { encodeArray } from './wire.ts';

const PAYMENT = columnsOf('payment');
const ATTEMPT = columnsOf('attempt');
const TRANSFER = columnsOf('ledger_transfer');

/** Which payments to find; what is undefined does not matter. */
export interface PaymentSearch {
  readonly merchantId?: string | undefined;
  readonly status?: PaymentStatus | undefined;
  readonly method?: PaymentMethod | 'none' | undefined;
  readonly currency?: Currency | undefined;
  /** The merchant's own reference, in full. */
  readonly reference?: string | undefined;
  /** The phone that paid, or was to pay (E.164). */
  readonly msisdn?: string | undefined;
  /** The wallet or flash account that paid. */
  readonly walletNumber?: string | undefined;
  /** The reference of an attempt at an upstream: ours or the upstream's own. */
  readonly upstreamReference?: string | undefined;
  /** Inclusive; this and `until` are of `created_at` (ms). */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Only payments older than this one: where the page before stopped. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** An array, so that the attempts are read once, not once for each shard. */
const TRIED_UNDER = `id = any(array(select a.payment_id from ${inEither('attempt')} a
  where a.purpose = 'payment' and ? in (a.reference, a.provider_reference)))`;

/** A page of payments of one merchant or of all, the newest first. @throws RangeError if the merchant's id is not an id. */
export function paymentSearch(search: PaymentSearch): Question {
  const { merchantId, status, method, currency, reference, msisdn, walletNumber, upstreamReference } = search;
  const { from, until, before, limit } = search;
  const shards = merchantId === undefined ? [0, SHARDS - 1] : [shardOf(merchantId), shardOf(merchantId)];
  const { conditions, values, name } = asked(
    [
      ['merchant_id = ?', merchantId, 'm'],
      ['customer_reference = ?', reference, 'r'],
      ['id < ?', before, 'b'],
      ...idsWithin('txn', from, until),
      ...createdWithin(from, until),
      ['status = ?', status, 's'],
      ['method = ?', method, 'y'],
      ['currency = ?', currency, 'c'],
      ['msisdn = ?', msisdn, 'p'],
      ['wallet_number = ?', walletNumber, 'w'],
      [TRIED_UNDER, upstreamReference, 'a'],
    ],
    shards.length,
  );
  const most = `limit $${shards.length + values.length + 1}::int8`;
  const statement: Statement = {
    name: `search_payments_${name}`,
    text: `select ${listOf(PAYMENT, 't')} from generate_series($1::int4, $2::int4) s(shard)
cross join lateral (select * from ${inEither('payment')} p
  where ${['shard = s.shard::int2', ...conditions].join(' and ')} order by id desc ${most}) t
order by t.id desc ${most}`,
  };
  return { statement, values: [...shards.map(String), ...values, String(limit)] };
}

export function searchPayments(lender: Lender, search: PaymentSearch): Promise<Payment[]> {
  return askApart(lender, paymentSearch(search), PAYMENT);
}

/** All attempts at a payment, in the order of their ids. */
export function attemptsAt({ shard, id, created_at }: Pick<Payment, 'shard' | 'id' | 'created_at'>): Question {
  const text = `select ${listOf(ATTEMPT)} from ${inEither('attempt')} a
where a.shard = $1::int2 and a.id >= $3 and a.id < $4 and a.payment_id = $2 order by a.id`;
  const ids = [firstIdAt('att', created_at - ID_SLACK_MS), firstIdAt('att', created_at + SESSION_SPAN_MS)];
  return { statement: { name: 'attempts_at_payment', text }, values: [String(shard), id, ...ids] };
}

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

export function readPaymentsBeside(lender: Lender, payment: Payment): Promise<Payment[]> {
  return askApart(lender, paymentsBeside(payment), PAYMENT);
}
