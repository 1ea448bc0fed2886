/**
 * Makes a payout: a batch, the lines of its first occurrence with their first webhooks, and for an immediate batch the
 * reservation of each line's money. All of it is one change.
 *
 * Invariant: no immediate batch is made that the merchant's available balance does not cover at that moment; of two batches that
 * race for the balance one loses, and is decided again on what is left.
 */

import { type Change, guard, merged } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import type { Prefix } from '../domain/ids.ts';
import { formatMinor } from '../domain/money.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import {
  batchOf,
  costOfLines,
  linesOf,
  missing,
  type PayoutOrder,
  reserved,
  runTimeOf,
} from '../domain/payout-order.ts';
import type { Session } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { requireOpen } from '../domain/session.ts';
import { eventInsert, payoutEvent } from '../domain/webhook.ts';
import { readAvailable } from './balances-read.ts';
import { type ByCredential, byCredential, type MerchantCaller, type SessionCaller } from './callers.ts';
import { cachedFirst, type Deps, newId } from './deps.ts';
import { type Answering, perform, type Reply } from './perform.ts';

/** A batch as it was made, or as a dry run would make it. */
export interface PayoutSent {
  readonly batch: PayoutBatch;
  /** The lines of its first occurrence. */
  readonly lines: readonly PayoutLine[];
  readonly dryRun: boolean;
  /** Whether the available balance covers the first occurrence now, fees included. */
  readonly sufficientFunds: boolean;
}

/** Requires a session that only a backend has used, which alone may start payouts (contract §3). @throws Refusal 1003. */
export function requireSender(session: Session): void {
  if (session.scope === 'collect') throw refuseField(1003, 'Authorization', 'WRONG_SCOPE', { scope: 'payout' });
  if (session.payments > 0) throw refuseField(1003, 'Authorization', 'SESSION_COLLECTED');
  if (session.device_fingerprint !== null) throw refuseField(1003, 'Authorization', 'SESSION_ON_DEVICE');
}

interface Rows {
  /** Undefined if the caller is not a session. */
  readonly session: Session | undefined;
  readonly availableMinor: bigint;
}

/**
 * Makes a batch of payouts, or with `dryRun` says what it would be (specification, Endpoints, rules 6 to 8; contract §5). It
 * does not consume the session (contract §3). A call with the merchant's own credential has no session to check.
 *
 * @throws Refusal 1001 or 1005 when the session is not open, 1003 when it may not start payouts, 1201 when the available
 * balance does not cover a batch that starts at once, fees included.
 */
export function sendPayout(
  deps: Deps,
  caller: SessionCaller | MerchantCaller,
  order: PayoutOrder,
  { dryRun }: { readonly dryRun: boolean },
  answering: Answering<PayoutSent>,
): Promise<Reply> {
  const { merchant } = caller;
  const ids = payoutIds(deps, merchant.shard, order.lines.length);
  return perform<Rows, PayoutSent>(deps.store, answering, rowsOf(deps, caller, order.currency), (rows) => {
    const { session, availableMinor } = rows;
    if (session !== undefined) {
      requireOpen(session, deps.clock.now());
      requireSender(session);
    }
    const made = makePayout(deps, byCredential(caller), order, ids, availableMinor);
    const answer = { ...made, dryRun };
    if (dryRun) return { answer };
    // Changes only the session's version: a concurrent collect, or a device binding, loses.
    const guards = session === undefined ? [] : [guard('session', session)];
    return { change: merged(made.change, { updates: guards }), answer };
  });
}

function rowsOf(deps: Deps, caller: SessionCaller | MerchantCaller, currency: Currency): () => Promise<Rows> {
  const { merchant } = caller;
  if (caller.kind === 'merchant') {
    return async () => ({ session: undefined, availableMinor: await readAvailable(deps, merchant, currency) });
  }
  const { shard, id } = caller.session;
  const session = cachedFirst<Session | undefined>(caller.session, () => deps.store.session.caller(shard, id));
  return async () => {
    const [found, availableMinor] = await Promise.all([session(), readAvailable(deps, merchant, currency)]);
    if (found === undefined) throw new Refusal(1001);
    return { session: found, availableMinor };
  };
}

/** Ids made before deciding, so that deciding twice writes the same. */
export interface PayoutIds {
  /** When they were made, which is the time in the batch's id and the batch's creation time. */
  readonly at: number;
  readonly batch: string;
  readonly lines: readonly string[];
  readonly events: readonly string[];
  readonly transfers: readonly string[];
}

/** Fresh ids for a batch whose first occurrence has `lines` lines. */
export function payoutIds(deps: Pick<Deps, 'clock' | 'random'>, shard: number, lines: number): PayoutIds {
  const at = deps.clock.now();
  const one = (prefix: Prefix): string => newId(deps, prefix, shard, at);
  const some = (prefix: Prefix): string[] => Array.from({ length: lines }, () => one(prefix));
  return { at, batch: one('batch'), lines: some('txn'), events: some('evt'), transfers: some('trf') };
}

type Made = Omit<PayoutSent, 'dryRun'> & { readonly change: Change };

/** The batch of an order, with the change that writes it. @throws Refusal 1201 for an immediate batch without funds. */
export function makePayout(
  deps: Pick<Deps, 'calendar' | 'payoutText'>,
  { merchant, credentialId }: ByCredential,
  order: PayoutOrder,
  ids: PayoutIds,
  availableMinor: bigint,
): Made {
  const now = ids.at;
  const [first] = order.dates ?? [];
  const { run_hour: hour, time_zone: zone } = runTimeOf(merchant);
  const firstRunAt = first === undefined ? null : deps.calendar.instantOf(first, hour, zone);
  const origin = { shard: merchant.shard, id: ids.batch, credentialId, firstRunAt, now };
  const batch = batchOf(merchant, order, origin);
  const plain = linesOf(batch, 1, ids.lines, now);
  const needed = costOfLines(plain);
  const sufficientFunds = availableMinor >= needed;
  const isImmediate = batch.dates === null;
  if (isImmediate && !sufficientFunds) throw refuseFunds(order.currency, availableMinor, needed);
  const starts = isImmediate && batch.approval === 'none';
  const { lines, transfers } = starts ? reserved(plain, ids.transfers, now) : { lines: plain, transfers: [] };
  const events = lines.map((line, at) =>
    eventInsert(
      payoutEvent(line, deps.payoutText(line.language, line, batch.approval), ids.events[at] ?? missing(), now),
    ),
  );
  const change: Change = {
    claims: [{ table: 'payout_batch', row: batch }],
    inserts: [...lines.map((row) => ({ table: 'payout_line', row }) as const), ...events],
    transfers,
  };
  return { batch, lines, sufficientFunds, change };
}

function refuseFunds(currency: Currency, available: bigint, needed: bigint): Refusal {
  const words = { available: formatMinor(available, currency), needed: formatMinor(needed, currency), currency };
  return refuseField(1201, 'beneficiaries', 'PAYOUT_FUNDS', words);
}
