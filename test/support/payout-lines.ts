/**
 * Payout batches as the store keeps them, made by committing their rows, and what tests ask of their lines again and again:
 * their status, what the carrier really paid, whether the books agree.
 *
 * Invariant: a batch is committed by the same store, and in the same form, as one that a merchant has sent; and no result is
 * taken from the gateway alone: the carrier's book has to agree.
 */

import { expect } from 'vitest';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import type { Gateway } from '../../src/assemble.ts';
import type { Currency } from '../../src/domain/currency.ts';
import { parseAmount } from '../../src/domain/money.ts';
import type { Beneficiary, PayoutBatch, PayoutLine, PayoutStatus } from '../../src/domain/outgoing-records.ts';
import { isLineOver, reserveTransfer, START_LEASE_MS } from '../../src/domain/payout.ts';
import { linesOf } from '../../src/domain/payout-order.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { newId } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { hooksAbout } from './flows.ts';
import type { Hook } from './receiver.ts';
import { rowsOf } from './rows.ts';
import { until, untilLater } from './waiting.ts';
import type { World } from './world.ts';

export interface Payee {
  readonly msisdn?: string;
  readonly wallet?: string;
  readonly amount?: string;
  readonly fee?: string;
}

export interface BatchOptions {
  readonly currency?: Currency;
  /** Like a dated occurrence: nothing is reserved yet. */
  readonly unreserved?: true;
  /** When its lines may start. If absent, they are created leased to the gateway that commits them; if null, none starts. */
  readonly nextStartAt?: number | null;
  /** The gateway that commits it; the world's own if absent. */
  readonly gateway?: Gateway;
  /** The connector that serves its numbers. */
  readonly connector?: string;
}

/** A merchant with that much to pay out. */
export async function openPayer(world: World, balance = 1_000_000n): Promise<MerchantCreated> {
  const merchant = await world.merchant();
  if (balance > 0n) await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', balance);
  return merchant;
}

/** Commits a batch to these payees. Returns its lines, in their order. */
export async function commitBatch(
  world: World,
  { merchant }: MerchantCreated,
  payees: readonly Payee[],
  options: BatchOptions = {},
): Promise<[PayoutLine, ...PayoutLine[]]> {
  const { deps, store } = options.gateway ?? world.gateway;
  const { shard, id: merchant_id } = merchant;
  const now = deps.clock.now();
  const place = { shard, merchant_id, id: newId(deps, 'batch', shard), notify_url: world.receiver.url, now };
  const batch = batchTo(payees, place, options);
  const ids = payees.map(() => newId(deps, 'txn', shard));
  const next_start_at = options.nextStartAt === undefined ? now + START_LEASE_MS : options.nextStartAt;
  const reserved_at = options.unreserved ? null : now;
  const lines = linesOf(batch, 1, ids, now).map((line) => ({ ...line, reserved_at, next_start_at }));
  const outcome = await store.commit({
    claims: [{ table: 'payout_batch', row: batch }],
    inserts: lines.map((row) => ({ table: 'payout_line', row })),
    transfers: options.unreserved ? [] : lines.map((line) => reserveTransfer(line, newId(deps, 'trf', shard), now)),
  });
  const [first, ...rest] = lines;
  if (outcome === 'lost' || first === undefined) throw new Error('the merchant has too little for that batch');
  return [first, ...rest];
}

interface Place extends Pick<PayoutBatch, 'shard' | 'id' | 'merchant_id' | 'notify_url'> {
  readonly now: number;
}

function batchTo(payees: readonly Payee[], { now, ...place }: Place, options: BatchOptions): PayoutBatch {
  const { currency = 'usd', connector = 'mtn-momo' } = options;
  const minor = (amount: string): string => String(parseAmount(amount, currency)?.minor ?? 0n);
  const beneficiaries = payees.map(
    ({ msisdn, wallet, amount = '10.00', fee = '0.10' }): Beneficiary => ({
      msisdn: msisdn ?? null,
      wallet_number: wallet ?? null,
      connector: msisdn === undefined ? null : connector,
      carrier: msisdn === undefined ? null : 'Vodacom M-Pesa',
      amount,
      amount_minor: minor(amount),
      fee_minor: fee === '0' ? '0' : minor(fee),
    }),
  );
  return {
    ...place,
    version: 1,
    customer_reference: 'salaries',
    currency,
    receipt_mode: payees[0]?.wallet === undefined ? 'mobile_money' : 'wallet',
    sending_type: 'immediate',
    note: null,
    language: 'en',
    beneficiaries,
    dates: null,
    frequency: null,
    run_hour: 6,
    time_zone: 'UTC',
    occurrences: 1,
    next_occurrence: 2,
    next_run_at: null,
    approval: 'none',
    paused_at: null,
    cancelled_at: null,
    closed_at: null,
    retry_of: null,
    credential_id: null,
    created_at: now,
  };
}

/** The line as it is now. */
export async function lineNow(world: World, { shard, id }: Pick<PayoutLine, 'shard' | 'id'>): Promise<PayoutLine> {
  const line = await world.gateway.store.payoutLine.get(shard, id);
  if (line === undefined) throw new Error(`there is no line ${id}`);
  return line;
}

/** Waits until the line's first try is recorded; a leap of the clock before that would make the call too late. */
export async function untilSent(world: World, line: Pick<PayoutLine, 'shard' | 'id'>): Promise<void> {
  await until(async () => ((await lineNow(world, line)).status === 'pending' ? undefined : true));
}

/** Lets time pass until the line has that status, or any final one. */
export function untilLine(
  world: World,
  line: Pick<PayoutLine, 'shard' | 'id'>,
  wanted?: PayoutStatus,
  stepMs = 1_000,
): Promise<PayoutLine> {
  return untilLater(
    world,
    async () => {
      const now = await lineNow(world, line);
      return now.status === wanted || (wanted === undefined && isLineOver(now.status)) ? now : undefined;
    },
    stepMs,
  );
}

/** What the carrier really paid to that phone. */
export function creditsOf(world: World, msisdn: string): BookLine[] {
  return world.sandbox.book.lines({ msisdn: msisdn.slice(1) });
}

/** The webhooks of a line, once its last event has been delivered. */
export async function payoutHooks(world: World, line: Pick<PayoutLine, 'id'>): Promise<Hook[]> {
  // A reader may learn of the line's event before the gateway that is writing it does.
  await until(async () => {
    await world.gateway.courier.idle();
    const open = await rowsOf(world, `select id from webhook_event where transaction_id = $1 and status = 'waiting'`, [
      line.id,
    ]);
    return open.length === 0 ? true : undefined;
  });
  return hooksAbout(world, line.id);
}

export async function availableOf(world: World, { merchant }: MerchantCreated): Promise<bigint> {
  const account = await world.gateway.store.account.get(merchant.shard, `${merchant.id}:available:usd`);
  return account?.balance ?? 0n;
}

/**
 * Expects that our ledger adds up, and records for the merchant's lines what the carrier's own book says it paid, each line once.
 */
export async function expectPayoutBooksAgree(world: World, { merchant }: MerchantCreated): Promise<void> {
  await world.gateway.dispatcher.idle();
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  const rows = await rowsOf<{ reference: string; amount: string }>(
    world,
    `select a.reference, l.amount from payout_line l join attempt a on a.id = l.attempt_id
     where l.merchant_id = $1 and l.status = 'completed' order by a.reference`,
    [merchant.id],
  );
  const references = await rowsOf<{ reference: string }>(
    world,
    `select reference from attempt where merchant_id = $1 and purpose = 'payout'`,
    [merchant.id],
  );
  const ours = new Set(references.map(({ reference }) => reference));
  const paid = world.sandbox.book.lines().filter(({ reference }) => ours.has(reference));
  expect(paid.every(({ times, kind }) => times === 1 && kind === 'credit')).toBe(true);
  expect(paid.map(({ reference, amount }) => ({ reference, amount })).toSorted(byReference)).toEqual(rows);
}

const byReference = (one: { reference: string }, other: { reference: string }): number =>
  one.reference < other.reference ? -1 : 1;
