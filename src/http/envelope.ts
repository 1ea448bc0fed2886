/**
 * The one form of every failure (contract §2).
 *
 * Invariant: whatever goes wrong, the caller gets this envelope with a known code; what only we should know (causes,
 * stacks, SQL) goes to the log and never into it.
 */

import { REFUSALS, Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { joinSentences, type Language, say, sentence } from '../messages/messages.ts';
import { isTransientFailure, mayHaveHappened } from '../usecases/perform.ts';

/** What an envelope says besides the refusal itself. */
export interface EnvelopeContext {
  readonly language: Language;
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly publicUrl: string;
}

/** Default Retry-After, in seconds, of refusals that may be tried again and name none. */
const RETRY_AFTER: { readonly [code: number]: number } = { 1301: 1, 1402: 1 };

/** Whole seconds for `Retry-After`, or null. */
export function retryAfterOf(refusal: Refusal): number | null {
  return refusal.more.retryAfter ?? (refusal.retryable ? RETRY_AFTER[refusal.code] : undefined) ?? null;
}

/** The envelope as it is sent. */
export function renderEnvelope(refusal: Refusal, context: EnvelopeContext): string {
  return JSON.stringify(envelopeOf(refusal, context));
}

/** The envelope's fields, in the order of the contract's table. */
export function envelopeOf(refusal: Refusal, context: EnvelopeContext) {
  const { code, more } = refusal;
  const details = more.details ?? [];
  return {
    error: true,
    error_code: String(code),
    error_name: REFUSALS[code].name,
    message: messageOf(refusal, details, context.language),
    details: details.length === 0 ? null : details.map((detail) => renderDetail(detail, context.language)),
    timestamp: new Date(context.now).toISOString(),
    request_id: context.requestId,
    transaction_id: more.transactionId ?? null,
    retryable: refusal.retryable,
    retry_after: retryAfterOf(refusal),
    summary_code: REFUSALS[code].summary,
    documentation_url: `${context.publicUrl}/docs/errors/${code}`,
  };
}

/** Writes one refusal's envelope for each of many requests. */
export type EnvelopeWriter = (requestId: string, now: number) => string;

/** The envelope of a refusal that is sent often: all of it but the request's id and the time is made once. */
export function envelopeWriter(refusal: Refusal, language: Language, publicUrl: string): EnvelopeWriter {
  const slot = (requestId: string, now: number): string =>
    `"timestamp":"${new Date(now).toISOString()}","request_id":"${requestId}"`;
  const rendered = renderEnvelope(refusal, { language, requestId: '', now: 0, publicUrl });
  const [before = '', after = ''] = rendered.split(slot('', 0));
  return (requestId, now) => `${before}${slot(requestId, now)}${after}`;
}

/**
 * The message: a single detail says more than the code's own sentence, and replaces it. A refusal because of a state names that
 * state (contract §2, 1205), before the detail if the detail does not.
 */
function messageOf(refusal: Refusal, details: readonly RefusalDetail[], language: Language): string {
  const { code, more } = refusal;
  const [only, second] = details;
  if (only === undefined || second !== undefined) return say(language, `refusal.${code}`, more.words);
  const detail = sayDetail(only, language);
  const isAboutState = code === 1205 && more.words?.state !== undefined;
  if (!isAboutState || sentence(language, `detail.${only.code}`).includes('{state}')) return detail;
  return joinSentences(language, say(language, `cause.${code}`, more.words), detail);
}

function renderDetail(detail: RefusalDetail, language: Language) {
  return { field: detail.field, message: sayDetail(detail, language), code: detail.code };
}

function sayDetail(detail: RefusalDetail, language: Language): string {
  return say(language, `detail.${detail.code}`, { ...detail.words, field: detail.field });
}

/** Too many PINs wait to be hashed: an error of the platform, which `http` may know by name only. */
const PINS_BUSY = 'PinsBusy';

/** Fastify's own refusals, by their code. */
const FRAMEWORK: { readonly [code: string]: () => Refusal } = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notJson,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: badFraming,
  FST_ERR_BAD_URL: unknownPath,
};

interface FailedCall {
  /** The same call, sent again, cannot do its work twice; any other call whose outcome is in doubt is not called retryable. */
  readonly isRepeatable: boolean;
  /** How many bytes the request's body may have. */
  readonly bodyMost: number;
}

/** The refusal for an error. Any unknown one is 1401, and `isBug` says that it must be logged. */
export function refusalOf(
  error: unknown,
  { isRepeatable, bodyMost }: FailedCall,
): { readonly refusal: Refusal; readonly isBug: boolean } {
  if (error instanceof Refusal) return { refusal: error, isBug: false };
  if (error instanceof Error) {
    if (mayHaveHappened(error) && !isRepeatable) return { refusal: inDoubt(), isBug: false };
    if (error.name === PINS_BUSY || isTransientFailure(error))
      return { refusal: new Refusal(1402, { retryAfter: 1 }), isBug: false };
    const framework = refusalOfFramework(error, bodyMost);
    if (framework !== undefined) return { refusal: framework, isBug: false };
  }
  return { refusal: new Refusal(1401), isBug: true };
}

/** The call may have happened, and has no key by which its repetition would be recognised. */
function inDoubt(): Refusal {
  return new Refusal(1402, { retryable: false, details: [{ field: 'Idempotency-Key', code: 'IN_DOUBT' }] });
}

function refusalOfFramework(error: Error, bodyMost: number): Refusal | undefined {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (!code.startsWith('FST_ERR_')) return undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bodyMost);
  const known = FRAMEWORK[code];
  if (known !== undefined) return known();
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  return status < 500 ? badFraming(status) : undefined;
}

/** 404: no route has this path. */
export function unknownPath(): Refusal {
  return new Refusal(1403, { http: 404, details: [{ field: 'path', code: 'UNKNOWN_PATH' }] });
}

/** 405: the path has routes, but by other methods: those `allowed`. */
export function wrongMethod(allowed: string): Refusal {
  const details = [{ field: 'method', code: 'WRONG_METHOD', words: { options: allowed } }] as const;
  return new Refusal(1403, { http: 405, details });
}

/** 415: the body is not called JSON in UTF-8. */
export function notJson(): Refusal {
  return new Refusal(1403, { http: 415, details: [{ field: 'Content-Type', code: 'NOT_JSON' }] });
}

/** `header` says that the body is compressed, or coded in another way that is not undone here. */
export function encodedBody(header: string): Refusal {
  return new Refusal(1403, { http: 415, details: [{ field: header, code: 'BODY_ENCODED' }] });
}

/** 415: a file comes in a form, and the body is not called one. */
export function notForm(): Refusal {
  return new Refusal(1403, { http: 415, details: [{ field: 'Content-Type', code: 'NOT_FORM' }] });
}

function bodyTooLarge(most: number): Refusal {
  const details = [{ field: 'body', code: 'BODY_TOO_LARGE', words: { maximum: most / 1024 } }] as const;
  return new Refusal(1403, { http: 413, details });
}

/** The fault of a request that never became one, by its status. */
const FRAMING: { readonly [http: number]: RefusalDetail } = {
  408: { field: 'request', code: 'REQUEST_LATE' },
  417: { field: 'Expect', code: 'UNKNOWN_EXPECTATION' },
  431: { field: 'headers', code: 'HEADERS_TOO_LARGE' },
};

/** The refusal of a body that comes in so many chunks that it is not read to its end. */
export function tooManyChunks(): Refusal {
  return new Refusal(1403, { http: 400, details: [{ field: 'body', code: 'TOO_MANY_CHUNKS' }] });
}

/** The refusal of malformed HTTP: no field of a body is to blame. */
export function badFraming(http = 400): Refusal {
  const detail = FRAMING[http] ?? { field: 'request', code: 'NOT_HTTP' };
  return new Refusal(1403, { http, retryable: http === 408, details: [detail] });
}
