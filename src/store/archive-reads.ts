/**
 * Reads of archived records, by the same nouns.
 *
 * They use the connections of long lists, which are opened at their first use: a read of live records never waits for them.
 * Invariant: a record is returned as it was when it left the live tables.
 */

import type { PayoutBatch, PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt, OneTimeCode, Payment, PaymentHistory } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { WebhookAttempt, WebhookEvent } from '../domain/webhook-records.ts';
import type { ArchivedTable } from './archive-tables.ts';
import { type EventPageFilter, pageOfEvents } from './event-lists.ts';
import { keyedShape } from './keyed-shape.ts';
import { newestPayment } from './noun-reads.ts';
import { listPayments, type PaymentFilter } from './payment-lists.ts';
import { openOccurrences, type PayoutBatchReads } from './payout-batch-reads.ts';
import { type BatchFilter, pageOfBatches } from './payout-list-reads.ts';
import type { Readers } from './read.ts';
import { many, one } from './read-keyed.ts';
import { pageOfRefunds, type RefundPageFilter } from './refund-reads.ts';
import type { ScannedPage } from './scanned-page.ts';
import { columnsOf } from './tables.ts';

/** The same reads as those of the live tables, under the same names. */
export interface ArchiveReads {
  readonly payment: {
    get(shard: number, id: string): Promise<Payment | undefined>;
    history(shard: number, id: string): Promise<PaymentHistory[]>;
    page(filter: PaymentFilter): Promise<ScannedPage<Payment>>;
    newest(shard: number, merchantId: string, reference: string): Promise<Payment | undefined>;
  };
  readonly attempt: { get(shard: number, id: string): Promise<Attempt | undefined> };
  readonly code: { get(shard: number, paymentId: string): Promise<OneTimeCode | undefined> };
  readonly refund: {
    get(shard: number, id: string): Promise<Refund | undefined>;
    ofPayment(shard: number, paymentId: string): Promise<Refund[]>;
    page(filter: RefundPageFilter): Promise<ScannedPage<Refund>>;
  };
  readonly proof: {
    ofDigest(shard: number, digest: string): Promise<Proof[]>;
    ofPayment(shard: number, paymentId: string): Promise<Proof[]>;
  };
  readonly event: {
    get(shard: number, id: string): Promise<WebhookEvent | undefined>;
    tries(shard: number, id: string): Promise<WebhookAttempt[]>;
    page(filter: EventPageFilter): Promise<ScannedPage<WebhookEvent>>;
  };
  readonly payoutLine: { get(shard: number, id: string): Promise<PayoutLine | undefined> };
  readonly payoutBatch: Pick<PayoutBatchReads, 'counts' | 'lines'> & {
    get(shard: number, id: string): Promise<PayoutBatch | undefined>;
    /** Newest first. */
    page(filter: BatchFilter): Promise<PayoutBatch[]>;
  };
}

/** Reads of the archive's tables, with the same columns as those of the live ones. */
export function openArchiveReads(readers: Readers): ArchiveReads {
  const byId = <T extends ArchivedTable>(table: T) => one(readers.keyed(keyedShape('archive', table, 'id', 'id')));
  const byColumn = <T extends ArchivedTable>(table: T, key: string, order: string) =>
    many(readers.keyed(keyedShape('archive', table, key, order)));
  return {
    payment: {
      get: byId('payment'),
      history: byColumn('payment_history', 'payment_id', 'version'),
      page: (filter) => listPayments(readers, filter, 'archive'),
      newest: (shard, merchantId, reference) => newestPayment(readers, shard, merchantId, reference, 'archive'),
    },
    attempt: { get: byId('attempt') },
    code: { get: byId('one_time_code') },
    refund: {
      get: byId('refund'),
      ofPayment: byColumn('refund', 'payment_id', 'id'),
      page: (filter) => pageOfRefunds(readers, filter, 'archive'),
    },
    proof: { ofDigest: byColumn('proof', 'digest', 'id'), ofPayment: byColumn('proof', 'payment_id', 'id') },
    event: {
      get: byId('webhook_event'),
      tries: byColumn('webhook_attempt', 'event_id', 'number'),
      page: (filter) => pageOfEvents(readers, filter, 'archive'),
    },
    payoutLine: { get: byId('payout_line') },
    payoutBatch: {
      ...openOccurrences(readers, 'archive'),
      get: byId('payout_batch'),
      page: (filter) => {
        const { statement, values } = pageOfBatches(filter, 'archive');
        return readers.query(statement, columnsOf('payout_batch'), values);
      },
    },
  };
}
