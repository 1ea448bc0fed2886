/**
 * What must hold once every payment of a merchant is over: the card network's own book, the rows, the webhooks and the answers
 * that were given, compared.
 *
 * Invariant: each finding is one sentence that names its transaction; no finding means that everything holds.
 */
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { isPaid } from '../../src/domain/payment.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { groupBy } from '../support/invariants.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';
import type { Heard } from './race-calls.ts';
import { judgeAsked, judgeTelling, type PaymentRow } from './race-verdict.ts';
import { type Asked, type Inquired, isAgainKnowingly } from './unruly-way.ts';

/** What is judged, besides the world's rows and books. */
export interface Told {
  readonly merchantId: string;
  readonly heard: readonly Heard[];
  readonly asked: readonly Asked[];
  readonly inquired: readonly Inquired[];
  /** The attempts that the network has turned away and carried out: the order of such a one may be charged again by mistake. */
  readonly lied: ReadonlySet<string>;
}

/** Rows as the driver returns them: amounts are text. */
type Refunded = {
  readonly payment_id: string;
  readonly id: string;
  readonly status: string;
  readonly amount_minor: string;
};
type AttemptRow = Pick<Attempt, 'id' | 'payment_id' | 'purpose' | 'status' | 'reason' | 'challenge'>;

interface Rows {
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly Refunded[];
}

export async function judgeCards(world: World, told: Told): Promise<string[]> {
  const rowsIn = <Row extends object>(table: string): Promise<Row[]> =>
    rowsOf<Row>(world, `select * from ${table} where merchant_id = $1`, [told.merchantId]);
  const rows: Rows = {
    payments: await rowsIn<PaymentRow>('payment'),
    attempts: await rowsIn<AttemptRow>('attempt'),
    refunds: await rowsIn<Refunded>('refund'),
  };
  const book = groupBy(world.sandbox.book.lines({ carrier: 'cardnet' }), ({ reference }) => reference);
  const audit = (await world.gateway.store.auditAll()).findings;
  return [
    ...rows.payments.flatMap((payment) => judgePayment(world, payment, rows, book.get(payment.id) ?? [], told)),
    ...judgeSessions(rows, book, told),
    ...rows.refunds.filter(({ status }) => !isOver(status)).map(({ id, status }) => `${id} is ${status}`),
    ...judgeAsked(told.asked),
    ...audit.map(({ kind }) => `audit: ${kind}`),
  ];
}

const isOver = (status: string): boolean => status === 'completed' || status === 'failed';

/** How many cents a book says were moved. */
function centsOf(lines: readonly BookLine[]): bigint {
  return lines.reduce((sum, { amount, times }) => sum + BigInt(Math.round(Number(amount) * 100) * times), 0n);
}

function sessionOf(attempt: AttemptRow, payments: readonly PaymentRow[]): string | undefined {
  return payments.find(({ id }) => id === attempt.payment_id)?.session_id;
}

function judgePayment(
  world: World,
  payment: PaymentRow,
  { payments, attempts, refunds }: Rows,
  lines: readonly BookLine[],
  { heard, lied }: Told,
): string[] {
  const { id, status, method, session_id } = payment;
  const hasLied = attempts.some((one) => lied.has(one.id) && sessionOf(one, payments) === session_id);
  const found: string[] = [];
  const expect = (holds: boolean, otherwise: string): void => {
    if (!holds) found.push(`${id} (${method}, ${status}): ${otherwise}`);
  };
  const debits = lines.filter(({ kind }) => kind === 'debit');
  const times = debits.reduce((sum, line) => sum + line.times, 0);
  const own = attempts.filter(({ payment_id, purpose }) => payment_id === id && purpose === 'payment');
  const paid = own.filter((one) => one.status === 'approved');
  expect(paid.length === times, `debited ${times} times, and ${paid.length} attempts count as paid`);
  expect(centsOf(debits) === BigInt(1_250 * times), 'debited another amount');
  expect(method === 'wallet' || !isPaid(payment) || times > 0, 'counts as paid, and nothing was taken');
  for (const one of own) {
    const isBooked = isPaid(payment) && payment.attempt_id === one.id;
    const isTaken = debits.some(({ external_id }) => external_id === one.id);
    expect(!isTaken || one.status === 'approved', `${one.id} took money and is ${one.status}`);
    expect(
      one.status !== 'approved' || isBooked || one.reason === 'late_success',
      `${one.id} is neither booked nor aside`,
    );
    expect(hasLied || one.reason !== 'late_success', `${one.id} was given up before it had paid`);
    expect(one.challenge === null, `${one.id} still has its challenge`);
  }
  const back = refunds.filter((one) => one.payment_id === id && one.status === 'completed');
  const given = back.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n);
  const credits = centsOf(lines.filter(({ kind }) => kind === 'credit'));
  expect(method === 'wallet' || credits === given, `${credits} were given back, and ${given} count as given back`);
  return [...found, ...judgeTelling(world, payment, back.length, heard)];
}

/** A session stands for one order, which is charged once. */
function judgeSessions(
  { payments, attempts }: Rows,
  book: ReadonlyMap<string, readonly BookLine[]>,
  { asked, inquired, lied }: Told,
): string[] {
  return [...groupBy(payments, ({ session_id }) => session_id)].flatMap(([session, ofSession]) => {
    const debits = ofSession.flatMap(({ id }) => book.get(id) ?? []).filter(({ kind }) => kind === 'debit');
    const byWallet = ofSession.filter((one) => one.method === 'wallet' && isPaid(one)).length;
    const times = debits.reduce((sum, line) => sum + line.times, byWallet);
    if (times < 2) return [];
    const hasLied = attempts.some((one) => lied.has(one.id) && sessionOf(one, payments) === session);
    if (!hasLied) return [`${session} was charged ${times} times`];
    // Not by the book, which counts the charges of a payment in one line, under the first one's attempt.
    const paid = attempts.filter((one) => one.status === 'approved' && one.purpose === 'payment');
    const ids = paid.filter((one) => sessionOf(one, payments) === session).map(({ id }) => id);
    const tries = asked.filter(({ reference }) => ids.includes(reference));
    return isAgainKnowingly(tries, inquired)
      ? [`${session} was charged again, although an inquiry would have found it paid`]
      : [];
  });
}
