/**
 * `mbongo suspense`: whose money lies in suspense, how much, since when and why, and which command gives it to whom it belongs.
 *
 * Invariant: nothing is changed; a phone number is never shown whole.
 */

import { HOUR_MS } from '../domain/durations.ts';
import type { LateTarget } from '../domain/late-money.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import { maskPhone } from '../domain/phone.ts';
import type { AttemptPurpose } from '../domain/records.ts';
import type { SuspenseFilter, SuspenseSums, Undecided, UndecidedKind } from '../store/suspense-reads.ts';
import { requireCurrency, requireId, requireMerchant } from '../usecases/operator-input.ts';
import {
  type InSuspense,
  listSuspense,
  type SuspenseChoice,
  seeSuspense,
  type WhyInSuspense,
} from '../usecases/suspense-read.ts';
import { readDuration, readLimit } from './options.ts';
import { counted, endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo suspense list`. `olderThan`: a duration such as `24h`; only what has been in suspense for longer. */
export interface SuspenseListOptions {
  readonly merchant?: string;
  readonly currency?: string;
  readonly olderThan?: string;
  readonly after?: string;
  readonly limit: string;
}

/** 1 h: an attempt that has been open for longer is one for a person, as for the alert MbongoAttemptsOpen. */
const OPEN_LONG_MS = HOUR_MS;

const WHY: { readonly [why in WhyInSuspense]: string } = {
  paid_late: 'paid late',
  paid_twice: 'paid twice',
  sent_late: 'sent late',
  sent_twice: 'sent twice',
  order_open: 'its order is open',
};

/**
 * A page of attempts whose money is in suspense, with the sums of all that the filter finds:
 * `{suspense, next, sums, ledger, undecided}`. `undecided` counts what is not in suspense but waits for a person. The output has
 * `failed` if the ledger's suspense accounts do not hold what the attempts moved.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant.
 */
export async function suspenseList({ deps }: Tools, options: SuspenseListOptions): Promise<Output> {
  const { after } = options;
  if (after !== undefined) requireId('att', after, 'attempt');
  const limit = readLimit(options.limit);
  const now = deps.clock.now();
  const filter = await readFilter(deps, options, now);
  const seen = await listSuspense(deps, { ...filter, after, limit });
  const [sums, undecided] = await Promise.all([
    deps.store.suspenseSums(filter),
    deps.store.undecided(filter, now - OPEN_LONG_MS),
  ]);
  const end = endOfPage(
    seen.map(({ attempt }) => attempt),
    limit,
  );
  return listed(seen, end, sums, undecided);
}

async function readFilter(deps: Tools['deps'], options: SuspenseListOptions, now: number): Promise<SuspenseFilter> {
  const { merchant, currency, olderThan } = options;
  return {
    currency: currency === undefined ? undefined : requireCurrency(currency),
    before: olderThan === undefined ? undefined : Math.max(0, now - readDuration(olderThan)),
    merchantId: merchant === undefined ? undefined : (await requireMerchant(deps, merchant)).id,
  };
}

/** A page of what lies in suspense, and all that lies there beside the ledger. */
function listed(
  seen: readonly InSuspense[],
  end: ReturnType<typeof endOfPage>,
  sums: SuspenseSums,
  undecided: readonly Undecided[],
): Output {
  const rows = seen.map((one) => [
    one.attempt.id,
    timeOf(one.attempt.settled_at) ?? '',
    wayText(one.attempt.purpose),
    moneyText(one.attempt.amount_minor, one.attempt.currency),
    WHY[one.why],
    one.attempt.payment_id,
    one.order.status,
    one.attempt.merchant_id,
    one.attempt.connector,
  ]);
  const differs = sums.differences.length > 0;
  return {
    document: {
      suspense: seen.map(documentOf),
      next: end.next,
      sums: sumsOf(sums),
      ledger: {
        agrees: !differs,
        balances: sums.balances.map((one) => ({
          currency: one.currency,
          balance: formatMinor(one.balance, one.currency),
        })),
        differences: sums.differences.map(differenceOf),
      },
      undecided: undecided.map(undecidedOf),
    },
    lines: [
      ...table(['attempt', 'since', 'way', 'amount', 'why', 'transaction', 'status', 'merchant', 'upstream'], rows),
      ...end.lines,
      '',
      ...sumLines(sums),
      ...ledgerLines(sums),
      ...undecided.map(undecidedLine),
      ...(seen.length === 0 ? [] : ['To whom one can be given, and how: mbongo suspense show <attempt>']),
    ],
    ...(differs ? { failed: true } : {}),
  };
}

/**
 * One attempt's money in suspense, with `choices`: to whom it can be booked (`to`), what has to be done `first`, and the `command`;
 * or, where it cannot be booked now, `why_not`.
 *
 * @throws OperatorError when none of its money is in suspense.
 */
export async function suspenseShow({ deps }: Tools, attemptId: string): Promise<Output> {
  const seen = await seeSuspense(deps, attemptId);
  const { name } = await requireMerchant(deps, seen.attempt.merchant_id);
  const { attempt } = seen;
  const document = {
    ...documentOf(seen),
    merchant_name: name,
    method: attempt.method,
    carrier: attempt.carrier,
    reference: attempt.reference,
    provider_reference: attempt.provider_reference,
    phone_number: attempt.msisdn === null ? null : maskPhone(attempt.msisdn),
    fee: formatMinor(seen.order.fee_minor, attempt.currency),
  };
  const choices = seen.choices.map((choice) => ({
    to: choice.to,
    possible: choice.whyNot === null,
    first: FIRST[document.way][choice.to] ?? null,
    command: choice.whyNot === null ? commandOf(attemptId, choice) : null,
    why_not: choice.whyNot,
  }));
  return {
    document: { ...document, choices },
    lines: [
      ...fieldLines(document),
      ...choices.flatMap(({ to, first, command, why_not }) =>
        command === null
          ? ['', `to the ${to}: not now: ${why_not}`]
          : ['', `to the ${to}: ${first}; then`, `  ${command}`],
      ),
    ],
  };
}

/** Which way an attempt's money moved. */
function wayOf(purpose: AttemptPurpose): 'came' | 'left' {
  return purpose === 'payment' ? 'came' : 'left';
}

function wayText(purpose: AttemptPurpose): string {
  return purpose === 'payment' ? wayOf(purpose) : `${wayOf(purpose)} (${purpose})`;
}

/** What has to be true, or done outside, before money is booked to that party (docs/operating.md). */
const FIRST: { readonly [way in ReturnType<typeof wayOf>]: { readonly [to in LateTarget]?: string } } = {
  came: {
    payer: "return the money at the upstream's portal, or through its support",
    merchant: 'ask the merchant whether it delivers this order, and the upstream whether it confirms the payment',
  },
  left: {
    upstream: 'have the upstream return the money, or confirm that it never sent it',
    merchant: 'ask the merchant whether it pays for what has reached the receiver',
    gateway: 'make sure that nobody returns the money',
  },
};

function commandOf(attemptId: string, { to }: SuspenseChoice): string {
  const evidence = to === 'payer' ? " --reference '…'" : '';
  return `mbongo attempt book ${attemptId} --to ${to}${evidence} --why '…' --yes`;
}

function documentOf({ attempt, order, why }: InSuspense) {
  return {
    attempt_id: attempt.id,
    since: timeOf(attempt.settled_at),
    way: wayOf(attempt.purpose),
    purpose: attempt.purpose,
    amount: formatMinor(attempt.amount_minor, attempt.currency),
    currency: attempt.currency,
    why,
    transaction_id: attempt.payment_id,
    status: order.status,
    customer_reference: order.customer_reference,
    merchant_id: attempt.merchant_id,
    connector: attempt.connector,
  };
}

/** One sum for each currency: what came, what left, and the rest, which the suspense accounts hold if nothing was left out. */
function sumsOf({ sums }: SuspenseSums) {
  return [...new Set(sums.map(({ currency }) => currency))].toSorted().map((currency) => {
    const of = (way: 'in' | 'out') => sums.find((one) => one.currency === currency && one.way === way);
    const [came, left] = [of('in')?.minor ?? 0n, of('out')?.minor ?? 0n];
    return {
      currency,
      came_count: of('in')?.count ?? 0,
      came: formatMinor(came, currency),
      left_count: of('out')?.count ?? 0,
      left: formatMinor(left, currency),
      balance: formatMinor(came - left, currency),
    };
  });
}

function sumLines(sums: SuspenseSums): string[] {
  return sumsOf(sums).map(({ currency, came_count, came, left_count, left, balance }) => {
    return `${currency}  ${came} came (${came_count}), ${left} left (${left_count}): ${balance} in suspense`;
  });
}

function ledgerLines({ differences }: SuspenseSums): string[] {
  if (differences.length === 0) return ["The ledger's suspense accounts hold what all attempts in suspense moved."];
  return differences.map((difference) => {
    const { shard, account, balance, attempts, currency } = differenceOf(difference);
    const what = `${account} of shard ${shard} holds ${balance} ${currency}, but its attempts moved ${attempts}`;
    return `WRONG: ${what}: run mbongo doctor, and report it as a bug`;
  });
}

function differenceOf({ shard, currency, balance, attempts }: SuspenseSums['differences'][number]) {
  return {
    shard,
    account: `suspense:${currency}`,
    currency,
    balance: formatMinor(balance, currency),
    attempts: formatMinor(attempts, currency),
  };
}

const UNDECIDED: { readonly [kind in UndecidedKind]: readonly [one: string, many: string, see: string] } = {
  proof: ['proof to decide', 'proofs to decide', 'mbongo proof list --status waiting'],
  attempt_in: ['payment of unknown outcome', 'payments of unknown outcome', 'mbongo attempt list'],
  attempt_out: ['payout or refund of unknown outcome', 'payouts and refunds of unknown outcome', 'mbongo attempt list'],
  refund: ['refund to carry out by hand', 'refunds to carry out by hand', 'mbongo refund list --status pending'],
};

function undecidedOf({ kind, currency, count, minor, oldest, at_least }: Undecided) {
  const see = UNDECIDED[kind][2];
  return { kind, currency, count, amount: formatMinor(minor, currency), oldest: timeOf(oldest), at_least, see };
}

function undecidedLine(one: Undecided): string {
  const [singular, plural, see] = UNDECIDED[one.kind];
  const what = `${counted(one.count, singular, plural)}, ${moneyText(one.minor, one.currency)}`;
  const [most, since] = one.at_least ? ['at least ', 'some'] : ['', 'the oldest'];
  return `Not in suspense, but it waits for a person: ${most}${what}, ${since} since ${timeOf(one.oldest)}: ${see}`;
}
