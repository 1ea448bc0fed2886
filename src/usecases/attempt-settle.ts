/**
 * Writes what an upstream said of an attempt: the one way through for callbacks and the inquiry round.
 *
 * Invariant: the word is decided on fresh rows until its change commits; who comes second finds it settled.
 */

import type { InquiryAnswer } from '../connectors/connector.ts';
import type { Inquired, SettlementContext, Word } from '../domain/attempt-settlement.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { needsSession, type Settlement, type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import { StoreBusy, StoreRefused, StoreUnavailable } from '../store/errors.ts';
import { recorded } from './attempt-record.ts';
import { atHandFirst, type Deps, newId } from './deps.ts';
import { persist, settle } from './perform.ts';

/** What a settlement needs to know. The session matters only while this attempt may still have to consume it. */
export async function readSettlement(
  deps: Pick<Deps, 'store'>,
  key: Pick<Attempt, 'shard' | 'id' | 'payment_id'>,
): Promise<SettlementRows> {
  const [attempt, payment] = await Promise.all([
    deps.store.attempt.get(key.shard, key.id),
    deps.store.payment.get(key.shard, key.payment_id),
  ]);
  if (attempt === undefined || payment === undefined) throw new Error(`attempt ${key.id} has lost its rows`);
  if (!needsSession(attempt, payment)) return { attempt, payment, session: undefined, sessionPayments: [] };
  const session = await deps.store.session.caller(payment.shard, payment.session_id);
  const several = session !== undefined && session.payments > 1;
  const sessionPayments: Payment[] = several
    ? await deps.store.payment.ofSession(payment.shard, payment.session_id)
    : [];
  return { attempt, payment, session, sessionPayments };
}

/**
 * What a settlement is decided by besides the rows: the time now, fresh ids, the upstream's settle delay, and when
 * (`asked.at`, milliseconds) and why it was asked.
 */
export function settlementContext(
  deps: Deps,
  connector: { readonly settleDelayMs: number },
  asked: Pick<SettlementContext, 'inquiry' | 'authentication'> & { readonly at: number },
): SettlementContext {
  return {
    now: deps.clock.now(),
    askedAt: asked.at,
    settleDelayMs: connector.settleDelayMs,
    newId: (prefix, shard) => newId(deps, prefix, shard),
    inquiry: asked.inquiry,
    ...(asked.authentication === undefined ? {} : { authentication: asked.authentication }),
  };
}

/** An upstream that was taken out of the configuration proves nothing any more; what time has ended is written all the same. */
export function upstreamOf(deps: Deps, attempt: Pick<Attempt, 'connector'>): { readonly settleDelayMs: number } {
  return deps.connectors.upstream(attempt.connector) ?? { settleDelayMs: Number.POSITIVE_INFINITY };
}

/**
 * Settles an attempt by the answer to an inquiry that began at `askedAt`. Returns the payment as it is then.
 * `payment` was read beside the inquiry; what has moved since is found by the guards, and read again. An attempt that has
 * taken a step meanwhile is no longer the one that was due.
 */
export async function settleByInquiry(
  deps: Deps,
  attempt: Attempt,
  payment: Payment | undefined,
  word: InquiryAnswer,
  asked: { readonly at: number; readonly inquiry: Inquired },
): Promise<Payment> {
  const connector = deps.connectors.upstream(attempt.connector);
  if (connector === undefined) throw new Error(`no connector is called ${attempt.connector}`);
  const fresh = (): Promise<SettlementRows> => readSettlement(deps, attempt);
  await recorded(deps, attempt.id);
  const atHand = rowsAtHand(deps, attempt, payment);
  const settleOn = (read: () => Promise<SettlementRows>, settling: Settling): Promise<Settlement> =>
    settle(deps.store, read, (rows) => {
      const inquiry = rows.attempt.status === attempt.status ? asked.inquiry : 'hint';
      const context = settlementContext(deps, connector, { at: asked.at, inquiry });
      const settlement = settling(settleAttempt(rows, word, context));
      const { change } = settlement;
      return change === undefined ? { answer: settlement } : { change, answer: settlement };
    });
  const settled = await soundingLast(deps, async (settling) => {
    const first = await settleOn(atHand === undefined ? fresh : atHandFirst(atHand, fresh), settling);
    // Who writes nothing is held up by no guard: that there is nothing to write is decided on fresh rows.
    return first.change === undefined && atHand !== undefined ? settleOn(fresh, settling) : first;
  });
  return settled.payment;
}

/**
 * The payment of an attempt as this process wrote it last, while it waits for that attempt. One that names no attempt or
 * another would make of its own money somebody else's: it is read.
 */
export function openOrder(deps: Pick<Deps, 'store'>, attempt: Attempt): Payment | undefined {
  const payment = deps.store.payment.recent(attempt.shard, attempt.payment_id);
  return payment?.attempt_id === attempt.id ? payment : undefined;
}

/**
 * The rows as this process has written them since, or else as they were read: of the attempt the newer one, for the round
 * that claims it writes its row without telling anybody. Where the session matters, it is read with them.
 */
function rowsAtHand(
  deps: Pick<Deps, 'store'>,
  attempt: Attempt,
  read: Payment | undefined,
): SettlementRows | undefined {
  const written = deps.store.attempt.recent(attempt.shard, attempt.id);
  const current = written !== undefined && written.version > attempt.version ? written : attempt;
  const payment = openOrder(deps, attempt) ?? read;
  if (payment === undefined || needsSession(current, payment)) return undefined;
  return { attempt: current, payment, session: undefined, sessionPayments: [] };
}

/**
 * Settles an attempt by what the upstream answered to our own call, or by what became of its challenge, where nobody waits for an answer in bytes. Tried again
 * while the database is away. Returns the payment as it is then.
 */
export async function settleByWord(
  deps: Deps,
  key: Attempt,
  word: Exclude<Word, { kind: 'not_found' }>,
  asked: Pick<SettlementContext, 'authentication'> & { readonly at: number },
): Promise<Payment> {
  const connector = upstreamOf(deps, key);
  if (word.kind === 'unknown' || word.kind === 'not_sent') {
    deps.log.warn('attempt_unsure', { attempt_id: key.id, kind: word.kind, reason: word.reason });
  }
  const record = (settling: Settling): Promise<Settlement> =>
    settle(
      deps.store,
      () => readSettlement(deps, key),
      (rows) => {
        const context = settlementContext(deps, connector, { ...asked, inquiry: false });
        const settlement = settling(settleAttempt(rows, word, context));
        const { change } = settlement;
        return change === undefined ? { answer: settlement } : { change, answer: settlement };
      },
    );
  return (await persist(deps, () => soundingLast(deps, record))).payment;
}

/** What was settled: a payment's attempt, or one that sends money out. */
type Settled = Pick<Settlement, 'attempt' | 'alarm'> & { readonly payment?: Payment };

/** Hands a decision through, and remembers it. */
export type Settling = <S extends Settled>(settled: S) => S;

/**
 * Runs what decides by `settling` until its change commits, and sounds the alarm of the last decision: one that lost against
 * its neighbours was none, and nor was one that has certainly not been written. One that is in doubt is heard: whoever tries
 * again finds what it wrote, and has nothing to sound. So each try has to be run by itself (`persist` goes around this).
 */
export async function soundingLast<T>(
  deps: Pick<Deps, 'log' | 'alarmed'>,
  run: (settling: Settling) => Promise<T>,
): Promise<T> {
  let last: Settled | undefined;
  const sound = (): void => {
    if (last !== undefined) soundAlarm(deps, last);
  };
  try {
    const done = await run((settled) => {
      last = settled;
      return settled;
    });
    sound();
    return done;
  } catch (error) {
    if (!isUnwritten(error)) sound();
    throw error;
  }
}

/** What the commit path throws of a change that has certainly not been written. */
function isUnwritten(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof StoreBusy || error instanceof StoreRefused;
}

/** What a person must look at is an error in the log, and a number. */
export function soundAlarm(deps: Pick<Deps, 'log' | 'alarmed'>, { alarm, attempt, payment }: Settled): void {
  if (alarm === undefined) return;
  deps.alarmed(alarm, attempt.purpose);
  deps.log.error('attempt_alarm', {
    alarm,
    attempt_id: attempt.id,
    transaction_id: attempt.payment_id,
    purpose: attempt.purpose,
    attempt_status: attempt.status,
    payment_status: payment?.status,
  });
}
