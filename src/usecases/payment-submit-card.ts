/**
 * Pays by card: checks the hosted form, has the issuer authenticate its customer, and if it does, asks the card network for the
 * money.
 *
 * Invariant: the attempt is committed before the network is called, and no database transaction is open while it answers. No
 * money can have moved before PAY: a failure before it returns session and payment to the customer.
 */

import type { Authentication, CardConnector, CardOrder, Challenge } from '../connectors/connector.ts';
import type { AttemptAnswer } from '../domain/answer.ts';
import { challengeAttempt, type ThreeDsResult } from '../domain/authentication.ts';
import { guard } from '../domain/change.ts';
import { requireCardsLeft } from '../domain/collection.ts';
import { requireMintingSecret } from '../domain/credential.ts';
import { isPaid } from '../domain/payment.ts';
import type { Payment, Session } from '../domain/records.ts';
import { Refusal, type RefusalDetail, refuseField } from '../domain/refusal.ts';
import { type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import {
  type BrowserFacts,
  type CardMeans,
  PaymentMoved,
  requireSubmittable,
  SubmitAgain,
  type Submitted,
} from '../domain/submission.ts';
import { type Settling, settlementContext, writeCallAnswer } from './attempt-answer.ts';
import { callWithinDeadline, TOO_LATE } from './attempt-ask.ts';
import type { Intended } from './attempt-intend.ts';
import { browserFor, challengeUrl, sealChallenge } from './card-challenge.ts';
import {
  askEarlier,
  askEarlierInSession,
  type Earlier,
  type EarlierRows,
  guessEarlier,
  type PaidEarlier,
  readWithEarlier,
  settleEarlier,
} from './card-earlier.ts';
import { cardOf, networkDown } from './card-form.ts';
import { cardIntention, cardOrderOf } from './card-pay.ts';
import type { Deps } from './deps.ts';
import { findPaidAsideInSession, isPaidAside, paidBefore } from './paid-aside.ts';
import type { FoundSubmit } from './payment-submit-found.ts';
import { outcomeOf } from './payment-submit-outcome.ts';
import { submitByAttempt, writeOutcome } from './payment-submit-upstream.ts';
import {
  type Answering,
  type Decision,
  perform,
  type Reply,
  refusalOf,
  refuse,
  rethrowUnlessTransient,
} from './perform.ts';
import { hasOnePayment, readSessionPayments } from './session-payments.ts';

/**
 * 22 s that the authentication may take before the money is asked for. The inquiry round first inquires about the attempt when it
 * is twice as old, and closes it a settle delay later at the earliest.
 */
const MAX_AUTHENTICATION_MS = 22_000;

/**
 * Pays by the card that was entered into the hosted form `formId`. Answers the payment as it is afterwards, or with
 * `redirectUrl` if the issuer wants to challenge its customer first (specification, States, Transaction; contract §4).
 *
 * @throws Refusal 1110 for a form that is not this payment's or cannot be used, and when an earlier attempt has paid whose money is
 * in suspense; 1202 when the amount is out of limits; 1404 when this attempt certainly took nothing, and the customer may try again:
 * the network is away, or an earlier attempt may have paid; 1301 when too many cards have been refused in this session; 1502 when the
 * card was refused; 1001, 1004 or 1005 when the session's credential was revoked or its merchant suspended while the network was
 * asked; and as `requireSubmittable`, for the session and the payment.
 */
export async function submitByCard(
  deps: Deps,
  { caller, payment, answering }: FoundSubmit,
  { formId, browser }: CardMeans,
): Promise<Reply> {
  const closed = refusalOf(() => requireSubmittable(caller.session, payment, deps.clock.now()));
  if (closed !== undefined) return refuse(deps.store, answering, closed);
  const card = cardOf(deps);
  const intention = cardIntention(card, 'card');
  requireForm(payment, formId);
  const others = (await readSessionPayments(deps, caller.session)).filter((one) => one.id !== payment.id);
  const refused = await refusalByEarlier(deps, card, { caller, payment }, others);
  if (refused !== undefined) return refuse(deps.store, answering, refused);
  const { version } = caller.session;
  const check = (found: Payment, session: Session): void => {
    requireForm(found, formId);
    // Another submit had the session meanwhile: what it asked for must be inquired about, too.
    if (!hasOnePayment(session) && session.version !== version) throw new PaymentMoved(found.id);
  };
  const hasWaited = others.length > 0;
  return submitByAttempt(deps, { caller, payment, intention, answering, check, hasWaited }, (intended) =>
    authenticateAndPay({ deps, intended, card, answering }, browser),
  );
}

/**
 * The refusal if an earlier card attempt of the session has paid the order, or may have; or if the session has used up its cards.
 * `others`: the session's other payments.
 *
 * @throws SubmitAgain when an earlier attempt turns out to have paid its payment, which has consumed the session.
 */
async function refusalByEarlier(
  deps: Deps,
  card: CardConnector,
  { caller: { session }, payment }: Pick<FoundSubmit, 'caller' | 'payment'>,
  others: readonly Payment[],
): Promise<Refusal | undefined> {
  const used = refusalOf(() => requireCardsLeft(others, payment, session, deps.clock.now()));
  // If the session has used up its cards, no later submit inquires about this payment's own earlier attempts, so this one does.
  const earlier = await askEarlierInSession(deps, card, used === undefined ? others : [...others, payment]);
  switch (earlier) {
    case 'taken':
      throw new SubmitAgain(payment.id);
    case 'paid_aside':
      return paidAside(payment).refusal;
    case 'unclear':
      return unclearBefore(payment).refusal;
    case 'none':
      return used;
  }
}

/** Requires the form that was opened for this payment. */
function requireForm(payment: Payment, formId: string): void {
  if (payment.hosted_session_id === null) throw refuseField(1110, 'session_id', 'NO_CARD_FORM');
  if (payment.hosted_session_id !== formId) throw refuseField(1110, 'session_id', 'OTHER_CARD_FORM');
}

/** A submit whose attempt is open. */
interface OpenSubmit {
  readonly deps: Deps;
  readonly intended: Intended;
  readonly card: CardConnector;
  readonly answering: Answering<Submitted>;
}

async function authenticateAndPay(submit: OpenSubmit, facts: BrowserFacts): Promise<Reply> {
  const { deps, intended, card } = submit;
  const { attempt, payment } = intended;
  const order = cardOrderOf(attempt, payment);
  const authentication = await card.authenticate(order, browserFor(deps, attempt.id, facts));
  const earlier = await earlierOf(submit, authentication);
  switch (earlier.kind) {
    case 'paid':
      return recordEarlier(submit, earlier);
    case 'paid_aside':
      return giveBack(submit, PAID_BEFORE, paidAside(payment));
    case 'unclear':
      return giveBack(submit, earlier.reason, unclearBefore(payment));
    case 'none':
      return actOn(submit, order, authentication);
  }
}

/**
 * What became of the payment's earlier attempts. They are checked before the customer pays, now or in another way; only an empty form
 * is simply filled in.
 */
async function earlierOf(
  { deps, intended: { attempt }, card }: OpenSubmit,
  authentication: Authentication,
): Promise<Earlier> {
  if (authentication.kind === 'unusable' && authentication.fault === 'no_card') return { kind: 'none' };
  const isAway = authentication.kind === 'not_sent' || authentication.kind === 'unknown';
  return isAway ? guessEarlier(deps, attempt) : askEarlier(deps, card, attempt);
}

/** Asks for the money, sends the customer to the issuer, or ends the attempt, as the network has answered. */
async function actOn(submit: OpenSubmit, order: CardOrder, authentication: Authentication): Promise<Reply> {
  const { deps, intended, card } = submit;
  const { attempt, payment } = intended;
  switch (authentication.kind) {
    case 'authenticated':
      return unlessStopped(submit, async () => {
        const answer = await callWithinDeadline(deps, attempt, () => card.pay(order), {
          limitMs: MAX_AUTHENTICATION_MS,
        });
        if (answer === TOO_LATE) return giveBack(submit, answer.reason);
        const threeDs = { three_ds_status: authentication.status, eci: authentication.eci };
        return record(submit, { answer, threeDs, unasked: undefined });
      });
    case 'challenge': {
      const { status, challenge } = authentication;
      // The customer cannot be sent to a challenge without a form; no money has been asked for yet.
      if (challenge === undefined) return giveBack(submit, 'a challenge without its form');
      return unlessStopped(submit, () => recordChallenge(submit, status, challenge));
    }
    case 'rejected': {
      const answer = { kind: 'declined', reason: authentication.reason, providerReference: null } as const;
      return record(submit, {
        answer,
        threeDs: { three_ds_status: authentication.status, eci: null },
        unasked: undefined,
      });
    }
    case 'unusable':
      return giveBack(submit, authentication.fault, {
        reason: 'form_unusable',
        refusal: unusableForm(authentication.fault, payment),
      });
    case 'not_sent':
    case 'unknown':
      return giveBack(submit, authentication.reason);
  }
}

/** Goes on with `step`, unless the session may no longer pay: then the attempt ends, and nothing has been asked for. */
async function unlessStopped(submit: OpenSubmit, step: () => Promise<Reply>): Promise<Reply> {
  const stopped = await stoppedMeanwhile(submit);
  return stopped === undefined ? step() : giveBack(submit, whyStopped(stopped), stopped);
}

/**
 * Why the money is not asked for, and the customer not sent to the issuer, if the session's credential was revoked, its merchant
 * suspended, or the order paid too late to count, while the network was asked; or if that cannot be read, as the database is away.
 */
async function stoppedMeanwhile({ deps, intended }: OpenSubmit): Promise<Unasked | undefined> {
  const { attempt, payment, session: known } = intended;
  try {
    const [session, aside] = await Promise.all([
      deps.store.session.caller(known.shard, known.id),
      findPaidAsideInSession(deps, payment, known),
    ]);
    const stopped = session && refusalOf(() => requireMintingSecret(session, deps.clock.now()));
    const refusal = stopped ?? (aside && paidBefore(payment, 'session_id'));
    if (refusal === undefined) return undefined;
    deps.log.info('card_not_charged', { attempt_id: attempt.id, transaction_id: payment.id });
    return { ...NOT_ASKED, refusal };
  } catch (error) {
    rethrowUnlessTransient(error);
    return NOT_ASKED;
  }
}

function whyStopped({ refusal }: Unasked): string {
  return refusal === undefined ? 'it could not be read whether the session may pay' : 'the session may not pay';
}

/** Ends the attempt without having asked for the money: session and payment are the customer's again. */
function giveBack(submit: OpenSubmit, reason: string, unasked: Unasked = NOT_ASKED): Promise<Reply> {
  return record(submit, { answer: { kind: 'not_sent', reason }, threeDs: undefined, unasked });
}

/** Why the money was not asked for. `refusal`: what to answer, if not that the network is down. */
interface Unasked {
  readonly reason: 'form_unusable' | 'not_asked';
  readonly refusal?: Refusal;
}

const NOT_ASKED: Unasked = { reason: 'not_asked' };
const PAID_BEFORE = 'the order was paid before';

/** The customer must not be told that no money moved: an earlier attempt may have moved it. */
function unclearBefore({ id }: Payment): Unasked & { readonly refusal: Refusal } {
  const details = [{ field: 'session_id', code: 'EARLIER_TRY_OPEN' }] as const;
  return { ...NOT_ASKED, refusal: new Refusal(1404, { transactionId: id, retryAfter: 10, details }) };
}

/** An earlier attempt's money is in suspense: a new collect would take it a second time. */
function paidAside(payment: Payment): Unasked & { readonly refusal: Refusal } {
  return { ...NOT_ASKED, refusal: paidBefore(payment, 'session_id') };
}

/** An earlier attempt, settled as not sent, has paid after all: the submit answers with its outcome. */
function recordEarlier(submit: OpenSubmit, paid: PaidEarlier): Promise<Reply> {
  const { deps, answering } = submit;
  const { attempt } = submit.intended;
  const read = (): Promise<EarlierRows> => readWithEarlier(deps, attempt, paid);
  const decide = (rows: EarlierRows, settling: Settling): Decision<Submitted> => {
    const { change, payment, attempt: earlier } = settling(settleEarlier(deps, rows, paid));
    if (change === undefined && rows.attempt.status === 'intended') {
      // Its money was booked as late meanwhile: this attempt ends as if that had been known before.
      const answer = { kind: 'not_sent', reason: PAID_BEFORE } as const;
      return decideAnswer(submit, rows, settling, { answer, threeDs: undefined, unasked: paidAside(payment) });
    }
    // Its money has come too late to count: nobody may be told that nothing has been charged.
    if (isPaidAside(earlier) && !isPaid(payment)) return { change, refusal: paidAside(payment).refusal };
    // The inquiry round has settled it in another way meanwhile.
    if (payment.status === 'pending') return { change, refusal: unclearBefore(payment).refusal };
    return { ...outcomeOf(payment), change };
  };
  const record = (settling: Settling): Promise<Reply> =>
    perform(deps.store, answering, read, (rows) => decide(rows, settling));
  return writeCallAnswer(deps, record);
}

/** How the attempt of a submit came out. */
interface CardOutcome {
  readonly answer: AttemptAnswer;
  /** What was learnt of the customer's authentication. */
  readonly threeDs: ThreeDsResult | undefined;
  /** Present if the money was not asked for, and never will be by this attempt. */
  readonly unasked: Unasked | undefined;
}

/** Writes the outcome, with the session consumed or freed, and the reply to remember. */
function record(submit: OpenSubmit, outcome: CardOutcome): Promise<Reply> {
  const { deps, intended, answering } = submit;
  return writeOutcome(deps, intended, answering, (rows, settling) => decideAnswer(submit, rows, settling, outcome));
}

/** What the network's answer writes, and what is then answered. */
function decideAnswer(
  { deps, card }: Pick<OpenSubmit, 'deps' | 'card'>,
  rows: SettlementRows,
  settling: Settling,
  { answer, threeDs, unasked }: CardOutcome,
): Decision<Submitted> {
  const context = settlementContext(deps, card, {
    at: rows.attempt.created_at,
    inquiry: false,
    threeDs,
    reason: unasked?.reason,
  });
  const settled = settling(settleAttempt(rows, answer, context));
  const { change } = settled;
  // Whatever our call returned, the network may have said otherwise since: the settled state is answered.
  if (settled.attempt.status === 'not_sent' && answer.kind !== 'approved') {
    return { change, refusal: unasked?.refusal ?? networkDown(card, 'session_id', rows.payment.id) };
  }
  // The attempt has paid, but another payment's submit holds the session: this payment must not be paid again.
  if (settled.payment.status === 'pending') return { change, refusal: unclearBefore(settled.payment).refusal };
  return { ...outcomeOf(settled.payment), change };
}

/** The issuer wants to challenge its customer: writes that, and answers 202 with the challenge's address. */
function recordChallenge(submit: OpenSubmit, status: string, challenge: Challenge): Promise<Reply> {
  const { deps, card, intended, answering } = submit;
  const { attempt } = intended;
  const asked = { three_ds_status: status, eci: null, challenge: sealChallenge(deps, attempt.id, challenge) };
  const redirectUrl = challengeUrl(deps, attempt);
  return writeOutcome(deps, intended, answering, (rows) => {
    const context = settlementContext(deps, card, { at: attempt.created_at, inquiry: false });
    const step = challengeAttempt(rows, asked, context);
    if (step !== undefined) return { change: step.change, answer: { payment: step.payment, redirectUrl } };
    // Our own commit, whose outcome was lost, and perhaps later steps; or the inquiry round has closed the attempt meanwhile.
    const { status: now } = rows.attempt;
    if (now === 'challenged') return { answer: { payment: rows.payment, redirectUrl } };
    if (now !== 'intended' && now !== 'not_sent') return outcomeOf(rows.payment);
    // Intended, yet its session is not held: the rows were read on either side of a commit. This change can only lose, which
    // makes us read again.
    const change = now === 'intended' ? { updates: [guard('attempt', rows.attempt)] } : undefined;
    return { change, refusal: networkDown(card, 'session_id', attempt.payment_id) };
  });
}

type FormFault = Extract<Authentication, { kind: 'unusable' }>['fault'];

const FORM_FAULTS = {
  no_card: 'CARD_NOT_ENTERED',
  changed: 'FORM_CHANGED',
  used: 'FORM_USED',
  ended: 'FORM_EXPIRED',
} as const satisfies { readonly [fault in FormFault]: RefusalDetail['code'] };

function unusableForm(fault: FormFault, payment: Payment): Refusal {
  const code = FORM_FAULTS[fault];
  return new Refusal(1110, { transactionId: payment.id, details: [{ field: 'session_id', code }] });
}
