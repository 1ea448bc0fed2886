/**
 * What the network says about the customer's authentication (EMV 3-D Secure), and about the hosted form before it.
 *
 * Invariant: `authenticated` is answered only if the network recommends to proceed, for the order, amount and currency that were
 * bound. Nothing here moves money.
 */

import type { Authentication, CardOrder } from '../connector.ts';
import { type CallResult, isJsonObject, type JsonResponse, mismatch, type Reading } from '../response.ts';
import { challengeIn } from './challenge.ts';
import { amountDifference, differenceFrom, type Ordered, termAt, textAt, valueAt } from './fields.ts';
import { isNotFound, isRefusal, readRefusal, reasonOf } from './statuses.ts';

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
export function readForm(result: CallResult, order: CardOrder): Reading<Fault> | undefined {
  if (result.kind !== 'answered') return { answer: { kind: 'not_sent', reason: result.reason } };
  const { body, status } = result;
  // The network has opened the session for us, so it has expired since: one lasts about a quarter of an hour.
  if (isNotFound(result, 'session')) return { answer: { kind: 'unusable', fault: 'ended' } };
  if (status !== 200 || valueAt(body, 'session.id') !== order.sessionId) {
    return { answer: { kind: 'not_sent', reason: `the session: ${reasonOf(result)}` } };
  }
  if (valueAt(body, 'order.id') !== order.orderId || amountDifference(order, body, 'order') !== undefined) {
    const answer = { kind: 'unusable', fault: 'changed' } as const;
    return { answer, alarm: { kind: 'mismatch', what: 'session.order' } };
  }
  if (!isJsonObject(valueAt(body, 'sourceOfFunds.provided.card')))
    return { answer: { kind: 'unusable', fault: 'no_card' } };
  return undefined;
}

/** What the answer to INITIATE_AUTHENTICATION means; `available`: the payer can be authenticated. */
export function readInitiation(result: CallResult, orderId: string): Reading<Authentication> | 'available' {
  const refused = readFault(result);
  if (refused !== undefined) return refused;
  const body = result.kind === 'answered' ? result.body : undefined;
  if (valueAt(body, 'order.id') !== undefined && valueAt(body, 'order.id') !== orderId) return mismatch('order.id');
  const status = statusOf(body);
  const recommendation = termAt(body, 'response.gatewayRecommendation');
  if (status === 'AUTHENTICATION_AVAILABLE' && recommendation === 'PROCEED') return 'available';
  return readOutcome(body);
}

/** What the answer to AUTHENTICATE_PAYER, or to a later look at the same transaction, means. */
export function readAuthentication(result: CallResult, ordered: Ordered): Reading<Authentication> {
  const refused = readFault(result);
  if (refused !== undefined) return refused;
  const body = result.kind === 'answered' ? result.body : undefined;
  const difference = differenceFrom(ordered, body);
  return difference === undefined ? readOutcome(body) : mismatch(difference);
}

function readOutcome(body: unknown): Reading<Authentication> {
  const status = statusOf(body);
  const recommendation = termAt(body, 'response.gatewayRecommendation');
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

function readFault(result: CallResult): Reading<Fault> | undefined {
  if (result.kind === 'not_sent') return { answer: { kind: 'not_sent', reason: result.reason } };
  if (result.kind === 'lost') return { answer: { kind: 'unknown', reason: result.reason } };
  if (isRefusal(result)) return usedOr(result);
  if (result.status >= 200 && result.status <= 299 && isJsonObject(result.body)) return undefined;
  return { answer: { kind: 'unknown', reason: reasonOf(result) } };
}

/** A session that has paid is refused by name; for any other refusal the fault is ours. */
function usedOr(response: JsonResponse): Reading<Fault> {
  const field = textAt(response.body, 'error.field', 80);
  if (field === 'session.id' && /\b(paid|used)\b/i.test(textAt(response.body, 'error.explanation', 500) ?? '')) {
    return { answer: { kind: 'unusable', fault: 'used' } };
  }
  if (field?.startsWith('sourceOfFunds.') === true) return { answer: { kind: 'unusable', fault: 'no_card' } };
  return readRefusal(response);
}

function statusOf(body: unknown): string | undefined {
  return termAt(body, 'transaction.authenticationStatus') ?? termAt(body, 'order.authenticationStatus');
}

function eciOf(body: unknown): string | null {
  const eci = textAt(body, 'authentication.3ds.acsEci', 2);
  return eci !== undefined && /^[0-9]{2}$/.test(eci) ? eci : null;
}

function textIn(body: unknown, path: string): string | undefined {
  const value = valueAt(body, path);
  return typeof value === 'string' ? value : undefined;
}
