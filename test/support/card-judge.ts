/**
 * What must hold of card payments and their refunds after every fault, judged from outside: the card network's own book, the
 * reads, the webhooks that arrived, and the rows, compared with what the merchant was told.
 *
 * Invariant: each finding is one sentence that names the transaction; no finding means that everything holds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { openStore } from '../../src/store/store.ts';
import type { CardOrder, CardShop } from './card-shop.ts';
import { differences, groupBy, inTurns, isSigned, minor, readNumbers } from './invariants.ts';
import type { Hook, Receiver } from './receiver.ts';
import type { Merchant } from './shop.ts';

export interface JudgedCards {
  readonly shop: CardShop;
  readonly merchant: Merchant;
  readonly receiver: Receiver;
  readonly databaseUrl: string;
  readonly sandboxUrl: string;
}

const OPEN = 'payments, refunds and attempts that are open, and webhook events that are not delivered';
const MAX_SETTLE_MS = 240_000;
const LOOK_EVERY_MS = 250;

/**
 * Waits until everything has ended and is told, then judges. Returns the findings, and what did not settle in time.
 * The wait is bounded, and ends as soon as everything has settled.
 */
export async function judgeCards(judged: JudgedCards): Promise<string[]> {
  const { shop } = judged;
  const deadline = Date.now() + MAX_SETTLE_MS;
  while ((await readRows(judged)).get(OPEN) !== 0n && Date.now() < deadline) await pause(LOOK_EVERY_MS);
  const statuses = await readAll(shop);
  await inTurns(
    shop.orders.flatMap(({ steps }) => steps),
    (step) => shop.replay(step),
  );
  const book = await bookOf(judged);
  return [
    ...shop.wrongs,
    ...shop.orders.flatMap((order) => judgeOrder(order, statuses).map((found) => `${nameOf(order)}: ${found}`)),
    ...judgeBook(shop.orders, statuses, book),
    ...judgeHooks(judged, statuses),
    ...(await judgeRows(judged, statuses)),
  ];
}

/** The statuses of payments and refunds by their ids, as they are read now. */
type Statuses = ReadonlyMap<string, string | undefined>;

async function readAll(shop: CardShop): Promise<Statuses> {
  const found = new Map<string, string | undefined>();
  await inTurns(shop.orders, async ({ transaction_id, refunds }) => {
    found.set(transaction_id, await shop.read(`/internal/transactions/${transaction_id}`));
    for (const { refund_id } of refunds) found.set(refund_id, await shop.read(`/internal/refunds/${refund_id}`));
  });
  return found;
}

/** A payment ends as its card determines, and every refund that was acknowledged is completed. */
function judgeOrder({ transaction_id, refunds, endings }: CardOrder, statuses: Statuses): string[] {
  const status = statuses.get(transaction_id);
  const undone = refunds.filter(({ refund_id }) => statuses.get(refund_id) !== 'completed');
  return [
    ...(endings.some((ending) => ending === status) ? [] : [`is ${status}, and must be ${endings.join(' or ')}`]),
    ...undone.map(({ refund_id }) => `the refund ${refund_id} is ${statuses.get(refund_id)}, and must be completed`),
  ];
}

async function bookOf({ sandboxUrl }: JudgedCards): Promise<BookLine[]> {
  const response = await fetch(`${sandboxUrl}/control/books?carrier=cardnet`);
  return (await response.json()) as BookLine[];
}

/** An approved payment is charged exactly once, and each of its refunds is credited exactly once; no other money moves. */
function judgeBook(orders: readonly CardOrder[], statuses: Statuses, book: readonly BookLine[]): string[] {
  const findings: string[] = [];
  const moved = groupBy(book, ({ reference }) => reference);
  for (const order of orders) {
    const lines = moved.get(order.transaction_id) ?? [];
    moved.delete(order.transaction_id);
    const wanted = statuses.get(order.transaction_id) === 'approved' ? [order.amount] : [];
    const charged = amountsOf(lines, 'debit');
    const credited = amountsOf(lines, 'credit');
    const refunds = order.refunds.map(({ amount }) => amount).toSorted();
    if (charged.join() !== wanted.join()) findings.push(`${nameOf(order)}: charged ${charged}, and must be ${wanted}`);
    if (credited.join() !== refunds.join())
      findings.push(`${nameOf(order)}: credited ${credited}, and must be ${refunds}`);
  }
  return [...findings, ...[...moved.keys()].map((id) => `the network charged ${id}, which no order is of`)];
}

/** The amounts that moved, each as often as it did. */
function amountsOf(lines: readonly BookLine[], kind: BookLine['kind']): string[] {
  const moved = lines.filter((line) => line.kind === kind);
  return moved.flatMap(({ amount, times }) => Array.from({ length: times }, () => amount)).toSorted();
}

/** One event for the payment's end and one for each refund, numbered without a gap; each has one body, and is signed. */
function judgeHooks({ shop, merchant, receiver }: JudgedCards, statuses: Statuses): string[] {
  const webhook = new Webhook(merchant.webhook_secret);
  const byTransaction = groupBy(receiver.hooks, ({ body }) => body.transaction_id);
  const findings = shop.orders.flatMap((order) => {
    const hooks = byTransaction.get(order.transaction_id) ?? [];
    byTransaction.delete(order.transaction_id);
    const told = [statuses.get(order.transaction_id), ...order.refunds.map(() => 'refunded')];
    return [
      ...judgeEvents(hooks, told),
      ...(hooks.some((one) => !isSigned(webhook, one)) ? ["a webhook's signature is wrong"] : []),
    ].map((found) => `${nameOf(order)}: ${found}`);
  });
  return [...findings, ...[...byTransaction.keys()].map((id) => `a webhook about ${id}, which no order is of`)];
}

function judgeEvents(hooks: readonly Hook[], told: readonly (string | undefined)[]): string[] {
  const events = [...groupBy(hooks, ({ headers }) => String(headers['webhook-id'])).values()];
  const bySequence = new Map(events.map((same) => [Number(same[0]?.headers['webhook-sequence']), same[0]]));
  const said = told.map((_, at) => bySequence.get(at + 1)?.body.status);
  return [
    ...(events.length === told.length ? [] : [`${events.length} webhook events, and must be ${told.length}`]),
    ...(said.join() === told.join() ? [] : [`webhooks say ${said.join()}, and must say ${told.join()}`]),
    ...(events.some((same) => new Set(same.map(({ raw }) => raw)).size > 1) ? ['one event with two bodies'] : []),
  ];
}

/** The rows: the ledger adds up, the balance is what was paid and not given back, nothing was made twice or is left open. */
async function judgeRows(judged: JudgedCards, statuses: Statuses): Promise<string[]> {
  const { orders } = judged.shop;
  const approved = orders.filter(({ transaction_id }) => statuses.get(transaction_id) === 'approved');
  const refunds = orders.flatMap((order) => order.refunds);
  const sum = (list: readonly { readonly amount: string }[]) => list.reduce((all, one) => all + minor(one.amount), 0n);
  const wanted = new Map<string, bigint>([
    ['payments', BigInt(orders.length)],
    ['refunds', BigInt(refunds.length)],
    ['webhook events', BigInt(orders.length + refunds.length)],
    ['available', sum(approved) - sum(refunds)],
    ['reserved', 0n],
    [OPEN, 0n],
  ]);
  const store = await openStore({ url: judged.databaseUrl });
  const [{ findings: audit }, suspense] = await Promise.all([store.auditAll(), store.suspenseSums({})]).finally(() =>
    store.close(),
  );
  return [
    ...audit.map((found) => `audit: ${found.kind} of ${found.currency} does not add up`),
    // The network takes what arrives, or never does: no money of theirs is late.
    ...suspense.sums.map(({ currency, count }) => `suspense: ${count} attempts have moved ${currency} too late`),
    ...differences(await readRows(judged), wanted),
  ];
}

/** Numbers about the merchant from the database, by name: counts of rows, and balances. */
function readRows({ databaseUrl, merchant }: JudgedCards): Promise<ReadonlyMap<string, bigint>> {
  return readNumbers(
    databaseUrl,
    `select 'payments' as name, count(*)::text as value from payment where merchant_id = $1
    union all select 'refunds', count(*)::text from refund where merchant_id = $1
    union all select 'webhook events', count(*)::text from webhook_event where merchant_id = $1
    union all select 'available', coalesce(sum(balance), 0)::text from account where id = $1 || ':available:usd'
    union all select 'reserved', coalesce(sum(balance), 0)::text from account where id = $1 || ':reserved:usd'
    union all select '${OPEN}', (
      (select count(*) from payment where merchant_id = $1
        and status in ('pending', 'processing', 'pending_otp_verification', 'pending_mobile_money_verification'))
      + (select count(*) from refund where merchant_id = $1 and status in ('pending', 'processing'))
      + (select count(*) from attempt where merchant_id = $1 and settled_at is null)
      + (select count(*) from webhook_event where merchant_id = $1 and status <> 'delivered'))::text`,
    [merchant.merchant_id],
  );
}

function nameOf({ reference, transaction_id, kind }: CardOrder): string {
  return `${reference} (${transaction_id}, ${kind})`;
}
