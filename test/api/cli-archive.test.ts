/**
 * `mbongo archive`: its arguments, its answers, and that nothing is dropped without --yes.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthOf } from '../../src/domain/archive.ts';
import { DAY, growOld, makePast } from '../support/archive-scenes.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createPayout, lines, readBatch } from '../support/payout-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let line: CommandLine;
/** A batch of which one of two dates was paid before everything grew old. */
let dated: string;
/** Noon of the 20th of the machine's month: the commands use the machine's clock, and can only move it ahead. */
const START = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 20, 12);
const MONTH = monthOf(START);
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, start: START });
  line = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  const { merchant } = await makePast(world);
  const dates = { sending_type: 'scheduled', scheduled_dates: [dayOf(START + DAY), '2999-01-31'] };
  dated = (await createPayout(world, merchant, { beneficiaries: lines(1), ...dates })).json.batch_id;
  await world.pass(2 * DAY);
  const isPaid = async () => (await readBatch(world, merchant, dated)).json.successful_count === 1;
  await untilLater(world, async () => ((await isPaid()) ? true : undefined));
  await growOld(world);
  // The commands use the machine's clock: they are told how far the sandbox is ahead of it.
  await line.json(`clock advance ${Math.ceil((world.clock.now() + 426 * DAY - Date.now()) / DAY) + 1}d`);
});
afterAll(async () => {
  await line?.close();
  await world?.close();
});

test.each([
  ['archive', 2, /--older-than 13m/],
  ['archive --older-than 13', 2, /not an age/],
  ['archive --older-than 13d', 2, /not an age/],
  ['archive --older-than 1m', 2, /2 to 600 months/],
  ['archive drop --month may --yes', 2, /not a month/],
  ['archive --older-than 13m list', 2, /option '--older-than <age>' is not one of `mbongo archive list`/],
  ['archive --json list', 2, /option '--json' is not one of/],
  ['archive drop --month 2019-05 --yes', 1, /nothing of 2019-05/],
])('%s is not carried out, and says how to', async (words, exit, why) => {
  const { status, out, err } = await line.run(words);
  expect([status, out]).toEqual([exit, '']);
  expect(err).toMatch(why);
});

test('an empty archive is listed as empty', async () => {
  expect(await line.json('archive list')).toEqual({ ledger_begins: null, months: [] });
});

/** What has left is shown as before, and a command that would change it says why it does not. */
async function expectReadAndKept(): Promise<void> {
  const idIn = async (table: string) =>
    (await rowsOf<{ id: string }>(world, `select id from archive.${table} order by id limit 1`))[0]?.id ?? '';
  const [refund, batch, attempt] = [await idIn('refund'), await idIn('payout_batch'), await idIn('attempt')];
  const event = await idIn('webhook_event');
  expect(await line.json(`refund show ${refund}`)).toMatchObject({ refund_id: refund, status: 'completed' });
  expect(await line.json(`payout show ${batch}`)).toMatchObject({ batch_id: batch, completed_count: 3 });
  for (const words of [
    `refund fail ${refund} --why seen --yes`,
    `payout cancel ${batch} --why seen --yes`,
    `attempt settle ${attempt} --not-paid --why seen --yes`,
    `webhook replay --event ${event}`,
  ]) {
    const { status, out, err } = await line.run(words);
    expect([status, out]).toEqual([1, '']);
    expect(err).toContain('has been archived');
  }
}

/** What keeps a month from being dropped is said without --yes, too. */
async function expectPreviewed(drop: string): Promise<void> {
  const expectRefused = async (why: RegExp): Promise<void> => {
    for (const words of [drop, `${drop} --yes`]) {
      const { status, out, err } = await line.run(words);
      expect([words, status, out]).toEqual([words, 1, '']);
      expect(err).toMatch(why);
    }
  };
  const setting = "update setting set value = $1 where id = 'last_closed_day'";
  const [closed] = await rowsOf<{ value: string }>(world, "select value from setting where id = 'last_closed_day'");
  await rowsOf(world, setting, [dayOf(START - DAY)]);
  await expectRefused(/days of .* are not closed yet/);
  await rowsOf(
    world,
    `with gone as (delete from archive.ledger_transfer where id = (select min(id) from archive.ledger_transfer) returning *)
     insert into ledger_transfer select * from gone`,
  );
  // Archiving again would not move the line: its day has to be closed first.
  await expectRefused(/days of .* are not closed yet/);
  await rowsOf(world, setting, [closed?.value]);
  await expectRefused(/ledger lines of .* are not archived yet/);
  await line.json('archive --older-than 1y');
}

test('moves what is old, lists it, and drops it when told to twice', async () => {
  const dry = await line.json('archive --older-than 12m --dry-run');
  expect(dry).toMatchObject({ dry_run: true, rows: { payment: 7 }, busy_steps: 0 });
  const said = await line.run('archive --older-than 1y');
  expect([said.status, said.err]).toEqual([0, '']);
  expect(said.out).toMatch(/^moved what was final before .*\ntable +rows\npayment +7\n/);
  expect(await line.json('archive list')).toMatchObject({
    ledger_begins: null,
    months: [{ month: MONTH, rows: { payment: 7 } }],
  });
  // An occurrence of a batch that is still running has been archived; it counts all the same.
  expect(await rowsOf(world, 'select from archive.payout_line where batch_id = $1', [dated])).toHaveLength(1);
  const counts = { status: 'processing', occurrences_run: 1, completed_count: 1, pending_count: 0 };
  expect(await line.json(`payout show ${dated}`)).toMatchObject({ ...counts, runs: [{ occurrence: 1, completed: 1 }] });
  await expectReadAndKept();
  const { payouts } = await line.json('payout list');
  expect(payouts).toContainEqual(expect.objectContaining({ batch_id: dated, ...counts }));
  await expectPreviewed(`archive drop --month ${MONTH}`);
  expect((await line.run(`archive --dry-run drop --month ${MONTH} --yes`)).status).toBe(2);
  const refused = await line.run(`archive drop --month ${MONTH}`);
  expect([refused.status, refused.out]).toEqual([1, '']);
  expect(refused.err).toContain(`rows of ${MONTH} would be deleted for ever: add --yes`);
  expect(await rowsOf(world, 'select from archive.payment')).toHaveLength(7);
  const about = `journal list --about ${MONTH}`;
  expect(await line.json(about)).toEqual({ entries: [], next: null });
  const drop = `archive drop --month ${MONTH} --yes --by amina`;
  expect(await line.json(drop)).toMatchObject({ dropped: { month: MONTH } });
  const told = { command: 'archive drop', by: expect.stringMatching(/^amina, as /), why: null, about: [MONTH] };
  expect(await line.json(about)).toMatchObject({ entries: [told] });
  expect(await line.json('archive list')).toEqual({
    ledger_begins: dayOf(Date.UTC(new Date(START).getUTCFullYear(), new Date(START).getUTCMonth() + 1)),
    months: [],
  });
  // Whether only a line reaches back behind what is kept, or only the span, for which nothing could be missed.
  for (const [day, span] of [
    [START, ''],
    [START, ` --from ${dayOf(START + 60 * DAY)} --to ${dayOf(START + 61 * DAY)}`],
    [START + 60 * DAY, ` --from ${dayOf(START)}`],
  ] as const) {
    const statement = join(line.dataDir, 'dropped.csv');
    await writeFile(statement, `reference,amount,currency,status,date\nr,1.00,usd,SUCCESSFUL,${dayOf(day)}\n`);
    const compared = await line.run(`reconcile ${statement} --connector mtn-momo${span}`);
    expect([compared.status, compared.err]).toEqual([1, expect.stringMatching(/^mbongo: records before .* dropped/)]);
  }
});
