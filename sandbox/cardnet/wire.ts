/**
 * The card network's requests and errors, in its own words (Mastercard Gateway, REST JSON).
 * Invariant: whatever is refused with a `CardnetError` was not carried out, and changed nothing.
 */
import { randomBytes } from 'node:crypto';

type Cause = 'INVALID_REQUEST' | 'REQUEST_REJECTED' | 'SERVER_BUSY' | 'SERVER_FAILED';
type ValidationType = 'INVALID' | 'MISSING' | 'UNSUPPORTED';

const statuses: Readonly<Record<Cause, number>> = {
  INVALID_REQUEST: 400,
  REQUEST_REJECTED: 403,
  SERVER_BUSY: 503,
  SERVER_FAILED: 500,
};

export type Body = Readonly<Record<string, unknown>>;
type Field = { readonly name: string; readonly validationType: ValidationType };

export function errorBody(cause: Cause, explanation: string, field?: Field): Body {
  const where = field === undefined ? {} : { field: field.name, validationType: field.validationType };
  const support = cause === 'INVALID_REQUEST' ? {} : { supportCode: randomBytes(6).toString('hex') };
  return { error: { cause, explanation, ...where, ...support }, result: 'ERROR' };
}

/** A refusal that the routes turn into its HTTP answer. */
export class CardnetError extends Error {
  readonly status: number;
  readonly body: Body;

  constructor(cause: Cause, explanation: string, field?: Field, status = statuses[cause]) {
    super(explanation);
    this.status = status;
    this.body = errorBody(cause, explanation, field);
  }
}

export function invalid(name: string, explanation: string): CardnetError {
  return new CardnetError('INVALID_REQUEST', explanation, { name, validationType: 'INVALID' });
}

export function missing(name: string): CardnetError {
  return new CardnetError('INVALID_REQUEST', `Missing parameter: ${name}`, { name, validationType: 'MISSING' });
}

export function unsupported(name: string, explanation: string): CardnetError {
  return new CardnetError('INVALID_REQUEST', explanation, { name, validationType: 'UNSUPPORTED' });
}

export function notFound(what: string): CardnetError {
  return new CardnetError('INVALID_REQUEST', `Unable to find ${what}.`, undefined, 404);
}

export function notAllowed(): CardnetError {
  return new CardnetError('INVALID_REQUEST', 'Invalid credentials.', undefined, 401);
}

export function busy(): CardnetError {
  return new CardnetError('SERVER_BUSY', 'The gateway is too busy to take the request. Try again later.');
}

function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The top-level names a request may have; the real network refuses any other, which exposes misspelled names. */
const parameters = new Set([
  'apiOperation',
  'authentication',
  'billing',
  'browserPayment',
  'constraints',
  'correlationId',
  'customer',
  'device',
  'interaction',
  'lineOfBusiness',
  'locale',
  'order',
  'partnerSolutionId',
  'referenceOrderId',
  'responseControls',
  'risk',
  'session',
  'shipping',
  'sourceOfFunds',
  'transaction',
  'userId',
  'wallet',
]);

/** The request's body; an absent one is empty. */
export function bodyOf(given: unknown): Body {
  if (given === undefined || given === null) return {};
  if (!isBody(given)) throw new CardnetError('INVALID_REQUEST', 'The request must be a JSON object.');
  const unexpected = Object.keys(given).find((name) => !parameters.has(name));
  if (unexpected === undefined) return given;
  throw unsupported(unexpected, `Unexpected parameter '${unexpected.slice(0, 40)}'`);
}

/** The value at a path such as `order.amount`. */
export function valueAt(body: Body, path: string): unknown {
  let value: unknown = body;
  for (const name of path.split('.')) {
    if (!isBody(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** The text at a path; undefined if absent. An empty or overlong text is refused, and so is a value that is not text. */
export function textAt(body: Body, path: string, longest = 100): string | undefined {
  const value = valueAt(body, path);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value;
  throw invalid(path, `Value of ${path} must be a text of 1 to ${longest} characters`);
}

export function requiredText(body: Body, path: string, longest?: number): string {
  const text = textAt(body, path, longest);
  if (text === undefined) throw missing(path);
  return text;
}

/** The order's currency: ISO 4217 letters, upper case, as the network wants them. */
export function orderCurrency(body: Body): string | undefined {
  const path = 'order.currency';
  const text = textAt(body, path);
  if (text === undefined || /^[A-Z]{3}$/.test(text)) return text;
  throw invalid(path, `Value '${text}' is invalid. ${path} must be an ISO 4217 code of three upper-case letters`);
}
