/**
 * 3-D Secure: INITIATE_AUTHENTICATION, AUTHENTICATE_PAYER, and what the issuer's challenge leads to.
 * Invariant: a payment is let through only with an authentication of the same card, order, amount and currency.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { html } from '../pages/html.ts';
import type { World } from '../world.ts';
import { behaviourOf, type Card, type schemeOf, show } from './cards.ts';
import type { ChallengeAnswer, Challenges } from './challenges.ts';
import {
  type Authentication,
  findTransaction,
  type Order,
  type Orders,
  type Transaction,
  withTransaction,
} from './orders.ts';
import { amountOf, cardSession, currencyOf, type OperationRequest, referenceOf } from './request.ts';
import type { Sessions } from './sessions.ts';
import { invalid, missing, requiredText, valueAt } from './wire.ts';

export type AuthenticationParts = {
  readonly world: World;
  readonly sessions: Sessions;
  readonly orders: Orders;
  readonly challenges: Challenges;
};

/** Key of the digests that tell cards apart without keeping their numbers; it dies with the process. */
const digestKey = randomBytes(32);

function digest({ number, month, year }: Card): string {
  return createHmac('sha256', digestKey).update(`${number}/${month}/${year}`).digest('hex');
}

/** Mastercard's ECI is 02 where the other schemes' is 05. */
function proofOf(scheme: ReturnType<typeof schemeOf>) {
  return { eci: scheme === 'MASTERCARD' ? '02' : '05', token: randomBytes(20).toString('base64') };
}

/** As much of the real network's HTML as a browser needs, with a button for browsers without JavaScript. */
function challengeHtml(acsUrl: string, acsTransactionId: string): string {
  const message = { acsTransID: acsTransactionId, challengeWindowSize: '05', messageType: 'CReq' };
  const creq = Buffer.from(JSON.stringify({ ...message, messageVersion: '2.2.0' })).toString('base64url');
  return html`<div id="threedsChallengeRedirect"><form id="threedsChallengeRedirectForm" method="POST" action="${acsUrl}"><input type="hidden" name="creq" value="${creq}"><noscript><button type="submit">Continue</button></noscript></form><script id="authenticate-payer-script">var e=document.getElementById("threedsChallengeRedirectForm");if(e){e.submit();}</script></div>`
    .text;
}

/** The page that the browser posts to after a challenge: an absolute http or https address. */
function redirectUrl({ body }: OperationRequest): string {
  const path = 'authentication.redirectResponseUrl';
  const given = requiredText(body, path, 2_048);
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return given;
  throw invalid(path, `Value of ${path} must be an absolute http or https URL`);
}

export function initiateAuthentication(
  { world, sessions }: AuthenticationParts,
  request: OperationRequest,
  order: Order | undefined,
): Transaction {
  const { body, transactionId, browserUrl } = request;
  const { session, card } = cardSession(request, sessions);
  const reference = referenceOf(body, session);
  const supported = behaviourOf(card).authentication !== 'not_supported';
  return {
    id: transactionId,
    type: 'AUTHENTICATION',
    at: world.now(),
    updatedAt: world.now(),
    amount: 0n,
    currency: currencyOf(body, order, session),
    result: 'SUCCESS',
    gatewayCode: 'AUTHENTICATION_IN_PROGRESS',
    recommendation: 'PROCEED',
    card: show(card),
    ...(reference !== undefined && { reference }),
    authentication: {
      status: supported ? 'AUTHENTICATION_AVAILABLE' : 'AUTHENTICATION_NOT_SUPPORTED',
      acsTransactionId: randomUUID(),
      dsTransactionId: randomUUID(),
      cardDigest: digest(card),
      ...(supported && { methodUrl: `${browserUrl}/acs/method` }),
    },
  };
}

export function authenticatePayer(parts: AuthenticationParts, request: OperationRequest, order: Order): Transaction {
  const { body, transactionId } = request;
  const begun = findTransaction(order, transactionId);
  if (begun?.authentication?.status !== 'AUTHENTICATION_AVAILABLE')
    throw invalid('transaction.id', 'No authentication of this transaction is available');
  const { session, card } = cardSession(request, parts.sessions);
  if (digest(card) !== begun.authentication.cardDigest)
    throw invalid('session.id', 'The card is another one than the authentication was initiated for');
  const currency = currencyOf(body, order, session);
  const { thousandths: amount } = amountOf(body, currency, session);
  const redirectResponseUrl = redirectUrl(request);
  requiredText(body, 'device.browser', 2_048);
  if (valueAt(body, 'device.browserDetails') === undefined) throw missing('device.browserDetails');

  const asked: Transaction = { ...begun, amount, updatedAt: parts.world.now() };
  const { authentication: way } = behaviourOf(card);
  if (way !== 'challenge') return concluded(asked, way === 'rejected' ? rejected : passed);
  const { orderId, browserUrl } = request;
  const { acsTransactionId } = begun.authentication;
  const { id } = parts.challenges.open({ orderId, transactionId, acsTransactionId, redirectResponseUrl }, (answer) =>
    endChallenge(parts, orderId, transactionId, answer),
  );
  const redirectHtml = challengeHtml(`${browserUrl}/acs/${id}`, acsTransactionId);
  return {
    ...asked,
    result: 'PENDING',
    gatewayCode: 'PENDING',
    authentication: { ...begun.authentication, status: 'AUTHENTICATION_PENDING', redirectHtml },
  };
}

type Conclusion = Pick<Authentication, 'status' | 'transactionStatus' | 'statusReasonCode'>;
const passed: Conclusion = { status: 'AUTHENTICATION_SUCCESSFUL', transactionStatus: 'Y' };
const rejected: Conclusion = { status: 'AUTHENTICATION_REJECTED', transactionStatus: 'R' };
const failures: Readonly<Record<Exclude<ChallengeAnswer, 'pass'> | 'timeout', Conclusion>> = {
  fail: { status: 'AUTHENTICATION_FAILED', transactionStatus: 'N', statusReasonCode: '01' },
  cancel: { status: 'AUTHENTICATION_FAILED', transactionStatus: 'N', statusReasonCode: '19' },
  timeout: { status: 'AUTHENTICATION_FAILED', transactionStatus: 'N', statusReasonCode: '14' },
};

function concluded(transaction: Transaction, conclusion: Conclusion): Transaction {
  if (transaction.authentication === undefined) return transaction;
  const { redirectHtml: _used, ...authentication } = transaction.authentication;
  const success = conclusion.transactionStatus === 'Y';
  return {
    ...transaction,
    result: success ? 'SUCCESS' : 'FAILURE',
    gatewayCode: success ? 'APPROVED' : 'DECLINED',
    recommendation: success ? 'PROCEED' : 'DO_NOT_PROCEED',
    authentication: {
      ...authentication,
      ...conclusion,
      ...(success && proofOf(transaction.card?.scheme ?? 'OTHER')),
    },
  };
}

function endChallenge(
  { world, orders }: AuthenticationParts,
  orderId: string,
  transactionId: string,
  answer: ChallengeAnswer | 'timeout',
): void {
  const order = orders.find(orderId);
  const pending = order && findTransaction(order, transactionId);
  if (order === undefined || pending === undefined) return;
  const ended = concluded({ ...pending, updatedAt: world.now() }, answer === 'pass' ? passed : failures[answer]);
  orders.put(withTransaction(order, ended));
}

export type Demanded = { readonly card: Card; readonly amount: bigint; readonly currency: string };

/**
 * The authentication that a payment names, if it allows the payment.
 *
 * @throws CardnetError if it does not, or if none is named and the card has 3-D Secure
 */
export function demandAuthentication(
  order: Order | undefined,
  transactionId: string | undefined,
  { card, amount, currency }: Demanded,
): Authentication | undefined {
  const path = 'authentication.transactionId';
  if (transactionId === undefined) {
    if (behaviourOf(card).authentication === 'not_supported') return undefined;
    throw missing(path);
  }
  const transaction = order && findTransaction(order, transactionId);
  const authentication = transaction?.authentication;
  if (transaction === undefined || authentication === undefined)
    throw invalid(path, 'The order has no such authentication');
  if (authentication.cardDigest !== digest(card))
    throw invalid(path, 'Another card was authenticated than the one that pays');
  // Without 3-D Secure nothing was authenticated, so there is no amount to compare either.
  if (authentication.status === 'AUTHENTICATION_NOT_SUPPORTED') return authentication;
  if (authentication.status !== 'AUTHENTICATION_SUCCESSFUL')
    throw invalid(path, 'The authentication has not succeeded');
  if (transaction.amount !== amount || transaction.currency !== currency)
    throw invalid('order.amount', 'Another amount was authenticated than the one that is to be paid');
  return authentication;
}
