/**
 * Starts a payout line: to a phone by write, call, write; into a wallet of ours in one change.
 *
 * Invariant: whoever starts a line holds its lease, at the version that it was leased at: nobody else can start it, and a
 * commit whose answer was lost is looked up. Nothing leaves for the network before its attempt is committed, and nothing
 * again before the try before it was asked about.
 */

import type { Answer, PayoutConnector } from '../connectors/connector.ts';
import type { Change } from '../domain/change.ts';
import { merchantAccount } from '../domain/ledger.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import { costOf } from '../domain/payout.ts';
import { failForFunds, intendLine, type LineContext, lineOrder, payWallet } from '../domain/payout-outgoing.ts';
import type { Attempt, Merchant } from '../domain/records.ts';
import { shardOfWallet } from '../domain/wallet.ts';
import { askInTime, CALL_LIFE_MS, isUnsure } from './attempt-ask.ts';
import { askTryBefore } from './attempt-before.ts';
import { type Intention, newAttempt } from './attempt-intend.ts';
import { recordOutgoing } from './attempt-outgoing.ts';
import { callbackUrl } from './callback-url.ts';
import { atHandFirst, type Deps, idsOf, newId } from './deps.ts';
import { commitOrFind, unlessPassing } from './perform.ts';

/** How a start went for whoever made it. */
export interface Started {
  /** Whether the carrier answered; undefined: it was not asked. */
  readonly answered: boolean | undefined;
  /** What it said is still being written. */
  readonly written: Promise<unknown>;
}

const NOT_ASKED: Started = { answered: undefined, written: Promise.resolve() };

/** Starts a line that was leased to us as it is given. */
export async function startLine(deps: Deps, line: PayoutLine, merchant: Merchant): Promise<Started> {
  // It waits: the lease runs out, and it is looked at again.
  if (merchant.status !== 'ALLOWED') return NOT_ASKED;
  if (line.receipt_mode === 'wallet') {
    await payToWallet(deps, line);
    return NOT_ASKED;
  }
  const { msisdn, connector: name } = line;
  const connector = name === null ? undefined : deps.connectors.payout(name);
  if (msisdn === null || connector === undefined) {
    deps.log.error('payout_connector_missing', { transaction_id: line.id, connector: name });
    return NOT_ASKED;
  }
  return sendToPhone(deps, { line, merchant, connector, msisdn });
}

interface Sending {
  readonly line: PayoutLine;
  readonly merchant: Merchant;
  readonly connector: PayoutConnector;
  readonly msisdn: string;
}

async function sendToPhone(deps: Deps, sending: Sending): Promise<Started> {
  const before = await askTryBefore(deps, sending.line);
  if (before.kind === 'taken') return { ...NOT_ASKED, answered: true };
  if (before.kind === 'unclear') {
    await putOff(deps, sending.line, before.until);
    return { ...NOT_ASKED, answered: before.answered };
  }
  const intended = await intend(deps, sending);
  if (intended === undefined) return NOT_ASKED;
  const { attempt, line } = intended;
  let asked = false;
  const word = await ask(deps, attempt, sending, () => {
    asked = true;
  });
  const written = recordOutgoing(deps, { attempt, order: lineOrder(line, deps.payoutText) }, word);
  // A commit of ours that took too long says nothing of the carrier.
  return { answered: asked ? !isUnsure(word) : undefined, written };
}

/** The lease would do for a while; where this is not written, it does. */
async function putOff(deps: Deps, { shard, id, version }: PayoutLine, next_start_at: number): Promise<void> {
  const row = { next_start_at };
  await deps.store.commit({ updates: [{ table: 'payout_line', shard, id, version, row }] }).catch(unlessPassing);
}

function ask(
  deps: Deps,
  attempt: Attempt,
  { line, merchant, connector, msisdn }: Sending,
  onAsked: () => void,
): Promise<Answer> {
  const order = {
    attemptId: attempt.id,
    reference: attempt.reference,
    msisdn,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    merchantName: merchant.name,
    customerReference: line.customer_reference,
    note: line.note,
    callbackUrl: callbackUrl(deps, attempt),
  };
  const pay = (): Promise<Answer> => {
    onAsked();
    return connector.payOut(order);
  };
  return askInTime(deps, attempt, pay);
}

interface Intended {
  readonly attempt: Attempt;
  readonly line: PayoutLine;
}

/** Opens an attempt at the line; undefined where the line is not ours to start, or has failed for want of funds. */
function intend(deps: Deps, { line: known, connector, msisdn }: Sending): Promise<Intended | undefined> {
  const { shard, merchant_id, id, currency } = known;
  const attemptId = newId(deps, 'att', shard);
  const carrier = known.carrier ?? connector.displayName;
  const intention: Intention = { connector, method: 'mobile_money', carrier, msisdn, callLifeMs: CALL_LIFE_MS };
  const order = { shard, merchant_id, purpose: 'payout', payment_id: id, currency } as const;
  const own = (): Promise<Attempt | undefined> => deps.store.attempt.get(shard, attemptId);
  return writeLine<Attempt, Intended | undefined>(deps, known, own, ({ line, more: mine }, context) => {
    // Our own commit had happened. Where somebody has gone on with it, the outcome is theirs.
    if (mine !== undefined) return { answer: mine.status === 'intended' ? { attempt: mine, line } : undefined };
    if (!isOurs(line, known)) return { answer: undefined };
    const money = { amount_minor: line.amount_minor, fee_minor: 0n };
    const attempt = newAttempt(attemptId, order, money, intention, context.now);
    const intended = intendLine(line, attempt, context);
    return { change: intended.change, answer: { attempt, line: intended.line } };
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

/** The lease is ours as long as nobody has touched the line since. */
function isOurs(line: PayoutLine, known: PayoutLine): boolean {
  return line.status === 'pending' && line.version === known.version;
}

interface Rows<M> {
  readonly line: PayoutLine;
  readonly more: M | undefined;
  /** What its merchant has available; looked at once a change has lost, because then that may have been too little. */
  readonly availableMinor: bigint | undefined;
}

type Decide<M, A> = (rows: Rows<M>, context: LineContext) => { readonly change?: Change; readonly answer: A };

/**
 * Decides on a line until it is written. A line for which nothing has been put aside yet fails where its merchant has too
 * little, alone. `more` is read with the line from the second time on.
 */
async function writeLine<M, A>(
  deps: Deps,
  known: PayoutLine,
  more: () => Promise<M | undefined>,
  decide: Decide<M, A | undefined>,
): Promise<A | undefined> {
  const { shard, id, merchant_id, currency } = known;
  const available = merchantAccount(merchant_id, 'available', currency);
  const read = atHandFirst<Rows<M>>({ line: known, more: undefined, availableMinor: undefined }, async () => {
    const [line, found, account] = await Promise.all([
      deps.store.payoutLine.get(shard, id),
      more(),
      deps.store.account.get(available.shard, available.id),
    ]);
    if (line === undefined) throw new Error(`payout ${id} is gone`);
    return { line, more: found, availableMinor: account?.balance ?? 0n };
  });
  return commitOrFind(deps, read, (rows) => {
    const context = lineContext(deps);
    const { line, availableMinor } = rows;
    const isShort = availableMinor !== undefined && availableMinor < costOf(line);
    if (isShort && line.reserved_at === null && isOurs(line, known)) {
      return { change: failForFunds(line, context).change, answer: undefined };
    }
    return decide(rows, context);
  });
}

function lineContext(deps: Deps): LineContext {
  return { now: deps.clock.now(), newId: idsOf(deps), text: deps.payoutText };
}
