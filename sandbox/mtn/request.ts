/**
 * Parses MTN's request to pay or transfer, and reports errors in MTN's terms (upstreams §1.3 to §1.6).
 * Invariant: nothing here changes state; a body that passes is complete.
 */
import type { MoneyRequest, PartyName } from './movements.ts';

/** A request's headers, by their lower-case names. */
export type Headers = Readonly<Record<string, string | string[] | undefined>> & {
  readonly authorization?: string | undefined;
};

export type WireError = { readonly status: number; readonly body: Readonly<Record<string, string | number>> };
export type Parsed =
  | { readonly kind: 'ok'; readonly request: MoneyRequest }
  | { readonly kind: 'error'; readonly error: WireError };

const currencies = new Set([
  'USD',
  'CDF',
  'EUR',
  'XOF',
  'XAF',
  'KES',
  'UGX',
  'TZS',
  'ZMW',
  'RWF',
  'BIF',
  'NGN',
  'GHS',
  'ZAR',
]);
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

function wireError(status: number, code: string, message: string): WireError {
  return { status, body: { code, message } };
}

export function badRequest(message: string): WireError {
  return wireError(400, 'BAD_REQUEST', message);
}

export const notFound = wireError(404, 'RESOURCE_NOT_FOUND', 'Requested resource was not found.');
export const duplicate = wireError(
  409,
  'RESOURCE_ALREADY_EXIST',
  'Duplicated reference id. Creation of resource failed.',
);
export const down = wireError(503, 'SERVICE_UNAVAILABLE', 'Service temporarily unavailable, try again later.');

/** X-Target-Environment must name the sandbox, on every call but the token's. */
export function environmentError(headers: Headers): WireError | undefined {
  const environment = headers['x-target-environment'];
  if (environment === 'sandbox') return undefined;
  if (environment === undefined || environment === '') return badRequest('Header X-Target-Environment is missing.');
  return wireError(500, 'NOT_ALLOWED_TARGET_ENVIRONMENT', 'Access to target environment is forbidden.');
}

export function isReference(text: unknown): text is string {
  return typeof text === 'string' && uuidV4.test(text);
}

function callbackUrl(headers: Headers): string | null | WireError {
  const given = headers['x-callback-url'];
  if (given === undefined) return null;
  if (typeof given === 'string' && /^https?:/i.test(given) && URL.canParse(given)) return given;
  return wireError(
    500,
    'INVALID_CALLBACK_URL_HOST',
    'Callback URL with different host name then configured for API User.',
  );
}

/** A copy: a reference is kept for ever, and a substring would keep the whole message that it was cut from. */
function detached(reference: string): string {
  return Buffer.from(reference, 'latin1').toString('latin1');
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function bodyError(body: Readonly<Record<string, unknown>>, name: PartyName): WireError | undefined {
  const party = record(body[name]);
  if (typeof body.amount !== 'string' || !/^\d{1,15}(\.\d{1,4})?$/.test(body.amount) || !/[1-9]/.test(body.amount))
    return badRequest('Field amount must be a positive number in a string.');
  if (typeof body.currency !== 'string') return badRequest('Field currency is missing.');
  if (!currencies.has(body.currency)) return wireError(500, 'INVALID_CURRENCY', 'Currency not supported.');
  if (typeof body.externalId !== 'string') return badRequest('Field externalId is missing.');
  if (party.partyIdType !== 'MSISDN') return badRequest(`Field ${name}.partyIdType must be MSISDN.`);
  if (typeof party.partyId !== 'string' || !/^\d{8,15}$/.test(party.partyId))
    return badRequest(`Field ${name}.partyId must be a number with its country code and without "+".`);
  if (text(body.payerMessage).length > 160 || text(body.payeeNote).length > 160)
    return badRequest('Fields payerMessage and payeeNote hold at most 160 characters.');
  return undefined;
}

/** `party` says whose number the body names: `payer` in a request to pay, `payee` in a transfer. */
export function parseMoneyRequest(headers: Headers, given: unknown, party: PartyName): Parsed {
  const reference = headers['x-reference-id'];
  if (!isReference(reference))
    return { kind: 'error', error: badRequest('Header X-Reference-Id must be a UUID version 4.') };
  const url = callbackUrl(headers);
  if (typeof url === 'object' && url !== null) return { kind: 'error', error: url };
  const body = record(given);
  const error = bodyError(body, party);
  if (error !== undefined) return { kind: 'error', error };
  return {
    kind: 'ok',
    request: {
      reference: detached(reference.toLowerCase()),
      amount: text(body.amount),
      currency: text(body.currency),
      externalId: text(body.externalId),
      msisdn: text(record(body[party]).partyId),
      payerMessage: text(body.payerMessage),
      payeeNote: text(body.payeeNote),
      callbackUrl: url,
    },
  };
}
