/**
 * The outcome of sending a batch, and what follows from it for its changes.
 *
 * Invariant: a batch that may have been written is never sent again; and a change gets an error only if no other change of its
 * batch can have caused it.
 */

import type { Batch } from './batch.ts';
import {
  CommitUnknown,
  ConnectionLost,
  errorForCaller,
  isCollision,
  isServerTrouble,
  LOST,
  Refused,
  type ServerError,
  StoreUnavailable,
} from './errors.ts';

/** How often a batch is sent again because of collisions or lost connections. */
const MAX_RESENDS = 5;
/**
 * How long a batch is resent, from its first send; a caller that has waited longer should rather have its client retry (1402).
 * The first resend is exempt: a server takes a second to detect a deadlock.
 */
const RESEND_WITHIN_MS = 1_000;

/** How an attempt has ended. */
export interface BatchResult<E> {
  /** Absent: the batch could not even be made, so nothing was sent. */
  readonly batch?: Batch<E>;
  /** Absent: everything that was sent has been committed. */
  readonly failure?: unknown;
}

/** How far the batch's changes have come when the attempt ends. */
export interface Progress {
  /** How many changes are left: those that the batch has sent, or was to send. */
  readonly left: number;
  /** How often they have been resent after a transient failure, and how long ago they were first sent. */
  readonly resends: number;
  readonly waitedMs: number;
}

export type Verdict<E> =
  | { readonly kind: 'committed' }
  /** These lost, and their loss rolled the batch back: the rest is sent again without them. */
  | { readonly kind: 'lost'; readonly losers: readonly E[] }
  /** Nothing was written, and the same batch may well pass. */
  | { readonly kind: 'again' }
  /** Every change fails: no single one is to blame, or there is only one. */
  | { readonly kind: 'everybody'; readonly error: Error }
  /** The database cannot be reached: these changes fail, and so do all that are still waiting. */
  | { readonly kind: 'unreachable'; readonly error: Error }
  /** One change is to blame, and nothing says which: the batch is halved until that change stands alone. */
  | { readonly kind: 'halve' };

/** Judges how a batch ended: who has won, who has lost, and what is sent again. */
export function verdictOn<E>({ batch, failure }: BatchResult<E>, progress: Progress): Verdict<E> {
  if (failure === undefined) return { kind: 'committed' };
  const losers = batch === undefined ? [] : losersOf(batch, failure);
  if (losers.length > 0) return { kind: 'lost', losers };
  if (failure instanceof StoreUnavailable) return { kind: 'unreachable', error: failure };
  if (isResendable(failure) && mayResend(progress)) return { kind: 'again' };
  if (isNobodysFault(failure) || progress.left === 1) return { kind: 'everybody', error: errorFor(failure) };
  return { kind: 'halve' };
}

/** The changes that a LOST1 error names. */
function losersOf<E>(batch: Batch<E>, failure: unknown): E[] {
  if (!(failure instanceof Refused) || failure.server.code !== LOST) return [];
  const { kind, keys } = lossOf(failure.server);
  return batch.losers(kind, keys);
}

function lossOf({ message, detail }: ServerError): { kind: string; keys: readonly string[] } {
  const keys: unknown = JSON.parse(detail ?? '[]');
  return { kind: message.replace(/^lost /, ''), keys: Array.isArray(keys) ? keys.map(String) : [] };
}

/** A batch that certainly did not reach the server can be sent on the next connection; one that collided was rolled back. */
function isResendable(failure: unknown): boolean {
  if (failure instanceof ConnectionLost) return !failure.sent;
  return failure instanceof Refused && isCollision(failure.server.code);
}

function mayResend({ resends, waitedMs }: Progress): boolean {
  return resends === 0 || (resends < MAX_RESENDS && waitedMs < RESEND_WITHIN_MS);
}

function isNobodysFault(failure: unknown): boolean {
  return failure instanceof ConnectionLost || (failure instanceof Refused && isServerTrouble(failure.server.code));
}

/** Only a batch that was sent and not answered has an unknown outcome. */
function errorFor(failure: unknown): Error {
  return failure instanceof ConnectionLost && failure.sent ? new CommitUnknown() : errorForCaller(failure, 'write');
}
