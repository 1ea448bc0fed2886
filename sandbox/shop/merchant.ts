/**
 * A merchant's whole integration: mint a session, open the payment page, inquire about a payment, verify a webhook.
 * Invariant: credential, session token and webhook secret never leave this server, and only what the gateway answered or signed
 * is trusted.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What the gateway gave the merchant. `api` ends in /api/v1. */
export type Account = { readonly api: string; readonly credential: string; readonly webhook_secret: string };

export type Purchase = {
  /** Names the order in addresses and makes repeated calls one: it cannot be guessed, and no other order has it. */
  readonly id: string;
  readonly reference: string;
  /** Decimal text with the currency's digits, never a number: "45.90". */
  readonly amount: string;
  readonly currency: string;
  readonly language: string;
  readonly fee_covered_by: 'buyer' | 'merchant';
  readonly delivery_behaviour: 'direct_delivery' | 'delayed_delivery';
};

/** Where the gateway sends its webhook, and where it sends the customer back to. */
export type Addresses = { readonly notify_url: string; readonly return_url: string };

export type Answer<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly retryable: boolean }
  /** It is unknown whether the call took effect; the same call under the same Idempotency-Key finds out. */
  | { readonly kind: 'unreachable' };

/** 1. Binds amount, currency and reference to a token. Its scope is collect only, so that it can never pay anyone out. */
export function mintSession(account: Account, purchase: Purchase): Promise<Answer<{ session_token: string }>> {
  const { id, amount, currency, reference, language } = purchase;
  const body = { amount, currency, customer_reference: reference, scope: 'collect' };
  const call = { bearer: account.credential, key: id, language, body };
  return ask(`${account.api}/internal/sessions/create`, call, ['session_token']);
}

/** 2. Starts the payment; the customer chooses how to pay on the page at `redirect_url`. */
export function openPaymentPage(
  account: Account,
  purchase: Purchase,
  token: string,
  { notify_url, return_url }: Addresses,
): Promise<Answer<{ transaction_id: string; redirect_url: string }>> {
  const { id, language, fee_covered_by, delivery_behaviour } = purchase;
  const body = {
    payment_method: 'none',
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by,
    delivery_behaviour,
    notify_url,
    // One page for both outcomes: it asks the gateway how the payment ended, whatever the address says.
    success_redirect_url: return_url,
    fail_redirect_url: return_url,
  };
  const call = { bearer: token, key: id, language, body };
  return ask(`${account.api}/payments/collect-redirect`, call, ['transaction_id', 'redirect_url']);
}

const readNames = ['transaction_id', 'customer_reference', 'status', 'amount', 'currency'] as const;

export type PaymentRead = Readonly<Record<(typeof readNames)[number], string>>;

/**
 * 3. Inquires about the payment. Any live session of the merchant can read any payment of the merchant: compare the reference,
 * and if the order's own session has ended, mint another and ask again.
 */
export function readPayment(account: Account, token: string, transactionId: string): Promise<Answer<PaymentRead>> {
  const url = `${account.api}/payments/transaction/${encodeURIComponent(transactionId)}`;
  return ask(url, { bearer: token }, readNames);
}

export type PaymentEvent = PaymentRead & {
  /** The same on every attempt: a receiver that has seen it ignores it. */
  readonly id: string;
  /** Counts up within a transaction: an older status is stale. A receiver that adds up refunds takes each one, in any order. */
  readonly sequence: number;
};

export type WebhookHeaders = Readonly<Record<string, string | string[] | undefined>>;

const toleranceSeconds = 300;

/** 4. The event, if one of the signatures matches the exact bytes and is recent; otherwise undefined, to be answered 401. */
export function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  rawBody: Buffer,
  now: number,
): PaymentEvent | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return undefined;
  // The negation makes a timestamp that is not a number fail as well.
  if (!(Math.abs(now / 1_000 - Number(timestamp)) <= toleranceSeconds)) return undefined;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  const fits = signatures.split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return one.startsWith('v1,') && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!fits) return undefined;
  const body: unknown = JSON.parse(rawBody.toString('utf8'));
  const sequence = Number(headers['webhook-sequence']);
  return hasTexts(body, readNames) && Number.isSafeInteger(sequence) ? { ...body, id, sequence } : undefined;
}

type Call = { readonly bearer: string; readonly key?: string; readonly language?: string; readonly body?: object };

const patienceMs = 15_000;

/** Makes one call; `names` are the texts that its answer must contain. */
async function ask<Name extends string>(
  url: string,
  { bearer, key, language, body }: Call,
  names: readonly Name[],
): Promise<Answer<Record<Name, string>>> {
  const headers = {
    authorization: `Bearer ${bearer}`,
    accept: 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(language !== undefined && { 'accept-language': language }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const sent = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  try {
    const response = await fetch(url, { ...sent, redirect: 'error', signal: AbortSignal.timeout(patienceMs) });
    const json: unknown = await response.json();
    if (response.ok && hasTexts(json, names)) return { kind: 'done', value: json };
    if (hasTexts(json, ['error_code', 'message'])) {
      const retryable = Reflect.get(json, 'retryable') === true;
      return { kind: 'refused', code: json.error_code, message: json.message, retryable };
    }
    return { kind: 'unreachable' };
  } catch {
    // Down, too slow, or cut off in the middle of its answer.
    return { kind: 'unreachable' };
  }
}

function hasTexts<Name extends string>(value: unknown, names: readonly Name[]): value is Record<Name, string> {
  return (
    typeof value === 'object' && value !== null && names.every((name) => typeof Reflect.get(value, name) === 'string')
  );
}
