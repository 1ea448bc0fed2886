/**
 * Google Pay and Apple Pay: a token pays at collect, through the card network.
 *
 * Invariant: the token is held in memory until it has been sent, and is written nowhere: no row, no remembered reply, no
 * log. A process that dies before sending it leaves an attempt that the network has never heard of, and nothing is charged.
 */

import { type Change, merged } from '../domain/change.ts';
import { requireMintingSecret } from '../domain/credential.ts';
import type { NativeMethod } from '../domain/method.ts';
import type { Attempt, Payment, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { consumeSession } from '../domain/settlement.ts';
import { CommitUnknown } from '../store/errors.ts';
import { sessionAsTold } from './acceptances.ts';
import { callWithinDeadline, TAKEN_BEFORE } from './attempt-ask.ts';
import { newAttempt, orderOf } from './attempt-intend.ts';
import { settleByAnswer } from './attempt-settle.ts';
import { askEarlierInSession } from './card-earlier.ts';
import { cardOf } from './card-form.ts';
import { cardIntention } from './card-pay.ts';
import { cachedFirst, type Deps, idsOf, newId } from './deps.ts';
import { findPaidAside, findTaken, findTriedInSession } from './paid-aside.ts';
import { type Collect, type Collected, newPayment, requireCollectable } from './payment-collectable.ts';
import {
  type Answering,
  type Decision,
  isTransientFailure,
  perform,
  type Reply,
  refusalOf,
  refuse,
  retryWhileUnavailable,
} from './perform.ts';

/** A payment whose token is about to be sent, with the change to commit first. */
interface Intended {
  readonly change: Change;
  readonly payment: Payment;
  readonly attempt: Attempt;
  /** An earlier attempt was accepted while it was in doubt whether this one had been written: the token is not sent. */
  readonly isTakenBefore?: boolean;
}

/**
 * Collects a payment by its token: inquires about what the network may have carried out in this session before; commits the
 * payment with its attempt, and the session consumed; and sends the token once the caller may be answered.
 *
 * @throws Refusal as `collectPayment` does.
 */
export async function collectByToken(
  collect: Collect,
  first: Session,
  method: NativeMethod,
  answering: Answering<Collected>,
): Promise<Reply> {
  const { deps } = collect;
  const { native_pay_token: token } = collect.command;
  if (token === undefined) throw new Error('the token has not been checked');
  let session = first;
  for (;;) {
    const refused = await refusalByEarlier(collect, session);
    if (refused !== undefined) return refuse(deps.store, answering, refused);
    try {
      const { reply, intended } = await commitIntended(collect, session, method, answering);
      if (intended !== undefined) deps.background(payByToken(deps, intended, method, token));
      return reply;
    } catch (error) {
      if (!(error instanceof SessionMoved)) throw error;
      session = error.session;
    }
  }
}

/** A submit came in between: what it has asked for must be inquired about, too, before a token is sent. */
class SessionMoved extends Error {
  readonly session: Session;

  constructor(session: Session) {
    super('the session has moved');
    this.session = session;
  }
}

/**
 * The refusal if this session may have been paid already. What the network has turned away, and may have carried out all the
 * same, is inquired about before a token asks for money again; and money that came too late to count is not asked for a second
 * time. A collect that is refused in any case is left to the commit, and costs the network no inquiry.
 */
async function refusalByEarlier(collect: Collect, session: Session): Promise<Refusal | undefined> {
  const { deps } = collect;
  if (refusalOf(() => requireCollectable(collect, session, deps.clock.now())) !== undefined) return undefined;
  if (session.payments === 0 || session.submitting_payment_id !== null) return undefined;
  const payments = await deps.store.payment.ofSession(session.shard, session.id);
  const aside = await findPaidAside(deps, payments);
  const earlier = aside === undefined ? await askEarlierInSession(deps, cardOf(deps), payments) : 'paid_aside';
  switch (earlier) {
    case 'none':
    case 'taken':
      return undefined;
    case 'paid_aside':
      return refusePaidBefore();
    case 'unclear':
      return new Refusal(1404, { retryAfter: 10, details: [{ field: 'payment_method', code: 'EARLIER_TRY_OPEN' }] });
  }
}

function refusePaidBefore(): Refusal {
  return new Refusal(1110, { details: [{ field: 'payment_method', code: 'PAID_BEFORE' }] });
}

/**
 * Decides on a collect that is also the submit: the payment stays `pending`, its attempt is opened, and the session consumed.
 *
 * @throws Refusal 1203 while another submit holds the session.
 */
function intend(
  deps: Deps,
  session: Session,
  siblings: readonly Payment[],
  collected: Payment,
  method: NativeMethod,
): Intended {
  const holder = session.submitting_payment_id;
  if (holder !== null) {
    const details = [{ field: 'Authorization', code: 'IN_PROGRESS' }] as const;
    throw new Refusal(1203, { transactionId: holder, retryable: true, retryAfter: 5, details });
  }
  const now = deps.clock.now();
  const attemptId = newId(deps, 'att', collected.shard);
  const attempt = newAttempt(
    attemptId,
    orderOf(collected),
    { amount_minor: collected.total_minor, fee_minor: collected.fee_minor },
    cardIntention(cardOf(deps), method),
    now,
  );
  const payment: Payment = { ...collected, attempt_id: attemptId, submitted_at: now };
  const rows = { payment, sessionPayments: siblings };
  const context = { now, newId: idsOf(deps) };
  const consumed = consumeSession(rows, session, context, { payments: session.payments + 1 });
  return {
    change: {
      updates: consumed.updates,
      inserts: [{ table: 'payment', row: payment }, { table: 'attempt', row: attempt }, ...consumed.inserts],
    },
    payment,
    attempt,
  };
}

/**
 * Commits what `intend` decides; `intended` is absent if the reply is a remembered one. If the outcome of the commit is unknown,
 * its attempt is looked up and the collect continues: nothing was sent yet, and a repeated call would find the session consumed
 * and never send its token. If the lookup took too long, the attempt's age shows it.
 *
 * @throws SessionMoved when the session is not as it was when earlier payments were inquired about.
 */
async function commitIntended(
  collect: Collect,
  session: Session,
  method: NativeMethod,
  answering: Answering<Collected>,
): Promise<{ readonly reply: Reply; readonly intended: Intended | undefined }> {
  const { deps, page } = collect;
  let intended: Intended | undefined;
  let rendered: Reply | undefined;
  const decide = (rows: Rows): Decision<Collected> => {
    if (rows.session === undefined) throw new Refusal(1001);
    if (rows.session.version !== session.version) throw new SessionMoved(rows.session);
    const now = deps.clock.now();
    requireCollectable(collect, rows.session, now);
    if (rows.isPaidAside) throw refusePaidBefore();
    const payment = newPayment(collect, rows.session, now);
    intended = intend(deps, rows.session, rows.siblings, payment, method);
    return {
      change: merged(intended.change, page.writes(payment, rows.session, now, undefined)),
      answer: { payment: intended.payment, pageUrl: page.url },
    };
  };
  const render = (answer: Collected): Reply => {
    rendered = answering.render(answer);
    return rendered;
  };
  try {
    const reply = await perform(deps.store, { ...answering, render }, rowsOf(deps, session), decide);
    return { reply, intended: reply.replayed === true ? undefined : intended };
  } catch (error) {
    if (!(error instanceof CommitUnknown) || intended === undefined || rendered === undefined) throw error;
    const lost = intended;
    // If the attempt cannot be looked up either, for whatever reason, the outcome stays unknown.
    const found = await retryWhileUnavailable(deps, () => lookUp(deps, session, lost)).catch((fault: unknown) => {
      if (!isTransientFailure(fault)) deps.log.error('lookup_failed', { attempt_id: lost.attempt.id }, fault);
    });
    if (found?.attempt?.status !== 'intended') throw error;
    return { reply: rendered, intended: { ...lost, isTakenBefore: found.isTakenBefore } };
  }
}

/** The attempt, if it was written; and whether an earlier one of the session has been accepted by now. */
async function lookUp(deps: Deps, { id, payments }: Session, { attempt: { shard, id: attemptId }, payment }: Intended) {
  const attempt = await deps.store.attempt.get(shard, attemptId);
  const tried = await findTriedInSession(deps, payment, { id, payments: payments + 1 });
  return { attempt, isTakenBefore: findTaken(tried) !== undefined };
}

interface Rows {
  readonly session: Session | undefined;
  /** The session's earlier payments, which this one ends. */
  readonly siblings: readonly Payment[];
  /** Whether money has come for one of them, too late to count: perhaps while the network was asked about them. */
  readonly isPaidAside: boolean;
}

/** The first time the session is as it was given, if it has no earlier payments that would have to be read. */
function rowsOf(deps: Deps, session: Session): () => Promise<Rows> {
  const { shard, id } = session;
  const read = async (): Promise<Rows> => {
    const fresh = await sessionAsTold(deps, shard, id);
    // Earlier tries may have been inquired about for seconds: a credential revoked or merchant suspended meanwhile pays nothing.
    if (fresh !== undefined) requireMintingSecret(fresh, deps.clock.now());
    const hasSiblings = fresh !== undefined && fresh.payments > 0;
    const siblings = hasSiblings ? await deps.store.payment.ofSession(shard, id) : [];
    return { session: fresh, siblings, isPaidAside: (await findPaidAside(deps, siblings)) !== undefined };
  };
  return session.payments === 0 ? cachedFirst({ session, siblings: [], isPaidAside: false }, read) : read;
}

/** Sends the token, once, and writes what the network says. */
async function payByToken(
  deps: Deps,
  { attempt, payment, isTakenBefore }: Intended,
  wallet: NativeMethod,
  token: string,
): Promise<void> {
  const card = cardOf(deps);
  const order = {
    attemptId: attempt.id,
    orderId: payment.id,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    wallet,
    token,
  };
  const answer = await callWithinDeadline(deps, attempt, async () =>
    isTakenBefore === true ? TAKEN_BEFORE : card.payByToken(order),
  );
  await settleByAnswer(deps, attempt, answer, { at: attempt.created_at });
}
