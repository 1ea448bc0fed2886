/**
 * Bodies of payouts: the faults of their fields beyond the schema, and the orders that they make.
 *
 * Invariant: one reading finds the faults and makes the order, so that the two differ only if time has passed in between. Every
 * fault is found; fields that cannot be read are left to the schema to report.
 */

import { isCurrency } from '../domain/currency.ts';
import { currencyFault } from '../domain/merchant-currency.ts';
import { formatMinor, parseAmount } from '../domain/money.ts';
import type { SendingType } from '../domain/outgoing-records.ts';
import { type OrderedLine, type PayoutOrder, runTimeOf, totalMost } from '../domain/payout-order.ts';
import type { Merchant, ReceiptMode } from '../domain/records.ts';
import type { DetailCode, RefusalDetail, Words } from '../domain/refusal.ts';
import { MAX_OCCURRENCES, occurrenceDates } from '../domain/schedule.ts';
import { isReferenceText } from '../domain/session.ts';
import { ungrouped } from '../domain/wallet.ts';
import type { Deps } from '../usecases/deps.ts';
import { urlFaults } from '../usecases/merchant-urls.ts';
import { payoutRoute, type Routing } from '../usecases/payout-route.ts';
import type { PayoutBody } from './payout-schemas.ts';
import { parsePhone } from './phone.ts';
import type { Readable } from './route.ts';
import { refuseShape } from './shape.ts';

type Checking = Pick<Deps, 'outbound' | 'calendar' | 'clock'> & Routing;

/** The outcome of reading something: its faults, or its value. */
interface Reading<T> {
  readonly faults: readonly RefusalDetail[];
  readonly value?: T;
}

const fault = (field: string, code: DetailCode, words?: Words): RefusalDetail =>
  words === undefined ? { field, code } : { field, code, words };

/** The faults of a payout's fields, in any order. */
export function payoutFaults(deps: Checking, merchant: Merchant, body: Readable<PayoutBody>): readonly RefusalDetail[] {
  return readPayout(deps, merchant, body).faults;
}

/**
 * The order of a body in which `payoutFaults` has found no fault. @throws Refusal if a day has ended since, so that a date has passed.
 */
export function payoutOrder(deps: Checking, merchant: Merchant, body: PayoutBody, language: string): PayoutOrder {
  const { faults, value } = readPayout(deps, merchant, body);
  if (value === undefined) throw refuseShape(faults);
  return { ...value, language };
}

type OrderWithoutLanguage = Omit<PayoutOrder, 'language'>;

function readPayout(deps: Checking, merchant: Merchant, body: Readable<PayoutBody>): Reading<OrderWithoutLanguage> {
  const { customer_reference, currency, receipt_mode, notify_url, note } = body;
  const sending_type = body.sending_type ?? 'immediate';
  const dates = body.sending_type === undefined ? readUndated(body) : readDates(deps, merchant, sending_type, body);
  const lines = readLines(deps, body);
  const wrong = currencyFault('currency', currency, merchant);
  const faults = [
    ...textFaults('customer_reference', customer_reference),
    ...(wrong === undefined ? [] : [wrong]),
    ...urlFaults(deps, merchant, { notify_url }),
    ...dates.faults,
    ...lines.faults,
    ...textFaults('note', note),
  ];
  const isWhole = customer_reference !== undefined && notify_url !== undefined && receipt_mode !== undefined;
  if (faults.length > 0 || !isWhole || !isCurrency(currency)) return { faults };
  if (lines.value === undefined || dates.value === undefined) return { faults };
  const value: OrderWithoutLanguage = {
    customer_reference,
    currency,
    receipt_mode,
    sending_type,
    notify_url,
    note: note ?? null,
    lines: lines.value,
    ...dates.value,
    retry_of: null,
  };
  return { faults, value };
}

function textFaults(field: string, text: string | undefined): RefusalDetail[] {
  return text === undefined || isReferenceText(text) ? [] : [fault(field, 'INVALID_TEXT')];
}

/** All beneficiaries, in the order of the call. */
function readLines(deps: Checking, body: Readable<PayoutBody>): Reading<readonly OrderedLine[]> {
  const { beneficiaries = [], receipt_mode: mode, currency } = body;
  const faults: RefusalDetail[] = [];
  const lines: OrderedLine[] = [];
  const seen = new Set<string>();
  let total = 0n;
  for (const [at, given] of beneficiaries.entries()) {
    if (given === undefined) continue;
    const field = `beneficiaries[${at}]`;
    const amount = readAmount(given.amount, currency, field);
    const receiver = mode === undefined ? { faults: [] } : readReceiver(deps, mode, currency, given, field);
    faults.push(...amount.faults, ...receiver.faults, ...repetitionFaults(seen, receiver.value, field));
    total += amount.value?.amountMinor ?? 0n;
    if (amount.value === undefined || receiver.value === undefined) continue;
    lines.push({ amount: amount.value.amount, amountMinor: amount.value.amountMinor, ...receiver.value });
  }
  faults.unshift(...totalFaults(total, currency));
  return faults.length > 0 ? { faults: faults.filter(isFirst) } : { faults, value: lines };
}

function totalFaults(total: bigint, currency: string | undefined): RefusalDetail[] {
  if (!isCurrency(currency) || total <= totalMost(currency)) return [];
  return [fault('beneficiaries', 'PAYOUT_TOTAL', { maximum: formatMinor(totalMost(currency), currency), currency })];
}

/** The amount's form depends on the currency; where that is unknown, the widest form is checked. */
function readAmount(
  amount: string | undefined,
  currency: string | undefined,
  line: string,
): Reading<Pick<OrderedLine, 'amount' | 'amountMinor'>> {
  if (amount === undefined) return { faults: [] };
  const money = parseAmount(amount, isCurrency(currency) ? currency : 'usd');
  if (money === undefined) return { faults: [fault(`${line}.amount`, 'INVALID_AMOUNT')] };
  return { faults: [], value: { amount, amountMinor: money.minor } };
}

/** Whether a line before this one has the same receiver: `seen` collects them. */
function repetitionFaults(seen: Set<string>, receiver: Receiver | undefined, line: string): RefusalDetail[] {
  const key = receiver?.msisdn ?? receiver?.wallet_number ?? undefined;
  if (receiver === undefined || key === undefined) return [];
  const isRepeated = seen.has(key);
  seen.add(key);
  const field = FIELD[receiver.msisdn === null ? 'wallet' : 'mobile_money'];
  return isRepeated ? [fault(`${line}.${field}`, 'DUPLICATE_BENEFICIARY')] : [];
}

/** A fault of the whole call is found at each of its lines, and reported once. */
function isFirst({ field }: RefusalDetail, at: number, all: readonly RefusalDetail[]): boolean {
  return field !== 'receipt_mode' || all.findIndex((other) => other.field === field) === at;
}

const FIELD = { mobile_money: 'phone_number', wallet: 'wallet_number' } as const satisfies {
  [mode in ReceiptMode]: string;
};

type Receiver = Omit<OrderedLine, 'amount' | 'amountMinor'>;
type Given = NonNullable<NonNullable<Readable<PayoutBody>['beneficiaries']>[number]>;

/** The receiver of a line. A receiver that is known is returned even with faults, so that its repetition is seen too. */
function readReceiver(
  deps: Checking,
  mode: ReceiptMode,
  currency: string | undefined,
  given: Given,
  line: string,
): Reading<Receiver> {
  const name = FIELD[mode];
  const field = `${line}.${name}`;
  const text = given[name];
  if (text === undefined || text === '') return { faults: [fault(field, 'REQUIRED')] };
  if (mode === 'wallet') {
    const number = ungrouped(text);
    if (number === '' || !isReferenceText(number)) return { faults: [fault(field, 'INVALID_TEXT')] };
    return { faults: [], value: { msisdn: null, wallet_number: number, connector: null, carrier: null } };
  }
  const msisdn = parsePhone(text);
  if (msisdn === undefined) return { faults: [fault(field, 'INVALID_PHONE_NUMBER')] };
  const route = isCurrency(currency) ? payoutRoute(deps, msisdn, currency, field) : undefined;
  const way =
    route?.kind === 'route'
      ? { connector: route.connector, carrier: route.carrier }
      : { connector: null, carrier: null };
  return { faults: route?.kind === 'none' ? [route.fault] : [], value: { msisdn, wallet_number: null, ...way } };
}

type Planned = Pick<PayoutOrder, 'dates' | 'frequency'>;

const AT_ONCE: Planned = { dates: null, frequency: null };

/**
 * Without a sending_type a payout is made at once (specification) and cannot be undone. So dates beside it are a fault: whoever sends
 * them means them.
 */
function readUndated(body: Readable<PayoutBody>): Reading<Planned> {
  const given = datedBy(body);
  if (given === undefined) return { faults: [], value: AT_ONCE };
  return { faults: [fault('sending_type', 'SENDING_TYPE', { given })] };
}

const DATE_FIELDS = ['scheduled_dates', 'recurring_start_date', 'recurring_frequency'] as const;

/** The field by which a call asks for dates, well-formed or not; undefined: it has only what programs send in unused fields. */
function datedBy(body: Readable<PayoutBody>): string | undefined {
  const given = DATE_FIELDS.find((name) => !isFiller(body[name]));
  const { recurring_occurrences: count } = body;
  return given ?? (isFiller(count) || count === 1 || count === '1' ? undefined : 'recurring_occurrences');
}

/** What programs send for a field that they do not use: blanks, zeros, a date of the year 0 or 1. */
function isFiller(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBlank);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return isBlank(value) || value === false || value === 0 || (typeof value === 'string' && UNUSED.test(value.trim()));
}

const UNUSED = /^(none|null|undefined|0|n\/a|000[01]-0[01]-0[01].{0,40})$/i;

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** The dates on which it runs; fields of another sending_type are ignored. */
function readDates(
  deps: Checking,
  merchant: Merchant,
  sending: SendingType,
  body: Readable<PayoutBody>,
): Reading<Planned> {
  if (sending === 'immediate') return { faults: [], value: AT_ONCE };
  const today = deps.calendar.today(runTimeOf(merchant).time_zone, deps.clock.now());
  return sending === 'scheduled' ? readScheduled(deps, body, today) : readRecurring(deps, body, today);
}

function readScheduled(deps: Checking, body: Readable<PayoutBody>, today: string): Reading<Planned> {
  const field = 'scheduled_dates';
  const given = body.scheduled_dates ?? undefined;
  if (given === undefined) return { faults: [fault(field, 'REQUIRED')] };
  if (!Array.isArray(given)) return { faults: [fault(field, 'WRONG_TYPE', { type: 'array' })] };
  if (given.length === 0) return { faults: [fault(field, 'TOO_SHORT', { minimum: 1 })] };
  if (given.length > MAX_OCCURRENCES) return { faults: [fault(field, 'TOO_LONG', { maximum: MAX_OCCURRENCES })] };
  const items: readonly unknown[] = given;
  const faults: RefusalDetail[] = [];
  const dates: string[] = [];
  for (const [at, item] of items.entries()) {
    const read = readDate(deps, `${field}[${at}]`, item, today);
    faults.push(...read.faults);
    if (read.value === undefined) continue;
    if (dates.includes(read.value)) faults.push(fault(`${field}[${at}]`, 'DUPLICATE_DATE'));
    dates.push(read.value);
  }
  if (faults.length > 0) return { faults };
  const order = { sending_type: 'scheduled', dates } as const;
  return { faults, value: { dates: occurrenceDates(deps.calendar, order), frequency: null } };
}

const FREQUENCIES = ['daily', 'weekly', 'biweekly', 'monthly'] as const;

function readRecurring(deps: Checking, body: Readable<PayoutBody>, today: string): Reading<Planned> {
  const frequency = FREQUENCIES.find((known) => known === body.recurring_frequency);
  const start = body.recurring_start_date ?? undefined;
  const begun = start === undefined ? { faults: [] } : readDate(deps, 'recurring_start_date', start, today);
  const count = readOccurrences(body.recurring_occurrences ?? undefined);
  const faults = [
    ...missing('recurring_frequency', body.recurring_frequency),
    ...missing('recurring_start_date', start),
    ...missing('recurring_occurrences', body.recurring_occurrences),
    ...begun.faults,
    ...count.faults,
  ];
  if (frequency === undefined && (body.recurring_frequency ?? undefined) !== undefined) {
    faults.push(fault('recurring_frequency', 'NOT_AN_OPTION', { options: FREQUENCIES.join(', ') }));
  }
  if (faults.length > 0 || frequency === undefined || begun.value === undefined || count.value === undefined) {
    return { faults };
  }
  const order = { sending_type: 'recurring', start: begun.value, frequency, occurrences: count.value } as const;
  return { faults, value: { dates: occurrenceDates(deps.calendar, order), frequency } };
}

function missing(field: string, value: unknown): RefusalDetail[] {
  return value === undefined || value === null ? [fault(field, 'REQUIRED')] : [];
}

/** Dates after this one are taken for typing errors. */
const LAST_DATE = '2999-12-31';

function outOfYears(field: string, today: string): RefusalDetail {
  return fault(field, 'YEAR_OUT_OF_RANGE', { first: yearOf(today), last: yearOf(LAST_DATE) });
}

const yearOf = (date: string): string => date.slice(0, 'yyyy'.length);

function readDate(deps: Checking, field: string, given: unknown, today: string): Reading<string> {
  if (typeof given !== 'string' || !deps.calendar.isDate(given)) return { faults: [fault(field, 'INVALID_DATE')] };
  // Dates of this form sort as texts.
  if (given < today) return { faults: [fault(field, 'DATE_PAST', { today })] };
  return given > LAST_DATE ? { faults: [outOfYears(field, today)] } : { faults: [], value: given };
}

function readOccurrences(given: unknown): Reading<number> {
  const field = 'recurring_occurrences';
  if (given === undefined) return { faults: [] };
  if (typeof given !== 'number' || !Number.isInteger(given)) {
    return { faults: [fault(field, 'WRONG_TYPE', { type: 'integer' })] };
  }
  if (given >= 1 && given <= MAX_OCCURRENCES) return { faults: [], value: given };
  return { faults: [fault(field, 'OUT_OF_RANGE', { minimum: 1, maximum: MAX_OCCURRENCES })] };
}
