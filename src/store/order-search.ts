/**
 * Finds payments and payout lines by what a customer, a merchant or an upstream knows of them. For people, who can wait: nobody
 * pays for an index of a phone number on the way of every payment.
 *
 * Invariant: live and archived rows are read as one, at one instant.
 */

import type { Currency } from '../domain/currency.ts';
import { SHARDS, shardOf } from '../domain/ids.ts';
import type { PayoutLine, PayoutStatus } from '../domain/outgoing-records.ts';
import type { AttemptPurpose, Payment, PaymentMethod, PaymentStatus } from '../domain/records.ts';
import { distinctive } from '../domain/transfer-reference.ts';
import { listOf } from './columns.ts';
import { asked, type Condition } from './conditions.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import { askApart, type Question } from './read.ts';
import { createdWithin, idsWithin } from './scanned-page.ts';
import { columnsOf } from './tables.ts';

/** Which orders to find; what is undefined does not matter. */
interface OrderSearch {
  readonly merchantId?: string | undefined;
  readonly currency?: Currency | undefined;
  /** The merchant's own reference, in full. */
  readonly reference?: string | undefined;
  /** The phone that paid or was paid, or was to (E.164). */
  readonly msisdn?: string | undefined;
  /** The wallet or flash account that paid or was paid. */
  readonly walletNumber?: string | undefined;
  /**
   * The reference of an attempt at an upstream, ours (its id too, which some statements have) or the upstream's own; of a bank
   * transfer, the bank's, in full. A payment is also found by the references of its refunds.
   */
  readonly upstreamReference?: string | undefined;
  /** Inclusive; this and `until` are of `created_at` (ms). */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Only orders older than this one: where the page before stopped. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface PaymentSearch extends OrderSearch {
  readonly status?: PaymentStatus | undefined;
  readonly method?: PaymentMethod | undefined;
}

export interface LineSearch extends OrderSearch {
  readonly status?: PayoutStatus | undefined;
}

/** A page of payments of one merchant or of all, the newest first. @throws RangeError if the merchant's id is not an id. */
export function searchPayments(lender: Lender, search: PaymentSearch): Promise<Payment[]> {
  return askApart(lender, paymentSearch(search), columnsOf('payment'));
}

/** The question that `searchPayments` asks. @throws RangeError if the merchant's id is not an id. */
export function paymentSearch(search: PaymentSearch): Question {
  return orderSearch('payment', 'payment', search, [
    ['status = ?', search.status],
    ['method = ?', search.method],
  ]);
}

/** A page of payout lines of one merchant or of all, the newest first. @throws RangeError if the merchant's id is not an id. */
export function searchLines(lender: Lender, search: LineSearch): Promise<PayoutLine[]> {
  return askApart(lender, lineSearch(search), columnsOf('payout_line'));
}

/** The question that `searchLines` asks. @throws RangeError if the merchant's id is not an id. */
export function lineSearch(search: LineSearch): Question {
  return orderSearch('payout_line', 'payout', search, [['status = ?', search.status]]);
}

function orderSearch(
  table: 'payment' | 'payout_line',
  purpose: AttemptPurpose,
  search: OrderSearch,
  own: readonly Condition[],
): Question {
  const { merchantId, currency, reference, msisdn, walletNumber, upstreamReference, from, until, before } = search;
  const shards = merchantId === undefined ? [0, SHARDS - 1] : [shardOf(merchantId), shardOf(merchantId)];
  const credit = purpose === 'payment' && upstreamReference !== undefined ? [distinctive(upstreamReference)] : [];
  const tries = (of: AttemptPurpose): string => `select a.payment_id from ${inEither('attempt')} a
  where a.purpose = '${of}' and ? in (a.id, a.reference, a.provider_reference)`;
  // A bank transfer has no attempt. The name of its credit ends in what of the bank's reference counts, as that of a
  // refund by hand does, which has none either.
  const named = `union all select o.id from ${inEither('payment')} o where o.provider_reference = ?
  union all select r.payment_id from transfer_reference r
  where r.payment_id is not null and substring(r.id from '[^:]*$') = $${shards.length + 1}
  union all select r.payment_id from ${inEither('refund')} r
  where r.provider_reference = ? or r.id = any(array(${tries('refund')}))`;
  // Arrays, so that the attempts are read once, not once for each shard.
  const triedUnder = `id = any(array(${tries(purpose)} ${purpose === 'payment' ? named : ''}))`;
  const { conditions, values, name } = asked(
    [
      ['merchant_id = ?', merchantId],
      ['customer_reference = ?', reference],
      ['id < ?', before],
      ...idsWithin('txn', from, until),
      ...createdWithin(from, until),
      ...own,
      ['currency = ?', currency],
      ['msisdn = ?', msisdn],
      ['wallet_number = ?', walletNumber],
      [triedUnder, upstreamReference],
    ],
    shards.length + credit.length,
  );
  const most = `limit $${shards.length + credit.length + values.length + 1}::int8`;
  const statement: Statement = {
    name: `search_${table}_${name}`,
    text: `select ${listOf(columnsOf(table), 't')} from generate_series($1::int4, $2::int4) s(shard)
cross join lateral (select * from ${inEither(table)} o
  where ${['shard = s.shard::int2', ...conditions].join(' and ')} order by id desc ${most}) t
order by t.id desc ${most}`,
  };
  return { statement, values: [...shards.map(String), ...credit, ...values, String(search.limit)] };
}
