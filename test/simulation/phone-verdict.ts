/**
 * What must hold once every payment, refund and payout of a merchant is over: the carrier's own book, the rows, the balances, the
 * webhooks and the answers that were given, compared.
 *
 * Invariant: each finding is one sentence that names its transaction; no finding means that everything holds.
 */
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { isPaid } from '../../src/domain/payment.ts';
import type { Attempt } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { hooksAbout } from '../support/flows.ts';
import { groupBy } from '../support/invariants.ts';
import { balances } from '../support/payout-flows.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';
import type { Heard } from './race-calls.ts';
import { judgeAsked, judgeTelling, type PaymentRow } from './race-verdict.ts';
import { type Asked, type Inquired, isAgainKnowingly } from './unruly-way.ts';

/** What is judged, besides the world's rows and books. */
export interface Told {
  readonly merchant: MerchantCreated;
  /** The available balance before the race, in minor units. */
  readonly opening: bigint;
  readonly heard: readonly Heard[];
  readonly asked: readonly Asked[];
  readonly inquired: readonly Inquired[];
  /** The references that the carrier has turned away and carried out: a session of such a one may be charged again by mistake. */
  readonly lied: ReadonlySet<string>;
}

/** Rows as the driver returns them: amounts are text. */
type AttemptRow = Pick<Attempt, 'id' | 'payment_id' | 'purpose' | 'status' | 'reason' | 'reference'>;
/** A refund, or a line of a payout. */
interface OutRow {
  readonly id: string;
  readonly status: string;
  readonly amount_minor: string;
  readonly msisdn: string | null;
}
type RefundRow = OutRow & { readonly payment_id: string; readonly method: string };

const AMOUNT_MINOR = 1_250n;

export async function judgePhones(world: World, told: Told): Promise<string[]> {
  const rowsIn = <Row extends object>(table: string): Promise<Row[]> =>
    rowsOf<Row>(world, `select * from ${table} where merchant_id = $1`, [told.merchant.merchant.id]);
  const rows: Rows = {
    payments: await rowsIn<PaymentRow>('payment'),
    attempts: await rowsIn<AttemptRow>('attempt'),
    refunds: await rowsIn<RefundRow>('refund'),
    lines: await rowsIn<OutRow>('payout_line'),
    book: groupBy(world.sandbox.book.lines({ carrier: 'mtn' }), ({ reference }) => reference),
  };
  const audit = (await world.gateway.store.auditAll()).findings;
  const suspense = await world.gateway.store.suspenseSums({});
  return [
    ...rows.payments.flatMap((payment) => judgePayment(world, payment, rows, told)),
    ...judgeSessions(rows, told),
    ...[...rows.refunds, ...rows.lines].flatMap((one) => judgeOut(one, rows)),
    ...rows.lines.flatMap((line) => judgeTold(world, line)),
    ...judgeAsked(told.asked),
    ...(await judgeBalances(world, rows, told)),
    ...audit.map(({ kind }) => `audit: ${kind}`),
    ...suspense.differences.map(({ currency }) => `suspense: ${currency} differs`),
  ];
}

interface Rows {
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly RefundRow[];
  readonly lines: readonly OutRow[];
  /** The carrier's book by reference. */
  readonly book: ReadonlyMap<string, readonly BookLine[]>;
}

function sessionOf(attempt: AttemptRow, payments: readonly PaymentRow[]): string | undefined {
  return payments.find(({ id }) => id === attempt.payment_id)?.session_id;
}

function timesIn(book: Rows['book'], { reference }: Pick<AttemptRow, 'reference'>): number {
  return (book.get(reference) ?? []).reduce((sum, { times }) => sum + times, 0);
}

function judgePayment(
  world: World,
  payment: PaymentRow,
  { attempts, refunds, book, payments }: Rows,
  { heard, lied }: Told,
): string[] {
  const { id, status, method, session_id } = payment;
  const hasLied = attempts.some((one) => lied.has(one.reference) && sessionOf(one, payments) === session_id);
  const found: string[] = [];
  const expect = (holds: boolean, otherwise: string): void => {
    if (!holds) found.push(`${id} (${method}, ${status}): ${otherwise}`);
  };
  const own = attempts.filter((one) => one.payment_id === id && one.purpose === 'payment');
  const taken = own.filter((one) => timesIn(book, one) > 0);
  expect(!isPaid(payment) || method === 'wallet' || taken.length > 0, 'counts as paid, and nothing was taken');
  for (const one of own) {
    expect(timesIn(book, one) <= 1, `${one.id} took money ${timesIn(book, one)} times`);
    expect((timesIn(book, one) === 1) === (one.status === 'approved'), `${one.id} is ${one.status}`);
    const isBooked = isPaid(payment) && payment.attempt_id === one.id;
    const isAside = hasLied && one.reason === 'late_success';
    expect(one.status !== 'approved' || isBooked || isAside, `${one.id} was paid, and is not booked (${one.reason})`);
    expect(
      (book.get(one.reference) ?? []).every(({ amount }) => Number(amount) === 12.5),
      'another amount was taken',
    );
  }
  const back = refunds.filter((one) => one.payment_id === id && one.status === 'completed');
  return [...found, ...judgeTelling(world, payment, back.length, heard)];
}

/** A session stands for one order, which is charged once. */
function judgeSessions({ payments, attempts, book }: Rows, { asked, inquired, lied }: Told): string[] {
  return [...groupBy(payments, ({ session_id }) => session_id)].flatMap(([session, ofSession]) => {
    const ids = new Set(ofSession.map(({ id }) => id));
    const own = attempts.filter((one) => ids.has(one.payment_id) && one.purpose === 'payment');
    const taken = own.filter((one) => timesIn(book, one) > 0).map(({ reference }) => reference);
    const booked = ofSession.filter(isPaid);
    const times = taken.length + booked.filter(({ method }) => method === 'wallet').length;
    if (times < 2 && booked.length < 2) return [];
    if (booked.length > 1) return [`${session} was booked ${booked.length} times`];
    if (!own.some(({ reference }) => lied.has(reference))) return [`${session} was charged ${times} times`];
    const tries = asked.filter(({ reference }) => taken.includes(reference));
    return isAgainKnowingly(tries, inquired)
      ? [`${session} was charged again, although an inquiry would have found it paid`]
      : [];
  });
}

/** Money that leaves: once if it counts as completed, otherwise never. */
function judgeOut({ id, status, amount_minor, msisdn }: OutRow, { attempts, book }: Rows): string[] {
  const own = attempts.filter((one) => one.payment_id === id && one.purpose !== 'payment');
  const credits = own.flatMap(({ reference }) => book.get(reference) ?? []);
  const times = credits.reduce((sum, one) => sum + one.times, 0);
  const due = status === 'completed' && msisdn !== null ? 1 : 0;
  return [
    ...(['completed', 'failed', 'cancelled'].includes(status) ? [] : [`${id} is ${status}`]),
    ...(times === due ? [] : [`${id} is ${status}, and was paid ${times} times`]),
    ...(credits.every(({ amount }) => BigInt(Math.round(Number(amount) * 100)) === BigInt(amount_minor))
      ? []
      : [`${id}: another amount was paid`]),
  ];
}

/** Each line of a payout is told of twice: as it stands when it is made, and how it ends. */
function judgeTold(world: World, { id, status }: OutRow): string[] {
  const hooks = hooksAbout(world, id).map(({ body }) => body.status);
  const [first, last, ...more] = hooks;
  const isRight = (first === 'pending' || first === 'processing') && last === status && more.length === 0;
  return isRight ? [] : [`${id} is ${status}, and was told as ${hooks.join()}`];
}

/** What the merchant has: what it had and was paid, without what it gave back and paid out; no fees are charged. */
async function judgeBalances(world: World, { payments, refunds, lines }: Rows, told: Told): Promise<string[]> {
  const { available, reserved } = await balances(world, told.merchant);
  const isDone = ({ status }: OutRow): boolean => status === 'completed';
  const left = [...refunds, ...lines].filter(isDone).reduce((sum, one) => sum + BigInt(one.amount_minor), 0n);
  const due = told.opening + AMOUNT_MINOR * BigInt(payments.filter(isPaid).length) - left;
  return [
    ...(available === due ? [] : [`available are ${available}, and ${due} should be`]),
    ...(reserved === 0n ? [] : [`reserved are ${reserved}`]),
  ];
}
