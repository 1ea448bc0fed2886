/**
 * Asks a carrier to take the money: write, call, write.
 *
 * Invariant: the attempt is committed before the network is called, and no transaction is open while it answers.
 * Whoever dies in the middle leaves an open attempt, which the inquiry round settles.
 */

import type { Answer, CollectConnector } from '../connectors/connector.ts';
import type { Change } from '../domain/change.ts';
import { movePayment, StateConflict } from '../domain/payment.ts';
import type { Attempt, Payment, Session } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { deviceColumns, updateSession } from '../domain/session.ts';
import { type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import {
  methodColumns,
  type PaymentSubmitCommand,
  requireMine,
  requireSubmittable,
  type Submitted,
  SubmitUnderWay,
} from '../domain/submission.ts';
import { readSettlement, settlementContext, soundAlarm } from './attempt-settle.ts';
import { callbackUrl } from './callback-url.ts';
import type { SessionCaller } from './callers.ts';
import { atHandFirst, type Deps, newId } from './deps.ts';
import {
  type Answering,
  joined,
  perform,
  persist,
  type Receipt,
  type Reply,
  refusalOf,
  refuse,
  settle,
} from './perform.ts';

/** An intended attempt is left alone for longer than its call can take; then the inquiry round looks after it. */
const CALL_LIFE_MS = 20_000;

export async function submitToCarrier(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentSubmitCommand,
  payment: Payment,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const { msisdn } = command;
  if (msisdn === undefined) throw refuseField(1109, 'mobile_money_phone_number', 'REQUIRED');
  const closed = refusalOf(() => requireSubmittable(caller.session, payment, deps.clock.now()));
  if (closed !== undefined) return refuse(deps.store, answering, closed);
  const route = carrierFor(deps, msisdn, payment);
  const intended = await intend(deps, caller, payment, msisdn, route, answering.receipt).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
  if (intended instanceof Refusal) return refuse(deps.store, answering, intended);
  const rest = callAndRecord(deps, caller, intended, route.connector, answering);
  deps.underWay.set(payment.session_id, rest);
  try {
    return await rest;
  } finally {
    deps.underWay.delete(payment.session_id);
  }
}

interface Route {
  readonly connector: CollectConnector;
  readonly carrier: string;
}

/** The carrier follows from the number's prefix and the currency; a wrong pairing says what would work (1103). */
function carrierFor(deps: Deps, msisdn: string, payment: Payment): Route {
  const field = 'mobile_money_phone_number';
  const route = deps.connectors.routeFor(msisdn, payment.currency);
  const currency = payment.currency;
  if (route.kind === 'wrong_currency') {
    const currencies = route.currencies.join(', ');
    throw refuseField(1103, field, 'CARRIER_CURRENCY', { carrier: route.carrier, currency, currencies });
  }
  if (route.kind === 'no_carrier') {
    const countries = [...new Set(route.works.map(({ carrier, country }) => `${carrier} (${country})`))].join(', ');
    throw refuseField(1103, field, 'NO_CARRIER', { currency, countries });
  }
  const connector = deps.connectors.collect(route.connector);
  if (connector === undefined) throw new Error(`no connector is called ${route.connector}`);
  return { connector, carrier: route.carrier };
}

/** The rows as they stand once the attempt is committed. */
type Intended = Omit<SettlementRows, 'session'> & { readonly session: Session };

/** Write: the session is held, the payment processing, the attempt open. */
async function intend(
  deps: Deps,
  caller: SessionCaller,
  known: Payment,
  msisdn: string,
  route: Route,
  receipt: Receipt | undefined,
): Promise<Intended> {
  const { shard } = known;
  const attemptId = newId(deps, 'att', shard);
  const read = atHandFirst<[Session | undefined, Payment | undefined]>([caller.session, known], async () => {
    const [session, payment, stored] = await Promise.all([
      deps.store.session.caller(shard, caller.session.id),
      deps.store.payment.get(shard, known.id),
      receipt?.stored(),
    ]);
    // Another run of this key has been answered meanwhile: whoever waits for it finds that answer.
    if (stored !== undefined) throw new SubmitUnderWay(known.id);
    return [session, payment];
  });
  return settle(deps.store, read, ([session, found]) => {
    const now = deps.clock.now();
    if (session === undefined) throw new Refusal(1001);
    const payment = requireMine(found, session);
    requireSubmittable(session, payment, now);
    // Method, fee and phone stay with the attempt until the carrier may have the order: nothing has to be taken back.
    const { total_minor, fee_minor } = methodColumns(payment, caller.merchant, 'mobile_money');
    const attempt = newAttempt(attemptId, payment, { amount_minor: total_minor, fee_minor }, msisdn, route, now);
    const moved = movePayment(payment, 'attempt_intended', null, now, { attempt_id: attemptId, submitted_at: now });
    if (moved === undefined) throw new StateConflict(payment, 'attempt_intended');
    const held = updateSession(session, {
      submitting_payment_id: payment.id,
      ...deviceColumns(session, caller.fingerprint),
    });
    const change: Change = {
      updates: [held, moved.update],
      inserts: [moved.history, { table: 'attempt', row: attempt }],
    };
    const after = { ...session, submitting_payment_id: payment.id, version: session.version + 1 };
    return {
      change: receipt === undefined ? change : joined(change, receipt.begin()),
      answer: { attempt, payment: moved.payment, session: after, sessionPayments: [] },
    };
  });
}

function newAttempt(
  id: string,
  payment: Payment,
  money: Pick<Attempt, 'amount_minor' | 'fee_minor'>,
  msisdn: string,
  route: Route,
  now: number,
): Attempt {
  return {
    shard: payment.shard,
    id,
    version: 1,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    connector: route.connector.name,
    status: 'intended',
    reference: route.connector.referenceFor(id),
    msisdn,
    carrier: route.carrier,
    ...money,
    currency: payment.currency,
    provider_reference: null,
    reason: null,
    inquiries: 0,
    not_found_at: null,
    next_inquiry_at: now + CALL_LIFE_MS,
    created_at: now,
    settled_at: null,
  };
}

/** Call, then write what the carrier said, with the session's consumption and the remembered answer. */
async function callAndRecord(
  deps: Deps,
  caller: SessionCaller,
  intended: Intended,
  connector: CollectConnector,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const { attempt, payment, session } = intended;
  const word = await startInTime(deps, caller, payment, attempt, connector);
  if (word.kind === 'unknown' || word.kind === 'not_sent') {
    deps.log.warn('attempt_unsure', { attempt_id: attempt.id, kind: word.kind, reason: word.reason });
  }
  // What we have just written is at hand; siblings, where there are any, have to be read.
  const read = session.payments < 2 ? atHandFirst(intended, () => readSettlement(deps, attempt)) : undefined;
  const record = (): Promise<Reply> =>
    perform<SettlementRows, Submitted>(deps.store, answering, read ?? (() => readSettlement(deps, attempt)), (rows) => {
      const asked = { at: attempt.created_at, inquiry: false };
      const settled = settleAttempt(rows, word, settlementContext(deps, connector, asked));
      soundAlarm(deps, settled);
      const change = settled.change === undefined ? {} : { change: settled.change };
      // Whatever we were told, the carrier may have said otherwise since: what is settled is answered.
      if (settled.attempt.status === 'not_sent') return { ...change, refusal: carrierDown(attempt) };
      return { ...change, answer: { payment: settled.payment } };
    });
  return persist(deps, record);
}

/** After this long nobody may start an attempt any more: whoever slept in between might find it closed and replaced. */
const START_LIMIT_MS = 5_000;

/** Asks the carrier, unless too much time has passed since the attempt was written. */
function startInTime(
  deps: Deps,
  caller: SessionCaller,
  payment: Payment,
  attempt: Attempt,
  connector: CollectConnector,
): Promise<Answer> {
  if (deps.clock.now() > attempt.created_at + START_LIMIT_MS) {
    return Promise.resolve({ kind: 'not_sent', reason: 'the attempt was written too long ago' });
  }
  return connector.start({
    attemptId: attempt.id,
    reference: attempt.reference,
    msisdn: attempt.msisdn,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    merchantName: caller.merchant.name,
    customerReference: payment.customer_reference,
    callbackUrl: callbackUrl(deps, attempt),
  });
}

function carrierDown(attempt: Attempt): Refusal {
  return new Refusal(1404, {
    transactionId: attempt.payment_id,
    retryAfter: 10,
    details: [{ field: 'mobile_money_phone_number', code: 'CARRIER_DOWN', words: { carrier: attempt.carrier } }],
  });
}
