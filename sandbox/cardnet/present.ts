/**
 * The card network's answers: sessions, transactions and orders as JSON bodies.
 * Invariant: a card is shown by its first six and last four digits; its expiry and security code are masked.
 */
import { html } from '../pages/html.ts';
import { jsonAmount } from './amounts.ts';
import { type ShownCard, show } from './cards.ts';
import {
  type Authentication,
  capturedTotal,
  lastAuthentication,
  type Order,
  orderStatus,
  refundedTotal,
  type Transaction,
} from './orders.ts';
import type { Session } from './sessions.ts';
import type { Body } from './wire.ts';

export type Presented = { readonly merchant: string; readonly version: string };

function cardBody({ number, scheme }: ShownCard) {
  return { brand: scheme, fundingMethod: 'CREDIT', number, scheme };
}

/** The gateway learns that there is an expiry and a code, but not which: it never needs them. */
const crossedOut = { expiry: { month: 'xx', year: 'xx' }, securityCode: 'xxx' };

export function newSessionBody({ id, aes256Key, authenticationLimit, updateStatus, version }: Session, to: Presented) {
  const session = { aes256Key, authenticationLimit, id, updateStatus, version };
  return { merchant: to.merchant, result: 'SUCCESS', session };
}

export function sessionBody({ id, authenticationLimit, updateStatus, version, order, card }: Session, to: Presented) {
  const { securityCode, expiry } = crossedOut;
  const provided = card && {
    ...cardBody(show(card)),
    expiry,
    ...(card.nameOnCard !== undefined && { nameOnCard: card.nameOnCard }),
    ...(card.securityCode !== undefined && { securityCode }),
  };
  return {
    merchant: to.merchant,
    ...(Object.keys(order).length > 0 && { order }),
    session: { authenticationLimit, id, updateStatus, version },
    ...(provided && { sourceOfFunds: { provided: { card: provided }, type: 'CARD' } }),
    version: to.version,
  };
}

function threeDs({ acsTransactionId, dsTransactionId, eci, token, ...rest }: Authentication) {
  const { methodUrl, transactionStatus, statusReasonCode } = rest;
  return {
    ...(eci !== undefined && {
      '3ds': { acsEci: eci, authenticationToken: token, transactionId: dsTransactionId },
    }),
    '3ds2': {
      acsTransactionId,
      dsTransactionId,
      methodCompleted: false,
      methodSupported: methodUrl === undefined ? 'NOT_SUPPORTED' : 'SUPPORTED',
      protocolVersion: '2.2.0',
      ...(transactionStatus !== undefined && { transactionStatus }),
      ...(statusReasonCode !== undefined && { statusReasonCode }),
    },
    version: rest.status === 'AUTHENTICATION_NOT_SUPPORTED' ? 'NONE' : '3DS2',
  };
}

function redirectOf({ status, redirectHtml, methodUrl, acsTransactionId }: Authentication) {
  if (status === 'AUTHENTICATION_PENDING')
    return { payerInteraction: 'REQUIRED', redirect: { html: redirectHtml }, redirectHtml };
  if (status !== 'AUTHENTICATION_AVAILABLE') return { payerInteraction: 'NOT_REQUIRED' };
  const methodPostData = Buffer.from(JSON.stringify({ threeDSServerTransID: acsTransactionId })).toString('base64url');
  const methodHtml = html`<div id="initiate3dsSimpleRedirect"><iframe id="methodFrame" name="methodFrame" height="100" width="200"></iframe><form id="initiate3dsSimpleRedirectForm" method="POST" action="${methodUrl}" target="methodFrame"><input type="hidden" name="threeDSMethodData" value="${methodPostData}"></form><script id="initiate-authentication-script">var e=document.getElementById("initiate3dsSimpleRedirectForm");if(e){e.submit();}</script></div>`;
  return {
    redirect: { customized: { '3DS': { methodPostData, methodUrl } }, html: methodHtml.text },
    redirectHtml: methodHtml.text,
  };
}

function authenticationBody(transaction: Transaction) {
  const { authentication, type, amount, currency } = transaction;
  if (authentication === undefined) return {};
  const shared = {
    ...threeDs(authentication),
    acceptVersions: '3DS2',
    channel: 'PAYER_BROWSER',
    purpose: 'PAYMENT_TRANSACTION',
  };
  if (type !== 'AUTHENTICATION') return { authentication: shared };
  const asked = amount === 0n ? {} : { amount: jsonAmount(amount, currency) };
  return { authentication: { ...shared, ...asked, ...redirectOf(authentication) } };
}

const acquirerCodes: Readonly<Record<string, readonly [code: string, message: string]>> = {
  APPROVED: ['00', 'Approved'],
  DECLINED: ['05', 'Do not honour'],
  INSUFFICIENT_FUNDS: ['51', 'Insufficient funds'],
  EXPIRED_CARD: ['54', 'Expired card'],
  ACQUIRER_SYSTEM_ERROR: ['96', 'System error'],
};
const securityCodeLetters = { MATCH: 'M', NO_MATCH: 'N', NOT_PROCESSED: 'P' } as const;

function responseBody({ type, gatewayCode, recommendation, securityCode }: Transaction) {
  const acquirer = type === 'AUTHENTICATION' ? undefined : acquirerCodes[gatewayCode];
  return {
    ...(acquirer && { acquirerCode: acquirer[0], acquirerMessage: acquirer[1] }),
    ...(securityCode && {
      cardSecurityCode: { acquirerCode: securityCodeLetters[securityCode], gatewayCode: securityCode },
    }),
    gatewayCode,
    ...(recommendation !== undefined && { gatewayRecommendation: recommendation }),
  };
}

function transactionFields(transaction: Transaction, authenticationStatus: string | undefined, merchant: string) {
  const { id, type, amount, currency, receipt, reference, target } = transaction;
  return {
    ...(receipt && { acquirer: { id: 'SANDBOX_S2I', merchantId: merchant, transactionId: receipt.receipt } }),
    amount: jsonAmount(amount, currency),
    ...(authenticationStatus !== undefined && { authenticationStatus }),
    ...receipt,
    currency,
    id,
    ...(reference !== undefined && { reference }),
    source: 'INTERNET',
    ...(target !== undefined && { targetTransactionId: target }),
    type,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function orderFields(order: Order) {
  const { id, at, updatedAt, amount, currency, reference, walletProvider } = order;
  const captured = capturedTotal(order);
  const authenticationStatus = lastAuthentication(order)?.authentication?.status;
  return {
    ...(amount !== undefined && { amount: jsonAmount(amount, currency) }),
    ...(authenticationStatus !== undefined && { authenticationStatus }),
    creationTime: iso(at),
    currency,
    id,
    lastUpdatedTime: iso(updatedAt),
    ...(reference !== undefined && { reference }),
    status: orderStatus(order),
    totalAuthorizedAmount: jsonAmount(captured, currency),
    totalCapturedAmount: jsonAmount(captured, currency),
    totalDisbursedAmount: jsonAmount(0n, currency),
    totalRefundedAmount: jsonAmount(refundedTotal(order), currency),
    ...(walletProvider !== undefined && { walletProvider }),
  };
}

export function transactionBody(order: Order, transaction: Transaction, to: Presented): Body {
  const { card, result, at, updatedAt, authentication } = transaction;
  return {
    ...authenticationBody(transaction),
    gatewayEntryPoint: 'WEB_SERVICES_API',
    merchant: to.merchant,
    order: orderFields(order),
    response: responseBody(transaction),
    result,
    ...(card && { sourceOfFunds: { provided: { card: cardBody(card) }, type: 'CARD' } }),
    timeOfLastUpdate: iso(updatedAt),
    timeOfRecord: iso(at),
    transaction: transactionFields(transaction, authentication?.status, to.merchant),
    version: to.version,
  };
}

/** The network's answer while it does not itself know the outcome of a payment. */
export function timedOutBody(order: Order, transaction: Transaction, to: Presented): Body {
  const { receipt: _none, securityCode: _neither, ...asked } = transaction;
  const unknown: Transaction = { ...asked, result: 'UNKNOWN', gatewayCode: 'TIMED_OUT' };
  const transactions = order.transactions.map((one) => (one.id === unknown.id ? unknown : one));
  return transactionBody({ ...order, transactions }, unknown, to);
}

export function orderBody(order: Order, to: Presented): Body {
  const transaction = order.transactions.map((one) => transactionBody(order, one, to));
  return { merchant: to.merchant, ...orderFields(order), result: 'SUCCESS', transaction, version: to.version };
}
