/**
 * Payday in tests: many batches that are due at one hour, and the gateway's parts at that hour.
 *
 * Invariant: only the clock, the carriers' readiness and the counting are the test's; rules, store and carriers are real.
 */

import type { PayoutBatch } from '../../src/domain/outgoing-records.ts';
import type { Store } from '../../src/store/store.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { PayoutBatchDeps } from '../../src/usecases/payout-occurrence.ts';
import { type RunParts, runDuePayouts } from '../../src/usecases/payout-run.ts';
import { type BatchWish, makeBatch } from './payout-batches.ts';
import type { Desk } from './payout-desk.ts';
import { rowsOf } from './rows.ts';
import type { World } from './world.ts';

/** `many` batches of one merchant, due at the same time: tomorrow and to a wallet, unless specified otherwise. */
export function payday(
  { world, pool, daily }: Desk,
  merchant: MerchantCreated,
  many: number,
  { msisdns = [], schedule = daily(1) }: Pick<BatchWish, 'msisdns' | 'schedule'> = {},
): Promise<PayoutBatch[]> {
  const wallets = msisdns.length > 0 ? [] : pool.slice(0, 1);
  return Promise.all(Array.from({ length: many }, () => makeBatch(world, merchant, { msisdns, wallets, schedule })));
}

/** The gateway's parts with a clock that says that the batch is due, or `later` ms past that. */
export function partsAt({ gateway: { deps } }: World, batch: PayoutBatch, later = 0) {
  const now = (batch.next_run_at ?? 0) + later;
  return { ...deps, clock: { ...deps.clock, now: () => now } };
}

/** Runs what is due in a process that is calm and not about to stop, and whose dispatcher leaves every line to the round. */
export function runDue(deps: PayoutBatchDeps, parts: Partial<RunParts> = {}): Promise<number> {
  const { signal: stopping } = new AbortController();
  const dispatcher: RunParts['dispatcher'] = { hasRoomFor: () => true, offer: () => false };
  return runDuePayouts(deps, { stopping, dispatcher, isCalm: () => true, ...parts });
}

/** A store that reports the id of each batch of which an occurrence has been run. */
export function noting(store: Store, note: (batchId: string) => void): Store {
  const commit: Store['commit'] = async (change) => {
    const outcome = await store.commit(change);
    const batch = change.updates?.find(({ table }) => table === 'payout_batch');
    if (outcome === 'won' && batch !== undefined) note(batch.id);
    return outcome;
  };
  return { ...store, commit };
}

/** A store that counts its commits, and the most that were in flight at once. */
export function counting(store: Store) {
  const seen = { commits: 0, mostAtOnce: 0 };
  let atOnce = 0;
  const commit: Store['commit'] = async (change) => {
    atOnce += 1;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, atOnce);
    const outcome = await store.commit(change);
    atOnce -= 1;
    seen.commits += 1;
    return outcome;
  };
  return { store: { ...store, commit }, seen };
}

/** Carriers whose payout calls wait until the gate has been opened. */
export function gated({ connectors }: Pick<Deps, 'connectors'>) {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const payout: Deps['connectors']['payout'] = (name) => {
    const connector = connectors.payout(name);
    return connector && { ...connector, payOut: (order) => gate.then(() => connector.payOut(order)) };
  };
  return { connectors: { ...connectors, payout }, open: () => open() };
}

/** How many of a merchant's batches have yet to run their first occurrence. */
export async function waiting(world: World, { merchant }: MerchantCreated): Promise<number> {
  const sql = 'select id from payout_batch where merchant_id = $1 and next_occurrence = 1 and next_run_at is not null';
  return (await rowsOf(world, sql, [merchant.id])).length;
}

/** Makes `many` copies, without lines, of a batch that has not been run; they are due with it. */
export async function copies(world: World, batch: PayoutBatch, many: number): Promise<void> {
  const copy = `insert into payout_batch select (jsonb_populate_record(b, jsonb_build_object('id', b.id || n))).*
    from payout_batch b, generate_series(1, $2) n where b.id = $1`;
  await rowsOf(world, copy, [batch.id, String(many)]);
}
