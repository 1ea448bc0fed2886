/**
 * Money that leaves late for a payout line, after the line that was sent in its place has been dropped from the archive.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { dropArchived, listArchive } from '../../src/usecases/archive-run.ts';
import { seeSuspense } from '../../src/usecases/suspense-read.ts';
import { archive, growOld } from '../support/archive-scenes.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, openPayer } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

test('a merchant is not charged for a line once it can no longer be seen whether it has paid for the other', async () => {
  const payer = await openPayer(world, 100_00n);
  const { line, one: attempt, two } = await desk.attemptedTwice(payer);
  await desk.hearOf(two, 'FAILED');
  const again = await desk.retried(payer, line);
  await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'SUCCESSFUL');
  // It had been turned away, and its carrier has it after all, and is in doubt for all that time: its line is not archived.
  await desk.hearOf(attempt, 'PENDING');
  await world.gateway.courier.idle();
  await growOld(world);
  await archive(world);
  for (const { month } of await listArchive(world.gateway.deps)) await dropArchived(world.gateway.deps, month);
  const left = 'select id from payout_line where id = $1 union all select id from archive.payout_line where id = $1';
  expect(await rowsOf(world, left, [again.id])).toEqual([]);
  await desk.hearOf(attempt, 'SUCCESSFUL');
  const { choices } = await seeSuspense(world.gateway.deps, attempt.id);
  expect(choices).toContainEqual({ to: 'merchant', whyNot: expect.stringContaining('has been dropped') });
  await expect(desk.book(attempt, 'merchant')).rejects.toThrow('has been dropped from the archive');
  await desk.book(attempt, 'gateway');
  expect(await availableOf(world, payer)).toBe(90_00n);
  await desk.expectSoundBooks();
});
