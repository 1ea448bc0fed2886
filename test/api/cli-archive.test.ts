/**
 * `mbongo archive`: what is typed, what it answers, and that nothing ends without --yes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthOf } from '../../src/domain/archive.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { NOON, openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';
import { DAY, growOld, makePast } from './archive-scenes.ts';
import { rowsOf } from './flows.ts';

let world: World;
let line: CommandLine;
const MONTH = monthOf(NOON);

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  line = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  await makePast(world);
  await growOld(world);
  // The commands' own clock is the machine's: they are told how far the sandbox is ahead of it.
  await line.json(`clock advance ${Math.ceil((world.clock.now() + 426 * DAY - Date.now()) / DAY) + 1}d`);
});
afterAll(async () => {
  await line?.close();
  await world?.close();
});

test.each([
  ['archive', 2, /--older-than 13m/],
  ['archive --older-than 13', 2, /no age/],
  ['archive --older-than 13d', 2, /no age/],
  ['archive --older-than 1m', 2, /at least 2 months/],
  ['archive drop --month may --yes', 2, /no month/],
  ['archive drop --month 2019-05 --yes', 1, /nothing of 2019-05/],
])('%s is not carried out, and says how it is', async (words, exit, why) => {
  const { status, out, err } = await line.run(words);
  expect([status, out]).toEqual([exit, '']);
  expect(err).toMatch(why);
});

test('an empty archive is listed as one', async () => {
  expect(await line.json('archive list')).toEqual({ ledger_begins: null, months: [] });
});

test('moves what is old, lists it, and drops it when that is said twice', async () => {
  const dry = await line.json('archive --older-than 12m --dry-run');
  expect(dry).toMatchObject({ dry_run: true, rows: { payment: 6 }, busy_steps: 0 });
  const said = await line.run('archive --older-than 1y');
  expect([said.status, said.err]).toEqual([0, '']);
  expect(said.out).toMatch(/^moved what was final before .*\ntable +rows\npayment +6\n/);
  expect(await line.json('archive list')).toMatchObject({
    ledger_begins: null,
    months: [{ month: MONTH, rows: { payment: 6 } }],
  });
  const refused = await line.run(`archive drop --month ${MONTH}`);
  expect([refused.status, refused.out]).toEqual([1, '']);
  expect(refused.err).toMatch(/rows of 2026-11 would be gone for ever: say --yes/);
  expect(await rowsOf(world, 'select from archive.payment')).toHaveLength(6);
  expect(await line.json(`archive drop --month ${MONTH} --yes`)).toMatchObject({ dropped: { month: MONTH } });
  expect(await line.json('archive list')).toEqual({ ledger_begins: '2026-12-01', months: [] });
});
