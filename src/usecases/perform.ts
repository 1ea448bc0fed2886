/**
 * Decide, then commit: the loop that every use case goes through (optimistic concurrency).
 *
 * Read the rows, decide what to write, commit it; if a version that the decision relied on is stale, read and decide again.
 * Invariant: nothing that goes through here is answered before it is committed, and the remembered reply commits with its
 * effect.
 */

import { type Change, merged, type Outcome } from '../domain/change.ts';
import { isRemembered, Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { CommitUnknown, isTransient } from '../store/errors.ts';
import { pause } from './patience.ts';

/** A reply as bytes: what is sent, and what a replay sends again. */
export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly replayed?: boolean;
  /** Where a browser is sent to; remembered for callbacks alone. */
  readonly location?: string;
}

/** The writes of a memory: a claim, or a guarded update of the row that the last `stored` found; so that one run wins. */
export type Memory = Pick<Change, 'claims' | 'updates'>;

/** The memory of one Idempotency-Key (contract §7), or of one callback. */
export interface Receipt {
  /** The first run's reply, if there was one, as `replayed`. Throws refusal 1203 when the key was used with another body. */
  stored(): Promise<Reply | undefined>;
  /** Whether the last `stored` found a first run that has begun, and whose reply has not been written. */
  begun(): boolean;
  /** Added to a change to record that this run has begun, before an upstream is called. */
  begin(): Memory;
  /** Added to a change to remember this reply with it. */
  remember(reply: Reply): Memory;
}

/** A memory that can forget that its run has begun, so that its key is free again. */
export interface RevocableReceipt extends Receipt {
  /** Added to a change so that the run that the last `stored` found counts as never begun. */
  forget(): Memory;
}

/** How an answer is rendered as bytes, and where the reply is remembered. `http` hands this in; a round has none. */
export interface Answering<A> {
  readonly receipt: RevocableReceipt | undefined;
  render(answer: A): Reply;
  renderRefusal(refusal: Refusal): Reply;
}

/** A rule's decision: what to write, and what to answer or refuse once it is written. */
export type Decision<A> = { readonly change?: Change | undefined } & (
  | { readonly answer: A; readonly refusal?: never }
  /** Thrown after the change has been committed: for example a wrong PIN, once it is counted. */
  | { readonly refusal: Refusal; readonly answer?: never }
);

interface Committing {
  commit(change: Change): Promise<Outcome>;
}

/** 200 rounds: losing this often means that the rule is wrong; contention alone cannot explain it. */
const MAX_ROUNDS = 200;

/**
 * Runs a rule until its change is committed, and returns the bytes to send.
 *
 * `read` is called once per round; `decide` is pure, apart from the fresh ids that it draws. A refusal that `decide` throws
 * writes nothing but the memory of the Idempotency-Key.
 */
export async function perform<R, A>(
  store: Committing,
  answering: Answering<A>,
  read: () => Promise<R>,
  decide: (rows: R) => Decision<A>,
): Promise<Reply> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    // A refusal of the read, such as "not found", counts only if no reply is remembered under the key.
    const [rows, stored] = await Promise.all([settled(read), answering.receipt?.stored()]);
    if (stored !== undefined) return stored;
    const decision = decisionOf(() => decide(rows()));
    const reply = replyOf(decision, answering);
    const change = withMemory(decision, reply, answering.receipt);
    if (change !== undefined && (await store.commit(change)) === 'lost') continue;
    if (decision.refusal !== undefined) throw decision.refusal;
    return reply;
  }
  throw new Error('a change lost against its neighbours too often');
}

/** Throws a refusal that was decided without reading rows, and remembers it with its key if refusals of its kind are. */
export async function refuse(store: Committing, answering: Answering<never>, refusal: Refusal): Promise<Reply> {
  return perform<undefined, never>(
    store,
    answering,
    () => Promise.resolve(undefined),
    () => ({ refusal }),
  );
}

/**
 * Runs work about a known transaction: its refusals name the transaction (contract §2), in the remembered bytes as in those
 * sent. Refusals of the session itself (401) name the payment that has consumed it, if that is known.
 */
export async function aboutTransaction<A>(
  transactionId: string,
  answering: Answering<A>,
  run: (answering: Answering<A>) => Promise<Reply>,
): Promise<Reply> {
  let last: { readonly bare: Refusal; readonly about: Refusal } | undefined;
  // The refusal thrown must be the same object as the one rendered, so it is made once.
  const named = (bare: Refusal): Refusal => {
    if (last?.bare !== bare) last = { bare, about: bare.http === 401 ? bare : bare.about(transactionId) };
    return last.about;
  };
  try {
    return await run({ ...answering, renderRefusal: (refusal) => answering.renderRefusal(named(refusal)) });
  } catch (error) {
    throw error instanceof Refusal ? named(error) : error;
  }
}

/** The refusal that a check throws, if any. */
export function refusalOf(check: () => void): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** For rooms that do not know the store: whether it is away or overloaded, so that the same work can be retried. */
export function isTransientFailure(error: unknown): error is Error {
  return isTransient(error);
}

/** Whether failed work may have been written after all: a caller without an Idempotency-Key must not repeat it. */
export function mayHaveHappened(error: unknown): boolean {
  return error instanceof CommitUnknown;
}

/** Ignores a transient failure of the store, for work that will come up again anyway. */
export function rethrowUnlessTransient(error: unknown): void {
  if (!isTransient(error)) throw error;
}

const PAUSES_MS = [50, 200, 500, 1_000, 2_000, 4_000] as const;

/**
 * Writes what must not be lost, for example what an upstream has said: retried while the database is away. The work must be safe
 * to repeat: a rule that finds its own change answers from it.
 */
export async function retryWhileUnavailable<T>(
  deps: { readonly clock: Pick<Clock, 'after'> },
  work: () => Promise<T>,
): Promise<T> {
  for (const milliseconds of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await pause(deps.clock, milliseconds);
    }
  }
  return work();
}

/** The loop of `perform` for work without a reply in bytes: rounds and callbacks. Returns the decision's answer. */
export async function commitDecision<R, A>(
  store: Committing,
  read: () => Promise<R>,
  decide: (rows: R) => { readonly change?: Change | undefined; readonly answer: A },
): Promise<A> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const decision = decide(await read());
    if (decision.change === undefined || (await store.commit(decision.change)) === 'won') return decision.answer;
  }
  throw new Error('a change lost against its neighbours too often');
}

/** Whether the outcome of an earlier try of the same commit was lost. */
export interface Doubt {
  readonly isInDoubt: boolean;
}

const FIRST_TRY: Doubt = { isInDoubt: false };
const TRY_IN_DOUBT: Doubt = { isInDoubt: true };

/**
 * The loop of `commitDecision` for a commit that permits a call to an upstream: it returns only once the change is certainly
 * committed, and nothing is sent before.
 *
 * A failure after which nothing was written is thrown as it is. If a commit's outcome was lost, it reads and decides again until
 * the outcome is known: `decide`, told by `isInDoubt`, either recognises what this call wrote and answers as before, or writes
 * it now. It recognises its own write by something no other call has, such as the attempt's id, and leaves alone what another
 * process has continued; so exactly one call sends, once. While the database stays away nothing is sent, and the last error is
 * thrown; if the attempt was written after all, it is open, and the inquiry round finds it.
 */
export async function commitOrFind<R, A>(
  deps: { readonly store: Committing; readonly clock: Pick<Clock, 'after'> },
  read: () => Promise<R>,
  decide: (rows: R, doubt: Doubt) => { readonly change?: Change | undefined; readonly answer: A },
): Promise<A> {
  try {
    return await commitDecision(deps.store, read, (rows) => decide(rows, FIRST_TRY));
  } catch (error) {
    if (!(error instanceof CommitUnknown)) throw error;
    return retryWhileUnavailable(deps, () => commitDecision(deps.store, read, (rows) => decide(rows, TRY_IN_DOUBT)));
  }
}

/** What a read found; or a function that throws the refusal with which the read ended. */
async function settled<R>(read: () => Promise<R>): Promise<() => R> {
  try {
    const rows = await read();
    return () => rows;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return () => {
      throw error;
    };
  }
}

/** The decision; a refusal that `decide` throws becomes part of it. */
export function decisionOf<A>(decide: () => Decision<A>): Decision<A> {
  try {
    return decide();
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    throw error;
  }
}

function replyOf<A>(decision: Decision<A>, answering: Answering<A>): Reply {
  if (decision.refusal !== undefined) return answering.renderRefusal(decision.refusal);
  return answering.render(decision.answer);
}

function withMemory<A>(decision: Decision<A>, reply: Reply, receipt: RevocableReceipt | undefined): Change | undefined {
  const { refusal, change } = decision;
  const remembered = refusal === undefined || (isRemembered(refusal.http) && !refusal.retryable);
  if (receipt === undefined) return change;
  if (remembered) return merged(change, receipt.remember(reply));
  // With a change that undoes what the run had begun, the key becomes free again, even for another body. A run without a change
  // may have found a later run's record, and leaves it alone.
  return change !== undefined && receipt.begun() ? merged(change, receipt.forget()) : change;
}
