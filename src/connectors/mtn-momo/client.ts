/**
 * MTN MoMo's API in its own terms: token, request to pay or transfer, and its status.
 *
 * Invariant: a request that moves money is sent once. Only after a 401 is it sent again, under the same reference: the first one
 * certainly did nothing. Nothing here throws, and no secret or number is logged.
 */

import type { OutboundRequest, Platform } from '../../platform/platform.ts';
import { type CallResult, isJsonObject, resultOf } from '../response.ts';
import type { Product } from './products.ts';
import { createTokens, type FetchedToken } from './tokens.ts';

/** The access to one product: each has a subscription key, an API user and an API key of its own. */
export interface MtnMomoConfig {
  /** Without a slash at the end, for example `https://proxy.momoapi.mtn.com`. */
  readonly baseUrl: string;
  readonly subscriptionKey: string;
  readonly apiUser: string;
  readonly apiKey: string;
  /** The market, by MTN's name for it: `mtnuganda`, `mtnghana`, … or `sandbox`. */
  readonly targetEnvironment: string;
  /** Base of the callback addresses that were registered with MTN, where it is not the gateway's own. */
  readonly callbackHost?: string | undefined;
}

export interface Party {
  readonly partyIdType: 'MSISDN';
  /** With the country code, without the plus sign. */
  readonly partyId: string;
}

/** The body of a request to pay (`payer`) or of a transfer (`payee`), field for field. */
export type MoneyRequest = {
  readonly amount: string;
  readonly currency: string;
  readonly externalId: string;
  readonly payerMessage: string;
  readonly payeeNote: string;
} & ({ readonly payer: Party } | { readonly payee: Party });

export interface MtnMomoClient {
  /** Asks for money, or sends it, once. */
  request(reference: string, body: MoneyRequest, callbackUrl: string): Promise<CallResult>;
  statusOf(reference: string): Promise<CallResult>;
}

/** Milliseconds for a start, token and resend included. Usually it takes one or two seconds; a customer's submit waits for it. */
const START_TIMEOUT_MS = 10_000;

/** Milliseconds. An inquiry is repeated by its round, so it need not be patient. */
const INQUIRE_TIMEOUT_MS = 5_000;

/** Milliseconds. Nothing is lost when a token is late: nothing has been requested yet. */
const TOKEN_TIMEOUT_MS = 5_000;

/** Milliseconds, used when the answer does not say (their documentation: 3600 s); a token that expires earlier costs one 401. */
const USUAL_TOKEN_LIFE_MS = 3_600_000;

/** Bytes. Their answers are below a kilobyte; a larger one is cut, cannot be parsed, and is thereby unreadable. */
const MAX_ANSWER_BYTES = 65_536;

/** What may follow `Bearer` in a header. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/** Makes a client of one product (collections or disbursements) with its own token. Its calls never reject. */
export function createMtnMomoClient(
  config: MtnMomoConfig,
  { name: product, resource }: Pick<Product, 'name' | 'resource'>,
  doors: Pick<Platform, 'outbound' | 'clock' | 'log'>,
): MtnMomoClient {
  const { outbound, clock, log } = doors;
  const base = `${config.baseUrl}/${product}`;
  const common = {
    'ocp-apim-subscription-key': config.subscriptionKey,
    'x-target-environment': config.targetEnvironment,
  };

  const ask: Ask = async (request) =>
    resultOf(await outbound.request({ trust: 'upstream', answerLimit: MAX_ANSWER_BYTES, ...request }));

  let noToken: CallResult = NO_TOKEN;
  const tokens = createTokens(clock, async () => {
    const fetched = await fetchToken(config, product, ask, log);
    if ('value' in fetched) return fetched;
    noToken = fetched;
    return undefined;
  });

  /** Calls with a token; when the token is refused, once more with another, within the same time. */
  const authorised = async (timeout: number, call: (authorization: string, left: number) => Promise<CallResult>) => {
    const deadline = clock.now() + timeout;
    // A clock that is set back meanwhile must not extend the time.
    const timeLeft = (): number => Math.min(timeout, deadline - clock.now());
    const token = await tokens.current();
    if (token === undefined) return noToken;
    const left = timeLeft();
    if (left <= 0) return OUT_OF_TIME;
    const first = await call(`Bearer ${token}`, left);
    if (first.kind !== 'answered' || first.status !== 401) return first;
    log.info('mtn_momo_token_renewed', { product });
    const another = await tokens.insteadOf(token);
    const rest = timeLeft();
    if (another === undefined) return noToken;
    return rest <= 0 ? OUT_OF_TIME : call(`Bearer ${another}`, rest);
  };

  return {
    request(reference, body, callbackUrl) {
      const callback = callbackFor(config, callbackUrl);
      const headers = {
        'content-type': 'application/json',
        'x-reference-id': reference,
        // An empty value is refused with 500, so without an address the header is left out.
        ...(callback === undefined ? {} : { 'x-callback-url': callback }),
        ...common,
      };
      const text = JSON.stringify(body);
      return authorised(START_TIMEOUT_MS, (authorization, timeout) =>
        ask({
          method: 'POST',
          url: `${base}/v1_0/${resource}`,
          headers: { authorization, ...headers },
          body: text,
          timeout,
        }),
      );
    },
    statusOf(reference) {
      return authorised(INQUIRE_TIMEOUT_MS, (authorization, timeout) =>
        ask({
          method: 'GET',
          url: `${base}/v1_0/${resource}/${encodeURIComponent(reference)}`,
          headers: { authorization, ...common },
          timeout,
        }),
      );
    },
  };
}

type Ask = (
  request: Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'timeout'> & { body?: string },
) => Promise<CallResult>;

async function fetchToken(
  config: MtnMomoConfig,
  product: Product['name'],
  ask: Ask,
  log: Platform['log'],
): Promise<FetchedToken | CallResult> {
  const basic = Buffer.from(`${config.apiUser}:${config.apiKey}`).toString('base64');
  const result = await ask({
    method: 'POST',
    url: `${config.baseUrl}/${product}/token/`,
    headers: { 'ocp-apim-subscription-key': config.subscriptionKey, authorization: `Basic ${basic}` },
    timeout: TOKEN_TIMEOUT_MS,
  });
  if (result.kind !== 'answered') {
    log.warn('mtn_momo_token_unanswered', { product, outcome: result.kind, reason: result.reason });
    return NO_TOKEN;
  }
  const { status, body } = result;
  const token = status === 200 ? readToken(body) : undefined;
  if (token !== undefined) return token;
  log.error('mtn_momo_token_refused', { product, status });
  return CREDENTIALS_REFUSED.has(status) ? TOKEN_REFUSED : NO_TOKEN;
}

/** Statuses by which a token is refused until somebody corrects the credentials or the address. */
const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([400, 401, 403, 404]);

/** Failures before the request itself, or after a 401: nothing of it was done. */
const NO_TOKEN: CallResult = { kind: 'not_sent', reason: 'no_token' };
const TOKEN_REFUSED: CallResult = { kind: 'not_sent', reason: 'token_refused', lasting: 'operator_needed' };
const OUT_OF_TIME: CallResult = { kind: 'not_sent', reason: 'out_of_time' };

function readToken(body: unknown): FetchedToken | undefined {
  if (!isJsonObject(body)) return undefined;
  const { access_token: value, expires_in: lifeSeconds } = body;
  if (typeof value !== 'string' || !TOKEN.test(value)) return undefined;
  const seconds = Number(lifeSeconds);
  return { value, life: seconds > 0 && seconds < 1e6 ? seconds * 1_000 : USUAL_TOKEN_LIFE_MS };
}

/**
 * The callback address to give MTN, or undefined if MTN would refuse it: outside its sandbox only https is allowed. Without a
 * callback the inquiry round alone finds the result.
 */
function callbackFor(config: MtnMomoConfig, callbackUrl: string): string | undefined {
  if (!URL.canParse(callbackUrl)) return undefined;
  const url = config.callbackHost === undefined ? callbackUrl : atHost(config.callbackHost, callbackUrl);
  return config.targetEnvironment === 'sandbox' || url.startsWith('https://') ? url : undefined;
}

function atHost(base: string, callbackUrl: string): string {
  const { pathname, search } = new URL(callbackUrl);
  return base.replace(/\/+$/, '') + pathname + search;
}
