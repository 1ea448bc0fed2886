/**
 * Mastercard Gateway: translates our orders into its operations, and its answers into ours.
 *
 * Invariant: PAY is sent once under the reference of its attempt; everything after that is inquiry. A card number never passes
 * through here: the hosted form's session, or a wallet's token, stands for it.
 */

import { CURRENCIES } from '../../domain/currency.ts';
import { formatMinor } from '../../domain/money.ts';
import type { Platform } from '../../platform/platform.ts';
import type {
  Authentication,
  CardAttempt,
  CardBrowser,
  CardConnector,
  CardForm,
  CardFormOrder,
  CardOrder,
  Inquiry,
} from '../connector.ts';
import type { JsonObject, Reading } from '../response.ts';
import { readAuthentication, readForm, readInitiation } from './authentication.ts';
import { createMastercardClient, type MastercardClient, type MastercardConfig } from './client.ts';
import { type Ordered, textAt, valueAt } from './fields.ts';
import { accountOf, attemptOf, authenticationFor, referenceFor } from './reference.ts';
import { readInquiry, readOperation, readOrderStatus, readRefund, reasonOf, statusForEnd } from './statuses.ts';

/**
 * Milliseconds. PAY is sent at most 22 s after its attempt was written (`payment-submit-card.ts`) and is given up 20 s later;
 * their reads know a transaction as soon as it has arrived. A minute between two inquiries leaves room for what is still in
 * transmission.
 */
const SETTLE_DELAY_MS = 60_000;

/** Milliseconds. Issuers answer within seconds; the customer's submit waits for both steps. */
const AUTHENTICATE_TIMEOUT_MS = 8_000;

/** Milliseconds. Acquirers are given long: giving up sooner only means more inquiries. */
const PAY_TIMEOUT_MS = 20_000;

/** How often a browser may change the hosted form: more than a customer mistypes. */
const FORM_UPDATES = 25;

const WALLETS = { google_pay: 'GOOGLE_PAY', apple_pay: 'APPLE_PAY' } as const;

/** Makes the connector of one merchant account at the network. */
export function createMastercard(
  config: MastercardConfig & { readonly currencies?: CardConnector['currencies'] | undefined },
  doors: Pick<Platform, 'outbound' | 'log'>,
): CardConnector {
  const { log } = doors;
  const client = createMastercardClient(config, doors);

  /** The answer of a reading, once what an operator may have to fix is logged: only their terms and statuses, never a body. */
  const logged = <A extends { readonly kind: string }>(call: string, { answer, alarm }: Reading<A>): A => {
    if (alarm?.kind === 'mismatch') log.error('mastercard_answer_mismatch', { call, field: alarm.what });
    else if (alarm?.kind === 'ours') log.error('mastercard_request_refused', { call, field: alarm.what });
    else if (alarm?.kind === 'unfamiliar') log.warn('mastercard_word_unfamiliar', { call, word: alarm.what });
    else if ('reason' in answer && (answer.kind === 'not_sent' || answer.kind === 'unknown')) {
      log.warn('mastercard_no_result', { call, outcome: answer.kind, reason: String(answer.reason) });
    }
    return answer;
  };
  const operate = async (
    call: string,
    order: CardAttempt,
    body: JsonObject,
    operation: Ordered['operation'] = 'PAY',
  ) => {
    const result = await client.operate(order.orderId, referenceFor(order.attemptId), body, PAY_TIMEOUT_MS);
    const read = operation === 'REFUND' ? readRefund : readOperation;
    return logged(call, read(result, orderedOf(order, operation)));
  };

  return {
    name: 'mastercard',
    displayName: 'Mastercard Gateway',
    account: accountOf(config),
    settleDelayMs: SETTLE_DELAY_MS,
    currencies: config.currencies ?? CURRENCIES,
    form: {
      scriptUrl: `${config.formUrl}/form/version/${config.apiVersion}/merchant/${encodeURIComponent(config.merchantId)}/session.js`,
      origin: new URL(config.formUrl).origin,
    },
    referenceFor,
    attemptOf,
    openForm: async (order) => logged('open_form', await openForm(client, order)),
    authenticate: async (order, browser) => logged('authenticate', await authenticate(client, order, browser)),
    authentication: async (order) => {
      const transactionId = authenticationFor(order.attemptId);
      const result = await client.readTransaction(order.orderId, transactionId);
      return logged('authentication', readAuthentication(result, { ...orderedOf(order), transactionId }));
    },
    pay: (order) => operate('pay', order, payBody(order)),
    payByToken: (order) =>
      operate('pay_by_token', order, {
        apiOperation: 'PAY',
        order: { ...orderBody(order), walletProvider: WALLETS[order.wallet] },
        sourceOfFunds: { type: 'CARD', provided: { card: { devicePayment: { paymentToken: order.token } } } },
        transaction: { reference: order.attemptId },
      }),
    inquire: async (inquiry) => {
      const ordered = orderedBy(inquiry);
      return logged(
        'inquire',
        readInquiry(await client.readTransaction(ordered.orderId, ordered.transactionId), ordered),
      );
    },
    orderStatus: async (orderId) => readOrderStatus(await client.readOrder(orderId)),
    statusForEnd,
    refund: (order) => operate('refund', order, refundBody(order), 'REFUND'),
  };
}

function orderedOf(
  { orderId, attemptId, amountMinor, currency }: CardAttempt,
  operation: Ordered['operation'] = 'PAY',
) {
  return { operation, orderId, transactionId: referenceFor(attemptId), amountMinor, currency };
}

/** A refund is a transaction of the order that it gives back. */
function orderedBy({ orderId, reference, amountMinor, currency, movement }: Inquiry): Ordered {
  const operation = movement === 'refund' ? 'REFUND' : 'PAY';
  return { operation, orderId, transactionId: reference, amountMinor, currency };
}

function amountBody({ amountMinor, currency }: Pick<CardFormOrder, 'amountMinor' | 'currency'>): JsonObject {
  return { amount: formatMinor(amountMinor, currency), currency: currency.toUpperCase() };
}

function orderBody(order: CardFormOrder): JsonObject {
  return { ...amountBody(order), reference: order.orderId };
}

function payBody(order: CardOrder): JsonObject {
  return {
    apiOperation: 'PAY',
    authentication: { transactionId: authenticationFor(order.attemptId) },
    order: orderBody(order),
    session: { id: order.sessionId },
    sourceOfFunds: { type: 'CARD' },
    transaction: { reference: order.attemptId },
  };
}

function refundBody(order: CardAttempt): JsonObject {
  return { apiOperation: 'REFUND', transaction: { ...amountBody(order), reference: order.attemptId } };
}

/** Opens a session at the network, bound to the order before any browser sees it. */
async function openForm(client: MastercardClient, order: CardFormOrder): Promise<Reading<CardForm>> {
  const created = await client.createSession({ session: { authenticationLimit: FORM_UPDATES } });
  if (created.kind !== 'answered') return notOpened(created.reason);
  const sessionId = textAt(created.body, 'session.id', 64);
  if (created.status > 299 || sessionId === undefined) return notOpened(reasonOf(created));
  const bound = await client.updateSession(sessionId, { order: { id: order.orderId, ...orderBody(order) } });
  if (bound.kind !== 'answered') return notOpened(bound.reason);
  if (bound.status > 299 || valueAt(bound.body, 'session.id') !== sessionId) return notOpened(reasonOf(bound));
  return { answer: { kind: 'opened', sessionId } };
}

function notOpened(reason: string): Reading<CardForm> {
  return { answer: { kind: 'not_opened', reason } };
}

/** Checks the form, then asks whether the issuer wants to challenge its customer. */
async function authenticate(
  client: MastercardClient,
  order: CardOrder,
  browser: CardBrowser,
): Promise<Reading<Authentication>> {
  const fault = readForm(await client.readSession(order.sessionId), order);
  if (fault !== undefined) return fault;
  const transactionId = authenticationFor(order.attemptId);
  const initiate = {
    apiOperation: 'INITIATE_AUTHENTICATION',
    authentication: { acceptVersions: '3DS2', channel: 'PAYER_BROWSER', purpose: 'PAYMENT_TRANSACTION' },
    order: { currency: order.currency.toUpperCase(), reference: order.orderId },
    session: { id: order.sessionId },
  };
  const begun = readInitiation(
    await client.operate(order.orderId, transactionId, initiate, AUTHENTICATE_TIMEOUT_MS),
    order.orderId,
  );
  if (begun !== 'available') return begun;
  const payer = {
    apiOperation: 'AUTHENTICATE_PAYER',
    authentication: { redirectResponseUrl: browser.returnUrl },
    device: deviceOf(browser),
    order: amountBody(order),
    session: { id: order.sessionId },
  };
  const result = await client.operate(order.orderId, transactionId, payer, AUTHENTICATE_TIMEOUT_MS);
  const reading = readAuthentication(result, { ...orderedOf(order), transactionId });
  const { answer } = reading;
  if (answer.kind !== 'challenge' || answer.challenge !== undefined) return reading;
  const lost = { kind: 'unknown', reason: 'a challenge without a form' } as const;
  return { answer: lost, alarm: { kind: 'unfamiliar', what: 'authentication.redirect.html' } };
}

/** What EMV 3DS requires and we do not know: a common screen in place of the customer's. */
const SCREEN = {
  '3DSecureChallengeWindowSize': 'FULL_SCREEN',
  colorDepth: 24,
  javaEnabled: false,
  screenHeight: 640,
  screenWidth: 480,
  timeZone: 0,
} as const;

function deviceOf({ accept, userAgent, language, address }: CardBrowser): JsonObject {
  const [tag = 'en'] = /^[a-z]{2,3}(-[a-z]{2})?/i.exec(language ?? '') ?? [];
  return {
    browser: plain(userAgent) ?? 'unknown',
    browserDetails: { ...SCREEN, acceptHeaders: plain(accept) ?? '*/*', language: tag },
    ...(address !== undefined && { ipAddress: address }),
  };
}

/** The part of a browser's header that the network takes: printable ASCII, at most 255 characters. */
function plain(text: string | undefined): string | undefined {
  const kept = text?.replaceAll(/[^\x20-\x7e]/g, '').slice(0, 255);
  return kept === '' ? undefined : kept;
}
