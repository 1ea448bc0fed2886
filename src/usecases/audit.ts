/**
 * The auditor: does the ledger add up, do reserves match what is open and suspense accounts what waits there, and do upstreams'
 * books agree with ours?
 *
 * Invariant: it changes nothing but its own record. A finding is reported only if it is seen in a single snapshot, or a second
 * time. However many processes there are, one audits at a time.
 */

import { isWithin } from '../domain/elapsed.ts';
import { SHARDS } from '../domain/ids.ts';
import type { Setting } from '../domain/records.ts';
import type { AuditFinding } from '../store/audit.ts';
import { type BookFinding, type BookMark, compareBooks, isBookMark } from './audit-books.ts';
import type { Deps } from './deps.ts';
import { commitDecision } from './perform.ts';
import { keptIn, readSetting, settingChange } from './setting.ts';
import { hasFields } from './stored-json.ts';

/** Something in the books that does not add up. */
export type Finding =
  | AuditFinding
  /** A day was closed with a balance that its transfers do not add up to: the account itself is sound. */
  | { readonly kind: 'closed_day'; readonly shard: number; readonly account: string; readonly currency: string }
  | BookFinding;

/** All kinds of finding; docs/operating.md says what each means and what to do. */
export const FINDING_KINDS = [
  'sum',
  'balance',
  'reserved',
  'suspense',
  'closed_day',
  'book_unknown',
  'book_amount',
  'book_times',
  'book_unpaid',
  'book_missing',
] as const satisfies readonly Finding['kind'][];

/** The result of the last audit, readable by every process. */
export interface AuditRecord {
  /** When it began, milliseconds by the machine's clock, which monitoring uses too. */
  readonly at: number;
  /** How many findings there are by kind; kinds without any are left out. */
  readonly findings: { readonly [kind: string]: number };
  readonly accounts: number;
  readonly transfers: number;
}

interface Kept extends AuditRecord {
  /** The shard whose accounts are audited next, whether or not they have moved. It is stored under this name. */
  readonly turn: number;
  readonly books?: BookMark | undefined;
}

const AUDIT = 'audit';
/** 50 s, shorter than the round's pause: no audit if another process has begun one within this time. */
const FRESH_MS = 50_000;
/** 170 s: the same during load shedding, because an audit takes capacity from completing payments. */
const FRESH_UNDER_LOAD_MS = 170_000;
/** 20 findings at most are logged one by one: a broken ledger must not fill the disk. */
const MAX_LOGGED = 20;

export type AuditDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'books'>;

/**
 * One run of the auditor's round. Returns the number of findings; 0 also if an audit was begun less than a minute ago, or less
 * than three minutes ago while load is being shed (`isCalm` is false).
 */
export async function auditDue(deps: AuditDeps, { isCalm = true } = {}): Promise<number> {
  const found = await readSetting(deps, AUDIT);
  const before = keptOf(found);
  if (found !== undefined && before === undefined) deps.log.warn('audit_record_damaged', { setting: AUDIT });
  const at = deps.clock.wall();
  if (before !== undefined && isWithin(isCalm ? FRESH_MS : FRESH_UNDER_LOAD_MS, before.at, at)) return 0;
  const wholeShard = before?.turn ?? 0;
  const claimed: Kept = { ...NOTHING, ...before, at, turn: (wholeShard + 1) % SHARDS };
  if (!(await write(deps, found, claimed))) return 0;
  const ledger = await auditLedger(deps, wholeShard);
  const books = deps.books && (await compareBooks(deps, deps.books, before?.books));
  const findings: Finding[] = [...ledger.findings, ...(books?.findings ?? [])];
  logFindings(deps, findings);
  const { accounts, transfers } = ledger;
  const result = { findings: countsOf(findings), accounts, transfers, books: books?.mark ?? before?.books };
  await record(deps, claimed, result);
  return findings.length;
}

/**
 * Stores the result even if another process has begun an audit meanwhile: an audit that slow is slow because something is
 * wrong. The start time and next shard that the other process has written are kept.
 */
function record(deps: AuditDeps, claimed: Kept, result: Omit<Kept, 'at' | 'turn'>): Promise<void> {
  return commitDecision(
    deps.store,
    () => readSetting(deps, AUDIT),
    (found) => {
      const kept: Kept = { ...(keptOf(found) ?? claimed), ...result };
      return { change: settingChange(AUDIT, found, JSON.stringify(kept)), answer: undefined };
    },
  );
}

const NOTHING = { findings: {}, accounts: 0, transfers: 0 };

/** What the last audit of any process found; undefined if none has ever run, or its record cannot be read. */
export async function readAudit(deps: Pick<Deps, 'store'>): Promise<AuditRecord | undefined> {
  return keptOf(await readSetting(deps, AUDIT));
}

/** Audits everything now and writes nothing. Of upstreams' books, it compares what the round has not compared yet. */
export async function auditNow(deps: Pick<Deps, 'store' | 'clock' | 'books'>): Promise<Looked> {
  const ledger = await deps.store.auditAll();
  const mark = keptOf(await readSetting(deps, AUDIT))?.books;
  const compared = deps.books && mark && (await compareBooks(deps, deps.books, mark));
  return { ...ledger, findings: [...ledger.findings, ...(compared?.findings ?? [])] };
}

interface Looked {
  readonly findings: readonly Finding[];
  readonly accounts: number;
  readonly transfers: number;
}

/**
 * A cheap, frequent check. If it finds a wrong balance, all transfers are read, to tell whether the account or its closed day
 * is wrong. `wholeShard`: the shard of which every account is checked, and not only those that have moved.
 */
async function auditLedger({ store }: Pick<Deps, 'store'>, wholeShard: number): Promise<Looked> {
  const recent = await store.auditRecent(wholeShard);
  const suspects = recent.findings.filter((finding) => finding.kind === 'balance');
  if (suspects.length === 0) return recent;
  const all = await store.auditAll();
  const wrong = new Set(all.findings.flatMap((finding) => (finding.kind === 'balance' ? nameOf(finding) : [])));
  const closed = suspects
    .filter((suspect) => !wrong.has(nameOf(suspect)))
    .map(({ shard, account, currency }) => ({ kind: 'closed_day' as const, shard, account, currency }));
  return { ...all, findings: [...all.findings, ...closed] };
}

function nameOf({ shard, account, currency }: { shard: number; account: string; currency: string }): string {
  return `${shard} ${account} ${currency}`;
}

function logFindings({ log }: Pick<Deps, 'log'>, findings: readonly Finding[]): void {
  for (const finding of findings.slice(0, MAX_LOGGED)) log.error('audit_finding', fieldsOf(finding));
  if (findings.length > MAX_LOGGED) log.error('audit_findings', { count: findings.length, told: MAX_LOGGED });
}

/** A finding as a line of the log. Amounts are minor units, as text: the log has no exact integers. */
export function fieldsOf(finding: Finding): { readonly [field: string]: string } {
  switch (finding.kind) {
    case 'sum':
      return { kind: finding.kind, currency: finding.currency, balance: String(finding.balance) };
    case 'balance':
      return { ...fieldsOfAccount(finding), transfers: String(finding.transfers) };
    case 'reserved':
      return { ...fieldsOfAccount(finding), open: String(finding.open) };
    case 'suspense':
      // Each shard has a suspense account of that name.
      return { ...fieldsOfAccount(finding), shard: String(finding.shard), attempts: String(finding.attempts) };
    case 'closed_day':
      return { kind: finding.kind, account: finding.account, currency: finding.currency };
    default:
      return { kind: finding.kind, attempt_id: finding.attemptId };
  }
}

function fieldsOfAccount(finding: Extract<Finding, { readonly balance: bigint; readonly account: string }>) {
  const { kind, account, currency, balance } = finding;
  return { kind, account, currency, balance: String(balance) };
}

function countsOf(findings: readonly Finding[]): AuditRecord['findings'] {
  const counts: { [kind: string]: number } = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Returns false if another process was first. */
async function write({ store }: Pick<Deps, 'store'>, found: Setting | undefined, kept: Kept): Promise<boolean> {
  return (await store.commit(settingChange(AUDIT, found, JSON.stringify(kept)))) === 'won';
}

/** A record that cannot be read, or that another version has written in another shape, must not end auditing: it is made anew. */
function keptOf(found: Setting | undefined): Kept | undefined {
  return found && keptIn(found, isKept);
}

function isKept(value: unknown): value is Kept {
  if (!hasFields(value)) return false;
  const { at, findings, accounts, transfers, turn, books } = value;
  const hasCounts = hasFields(findings) && Object.values(findings).every(isNumber);
  return hasCounts && [at, accounts, transfers, turn].every(isNumber) && (books === undefined || isBookMark(books));
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}
