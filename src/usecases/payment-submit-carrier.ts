/**
 * Asks a carrier to take the money: write, call, write.
 *
 * Invariant: the attempt is committed before the carrier is called, and no database transaction is open while it answers. That
 * the carrier waits for its customer may be answered before it is written (decision 25); any other answer is written first. A
 * process that dies in between leaves an open attempt, which the inquiry round settles.
 */

import type { CollectConnector } from '../connectors/connector.ts';
import type { Answer, LastingRefusal } from '../domain/answer.ts';
import type { Attempt, Merchant, Payment, Session } from '../domain/records.ts';
import { type DetailCode, Refusal, refuseField } from '../domain/refusal.ts';
import { type Settlement, type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import {
  type MobileMoneyMeans,
  PaymentMoved,
  requireSubmittable,
  SubmitAgain,
  type Submitted,
} from '../domain/submission.ts';
import { type Settling, settlementContext } from './attempt-answer.ts';
import { CALL_LIFE_MS, callWithinDeadline, TAKEN_BEFORE } from './attempt-ask.ts';
import type { Intended, Intention } from './attempt-intend.ts';
import { whileRecording } from './attempt-record.ts';
import { settleByAnswer } from './attempt-settle.ts';
import { askEarlierByPhone, type EarlierByPhone } from './carrier-earlier.ts';
import { carrierOrderOf } from './carrier-order.ts';
import { carriersInWords } from './carrier-words.ts';
import type { Deps } from './deps.ts';
import { isPaidAside, paidBefore } from './paid-aside.ts';
import type { FoundSubmit } from './payment-submit-found.ts';
import { asSubmitted, outcomeOf } from './payment-submit-outcome.ts';
import { submitByAttempt, writeOutcome } from './payment-submit-upstream.ts';
import { type Answering, type Decision, perform, type Reply, refusalOf, refuse } from './perform.ts';
import { hasOnePayment } from './session-payments.ts';

/**
 * Asks the carrier of `msisdn` to take the money, fee included. If the carrier gives no answer, the payment stays `processing`
 * until the carrier answers an inquiry (contract §4).
 *
 * @throws Refusal 1103 when no carrier serves number and currency, or the carrier knows no account under the number; 1202 when the
 * amount is out of limits; 1404 when the carrier certainly did not take the request, or cannot say what became of an earlier
 * attempt that it had turned away; 1110 when such an attempt has paid too late to count; and as `requireSubmittable`, for the
 * session and the payment.
 */
export async function submitToCarrier(deps: Deps, submit: FoundSubmit, { msisdn }: MobileMoneyMeans): Promise<Reply> {
  const { caller, payment, answering } = submit;
  const closed = refusalOf(() => requireSubmittable(caller.session, payment, deps.clock.now()));
  if (closed !== undefined) return refuse(deps.store, answering, closed);
  const route = carrierFor(deps, msisdn, payment);
  const earlier = await askEarlierByPhone(deps, caller, payment);
  if (earlier.kind === 'taken') return answerTaken(deps, submit, earlier.attempt);
  const refused = refusalBy(earlier, payment);
  if (refused !== undefined) return refuse(deps.store, answering, refused);
  const intention: Intention = { method: 'mobile_money', msisdn, callLifeMs: CALL_LIFE_MS, ...route };
  // If payment or session changed meanwhile, another attempt may have been made, which must be inquired about first.
  const check = (fresh: Payment, session: Session): void => {
    if (fresh.version !== payment.version || session.version !== caller.session.version)
      throw new PaymentMoved(payment.id);
  };
  const submitting = { caller, payment, intention, answering, check, hasWaited: earlier.kind !== 'none' };
  return submitByAttempt(deps, submitting, (intended) =>
    callAndRecord({ deps, intended, msisdn, merchant: caller.merchant, connector: route.connector, answering }),
  );
}

/**
 * An earlier attempt was accepted after all. If this payment resumes with it, the submit answers with its outcome; if another
 * payment does, or this one has changed in another way, the submit starts over.
 */
function answerTaken(deps: Deps, { payment: { shard, id }, answering }: FoundSubmit, taken: Attempt): Promise<Reply> {
  return perform(
    deps.store,
    answering,
    () => deps.store.payment.get(shard, id),
    (found) => {
      if (found?.attempt_id !== taken.id) throw new SubmitAgain(id);
      return outcomeOf(found);
    },
  );
}

function refusalBy(earlier: EarlierByPhone, payment: Payment): Refusal | undefined {
  const { id } = payment;
  const field = 'mobile_money_phone_number';
  switch (earlier.kind) {
    case 'paid_aside':
      return paidBefore(payment, field);
    case 'unclear': {
      const { carrier } = earlier.attempt;
      const details = [{ field, code: 'EARLIER_PROMPT_OPEN', words: { carrier } }] as const;
      return new Refusal(1404, { transactionId: id, retryAfter: 10, details });
    }
    default:
      return undefined;
  }
}

interface Route {
  readonly connector: CollectConnector;
  readonly carrier: string;
}

/** The carrier follows from the number's prefix and the currency; the refusal of a wrong pair says what would work (1103). */
function carrierFor(deps: Deps, msisdn: string, payment: Payment): Route {
  const field = 'mobile_money_phone_number';
  const route = deps.connectors.routeFor('payment', msisdn, payment.currency);
  const currency = payment.currency;
  if (route.kind === 'wrong_currency') {
    const currencies = route.currencies.join(', ');
    throw refuseField(1103, field, 'CARRIER_CURRENCY', { carrier: route.carrier, currency, currencies });
  }
  if (route.kind === 'no_carrier') {
    throw refuseField(1103, field, 'NO_CARRIER', { currency, countries: carriersInWords(route.works) });
  }
  const connector = deps.connectors.collect(route.connector);
  if (connector === undefined) throw new Error(`no connector is called ${route.connector}`);
  return { connector, carrier: route.carrier };
}

/** A submit whose attempt is open. */
interface OpenSubmit {
  readonly deps: Deps;
  readonly intended: Intended;
  readonly msisdn: string;
  readonly merchant: Merchant;
  readonly connector: CollectConnector;
  readonly answering: Answering<Submitted>;
}

/** Calls the carrier, then writes its answer, with the session consumed or freed, and the reply to remember. */
async function callAndRecord(submit: OpenSubmit): Promise<Reply> {
  const { deps, intended, connector, answering } = submit;
  const { attempt } = intended;
  const answer = await start(submit);
  const lasting = answer.kind === 'not_sent' ? answer.lasting : undefined;
  const reason = lasting === 'payer_unknown' ? lasting : undefined;
  const asked = { at: attempt.created_at, inquiry: false, reason } as const;
  const settle = (rows: SettlementRows): Settlement =>
    settleAttempt(rows, answer, settlementContext(deps, connector, asked));
  if (answer.kind === 'waiting' && answering.receipt === undefined && mayTellFirst(deps, intended)) {
    const { payment } = settle(intended);
    // The carrier's own reference is only in its acceptance, so it is added to the rows.
    const rows = { ...intended, attempt: { ...attempt, provider_reference: answer.providerReference } };
    const write = (): Promise<unknown> => settleByAnswer(deps, attempt, answer, asked, intended);
    if (deps.acceptances.defer({ rows, write })) return answering.render({ payment });
  }
  const decide = (rows: SettlementRows, settling: Settling): Decision<Submitted> => {
    const settled = settling(settle(rows));
    const { change } = settled;
    // Whatever our call returned, the carrier may have said otherwise since: the settled state is answered.
    if (settled.attempt.status === 'not_sent')
      return { change, refusal: refusalByEarlier(intended) ?? turnedAway(attempt, lasting) };
    return { change, answer: { payment: asSubmitted(settled.payment) } };
  };
  return whileRecording(deps, attempt.id, () => writeOutcome(deps, intended, answering, decide));
}

/** 1 s: a carrier that took longer may have asked its customer, and called another process back, before it answered us. */
const QUICK_MS = 1_000;

/**
 * Whether the carrier's acceptance may be answered before it is written: nothing has been heard of the attempt since it was
 * opened, and no sibling ends with it. (With an Idempotency-Key it is always written first, together with the reply.)
 */
function mayTellFirst({ store, clock }: Deps, { attempt, session }: Intended): boolean {
  const { shard, id, version, created_at } = attempt;
  const isQuick = clock.now() - created_at < QUICK_MS;
  return isQuick && hasOnePayment(session) && store.attempt.recent(shard, id)?.version === version;
}

/** The refusal if an earlier attempt of the session keeps this one from being sent. */
function refusalByEarlier({ earlier, payment }: Intended): Refusal | undefined {
  if (earlier === undefined) return undefined;
  return refusalBy(isPaidAside(earlier) ? { kind: 'paid_aside' } : { kind: 'unclear', attempt: earlier }, payment);
}

/** Asks the carrier, unless too much time has passed since the attempt was written, or an earlier one was accepted. */
function start({ deps, intended, msisdn, merchant, connector }: OpenSubmit): Promise<Answer> {
  const { attempt, payment, earlier } = intended;
  const { customer_reference: customerReference } = payment;
  const order = carrierOrderOf(deps, { attempt, msisdn, merchant, customerReference });
  return callWithinDeadline(deps, attempt, async () => (earlier === undefined ? connector.start(order) : TAKEN_BEFORE));
}

/** What a submit answers that the carrier has turned away: whether to come back, to name another number, or neither. */
function turnedAway({ payment_id: transactionId, carrier }: Attempt, lasting: LastingRefusal | undefined): Refusal {
  const about = (code: DetailCode) => ({
    transactionId,
    details: [{ field: 'mobile_money_phone_number', code, words: { carrier } }],
  });
  switch (lasting) {
    case 'payer_unknown':
      return new Refusal(1103, about('PAYER_UNKNOWN'));
    case 'operator_needed':
      return new Refusal(1404, { ...about('CARRIER_REFUSES'), retryable: false });
    default:
      return new Refusal(1404, { ...about('CARRIER_DOWN'), retryAfter: 10 });
  }
}
