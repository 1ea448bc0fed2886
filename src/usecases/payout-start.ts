/**
 * Starts a payout line: to a phone by write, call, write; into one of our own wallets in one change.
 *
 * Invariant: the process that starts a line holds its lease, and the line's version guards it: no other process can start it, and
 * a commit whose outcome was lost is looked up. Nothing is sent before its attempt is committed, nothing is sent again before the
 * previous attempt was inquired about, and nothing is sent if the failed line that this one retries was paid after all.
 */

import type { PayoutConnector } from '../connectors/connector.ts';
import type { Answer } from '../domain/answer.ts';
import { type Change, guard, merged } from '../domain/change.ts';
import { merchantAccount } from '../domain/ledger.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import { costOf, nextLookBackAt } from '../domain/payout.ts';
import { beforeIt, type EarlierLine } from '../domain/payout-again.ts';
import {
  failForFunds,
  intendLine,
  type LineContext,
  lineOrder,
  payByLate,
  payWallet,
} from '../domain/payout-outgoing.ts';
import type { Attempt, Merchant } from '../domain/records.ts';
import { shardOfWallet } from '../domain/wallet.ts';
import { CALL_LIFE_MS } from './attempt-ask.ts';
import { type Intention, newAttempt } from './attempt-intend.ts';
import { recordOutgoing } from './attempt-outgoing.ts';
import { inquirePreviousAttempt } from './attempt-previous.ts';
import { carrierOrderOf } from './carrier-order.ts';
import { cachedFirst, type Deps, idsOf, newId } from './deps.ts';
import { outcomeOfCall, postpone, sendUnlessHeld } from './outgoing-start.ts';
import { commitOrFind } from './perform.ts';
import { notSent, type Sent } from './sender.ts';

/** Starts a line; `line` is as it was when it was leased to us. */
export async function startLine(deps: Deps, line: PayoutLine, merchant: Merchant): Promise<Sent> {
  // A suspended merchant's line waits until its lease runs out, and is then claimed again.
  if (merchant.status !== 'ALLOWED') return notSent();
  if (line.receipt_mode === 'wallet') {
    await payToWallet(deps, line);
    return notSent();
  }
  const { msisdn, connector: name } = line;
  const connector = name === null ? undefined : deps.connectors.payout(name);
  if (msisdn === null || connector === undefined) {
    deps.log.error('payout_connector_missing', { transaction_id: line.id, connector: name });
    return notSent();
  }
  return sendToPhone(deps, { line, merchant, connector, msisdn });
}

interface Sending {
  readonly line: PayoutLine;
  readonly merchant: Merchant;
  readonly connector: PayoutConnector;
  readonly msisdn: string;
}

async function sendToPhone(deps: Deps, sending: Sending): Promise<Sent> {
  const before = await inquirePreviousAttempt(deps, sending.line);
  if (before.kind === 'taken') return notSent('answered');
  if (before.kind === 'unclear') {
    await postpone(deps, 'payout_line', sending.line, before.until);
    return notSent(before.outcome);
  }
  if (await isStopped(deps, sending)) return notSent();
  // It waits until its lease runs out, and from then on in the database, until the hold has ended.
  if (await deps.holds.isHeld(sending.connector.name)) return notSent();
  const intended = await intend(deps, sending, await readEarlier(deps, sending.line));
  if (intended === undefined) return notSent();
  if ('paidBy' in intended) {
    await leaveUnsent(deps, sending.line, intended);
    return notSent();
  }
  const { attempt, line } = intended;
  const answer = await sendUnlessHeld(deps, attempt, intended, () => pay(deps, attempt, sending));
  // A line that remembers another attempt must be read with all of its attempts.
  const order = line.late_attempt_id === null ? lineOrder(line, deps.payoutText) : undefined;
  const written = recordOutgoing(deps, attempt, order, answer);
  return { outcome: outcomeOfCall(answer), written };
}

/**
 * Whether its merchant was suspended, or its batch cancelled, while the upstream was asked about the previous attempt, which may take
 * seconds. A cancellation calls untried lines off itself; a tried one it only recalls, and not one whose lease is just being written,
 * nor if its process dies in between. One that comes after this look recalls the line as a rule, and then this start loses.
 */
async function isStopped({ store }: Deps, { line }: Sending): Promise<boolean> {
  const { shard, attempt_id, merchant_id, batch_id } = line;
  if (attempt_id === null) return false;
  const [merchant, batch] = await Promise.all([
    store.merchant.get(shard, merchant_id),
    store.payoutBatch.get(shard, batch_id),
  ]);
  return merchant?.status !== 'ALLOWED' || batch === undefined || batch.cancelled_at !== null;
}

async function leaveUnsent(deps: Deps, line: PayoutLine, { paidBy }: Withheld): Promise<void> {
  const about = { transaction_id: line.id, paid_again: line.retry_of };
  if (paidBy !== undefined) {
    deps.log.warn('payout_was_paid_before', { ...about, attempt_id: paidBy.id });
    return;
  }
  deps.log.warn('payout_held_back', about);
  await postpone(deps, 'payout_line', line, nextLookBackAt(line, deps.clock.now()));
}

function pay(deps: Deps, attempt: Attempt, { line, merchant, connector, msisdn }: Sending): Promise<Answer> {
  const order = carrierOrderOf(deps, { attempt, msisdn, merchant, customerReference: line.customer_reference });
  return connector.payOut({ note: line.note, ...order });
}

interface Intended {
  readonly attempt: Attempt;
  readonly line: PayoutLine;
  /** An earlier attempt, or a failed line that this one retries, was accepted while the attempt was in doubt. */
  readonly isTaken: boolean;
}

/** A line that is not sent. `paidBy`: the attempt that has paid the failed line which this one retries; undefined: not known yet. */
interface Withheld {
  readonly paidBy: Attempt | undefined;
}

/** The failed lines that this one retries, and the attempts that they remember, read after the lines so as not to be older. */
async function readEarlier(deps: Deps, known: PayoutLine): Promise<readonly EarlierLine[]> {
  const lines = known.retry_of === null ? [] : await deps.store.payouts.earlier(known);
  return Promise.all(
    lines.map(async (line): Promise<EarlierLine> => {
      const { shard, late_attempt_id: id } = line;
      return { line, late: id === null ? undefined : await deps.store.attempt.get(shard, id) };
    }),
  );
}

/** What is read besides the line before it is sent. */
interface Beside {
  /** This very attempt, if it was written by a commit of ours whose outcome was lost. */
  readonly own: Attempt | undefined;
  readonly earlier: readonly EarlierLine[];
}

/** Opens an attempt for the line; undefined if the lease is no longer ours, or the line has failed for lack of funds. */
function intend(
  deps: Deps,
  { line: known, connector, msisdn }: Sending,
  earlier: readonly EarlierLine[],
): Promise<Intended | Withheld | undefined> {
  const { shard, merchant_id, id, currency } = known;
  const attemptId = newId(deps, 'att', shard);
  const carrier = known.carrier ?? connector.displayName;
  const intention: Intention = { connector, method: 'mobile_money', carrier, msisdn, callLifeMs: CALL_LIFE_MS };
  const order = { shard, merchant_id, purpose: 'payout', payment_id: id, currency } as const;
  const again = async (): Promise<Beside> => {
    const [own, lines] = await Promise.all([deps.store.attempt.get(shard, attemptId), readEarlier(deps, known)]);
    return { own, earlier: lines };
  };
  const beside = cachedFirst<Beside>({ own: undefined, earlier }, again);
  return writeLine<Beside, Intended | Withheld | undefined>(deps, known, beside, ({ line, more }, context) => {
    const mine = more.own;
    const before = beforeIt(more.earlier);
    if (mine !== undefined) {
      // Our own commit had won. If another process has taken the attempt further, that process gives the outcome.
      if (mine.status !== 'intended') return { answer: undefined };
      const isTaken = line.late_attempt_id !== null || before.kind !== 'nothing';
      return { answer: { attempt: mine, line, isTaken } };
    }
    if (!isOurs(line, known)) return { answer: undefined };
    if (before.kind === 'unclear') return { answer: { paidBy: undefined } };
    const guards = more.earlier.map((one) => guard('payout_line', one.line));
    if (before.kind === 'paid') {
      return {
        change: merged(payByLate(line, before.by, context), { updates: guards }),
        answer: { paidBy: before.by },
      };
    }
    const money = { amount_minor: line.amount_minor, fee_minor: 0n };
    const attempt = newAttempt(attemptId, order, money, intention, context.now);
    const intended = intendLine(line, attempt, context);
    return {
      change: merged(intended.change, { updates: guards }),
      answer: { attempt, line: intended.line, isTaken: false },
    };
  });
}

async function payToWallet(deps: Deps, known: PayoutLine): Promise<void> {
  const number = known.wallet_number;
  if (number === null) throw new Error(`payout ${known.id} names no wallet`);
  const wallet = await deps.store.wallet.get(shardOfWallet(number), number);
  await writeLine<undefined, void>(
    deps,
    known,
    () => Promise.resolve(undefined),
    ({ line }, context) =>
      isOurs(line, known)
        ? { change: payWallet(line, wallet, context).change, answer: undefined }
        : { answer: undefined },
  );
}

/** Whether the lease is still ours: the line has not been written since. */
function isOurs(line: PayoutLine, known: PayoutLine): boolean {
  return line.status === 'pending' && line.version === known.version;
}

interface Rows<M> {
  readonly line: PayoutLine;
  readonly more: M;
  /** The merchant's available balance; read only after a change has lost, since it may have been too low. */
  readonly availableMinor: bigint | undefined;
}

type Decide<M, A> = (rows: Rows<M>, context: LineContext) => { readonly change?: Change; readonly answer: A };

/**
 * Decides on a line until its change commits. A line without a reservation fails, by itself, if its merchant's balance is too
 * low. `more` is read with the line each time.
 */
async function writeLine<M, A>(
  deps: Deps,
  known: PayoutLine,
  more: () => Promise<M>,
  decide: Decide<M, A | undefined>,
): Promise<A | undefined> {
  const { shard, id, merchant_id, currency } = known;
  const available = merchantAccount(merchant_id, 'available', currency);
  const rows = cachedFirst<Omit<Rows<M>, 'more'>>({ line: known, availableMinor: undefined }, async () => {
    const [line, account] = await Promise.all([
      deps.store.payoutLine.get(shard, id),
      deps.store.account.get(available.shard, available.id),
    ]);
    if (line === undefined) throw new Error(`payout ${id} is gone`);
    return { line, availableMinor: account?.balance ?? 0n };
  });
  // Read in this order: if our own commit is found, the line that is read after it already includes it.
  const read = async (): Promise<Rows<M>> => {
    const found = await more();
    return { more: found, ...(await rows()) };
  };
  return commitOrFind(deps, read, (found) => {
    const context = lineContext(deps);
    const { line, availableMinor } = found;
    const isShort = availableMinor !== undefined && availableMinor < costOf(line);
    if (isShort && line.reserved_at === null && isOurs(line, known)) {
      return { change: failForFunds(line, context).change, answer: undefined };
    }
    return decide(found, context);
  });
}

function lineContext(deps: Deps): LineContext {
  return { now: deps.clock.now(), newId: idsOf(deps), text: deps.payoutText };
}
