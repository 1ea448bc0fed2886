/**
 * Asks a carrier to take the money: write, call, write.
 *
 * Invariant: the attempt is committed before the network is called, and no transaction is open while it answers.
 * Whoever dies in the middle leaves an open attempt, which the inquiry round settles.
 */

import type { CollectConnector } from '../connectors/connector.ts';
import type { Change } from '../domain/change.ts';
import { movePayment, StateConflict } from '../domain/payment.ts';
import type { Attempt, Payment, Session } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { deviceColumns, updateSession } from '../domain/session.ts';
import { settleAttempt } from '../domain/settlement.ts';
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
import { type Answering, joined, perform, type Receipt, type Reply, refuse, settle } from './perform.ts';

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
  requireSubmittable(caller.session, payment, deps.clock.now());
  const route = carrierFor(deps, msisdn, payment);
  const attempt = await intend(deps, caller, payment, msisdn, route, answering.receipt).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
  if (attempt instanceof Refusal) return refuse(deps.store, answering, attempt);
  const rest = callAndRecord(deps, caller, payment, attempt, route.connector, answering);
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

/** Write: the session is held, the payment processing, the attempt open. */
async function intend(
  deps: Deps,
  caller: SessionCaller,
  known: Payment,
  msisdn: string,
  route: Route,
  receipt: Receipt | undefined,
): Promise<Attempt> {
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
    const columns = {
      ...methodColumns(payment, caller.merchant, 'mobile_money'),
      msisdn,
      carrier: route.carrier,
      attempt_id: attemptId,
      submitted_at: now,
    };
    const attempt = newAttempt(attemptId, payment, columns.total_minor, msisdn, route, now);
    const moved = movePayment(payment, 'attempt_intended', null, now, columns);
    if (moved === undefined) throw new StateConflict(payment, 'attempt_intended');
    const held = updateSession(session, {
      submitting_payment_id: payment.id,
      ...deviceColumns(session, caller.fingerprint),
    });
    const change: Change = {
      updates: [held, moved.update],
      inserts: [moved.history, { table: 'attempt', row: attempt }],
    };
    return { change: receipt === undefined ? change : joined(change, receipt.begin()), answer: attempt };
  });
}

function newAttempt(
  id: string,
  payment: Payment,
  amountMinor: bigint,
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
    amount_minor: amountMinor,
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
  payment: Payment,
  attempt: Attempt,
  connector: CollectConnector,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const word = await connector.start({
    attemptId: attempt.id,
    reference: attempt.reference,
    msisdn: attempt.msisdn,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    merchantName: caller.merchant.name,
    customerReference: payment.customer_reference,
    callbackUrl: callbackUrl(deps, attempt),
  });
  if (word.kind === 'unknown' || word.kind === 'not_sent') {
    deps.log.warn('attempt_unsure', { attempt_id: attempt.id, kind: word.kind, reason: word.reason });
  }
  return perform(
    deps.store,
    answering,
    () => readSettlement(deps, attempt),
    (rows) => {
      const settled = settleAttempt(rows, word, settlementContext(deps, connector, false));
      soundAlarm(deps, settled);
      const change = settled.change === undefined ? {} : { change: settled.change };
      if (word.kind === 'not_sent') return { ...change, refusal: carrierDown(payment, rows.payment.carrier) };
      return { ...change, answer: { payment: settled.payment } };
    },
  );
}

function carrierDown(payment: Payment, carrier: string | null): Refusal {
  const words = { carrier: carrier ?? '' };
  return new Refusal(1404, {
    transactionId: payment.id,
    retryAfter: 10,
    details: [{ field: 'mobile_money_phone_number', code: 'CARRIER_DOWN', words }],
  });
}
