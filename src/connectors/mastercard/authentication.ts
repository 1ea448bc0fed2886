/**
 * What the network says about the customer's authentication (EMV 3-D Secure), and about the hosted form before it.
 *
 * Invariant: `authenticated` is answered only if the network recommends to proceed, for the order, amount and currency that were
 * bound. Nothing here moves money.
 */

import type { Authentication, CardOrder } from '../connector.ts';
import { challengeIn } from './challenge.ts';
import type { Said } from './client.ts';
import { amountDifference, differenceFrom, isBody, type Ordered, textAt, valueAt, wordAt } from './fields.ts';
import { isNotFound, isRefusal, type Reading, readRefusal, reasonOf } from './statuses.ts';

/**
 * The statuses with which a payment proceeds if the network recommends it. The last four are payments that are exempt from
 * authentication, and cards and issuers without 3-D Secure: they are accepted, and the merchant bears the liability that would be
 * the issuer's (README, "Without 3-D Secure").
 */
const PASSED: ReadonlySet<string> = new Set([
  'AUTHENTICATION_SUCCESSFUL',
  'AUTHENTICATION_ATTEMPTED',
  'AUTHENTICATION_EXEMPT',
  'AUTHENTICATION_NOT_SUPPORTED',
  'AUTHENTICATION_NOT_IN_EFFECT',
  'AUTHENTICATION_UNAVAILABLE',
]);

/** The statuses after which this card cannot pay, whatever the recommendation. */
const FAILED: ReadonlySet<string> = new Set(['AUTHENTICATION_FAILED', 'AUTHENTICATION_REJECTED']);

/** EMV 3DS, transStatusReason: the issuer's challenge timed out. */
const TIMED_OUT_AT_ISSUER = '14';

const STOP: ReadonlySet<string> = new Set(['DO_NOT_PROCEED', 'RESUBMIT_WITH_ALTERNATIVE_PAYMENT_DETAILS']);

type Fault = Extract<Authentication, { kind: 'unusable' | 'not_sent' | 'unknown' }>;

/** What is wrong with the hosted form; undefined: it is still what was bound to it, with a card in it. */
export function readForm(said: Said, order: CardOrder): Reading<Fault> | undefined {
  if (said.kind !== 'said') return { answer: { kind: 'not_sent', reason: said.reason } };
  const { body, status } = said;
  // The network has opened the session for us, so it has expired since: one lasts about a quarter of an hour.
  if (isNotFound(said, 'session')) return { answer: { kind: 'unusable', fault: 'ended' } };
  if (status !== 200 || valueAt(body, 'session.id') !== order.sessionId) {
    return { answer: { kind: 'not_sent', reason: `the session: ${reasonOf(said)}` } };
  }
  if (valueAt(body, 'order.id') !== order.orderId || amountDifference(order, body, 'order') !== undefined) {
    const answer = { kind: 'unusable', fault: 'changed' } as const;
    return { answer, alarm: { kind: 'mismatch', what: 'session.order' } };
  }
  if (!isBody(valueAt(body, 'sourceOfFunds.provided.card'))) return { answer: { kind: 'unusable', fault: 'no_card' } };
  return undefined;
}

/** What the answer to INITIATE_AUTHENTICATION means; `available`: the payer can be authenticated. */
export function readInitiation(said: Said, orderId: string): Reading<Authentication> | 'available' {
  const refused = readFault(said);
  if (refused !== undefined) return refused;
  const body = said.kind === 'said' ? said.body : undefined;
  if (valueAt(body, 'order.id') !== undefined && valueAt(body, 'order.id') !== orderId) return mismatch('order.id');
  const status = statusOf(body);
  const recommendation = wordAt(body, 'response.gatewayRecommendation');
  if (status === 'AUTHENTICATION_AVAILABLE' && recommendation === 'PROCEED') return 'available';
  return readOutcome(body);
}

/** What the answer to AUTHENTICATE_PAYER, or to a later look at the same transaction, means. */
export function readAuthentication(said: Said, ordered: Ordered): Reading<Authentication> {
  const refused = readFault(said);
  if (refused !== undefined) return refused;
  const body = said.kind === 'said' ? said.body : undefined;
  const difference = differenceFrom(ordered, body);
  return difference === undefined ? readOutcome(body) : mismatch(difference);
}

function readOutcome(body: unknown): Reading<Authentication> {
  const status = statusOf(body);
  const recommendation = wordAt(body, 'response.gatewayRecommendation');
  if (status === undefined) return { answer: { kind: 'unknown', reason: 'no authentication status' } };
  if (FAILED.has(status) || (recommendation !== undefined && STOP.has(recommendation))) {
    const isOver = valueAt(body, 'authentication.3ds2.statusReasonCode') === TIMED_OUT_AT_ISSUER;
    return { answer: { kind: 'rejected', status, reason: isOver ? 'challenge_expired' : 'authentication_failed' } };
  }
  if (status === 'AUTHENTICATION_PENDING') {
    const html = textIn(body, 'authentication.redirect.html') ?? textIn(body, 'authentication.redirectHtml');
    const challenge = html === undefined ? undefined : challengeIn(html);
    return { answer: { kind: 'challenge', status, challenge } };
  }
  if (PASSED.has(status) && recommendation === 'PROCEED') {
    return { answer: { kind: 'authenticated', status, eci: eciOf(body) } };
  }
  // Begun but not continued: the payer has not been asked yet.
  if (status === 'AUTHENTICATION_AVAILABLE' || status === 'AUTHENTICATION_INITIATED') {
    return { answer: { kind: 'unknown', reason: status } };
  }
  return { answer: { kind: 'unknown', reason: status }, alarm: { kind: 'unfamiliar', what: status } };
}

function readFault(said: Said): Reading<Fault> | undefined {
  if (said.kind === 'not_sent') return { answer: { kind: 'not_sent', reason: said.reason } };
  if (said.kind === 'lost') return { answer: { kind: 'unknown', reason: said.reason } };
  if (isRefusal(said)) return usedOr(said);
  if (said.status >= 200 && said.status <= 299 && isBody(said.body)) return undefined;
  return { answer: { kind: 'unknown', reason: reasonOf(said) } };
}

/** A session that has paid is refused by name; for any other refusal the fault is ours. */
function usedOr(said: Extract<Said, { kind: 'said' }>): Reading<Fault> {
  const field = textAt(said.body, 'error.field', 80);
  if (field === 'session.id' && /\b(paid|used)\b/i.test(textAt(said.body, 'error.explanation', 500) ?? '')) {
    return { answer: { kind: 'unusable', fault: 'used' } };
  }
  if (field?.startsWith('sourceOfFunds.') === true) return { answer: { kind: 'unusable', fault: 'no_card' } };
  return readRefusal(said);
}

function statusOf(body: unknown): string | undefined {
  return wordAt(body, 'transaction.authenticationStatus') ?? wordAt(body, 'order.authenticationStatus');
}

function eciOf(body: unknown): string | null {
  const eci = textAt(body, 'authentication.3ds.acsEci', 2);
  return eci !== undefined && /^[0-9]{2}$/.test(eci) ? eci : null;
}

function textIn(body: unknown, path: string): string | undefined {
  const value = valueAt(body, path);
  return typeof value === 'string' ? value : undefined;
}

function mismatch(what: string): Reading<Authentication> {
  const answer = { kind: 'unknown', reason: `another ${what} than ordered` } as const;
  return { answer, alarm: { kind: 'mismatch', what } };
}
