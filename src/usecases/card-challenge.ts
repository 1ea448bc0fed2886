/**
 * The page that takes a customer to the issuer's challenge, and the address that the issuer sends the browser back to.
 *
 * Invariant: both addresses name one attempt and prove that we made them. Its state is always read, never taken from a request.
 */

import type { CardBrowser, Challenge } from '../connectors/connector.ts';
import { CHALLENGE_LIFE_MS } from '../domain/attempt.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { isId } from '../domain/ids.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { BrowserFacts } from '../domain/submission.ts';
import { attemptOfSegment, attemptSegment } from './attempt-address.ts';
import type { Deps } from './deps.ts';
import { hasFields, isListOf, isText, readStored } from './stored-json.ts';

type Needs = Pick<Deps, 'secrets' | 'publicUrl'>;

/** Where the customer goes for the challenge. */
export function challengeUrl(deps: Needs, attempt: Pick<Attempt, 'id'>): string {
  return `${deps.publicUrl}/checkout/challenge/${attemptSegment(deps, 'challenge_path', attempt.id)}`;
}

/** What the page of a challenge shows. */
export interface ChallengeView {
  /**
   * Undefined when it is over: the payment shows the outcome. Also when it cannot be read, because its key is gone or another
   * version has sealed it in another shape: then it expires, and the customer may pay anew.
   */
  readonly challenge: Challenge | undefined;
  readonly payment: Payment;
}

/** The challenge and payment that an address leads to; undefined unless we made the address. */
export async function readChallenge(deps: Deps, segment: string): Promise<ChallengeView | undefined> {
  const key = attemptOfSegment(deps, 'challenge_path', segment);
  const attempt = key && (await deps.store.attempt.get(key.shard, key.id));
  if (attempt === undefined) return undefined;
  const payment = await deps.store.payment.get(attempt.shard, attempt.payment_id);
  return payment === undefined ? undefined : { challenge: openChallenge(deps, attempt), payment };
}

/** The challenge as it is stored: sealed, because anyone who can post it could take the customer's place at the issuer. */
export function sealChallenge(deps: Pick<Deps, 'secrets'>, attemptId: string, challenge: Challenge): string {
  return deps.secrets.seal('challenge', JSON.stringify(challenge), attemptId);
}

function openChallenge(deps: Pick<Deps, 'secrets'>, attempt: Attempt): Challenge | undefined {
  if (attempt.status !== 'challenged' || attempt.challenge === null) return undefined;
  const text = deps.secrets.open('challenge', attempt.challenge, attempt.id);
  return text === undefined ? undefined : readStored(text, isChallenge);
}

function isChallenge(value: unknown): value is Challenge {
  return hasFields(value) && isText(value.action) && isListOf(value.fields, isFormField);
}

function isFormField(value: unknown): value is Challenge['fields'][number] {
  return hasFields(value) && isText(value.name) && isText(value.value);
}

/** The query of a return address, for networks that do not sign what the browser brings (upstreams §8.3). */
export interface ReturnProof {
  /** The attempt. */
  readonly t?: string | undefined;
  /** The expiry, Unix seconds. */
  readonly e?: string | undefined;
  readonly n?: string | undefined;
  readonly s?: string | undefined;
}

/** The challenge's life and 5 min more for the way back. After that no money is asked for. */
export const RETURN_LIFE_MS = CHALLENGE_LIFE_MS + 5 * MINUTE_MS;

/** The customer's browser, and where the issuer sends it afterwards. */
export function browserFor(deps: Deps, attemptId: string, facts: BrowserFacts): CardBrowser {
  const expiry = String(Math.floor((deps.clock.now() + RETURN_LIFE_MS) / 1000));
  const nonce = Buffer.from(deps.random.bytes(16)).toString('base64url');
  const proof = deps.secrets.mac('card_return', attemptId, expiry, nonce);
  const query = new URLSearchParams({ t: attemptId, e: expiry, n: nonce, s: proof });
  return { returnUrl: `${deps.publicUrl}/api/v1/payments/card/3ds-callback?${query}`, ...facts };
}

/** The attempt and nonce of a return address; undefined if we did not make it, or it has expired. */
export function returnOf(
  deps: Pick<Deps, 'secrets' | 'clock'>,
  { t, e, n, s }: ReturnProof,
): { attemptId: string; nonce: string } | undefined {
  if (t === undefined || e === undefined || n === undefined || s === undefined || !isId('att', t)) return undefined;
  const proofs = deps.secrets.macs('card_return', t, e, n);
  if (!proofs.some((proof) => deps.secrets.equal(s, proof))) return undefined;
  return Number(e) * 1000 >= deps.clock.now() ? { attemptId: t, nonce: n } : undefined;
}
