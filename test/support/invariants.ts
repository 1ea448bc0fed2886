/**
 * What must hold after every fault, judged from outside: the carriers' own book, the status reads, the webhooks that
 * arrived, and the rows, compared with what the merchant was told.
 *
 * Invariant: each finding is one sentence that names the transaction; no finding means that everything holds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { openStore } from '../../src/store/store.ts';
import { type Hook, type Receiver, transactionsOf } from './receiver.ts';
import type { Merchant, Order, Shop } from './shop.ts';

export interface Judged {
  readonly shop: Shop;
  readonly merchant: Merchant;
  readonly receiver: Receiver;
  readonly databaseUrl: string;
  readonly sandboxUrl: string;
  /** Each wallet's opening balance, in minor units, by number. */
  readonly opening: ReadonlyMap<string, bigint>;
  /** Whether a number belongs to another load in the same world; if absent, none does. */
  readonly isOthers?: (msisdn: string) => boolean;
}

interface BookLine {
  readonly msisdn: string;
  readonly amount: string;
  readonly times: number;
}

const FINAL = new Set(['approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded']);
const UNDELIVERED = 'webhook events that are not delivered';
const MAX_SETTLE_MS = 240_000;
const LOOK_EVERY_MS = 250;

/**
 * Waits until every order is final and told, then judges. Returns the findings, and what did not settle in time.
 * The wait is bounded, and ends as soon as everything has settled.
 */
export async function judge(judged: Judged): Promise<string[]> {
  const deadline = Date.now() + MAX_SETTLE_MS;
  const findings = [...judged.shop.wrongs, ...(await settled(judged, deadline))];
  await delivered(judged, deadline);
  const finals = new Map<string, string>();
  for (const order of judged.shop.orders) {
    const read = await judged.shop.status(order);
    if (read === undefined) findings.push(`${nameOf(order)}: acknowledged, and lost`);
    else finals.set(order.transaction_id, read.status);
  }
  await replayAll(judged.shop);
  findings.push(
    ...judged.shop.wrongs.filter((wrong) => !findings.includes(wrong)),
    ...judgeEndings(judged.shop.orders, finals),
    ...judgeBook(judged.shop.orders, finals, await bookOf(judged)),
    ...judgeHooks(judged, finals),
    ...(await judgeRows(judged, finals)),
  );
  return findings;
}

/** Polls until nothing is open and each final state has been delivered; names what is still open at the deadline. */
async function settled({ shop, receiver }: Judged, deadline: number): Promise<string[]> {
  let open = shop.orders.filter((order) => order.transaction_id !== '');
  for (;;) {
    const told = transactionsOf(receiver.hooks);
    const reads = await Promise.all(
      open.map(async (order) => {
        const read = await shop.status(order);
        return read !== undefined && FINAL.has(read.status) && told.has(order.transaction_id) ? [] : [{ order, read }];
      }),
    );
    open = reads.flat().map(({ order }) => order);
    if (open.length === 0) return [];
    if (Date.now() > deadline) {
      return reads.flat().map(({ order, read }) => {
        return `${nameOf(order)}: stuck, ${read?.status ?? 'unknown'}${told.has(order.transaction_id) ? '' : ', not told'}`;
      });
    }
    await pause(LOOK_EVERY_MS);
  }
}

/** Waits until every event is known to be delivered: one whose acknowledgement was lost is posted again. */
async function delivered({ databaseUrl, merchant }: Judged, deadline: number): Promise<void> {
  for (;;) {
    const rows = await readRows(databaseUrl, merchant.merchant_id);
    if (rows.get(UNDELIVERED) === 0n || Date.now() > deadline) return;
    await pause(LOOK_EVERY_MS);
  }
}

function replayAll(shop: Shop): Promise<void> {
  return inTurns(
    shop.orders.flatMap((order) => order.steps),
    (step) => shop.replay(step),
  );
}

function judgeEndings(orders: readonly Order[], finals: ReadonlyMap<string, string>): string[] {
  return orders.flatMap((order) => {
    const status = finals.get(order.transaction_id);
    return status === order.ending ? [] : [`${nameOf(order)}: is ${status}, and must be ${order.ending}`];
  });
}

async function bookOf({ sandboxUrl, isOthers = () => false }: Judged): Promise<BookLine[]> {
  const response = await fetch(`${sandboxUrl}/control/books`);
  return ((await response.json()) as BookLine[]).filter(({ msisdn }) => !isOthers(`+${msisdn}`));
}

/** An approved payment is debited exactly once, with its amount; nothing else is debited. */
function judgeBook(orders: readonly Order[], finals: ReadonlyMap<string, string>, book: readonly BookLine[]): string[] {
  const findings: string[] = [];
  const lines = groupBy(book, ({ msisdn }) => `+${msisdn}`);
  for (const order of orders) {
    if (order.msisdn === undefined) continue;
    const debits = lines.get(order.msisdn) ?? [];
    const times = debits.reduce((sum, line) => sum + line.times, 0);
    const wanted = finals.get(order.transaction_id) === 'approved' ? 1 : 0;
    if (times !== wanted) findings.push(`${nameOf(order)}: debited ${times} times, and must be ${wanted} times`);
    if (debits.some(({ amount }) => amount !== order.amount)) findings.push(`${nameOf(order)}: another amount debited`);
    lines.delete(order.msisdn);
  }
  return [...findings, ...[...lines.keys()].map(() => 'a number was debited that no order is of')];
}

/** One event for each final state: one id, one body, one status, and the signature verifies. */
function judgeHooks({ shop, merchant, receiver }: Judged, finals: ReadonlyMap<string, string>): string[] {
  const webhook = new Webhook(merchant.webhook_secret);
  const byTransaction = groupBy(receiver.hooks, ({ body }) => body.transaction_id);
  const findings = shop.orders.flatMap((order) => {
    const hooks = byTransaction.get(order.transaction_id) ?? [];
    byTransaction.delete(order.transaction_id);
    const status = finals.get(order.transaction_id);
    const ids = new Set(hooks.map(({ headers }) => headers['webhook-id']));
    const bodies = new Set(hooks.map(({ raw }) => raw));
    return [
      ...(hooks.length === 0 ? [`${nameOf(order)}: not told by a webhook`] : []),
      ...(ids.size > 1 ? [`${nameOf(order)}: ${ids.size} webhook ids`] : []),
      ...(bodies.size > 1 ? [`${nameOf(order)}: ${bodies.size} webhook bodies`] : []),
      ...(hooks.some((one) => one.body.status !== status) ? [`${nameOf(order)}: a webhook says another status`] : []),
      ...(hooks.some((one) => !isSigned(webhook, one)) ? [`${nameOf(order)}: a webhook's signature is wrong`] : []),
    ];
  });
  return [...findings, ...[...byTransaction.keys()].map((id) => `a webhook about ${id}, which no order is of`)];
}

/** Checks by signing again with an outside library, whose own check would compare the timestamp with the machine's clock. */
export function isSigned(webhook: Webhook, { headers, raw }: Hook): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signature = webhook.sign(String(headers['webhook-id']), at, raw);
  return String(headers['webhook-signature']).split(' ').includes(signature);
}

/** The rows: the ledger adds up, every balance is what was approved, nothing was made twice, nothing is left open. */
async function judgeRows(judged: Judged, finals: ReadonlyMap<string, string>): Promise<string[]> {
  const { shop, merchant, databaseUrl, opening } = judged;
  const approved = shop.orders.filter((order) => finals.get(order.transaction_id) === 'approved');
  const sum = (orders: readonly Order[]) => orders.reduce((cents, { amount }) => cents + minor(amount), 0n);
  const wanted = new Map<string, bigint>([
    ['payments', BigInt(shop.orders.length)],
    ['sessions', BigInt(shop.orders.length)],
    ['webhook events', BigInt(finals.size)],
    ['open attempts', 0n],
    [UNDELIVERED, 0n],
    ['available', sum(approved)],
  ]);
  const rows = await readRows(databaseUrl, merchant.merchant_id);
  for (const [number, first] of opening) {
    wanted.set(number, first - sum(approved.filter(({ wallet }) => wallet?.number === number)));
  }
  const store = await openStore({ url: databaseUrl });
  const [{ findings: audit }, suspense] = await Promise.all([store.auditAll(), store.suspenseSums({})]).finally(() =>
    store.close(),
  );
  return [
    ...audit.map((found) => `audit: ${found.kind} of ${found.currency} does not add up`),
    ...suspense.differences.map(({ currency }) => `suspense: what waits in ${currency} is not what the ledger holds`),
    ...differences(rows, wanted),
  ];
}

/** A finding for each number that differs from the wanted one; a missing number counts as zero. */
export function differences(found: ReadonlyMap<string, bigint>, wanted: ReadonlyMap<string, bigint>): string[] {
  return [...wanted].flatMap(([name, must]) => {
    const is = found.get(name) ?? 0n;
    return is === must ? [] : [`${name}: ${is}, and must be ${must}`];
  });
}

/** Numbers from the database, by name: counts of rows, and the balances of wallets by number. */
function readRows(url: string, merchantId: string): Promise<ReadonlyMap<string, bigint>> {
  return readNumbers(
    url,
    `select 'payments' as name, count(*)::text as value from payment where merchant_id = $1
    union all select 'sessions', count(*)::text from session where merchant_id = $1
    union all select 'webhook events', count(*)::text from webhook_event where merchant_id = $1
    union all select 'open attempts', count(*)::text from attempt where merchant_id = $1 and settled_at is null
    union all select '${UNDELIVERED}', count(*)::text from webhook_event
      where merchant_id = $1 and status <> 'delivered'
    union all select 'available', coalesce(sum(balance), 0)::text from account where id = $1 || ':available:usd'
    union all select wallet.id, balance::text from wallet join account using (shard, id)`,
    [merchantId],
  );
}

/** The rows (name, value) that a query finds on a connection of its own, as a map by name. */
export async function readNumbers(
  url: string,
  text: string,
  values: readonly string[] = [],
): Promise<ReadonlyMap<string, bigint>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; value: string }>(text, [...values]);
    return new Map(rows.map(({ name, value }) => [name, BigInt(value)]));
  } finally {
    await client.end();
  }
}

export function groupBy<T>(list: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** US dollars in cents. */
export function minor(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}

function nameOf(order: Order): string {
  const way = order.wallet === undefined ? `a number ending ${order.msisdn?.slice(-2)}` : 'a wallet';
  return `${order.reference} (${order.transaction_id}, ${way})`;
}

/** Works through the list, eight at a time. */
export async function inTurns<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = list.values();
  const worker = async (): Promise<void> => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}
