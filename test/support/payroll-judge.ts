/**
 * What must hold of payouts after every fault, judged from outside: the carriers' own book, the status reads, the
 * webhooks that arrived, and the rows, compared with what the merchants were told.
 *
 * Invariant: each finding is one sentence that names the transaction; no finding means that everything holds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { openStore } from '../../src/store/store.ts';
import { differences, groupBy, inTurns, isSigned, minor, readNumbers } from './invariants.ts';
import { isFinalHook, type PaidLine, type Payday, type Payroll } from './payroll.ts';
import type { Hook } from './receiver.ts';

export interface JudgedPayrolls {
  readonly payrolls: readonly Payroll[];
  readonly databaseUrl: string;
  readonly sandboxUrl: string;
  /** Each wallet's opening balance, in cents, by number. */
  readonly opening: ReadonlyMap<string, bigint>;
  /** Whether a number belongs to another load in the same world; if absent, none does. */
  readonly isOthers?: (msisdn: string) => boolean;
}

/** The gateway's final status of each line, by transaction_id. */
type Finals = ReadonlyMap<string, string | undefined>;

interface BookLine {
  readonly msisdn: string;
  readonly kind: 'debit' | 'credit';
  readonly amount: string;
  readonly times: number;
}

const UNDELIVERED = 'webhook events that are not delivered';
/** 400 000 ms: if the gateway keeps dying before a line reaches its carrier, each try takes minutes to resolve; pauses grow. */
const MAX_SETTLE_MS = 400_000;
const LOOK_EVERY_MS = 250;

/**
 * Waits until every line is final and told, then judges. Returns the findings, and what did not settle in time.
 * The wait is bounded, and ends as soon as everything has settled.
 */
export async function judgePayrolls(judged: JudgedPayrolls): Promise<string[]> {
  const { payrolls } = judged;
  const deadline = Date.now() + MAX_SETTLE_MS;
  while (payrolls.some((payroll) => payroll.open() > 0) && Date.now() < deadline) await pause(LOOK_EVERY_MS);
  await delivered(judged, deadline);
  const finals: Finals = new Map((await Promise.all(payrolls.map(readAll))).flat());
  await Promise.all(payrolls.map(replayAll));
  return [
    ...payrolls.flatMap(({ wrongs }) => wrongs),
    ...payrolls.flatMap((payroll) => judgeLines(payroll, finals)),
    ...payrolls.flatMap((payroll) => judgeHooks(payroll, finals)),
    ...judgeBook(payrolls, finals, await bookOf(judged)),
    ...(await judgeRows(judged, finals)),
  ];
}

/** Waits until every event is known to be delivered: one whose acknowledgement was lost is posted again. */
async function delivered({ payrolls, databaseUrl }: JudgedPayrolls, deadline: number): Promise<void> {
  for (const { merchant } of payrolls) {
    while ((await readRows(databaseUrl, merchant.merchant_id)).get(UNDELIVERED) !== 0n && Date.now() < deadline) {
      await pause(LOOK_EVERY_MS);
    }
  }
}

async function readAll(payroll: Payroll): Promise<[string, string | undefined][]> {
  const reads: [string, string | undefined][] = [];
  await inTurns(payroll.lines(), async (line) => {
    reads.push([line.transaction_id, await payroll.status(line)]);
  });
  return reads;
}

function replayAll(payroll: Payroll): Promise<void> {
  return inTurns(
    payroll.paydays.flatMap(({ sends }) => sends),
    (step) => payroll.replay(step),
  );
}

/** Every line has ended as its number determines, and no two keys have made the same batch. */
function judgeLines({ paydays }: Payroll, finals: Finals): string[] {
  const batches = groupBy(paydays, ({ batch_id }) => batch_id);
  const shared = [...batches.values()].filter((same) => same.length > 1).map(() => 'two batches have one id');
  const wrong = linesOf(paydays).flatMap((line) => {
    const status = finals.get(line.transaction_id);
    return status === line.ending ? [] : [`${nameOf(line)}: is ${status}, and must be ${line.ending}`];
  });
  return [...shared, ...wrong];
}

async function bookOf({ sandboxUrl, isOthers = () => false }: JudgedPayrolls): Promise<BookLine[]> {
  const response = await fetch(`${sandboxUrl}/control/books`);
  return ((await response.json()) as BookLine[]).filter(({ msisdn }) => !isOthers(`+${msisdn}`));
}

/** A completed line is credited exactly once, with its amount; nothing else moved. */
function judgeBook(payrolls: readonly Payroll[], finals: Finals, book: readonly BookLine[]): string[] {
  const findings: string[] = [];
  const moved = groupBy(book, ({ msisdn }) => `+${msisdn}`);
  for (const line of payrolls.flatMap(({ paydays }) => linesOf(paydays))) {
    if (line.mode === 'wallet') continue;
    const credits = moved.get(line.beneficiary) ?? [];
    const times = credits.reduce((sum, credit) => sum + credit.times, 0);
    const wanted = finals.get(line.transaction_id) === 'completed' ? 1 : 0;
    if (times !== wanted) findings.push(`${nameOf(line)}: credited ${times} times, and must be ${wanted} times`);
    if (credits.some(({ amount }) => amount !== line.amount)) findings.push(`${nameOf(line)}: another amount credited`);
    if (credits.some(({ kind }) => kind !== 'credit')) findings.push(`${nameOf(line)}: debited`);
    moved.delete(line.beneficiary);
  }
  return [...findings, ...[...moved.keys()].map(() => 'a number was paid that no line is of')];
}

/** Two events per line: one that it is in progress, one of its end; each has one id and one body, and is signed. */
function judgeHooks({ paydays, receiver, merchant }: Payroll, finals: Finals): string[] {
  const webhook = new Webhook(merchant.webhook_secret);
  const byTransaction = groupBy(receiver.hooks, ({ body }) => body.transaction_id);
  const findings: string[] = [];
  for (const payday of paydays) {
    for (const line of payday.lines) {
      const hooks = byTransaction.get(line.transaction_id) ?? [];
      byTransaction.delete(line.transaction_id);
      const unsigned = hooks.some((one) => !isSigned(webhook, one));
      findings.push(
        ...judgeEvents(payday, hooks, finals.get(line.transaction_id)).map((found) => `${nameOf(line)}: ${found}`),
        ...(unsigned ? [`${nameOf(line)}: a webhook's signature is wrong`] : []),
      );
    }
  }
  return [...findings, ...[...byTransaction.keys()].map((id) => `a webhook about ${id}, which no line is of`)];
}

function judgeEvents({ batch_id }: Payday, hooks: readonly Hook[], status: string | undefined): string[] {
  const events = [...groupBy(hooks, ({ headers }) => String(headers['webhook-id'])).values()];
  const bySequence = new Map(events.map((same) => [String(same[0]?.headers['webhook-sequence']), same[0]]));
  const [first, last] = [bySequence.get('1'), bySequence.get('2')];
  return [
    ...(events.length === 2 && bySequence.size === 2 ? [] : [`${events.length} webhook events, and must be two`]),
    ...(events.some((same) => new Set(same.map(({ raw }) => raw)).size > 1) ? ['one event with two bodies'] : []),
    ...(first === undefined || isFinalHook(first) ? ['the first webhook does not say that it is under way'] : []),
    ...(last === undefined || last.body.status !== status ? ['the second webhook says another status'] : []),
    ...(hooks.some((one) => one.headers['webhook-event'] !== `payout.${one.body.status}`)
      ? ['a wrong event type']
      : []),
    ...(hooks.some(({ raw }) => !raw.includes(`"batch_id":"${batch_id}"`)) ? ['a webhook of another batch'] : []),
  ];
}

/** The rows: the ledger adds up, every balance is what was paid, nothing was made twice, nothing is left open. */
async function judgeRows({ payrolls, databaseUrl, opening }: JudgedPayrolls, finals: Finals): Promise<string[]> {
  const store = await openStore({ url: databaseUrl });
  const audit = (await store.auditAll().finally(() => store.close())).findings;
  const findings = audit.map((found) => `audit: ${found.kind} of ${found.currency} does not add up`);
  const received = new Map(opening);
  for (const { merchant, opening: first, paydays } of payrolls) {
    const lines = linesOf(paydays);
    const completed = lines.filter((line) => finals.get(line.transaction_id) === 'completed');
    const rows = await readRows(databaseUrl, merchant.merchant_id);
    const wanted = new Map<string, bigint>([
      ['batches', BigInt(paydays.length)],
      ['lines', BigInt(lines.length)],
      ['lines that are not final', 0n],
      ['approved attempts', BigInt(completed.filter(({ mode }) => mode === 'mobile_money').length)],
      ['open attempts', 0n],
      ['webhook events', 2n * BigInt(lines.length)],
      [UNDELIVERED, 0n],
      ['available', first - completed.reduce((sum, line) => sum + minor(line.amount) + minor(line.fee), 0n)],
      ['reserved', 0n],
    ]);
    for (const line of completed) {
      if (line.mode === 'wallet')
        received.set(line.beneficiary, (received.get(line.beneficiary) ?? 0n) + minor(line.amount));
    }
    findings.push(...differences(rows, wanted));
  }
  return [...findings, ...differences(await readWallets(databaseUrl), received)];
}

/** Numbers about a merchant from the database, by name: counts of rows, and balances. */
function readRows(url: string, merchantId: string): Promise<ReadonlyMap<string, bigint>> {
  return readNumbers(
    url,
    `select 'batches' as name, count(*)::text as value from payout_batch where merchant_id = $1
    union all select 'lines', count(*)::text from payout_line where merchant_id = $1
    union all select 'lines that are not final', count(*)::text from payout_line
      where merchant_id = $1 and status in ('pending', 'processing')
    union all select 'approved attempts', count(*)::text from attempt where merchant_id = $1 and status = 'approved'
    union all select 'open attempts', count(*)::text from attempt where merchant_id = $1 and settled_at is null
    union all select 'webhook events', count(*)::text from webhook_event where merchant_id = $1
    union all select '${UNDELIVERED}', count(*)::text from webhook_event
      where merchant_id = $1 and status <> 'delivered'
    union all select 'available', coalesce(sum(balance), 0)::text from account where id = $1 || ':available:usd'
    union all select 'reserved', coalesce(sum(balance), 0)::text from account where id = $1 || ':reserved:usd'`,
    [merchantId],
  );
}

function readWallets(url: string): Promise<ReadonlyMap<string, bigint>> {
  return readNumbers(
    url,
    'select wallet.id as name, balance::text as value from wallet join account using (shard, id)',
  );
}

function linesOf(paydays: readonly Payday[]): PaidLine[] {
  return paydays.flatMap(({ lines }) => lines);
}

function nameOf({ transaction_id, mode, beneficiary }: PaidLine): string {
  return `${transaction_id} (${mode === 'wallet' ? 'a wallet' : `a number ending ${beneficiary.slice(-2)}`})`;
}
