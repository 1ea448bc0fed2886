/**
 * The reads by noun: which statement answers which question.
 *
 * Invariant: what a submit waits for is read by key, with an equality on the shard, and is therefore coalesced; every other read
 * of a request names its shard, too.
 */

import type { TableName } from '../domain/change.ts';
import type { CredentialWithStanding, MintedBy, SessionWithStanding } from '../domain/credential.ts';
import { evictOldest } from '../domain/evict.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Account, Merchant, Payment, Wallet } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import { openAttemptReads } from './attempt-reads.ts';
import { bothLists, columnList, listOf } from './columns.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import { listJournal, readOwners } from './journal-reads.ts';
import { keyedShape } from './keyed-shape.ts';
import type { EventFilter, Nouns, ProofFilter, WalletFilter } from './nouns.ts';
import { inStatus, listForOperator } from './operator-lists.ts';
import { openPayoutBatches } from './payout-batch-reads.ts';
import { openPayoutLists } from './payout-list-reads.ts';
import type { Statement } from './pipeline.ts';
import { nameIn, type Place, tableIn } from './place.ts';
import type { Readers } from './read.ts';
import { many, one, type ReadShape } from './read-keyed.ts';
import type { Recent } from './recent.ts';
import { listRefunds } from './refund-reads.ts';
import { openRounds } from './round-reads.ts';
import { createdWithin, idsWithin } from './scanned-page.ts';
import { columnsOf } from './tables.ts';

/** Merchants that `merchant.at` remembers. */
const MAX_REMEMBERED = 10_000;

/** Reads by noun. Those named `recent` answer from what this process has written lately, without the database. */
export function openNouns(readers: Readers, recent: Recent): Nouns {
  const byId = <T extends TableName>(table: T) => one(readers.keyed(keyedShape('live', table, 'id', 'id')));
  const byColumn = <T extends TableName>(table: T, key: string, order: string) =>
    many(readers.keyed(keyedShape('live', table, key, order)));
  const merchant = byId('merchant');
  const rounds = openRounds(readers);
  return {
    session: { caller: one(readers.keyed(SESSION_CALLER)) },
    credential: {
      caller: one(readers.keyed(CREDENTIAL_CALLER)),
      list: credentialList(byColumn('credential', 'merchant_id', 'id')),
    },
    merchant: {
      get: merchant,
      at: rememberedMerchant(merchant),
      list: ({ after = '', limit } = {}) =>
        readers.query(MERCHANT_LIST, columnsOf('merchant'), [after, limit === undefined ? null : String(limit)]),
    },
    payment: {
      get: byId('payment'),
      recent: recent.payment,
      ofSession: byColumn('payment', 'session_id', 'id'),
      history: byColumn('payment_history', 'payment_id', 'version'),
      newest: (shard, merchantId, reference) => newestPayment(readers, shard, merchantId, reference),
      toExpire: rounds.paymentsToExpire,
    },
    attempt: {
      get: byId('attempt'),
      recent: recent.attempt,
      ofCardPayment: many(readers.keyed(CARD_ATTEMPTS)),
      turnedAway: many(readers.keyed(ATTEMPTS_TURNED_AWAY)),
      listOpen: (limit, after = '') => readers.query(OPEN_ATTEMPTS, columnsOf('attempt'), [after, String(limit)]),
      leaseDue: rounds.leaseAttempts,
      ...openAttemptReads(readers),
    },
    code: { get: byId('one_time_code') },
    wallet: { get: byId('wallet'), list: (filter) => listWallets(readers, filter) },
    limitCounter: { get: byId('pin_guard'), reap: rounds.reapLimitCounters },
    account: { get: byId('account') },
    transferReference: { get: byId('transfer_reference') },
    accounts: { ofMerchant: many(readers.keyed(MERCHANT_ACCOUNTS)) },
    event: {
      get: byId('webhook_event'),
      list: (filter) => listEvents(readers, filter),
      leaseDue: rounds.leaseEvents,
    },
    webhookAttempts: { ofEvent: byColumn('webhook_attempt', 'event_id', 'number') },
    webhookSecret: { ofMerchant: byColumn('webhook_secret', 'merchant_id', 'id') },
    bankAccount: { get: byId('bank_account'), ofMerchant: byColumn('bank_account', 'merchant_id', 'id') },
    proof: {
      get: byId('proof'),
      ofPayment: byColumn('proof', 'payment_id', 'id'),
      ofDigest: byColumn('proof', 'digest', 'id'),
      list: (filter) => listProofs(readers, filter),
    },
    payoutLine: {
      get: byId('payout_line'),
      leaseDue: rounds.leasePayoutLines,
      retryNow: rounds.retryPayoutLinesNow,
    },
    payouts: openPayoutLists(readers),
    payoutBatch: {
      ...openPayoutBatches(readers),
      get: byId('payout_batch'),
      toRun: rounds.payoutBatchesToRun,
      toClose: rounds.payoutBatchesToClose,
    },
    refund: {
      get: byId('refund'),
      ofPayment: byColumn('refund', 'payment_id', 'id'),
      list: (filter) => listRefunds(readers, filter),
      leaseDue: rounds.leaseRefunds,
    },
    proofFile: { get: byId('proof_file') },
    checkout: { get: byId('checkout') },
    merchantLogo: { get: byId('merchant_logo') },
    journal: {
      list: (filter) => listJournal(readers, filter),
      ownersOf: (records) => readOwners(readers, records),
    },
    setting: { get: byId('setting') },
    idempotency: { get: byId('idempotency'), reap: rounds.reapIdempotency },
  };
}

const CARD_ATTEMPTS = keyedShape('live', 'attempt', 'payment_id', 'id', {
  name: 'card',
  condition: "t.method = 'card'",
});
const ATTEMPTS_TURNED_AWAY = keyedShape('live', 'attempt', 'payment_id', 'id', {
  name: 'turned_away',
  condition:
    "t.purpose = 'payment' and t.method = 'mobile_money' and (t.status = 'not_sent' or t.reason like 'late\\_%')",
});

const CREDENTIAL_OF_SESSION = columnList<Omit<MintedBy, 'merchant_status'>>({
  credential_status: 'text',
  credential_retires_at: 'timestamptz',
  credential_expires_at: 'timestamptz',
});
const MERCHANT_OF_CALLER = columnList<Pick<CredentialWithStanding, 'merchant_status' | 'merchant_version'>>({
  merchant_status: 'text',
  merchant_version: 'int4',
});

const SESSION_CALLER: ReadShape<SessionWithStanding> = {
  columns: bothLists(columnsOf('session'), bothLists(CREDENTIAL_OF_SESSION, MERCHANT_OF_CALLER)),
  keyAt: 1,
  statement: {
    name: 'read_session_caller',
    text: `select ${listOf(columnsOf('session'), 's')},
  c.status, c.retires_at, c.expires_at, m.status, m.version
from unnest($1::int2[], $2::text[]) as k(shard, key)
join session s on s.shard = k.shard and s.id = k.key
join credential c on c.shard = s.shard and c.id = s.credential_id
join merchant m on m.shard = s.shard and m.id = s.merchant_id`,
  },
};

const CREDENTIAL_CALLER: ReadShape<CredentialWithStanding> = {
  columns: bothLists(columnsOf('credential'), MERCHANT_OF_CALLER),
  keyAt: 1,
  statement: {
    name: 'read_credential_caller',
    text: `select ${listOf(columnsOf('credential'), 'c')}, m.status, m.version
from unnest($1::int2[], $2::text[]) as k(shard, key)
join credential c on c.shard = k.shard and c.id = k.key
join merchant m on m.shard = c.shard and m.id = c.merchant_id`,
  },
};

/** Ids of a merchant's accounts begin with the merchant's id and a colon; the merchant's id, as key, follows the columns. */
const MERCHANT_ACCOUNTS: ReadShape<Account> = {
  columns: columnsOf('account'),
  keyAt: columnsOf('account').length,
  statement: {
    name: 'read_merchant_accounts',
    text: `select ${listOf(columnsOf('account'), 'a')}, k.key
from unnest($1::int2[], $2::text[]) as k(shard, key)
join account a on a.shard = k.shard and a.id >= k.key || ':' and a.id < k.key || ';' order by a.id`,
  },
};

/** By the primary key of each shard; all merchants if the limit is null. */
const MERCHANT_LIST: Statement = {
  name: 'list_merchants',
  text: `select ${listOf(columnsOf('merchant'), 'm')} ${IN_EACH_SHARD} (
  select * from merchant where shard = s.shard::int2 and id > $1 order by id limit $2::int8) m order by m.id limit $2::int8`,
};

/** Every open attempt is inquired about, so the index of due inquiries holds all of them. */
const OPEN_ATTEMPTS: Statement = {
  name: 'list_open_attempts',
  text: `select ${listOf(columnsOf('attempt'))} from attempt
where next_inquiry_at is not null and settled_at is null and id > $1 order by id limit $2::int8`,
};

/** Reads a merchant's credentials: none if the string is not an id. A merchant's id carries its shard. */
function credentialList<Record>(ofMerchant: (shard: number, merchantId: string) => Promise<Record[]>) {
  return async (merchantId: string): Promise<Record[]> =>
    isId('mch', merchantId) ? ofMerchant(shardOf(merchantId), merchantId) : [];
}

/** Remembers the newest version of merchants that this process has read; the one known longest is evicted first. */
function rememberedMerchant(get: (shard: number, id: string) => Promise<Merchant | undefined>) {
  const known = new Map<string, Merchant>();
  return async (shard: number, id: string, version: number): Promise<Merchant | undefined> => {
    const remembered = known.get(id);
    if (remembered !== undefined && remembered.shard === shard && remembered.version >= version) return remembered;
    const merchant = await get(shard, id);
    if (merchant === undefined) return undefined;
    if ((known.get(id)?.version ?? -1) < merchant.version) known.set(id, merchant);
    evictOldest(known, MAX_REMEMBERED);
    return merchant;
  };
}

function listEvents(readers: Readers, filter: EventFilter): Promise<WebhookEvent[]> {
  const { merchantId, status, from, until, after, limit } = filter;
  return listForOperator(readers, {
    table: 'webhook_event',
    merchantId,
    state: inStatus('webhook_event', status),
    conditions: [...idsWithin('evt', from, until), ...createdWithin(from, until), ['id > ?', after]],
    limit,
  });
}

const newestPaymentIn = (place: Place): Statement => ({
  name: nameIn(place, 'newest_payment'),
  text: `select ${listOf(columnsOf('payment'))} from ${tableIn(place, 'payment')}
where shard = $1::int2 and merchant_id = $2 and customer_reference = $3
order by id desc limit 1`,
});

/** The newest payment under a merchant's own reference. */
export async function newestPayment(
  readers: Readers,
  shard: number,
  merchantId: string,
  reference: string,
  place: Place = 'live',
): Promise<Payment | undefined> {
  const values = [String(shard), merchantId, reference];
  return (await readers.query(newestPaymentIn(place), columnsOf('payment'), values))[0];
}

function listProofs(readers: Readers, { merchantId, status, after, limit }: ProofFilter): Promise<Proof[]> {
  const state = inStatus('proof', status);
  return listForOperator(readers, { table: 'proof', merchantId, state, conditions: [['id > ?', after]], limit });
}

function listWallets(readers: Readers, { phone, currency, after, limit }: WalletFilter): Promise<Wallet[]> {
  return listForOperator(readers, {
    table: 'wallet',
    merchantId: undefined,
    state: undefined,
    conditions: [
      ['phone = ?', phone],
      ['currency = ?', currency],
      ['id > ?', after],
    ],
    limit,
  });
}
