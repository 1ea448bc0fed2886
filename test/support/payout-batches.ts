/**
 * Batches of payouts for tests, and what can be seen of them.
 *
 * Invariant: a batch is made by the use case's own rules, as a call would make it; funds are given only on request.
 */

import { expect } from 'vitest';
import type { PayoutBatch, PayoutLine } from '../../src/domain/outgoing-records.ts';
import type { PayoutOrder } from '../../src/domain/payout-order.ts';
import { occurrenceDates, type ScheduleOrder } from '../../src/domain/schedule.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { readAvailable } from '../../src/usecases/balances-read.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { makePayout, payoutIds } from '../../src/usecases/payout-send.ts';
import { hooksAbout } from './flows.ts';
import { rowsOf } from './rows.ts';
import type { World } from './world.ts';

export interface BatchWish {
  /** Phones or wallets; each is paid 10.00 usd. */
  readonly msisdns?: readonly string[];
  readonly wallets?: readonly string[];
  /** If absent: at once. */
  readonly schedule?: ScheduleOrder | undefined;
  /** Where the webhooks go; the world's receiver if absent. */
  readonly notifyUrl?: string;
}

/** Makes a batch of that merchant, in the merchant's present state. */
export async function makeBatch(
  world: World,
  { merchant, key_id }: MerchantCreated,
  wish: BatchWish,
): Promise<PayoutBatch> {
  const { deps } = world.gateway;
  const { msisdns = [], wallets = [], schedule } = wish;
  const order: PayoutOrder = {
    customer_reference: 'salaries',
    currency: 'usd',
    receipt_mode: wallets.length > 0 ? 'wallet' : 'mobile_money',
    sending_type: schedule?.sending_type ?? 'immediate',
    notify_url: wish.notifyUrl ?? world.receiver.url,
    note: null,
    language: 'en',
    lines: [
      ...msisdns.map((msisdn) => ({ ...routed(world, msisdn), wallet_number: null })),
      ...wallets.map((wallet_number) => ({ msisdn: null, connector: null, carrier: null, wallet_number })),
    ].map((receiver) => ({ ...receiver, amount: '10.00', amountMinor: 10_00n })),
    dates: schedule === undefined ? null : occurrenceDates(deps.calendar, schedule),
    frequency: schedule?.sending_type === 'recurring' ? schedule.frequency : null,
    retry_of: null,
  };
  const row = await deps.store.merchant.get(merchant.shard, merchant.id);
  if (row === undefined) throw new Error('no such merchant');
  const by = { merchant: row, credentialId: key_id };
  const ids = payoutIds(deps, row.shard, order.lines.length);
  const { batch, change } = makePayout(deps, by, order, ids, await readAvailable(deps, row, 'usd'));
  expect(await deps.store.commit(change)).toBe('won');
  return batch;
}

function routed(world: World, msisdn: string) {
  const route = world.gateway.deps.connectors.routeFor('payout', msisdn, 'usd');
  if (route.kind !== 'route') throw new Error(`no carrier serves ${msisdn}`);
  return { msisdn, connector: route.connector, carrier: route.carrier };
}

/** Credits a merchant's balance. */
export async function fund(world: World, { merchant }: MerchantCreated, usdMinor: bigint): Promise<void> {
  await creditBalance(world.gateway.deps, merchant.id, 'usd', usdMinor);
}

/** A merchant's balances in usd, minor units. */
export async function balancesOf(world: World, { merchant }: MerchantCreated) {
  const { store } = world.gateway;
  const of = async (what: string) =>
    (await store.account.get(merchant.shard, `${merchant.id}:${what}:usd`))?.balance ?? 0n;
  return { available: await of('available'), reserved: await of('reserved') };
}

/** A batch as it is now. */
export async function batchNow(world: World, { shard, id }: PayoutBatch): Promise<PayoutBatch> {
  const batch = await world.gateway.store.payoutBatch.get(shard, id);
  if (batch === undefined) throw new Error(`no batch ${id}`);
  return batch;
}

/** The lines of one occurrence, in the order of the call. */
export function linesNow(world: World, { shard, id }: PayoutBatch, occurrence = 1): Promise<PayoutLine[]> {
  return world.gateway.store.payoutBatch.lines(shard, id, occurrence);
}

/** How many lines of the whole batch are in each status. */
export async function countsNow(world: World, { shard, id }: PayoutBatch) {
  const runs = await world.gateway.store.payoutBatch.counts(shard, id);
  return runs.map(({ occurrence, pending, processing, completed, failed }) => ({
    occurrence,
    pending,
    processing,
    completed,
    failed,
  }));
}

/** The events of a line, in the order in which they were written. */
export async function eventsOf(world: World, { id }: PayoutLine): Promise<Record<string, unknown>[]> {
  const rows = await rowsOf<{ body: string }>(
    world,
    'select body from webhook_event where transaction_id = $1 order by sequence',
    [id],
  );
  return rows.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

/** The statuses of a line that the receiver was told, in the order in which the events were written. */
export function toldOf(world: World, line: PayoutLine): string[] {
  return hooksAbout(world, line.id)
    .toSorted((a, b) => Number(a.headers['webhook-sequence']) - Number(b.headers['webhook-sequence']))
    .map(({ body }) => body.status);
}

/** Expects that the books balance, and that the reserved amount is what open lines hold. */
export async function expectSound(world: World, merchant: MerchantCreated): Promise<void> {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  const [row] = await rowsOf<{ held: string }>(
    world,
    `select coalesce(sum(amount_minor + fee_minor), 0)::text as held from payout_line
     where merchant_id = $1 and reserved_at is not null`,
    [merchant.merchant.id],
  );
  expect((await balancesOf(world, merchant)).reserved).toBe(BigInt(row?.held ?? '0'));
}
