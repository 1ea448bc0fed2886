/**
 * The store: everything that is persisted, read by noun and written by commit.
 *
 * Invariant: reads are fresh: one that starts after a commit was acknowledged sees it. `merchant.at` caches, and takes the
 * minimum version that will do; reads named `recent` may be stale, so a change that relies on them guards the version.
 */

import type { Change, Outcome } from '../domain/change.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt, JournalEntry, LedgerTransfer, Payment } from '../domain/records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import { closeAccountDays, firstTransferDay, LAST_CLOSED_DAY } from './account-days.ts';
import {
  type Droppable,
  type Dropped,
  dropMonth,
  examineMonth,
  LEDGER_BEGINS,
  listMonths,
  type Month,
} from './archive-months.ts';
import { type Archiver, openArchiver } from './archive-move.ts';
import { type ArchiveReads, openArchiveReads } from './archive-reads.ts';
import { type Audited, auditAll, auditRecent } from './audit.ts';
import { columnList, NO_COLUMNS } from './columns.ts';
import { openCommitter } from './commit.ts';
import { type Connection, type ConnectionOptions, openConnection, ping } from './connection.ts';
import { type EventPageFilter, pageOfEvents } from './event-lists.ts';
import { type KeyNeed, readKeyNeeds } from './key-reads.ts';
import { readAttemptsOf, readFamily, readPaidBy } from './late-reads.ts';
import { type LedgerReads, openLedgerReads } from './ledger-reads.ts';
import { openLender } from './lender.ts';
import { openNouns } from './noun-reads.ts';
import type { Nouns } from './nouns.ts';
import { type LineSearch, type PaymentSearch, searchLines, searchPayments } from './order-search.ts';
import { listPayments, type PaymentFilter } from './payment-lists.ts';
import { readAttemptsAt, readPaymentsBeside, readTransfersFor } from './payment-trail.ts';
import type { Statement } from './pipeline.ts';
import { openReaders } from './read.ts';
import { openRecent } from './recent.ts';
import { pageOfRefunds, type RefundPageFilter } from './refund-reads.ts';
import type { ScannedPage } from './scanned-page.ts';
import {
  type DeadEvents,
  type FailingReceiver,
  readDeadEvents,
  readFailingReceivers,
  readServer,
  type Server,
} from './server-reads.ts';
import { newStall } from './stall.ts';
import type { CommitStats, ReadStats } from './stats.ts';
import {
  readSuspense,
  readSuspenseSums,
  readUndecided,
  type SuspenseFilter,
  type SuspensePage,
  type SuspenseSums,
  type Undecided,
} from './suspense-reads.ts';
import { type CallMade, readUpstreamCalls } from './upstream-calls.ts';
import {
  type NamedQuestion,
  readByReference,
  readNamed,
  readUpstreamSpan,
  type UpstreamQuestion,
  type UpstreamSpan,
} from './upstream-span.ts';
import { type AgeLimits, readWatched, type Watched } from './watch-reads.ts';

export interface Store extends Nouns {
  /** Commits a change whole or not at all; see `Committer.commit` for what it throws. */
  commit(change: Change): Promise<Outcome>;
  /** Makes the plans of all reads, before this process begins to serve (see `Readers.plan`). */
  plan(): Promise<void>;
  /** Resolves if the database takes changes. @throws StoreUnavailable if it cannot be reached, or is read-only */
  ping(): Promise<void>;
  /** The database's own time in milliseconds, to compare clocks with; nothing that is stored comes from it. */
  time(): Promise<number>;
  /** Whatever does not add up in the ledger, and how many accounts and transfers were checked. Reads every transfer. */
  auditAll(): Promise<Audited>;
  /**
   * Audits the accounts that moved since the last closed day, and one shard's other accounts; cheap enough to run often.
   */
  auditRecent(shard: number): Promise<Audited>;
  /** How many attempts an upstream had in a span of time, and their totals. */
  upstreamSpan(question: UpstreamQuestion): Promise<UpstreamSpan>;
  /** The attempts of a connector that have these references. Reads every attempt. */
  attemptsByReference(connector: string, references: readonly string[]): Promise<Attempt[]>;
  /** Another attempt of the same kind that has an upstream's reference. Reads every attempt since an instant. */
  attemptNamed(question: NamedQuestion): Promise<Attempt | undefined>;
  /** A page of the attempts whose money came or left late and lies in suspense, in the order of their ids. */
  suspense(page: SuspensePage): Promise<Attempt[]>;
  /** The sums of the attempts in suspense, and what the ledger's suspense accounts hold, at one instant. */
  suspenseSums(filter: SuspenseFilter): Promise<SuspenseSums>;
  /**
   * What may have moved money and is not decided: proofs, attempts that have been open since before that instant (ms), and refunds
   * by hand; the first 256 of each kind and shard.
   */
  undecided(filter: SuspenseFilter, openBefore: number): Promise<Undecided[]>;
  /** What has already paid the merchant for this payment's session: ids of payments, and of attempts that paid late. */
  orderPaidBy(payment: Payment): Promise<string[]>;
  /** A page of any merchant's payments, found by what people know of them, the newest first; archived ones too. */
  searchPayments(search: PaymentSearch): Promise<Payment[]>;
  /** A page of any merchant's payout lines, found likewise. */
  searchLines(search: LineSearch): Promise<PayoutLine[]>;
  /** All attempts at a payment, in the order of their ids; archived ones too. */
  attemptsAt(payment: Payment): Promise<Attempt[]>;
  /** The other payments of its session, the oldest first; archived ones too. */
  paymentsBeside(payment: Payment): Promise<Payment[]>;
  /** The transfers that name one of these causes, made since an instant (ms), the oldest first; archived ones too. */
  transfersFor(shard: number, causes: readonly string[], since: number): Promise<LedgerTransfer[]>;
  /** All attempts at these payout lines or refunds; archived ones too. */
  attemptsOf(shard: number, orders: readonly string[]): Promise<Attempt[]>;
  /** A payout line, the failed ones that it pays again, and those that pay it again; archived ones too. */
  payoutLineFamily(line: Pick<PayoutLine, 'shard' | 'id'>): Promise<PayoutLine[]>;
  /** Lines and balances of merchants' accounts: long reads, on connections of their own. */
  readonly ledger: LedgerReads;
  listPayments(filter: PaymentFilter): Promise<ScannedPage<Payment>>;
  pageOfRefunds(filter: RefundPageFilter): Promise<ScannedPage<Refund>>;
  /** Webhook events of a merchant or shard. */
  pageOfEvents(filter: EventPageFilter): Promise<ScannedPage<WebhookEvent>>;
  /** How the newest upstream calls since an instant (ms) went, over all processes. */
  upstreamCalls(from: number): Promise<CallMade[]>;
  /** The last closed day (UTC): all balances at its end are written, and so are those of the days before it. */
  lastClosedDay(): Promise<string | undefined>;
  /** The day of the first transfer there is. Reads every transfer. */
  firstTransferDay(): Promise<string | undefined>;
  /**
   * Writes each account's balance at the end of these consecutive days (UTC). Closed days accept no further transfer:
   * committing one fails with `StoreUnavailable`. Returns how many were closed: none while a transfer dated on them is still
   * being committed.
   */
  closeAccountDays(days: readonly string[]): Promise<number>;
  /** Records that are final and old, and have left the live tables. */
  readonly archive: Archive;
  /** What is open and what is overdue, over all processes. */
  watched(now: number, ages: AgeLimits, held: readonly string[]): Promise<Watched>;
  /** How many records need which master key. Reads every wallet. */
  keyNeeds(now: number): Promise<KeyNeed[]>;
  /** The database's version, size and migrations. */
  server(): Promise<Server>;
  /** Receivers that fail to acknowledge their webhooks, those with the most waiting events first. */
  failingReceivers(): Promise<FailingReceiver[]>;
  /** How many webhooks are dead, at most 256 of each shard. */
  deadEvents(): Promise<DeadEvents>;
  /** The store's own counters. */
  stats(): StoreStats;
  /** Finishes pending work and closes the connections. */
  close(): Promise<void>;
}

export interface Archive extends ArchiveReads {
  /** Opens an archiver; the caller must close it. */
  open(): Promise<Archiver>;
  /** The oldest first. */
  months(): Promise<Month[]>;
  /** Whether a month could be dropped now. */
  examine(month: string): Promise<Droppable>;
  /** Drops a month; `entry` is what the journal keeps of it. */
  drop(month: string, entry?: JournalEntry): Promise<Dropped>;
  /** The first day (UTC) whose ledger lines are kept; undefined if none have ever been dropped. */
  ledgerBegins(): Promise<string | undefined>;
}

export interface StoreStats {
  readonly commit: CommitStats & { readonly waiting: number };
  readonly read: ReadStats & { readonly waiting: number };
  readonly lists: ReadStats & { readonly waiting: number };
}

export interface StoreOptions {
  /** Connection string of a migrated database. */
  readonly url: string;
  /** Called with lost connections; the errors hold no values. */
  readonly onError?: (error: Error) => void;
  /** For a command, which soon ends: all reads share one connection, and none for commits is opened before there is one. */
  readonly brief?: boolean;
}

/**
 * Opens the store.
 *
 * @throws StoreUnavailable when the database cannot be reached within about two seconds, or takes a connection and does not answer
 */
export async function openStore({ url, onError = () => undefined, brief = false }: StoreOptions): Promise<Store> {
  const stall = newStall();
  const connect = (name: string, more: Pick<ConnectionOptions, 'stall' | 'limitMs' | 'patient'>): Connection =>
    openConnection({ url, onError, name, ...more });
  const commitConnection = connect('commit', { stall });
  const readConnection = connect('read', brief ? { stall, limitMs: MAX_LIST_MS } : { stall });
  const readConnections = brief ? [readConnection] : [readConnection, connect('read', { stall })];
  const listConnections = brief ? [] : [1, 2].map(() => connect('lists', { limitMs: MAX_LIST_MS }));
  const patient = openLender(() => connect('patient', { patient: true, stall }));
  const recent = openRecent();
  const committer = openCommitter(commitConnection, recent.note);
  const readers = openReaders(readConnections);
  const lists = brief ? readers : openReaders(listConnections);
  const close = async (): Promise<void> => {
    await committer.close();
    await Promise.all([readers.close(), lists.close()]);
    await Promise.all(
      [commitConnection, ...readConnections, ...listConnections, patient].map((connection) => connection.close()),
    );
  };
  try {
    // The others connect at their first use.
    await ping(brief ? readConnection : commitConnection);
  } catch (error) {
    await close();
    throw error;
  }
  const nouns = openNouns(readers, recent);
  return {
    ...nouns,
    commit: (change) => committer.commit(change),
    plan: () => readers.plan(),
    ping: async () => {
      await readers.query(WRITABLE, NO_COLUMNS, []);
    },
    time: async () => {
      const [row] = await readers.query(TIME, TIME_COLUMNS, []);
      return Number(row?.at);
    },
    auditAll: () => auditAll(patient),
    auditRecent: (shard) => auditRecent(patient, shard),
    upstreamSpan: (question) => readUpstreamSpan(patient, question),
    attemptsByReference: (connector, references) => readByReference(patient, connector, references),
    attemptNamed: (question) => readNamed(patient, question),
    orderPaidBy: (payment) => readPaidBy(patient, payment),
    searchPayments: (search) => searchPayments(patient, search),
    searchLines: (search) => searchLines(patient, search),
    attemptsAt: (payment) => readAttemptsAt(patient, payment),
    paymentsBeside: (payment) => readPaymentsBeside(patient, payment),
    transfersFor: (shard, causes, since) => readTransfersFor(patient, shard, causes, since),
    attemptsOf: (shard, orders) => readAttemptsOf(readers, shard, orders),
    payoutLineFamily: (line) => readFamily(patient, line),
    suspense: (page) => readSuspense(patient, page),
    suspenseSums: (filter) => readSuspenseSums(patient, filter),
    undecided: (filter, openBefore) => readUndecided(patient, filter, openBefore),
    ledger: openLedgerReads(lists),
    listPayments: (filter) => listPayments(lists, filter),
    pageOfRefunds: (filter) => pageOfRefunds(lists, filter),
    pageOfEvents: (filter) => pageOfEvents(lists, filter),
    upstreamCalls: (from) => readUpstreamCalls(lists, from),
    lastClosedDay: async () => (await nouns.setting.get(0, LAST_CLOSED_DAY))?.value,
    firstTransferDay: () => firstTransferDay(patient),
    closeAccountDays: (days) => closeAccountDays(patient, days),
    archive: {
      ...openArchiveReads(lists),
      open: () => openArchiver(url),
      months: () => listMonths(url),
      examine: (month) => examineMonth(url, month),
      drop: (month, entry) => dropMonth(url, month, entry),
      ledgerBegins: async () => (await nouns.setting.get(0, LEDGER_BEGINS))?.value,
    },
    watched: (now, ages, held) => readWatched(lists, now, ages, held),
    keyNeeds: (now) => readKeyNeeds(patient, now),
    server: () => readServer(lists),
    failingReceivers: () => readFailingReceivers(lists),
    deadEvents: () => readDeadEvents(lists),
    stats: () => ({
      commit: { ...committer.stats, waiting: committer.waiting() },
      read: { ...readers.stats, waiting: readers.waiting() },
      lists: { ...lists.stats, waiting: lists.waiting() },
    }),
    close,
  };
}

/** Long lists may take longer than other reads. */
const MAX_LIST_MS = 10_000;

/**
 * Locks no row, and writes none. A standby, and a server that has been set to read-only, refuse it, as they would a commit; and it counts
 * as one while commits wait for a standby.
 */
const WRITABLE: Statement = { name: 'writable', text: 'select from setting where false for update', writes: true };
const TIME_COLUMNS = columnList<{ readonly at: number }>({ at: 'timestamptz' });
const TIME = { name: 'time', text: 'select clock_timestamp()' };
