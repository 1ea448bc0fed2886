/**
 * An operator's decision on an attempt against what happens between its reads and its commit: the carrier's news, and another
 * operator. And when its webhook is due.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { merchantAccount } from '../../src/domain/ledger.ts';
import type { Store } from '../../src/store/store.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import { numberEnding, payByPhone, statusOf } from '../support/flows.ts';
import { openWaveringDesk, type WaveringDesk } from '../support/wavering-desk.ts';
import type { World } from '../support/world.ts';

let desk: WaveringDesk;
let world: World;
beforeAll(async () => {
  desk = await openWaveringDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

const SAY = { by: 'amina', why: 'the carrier’s statement' };

/** The dependencies of a command that reads an attempt, and reads it again once that has happened. */
function readingAround(happens: () => Promise<void>): Deps {
  const { deps } = world.gateway;
  let reads = 0;
  const get: Store['attempt']['get'] = async (shard, id) => {
    reads += 1;
    if (reads === 2) await happens();
    return deps.store.attempt.get(shard, id);
  };
  return { ...deps, store: { ...deps.store, attempt: { ...deps.store.attempt, get } } };
}

/** The dependencies of a command whose first commit comes after another one's. */
function beaten(happens: () => Promise<unknown>): Deps {
  const { deps } = world.gateway;
  let isFirst = true;
  const commit: Store['commit'] = async (change) => {
    const comesFirst = isFirst;
    isFirst = false;
    if (comesFirst) await happens();
    return deps.store.commit(change);
  };
  return { ...deps, store: { ...deps.store, commit } };
}

test('a verdict about an attempt that was turned away is none about the prompt that its carrier has opened since', async () => {
  const { paying, first } = await desk.turnedAway();
  const deps = readingAround(() => desk.hearOf(first, 'PENDING'));
  const deciding = decideAttempt(deps, first.id, { paid: true, providerReference: 'REF-1', ...SAY });
  await expect(deciding).rejects.toThrow(`${first.id} was not_sent and is now waiting: look again`);
  expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
});

test('one reference is the evidence for one of two attempts that are settled with it at once', async () => {
  const [one, two] = [await desk.turnedAway(), await desk.turnedAway()];
  const verdict = { paid: true, providerReference: 'RACED-1', ...SAY };
  const behind = beaten(() => decideAttempt(world.gateway.deps, one.first.id, verdict));
  await expect(decideAttempt(behind, two.first.id, verdict)).rejects.toThrow(
    `RACED-1 is the reference of ${one.first.id}, approved, for ${one.paying.transaction_id}: if one movement is for both`,
  );
  const statuses = [await statusOf(world, one.paying), await statusOf(world, two.paying)];
  expect(statuses).toEqual(['approved', 'pending']);
});

test('what the carrier has called one attempt is no evidence for another, of the same payment either', async () => {
  const { paying, first } = await desk.turnedAway();
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  await desk.untilAttempt(paying.transaction_id, 1, 'waiting');
  const second = await desk.attemptOf(paying.transaction_id, 1);
  await desk.hearOf(first, 'SUCCESSFUL');
  const { provider_reference } = await desk.attemptOf(paying.transaction_id, 0);
  const verdict = { paid: true, providerReference: provider_reference, ...SAY };
  await expect(decideAttempt(world.gateway.deps, second.id, verdict)).rejects.toThrow(
    `is the reference of ${first.id}`,
  );
  expect((await desk.attemptOf(paying.transaction_id, 1)).status).toBe('waiting');
});

test('of two commands alike, the second is told what the first has done, not that its reference is used', async () => {
  const { first } = await desk.turnedAway();
  const { deps } = world.gateway;
  const verdict = { paid: true, providerReference: 'ALIKE-1', ...SAY };
  // The other command comes while this one looks its reference up.
  const get: Store['transferReference']['get'] = async (shard, id) => {
    await decideAttempt(deps, first.id, verdict);
    return deps.store.transferReference.get(shard, id);
  };
  const store = { ...deps.store, transferReference: { ...deps.store.transferReference, get } };
  await expect(decideAttempt({ ...deps, store }, first.id, verdict)).rejects.toThrow(`${first.id} is closed`);
});

test('of two attempts that paid one order late, its merchant is given one, also if both are booked at once', async () => {
  const merchant = await world.merchant();
  const { paying, first } = await desk.turnedAway(merchant);
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  await desk.untilAttempt(paying.transaction_id, 1, 'waiting');
  const second = await desk.attemptOf(paying.transaction_id, 1);
  await desk.hearOf(second, 'FAILED');
  for (const attempt of [second, first]) await desk.hearOf(attempt, 'SUCCESSFUL');
  const { shard, id } = merchantAccount(merchant.merchant.id, 'available', 'usd');
  const available = async () => (await world.gateway.store.account.get(shard, id))?.balance ?? 0n;
  const before = await available();
  const book = (deps: Deps, attempt: { readonly id: string }) =>
    bookLateMoney(deps, attempt.id, { to: 'merchant', ...SAY });
  const behind = beaten(() => book(world.gateway.deps, first));
  await expect(book(behind, second)).rejects.toThrow(
    `the order of ${paying.transaction_id} was paid by ${first.id}: return the money to the payer`,
  );
  expect((await available()) - before).toBe(12_50n);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('the webhook of a decision is due at once: the command that makes it posts none, and no worker waits for it', async () => {
  const { first } = await desk.turnedAway();
  const { deps } = world.gateway;
  const due: (number | undefined)[] = [];
  const commit: Store['commit'] = (change) => {
    for (const made of change.inserts ?? []) if (made.table === 'webhook_event') due.push(made.row.next_at);
    return deps.store.commit(change);
  };
  const verdict = { paid: true, providerReference: 'REF-1', ...SAY };
  await decideAttempt({ ...deps, store: { ...deps.store, commit } }, first.id, verdict);
  expect(due).toEqual([world.clock.now()]);
});
