/**
 * The journal of operators' commands: written with the change, and without secrets.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { userInfo } from 'node:os';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { journaled } from '../../src/usecases/journal.ts';
import { builtProgram } from '../support/built.ts';
import { type Document, openCommandLine } from '../support/command-line.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import { openPayer } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { WORLD_MASTER_KEY } from '../support/world.ts';

const { world, cli, close } = await openCommandWorld();
afterAll(close);

const about = async (id: string): Promise<Document[]> =>
  (await cli.json(`journal list --about ${id}`)).entries as Document[];

const settle = (merchantId: string, amount: string, ...more: string[]) =>
  cli.run([...`settle --merchant ${merchantId} --currency usd --amount ${amount}`.split(' '), ...more]);

describe('a command', () => {
  test('is recorded with its operator, reason and subject', async () => {
    const { merchant } = await openPayer(world, 100_00n);
    const done = await settle(merchant.id, '40.00', '--by', ' amina ', '--why', 'the weekly run', '--yes');
    expect(done.status, done.err).toBe(0);
    const [transfer] = await rowsOf<{ id: string }>(world, "select id from ledger_transfer where cause = 'settlement'");
    const entries = await about(merchant.id);
    expect(entries).toEqual([
      {
        entry_id: expect.stringMatching(/^jrn_/),
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        command: 'settle',
        by: `amina, as ${userInfo().username}`,
        why: 'the weekly run',
        about: [merchant.id, transfer?.id],
      },
    ]);
    expect(await about(String(transfer?.id))).toEqual(entries);
    const { out } = await cli.run(`journal list --about ${merchant.id}`);
    expect(out).toMatch(
      /^entry +at +command +by +why +about\njrn_\w+ +\S+ +settle +amina, as .+ +the weekly run +mch_\w+ trf_/,
    );
  });

  test('is attributed to its system user if no operator is named', async () => {
    const { merchant_id } = await cli.json('merchant create --name Kivu');
    const [entry] = await about(String(merchant_id));
    expect(entry).toMatchObject({ command: 'merchant create', by: userInfo().username, why: null });
  });

  test('names its system user at the end, whatever name is given', async () => {
    const user = userInfo().username;
    for (const [given, kept] of [
      [user, user],
      ['claire (treasurer)', `claire (treasurer), as ${user}`],
      ['claire, as root', `claire, as root, as ${user}`],
    ]) {
      const { merchant } = await world.merchant();
      expect((await cli.run(['merchant', 'suspend', '--merchant', merchant.id, '--by', given ?? ''])).status).toBe(0);
      expect(await about(merchant.id)).toMatchObject([{ by: kept }]);
    }
  });

  test('that only updates a record is found by its merchant all the same', async () => {
    const merchant = await world.merchant();
    const [key] = await rowsOf<{ id: string }>(world, 'select id from credential where merchant_id = $1', [
      merchant.merchant.id,
    ]);
    expect((await cli.run(`credential revoke --key ${key?.id}`)).status).toBe(0);
    expect(await about(merchant.merchant.id)).toMatchObject([
      { command: 'credential revoke', about: [key?.id, merchant.merchant.id] },
    ]);
  });

  test('about a wallet is found by its number', async () => {
    const { number } = await world.wallet();
    const done = await cli.run(`wallet credit --number ${number} --amount 5.00 --by amina --why cash`);
    expect(done.status, done.err).toBe(0);
    expect(await about(number)).toMatchObject([
      { command: 'wallet credit', by: expect.stringMatching(/^amina, as /), why: 'cash' },
    ]);
  });

  test('that was refused, or only previewed, leaves nothing', async () => {
    const { merchant } = await openPayer(world, 1_00n);
    expect((await settle(merchant.id, '40.00')).status).toBe(1);
    expect((await settle(merchant.id, '40.00', '--yes')).status).toBe(1);
    expect((await settle(merchant.id, '1.00', '--by', 'a\u0000b', '--yes')).status).toBe(2);
    await cli.run('merchant list');
    expect(await about(merchant.id)).toEqual([]);
  });

  test('whose answer was lost is recorded once', async () => {
    const { merchant } = await openPayer(world, 0n);
    const { deps } = world.gateway;
    // It waits before it asks again.
    const lossy = losingAnswer({ ...deps, clock: systemClock() });
    const copies = memoryLog(deps.clock);
    const store = journaled({ ...lossy, copies }, { verb: 'balance credit', by: 'amina', why: null });
    await creditBalance({ ...lossy, store }, merchant.id, 'usd', 5_00n);
    const entries = await about(merchant.id);
    expect(entries).toMatchObject([{ command: 'balance credit' }]);
    expect(copies.lines.map((line) => JSON.parse(line) as Document)).toMatchObject([
      { event: 'journal_entry', outcome: 'unknown', entry_id: entries[0]?.entry_id },
    ]);
    const account = await deps.store.account.get(merchant.shard, `${merchant.id}:available:usd`);
    expect(account?.balance).toBe(5_00n);
  });
});

describe('on standard error', () => {
  test('of a terminal is none: whoever reads there wants to see the result', async () => {
    const watched = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY, true);
    const { status, err, copies } = await watched.run(['merchant', 'create', '--name', 'Bukavu']);
    await watched.close();
    expect([status, err, copies]).toEqual([0, '', undefined]);
  });

  test('is each entry, whatever the log’s level, and the result stays alone on standard output', async () => {
    const done = await cli.run(['merchant', 'create', '--name', 'Uvira', '--why', 'they asked', '--json'], {
      LOG_LEVEL: 'silent',
    });
    const { merchant_id } = JSON.parse(done.out) as { merchant_id: string };
    const [entry = {}] = await about(merchant_id);
    const copied = { ...entry, about: (entry.about as string[]).join(' ') };
    expect(done.copies).toEqual([
      { level: 'info', time: expect.any(String), event: 'journal_entry', outcome: 'committed', ...copied },
    ]);
    for (const words of [
      `merchant suspend --merchant ${merchant_id}`,
      `credential issue --merchant ${merchant_id}`,
      `balance credit --merchant ${merchant_id} --currency usd --amount 5`,
    ]) {
      const { status, err, copies } = await cli.run(words, { LOG_LEVEL: 'silent' });
      expect([status, err, copies?.length], words).toEqual([0, '', 1]);
    }
  });

  test('is nothing of a command that was refused, and its error stays one document', async () => {
    const { merchant } = await openPayer(world, 1_00n);
    const { status, err, copies } = await settle(merchant.id, '40.00', '--yes', '--json');
    expect([status, copies]).toEqual([1, undefined]);
    expect(JSON.parse(err)).toMatchObject({ error: true });
  });

  test.runIf(existsSync('/dev/full'))('may be a full disk: the command prints its result all the same', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [builtProgram('src/main.js'), 'merchant', 'create', '--name', 'Full'], {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: world.databaseUrl,
        DATA_DIR: cli.dataDir,
        MASTER_KEY: WORLD_MASTER_KEY,
      },
      stdio: ['ignore', 'pipe', full],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const [out, status] = await Promise.all([text(child.stdout ?? Readable.from([])), ended]);
    closeSync(full);
    expect([status, out]).toEqual([0, expect.stringMatching(/whsec_/)]);
  });

  test('is no PIN, no secret and no whole number', async () => {
    const opened = await cli.run([
      'wallet',
      'open',
      '--phone',
      '+243810000043',
      '--currency',
      'usd',
      '--pin',
      '408213',
      '--by',
      '+243 81 000 00 43',
    ]);
    expect(opened.status, opened.err).toBe(0);
    expect(opened.copies?.[0]?.by).toMatch(/^\+\*\*\*0?43, as /);
    expect(JSON.stringify(opened.copies)).not.toMatch(/408213|\d{9}(?![0-9a-z])/);
    const made = await cli.run('merchant create --name Beni --json');
    for (const [, , secret = ''] of made.out.matchAll(/"(\w*secret\w*)":"([^"]+)"/g)) {
      expect(JSON.stringify(made.copies)).not.toContain(secret);
    }
  });
});

test('a transaction of the archive that is cut off as it commits may have happened', async () => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  const cut = inTransaction(client, 'archive', async () => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await rowsOf(world, 'select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
  });
  await expect(cut).rejects.toThrow(CommitUnknown);
  await client.end();
});

test('no secret, no PIN and no person’s number is in it', async () => {
  const made = await cli.run('merchant create --name Goma --json');
  const pin = '408213';
  const opened = await cli.run(`wallet open --phone +243810000042 --currency usd --pin ${pin} --json`);
  const rows = JSON.stringify(await rowsOf(world, 'select * from journal'));
  const secrets = [...made.out.matchAll(/"(\w*secret\w*)":"([^"]+)"/g)].map(([, , secret]) => secret);
  expect(secrets.length).toBeGreaterThan(0);
  for (const secret of [...secrets, pin, '243810000042']) expect(rows).not.toContain(secret);
  expect(opened.status, opened.err).toBe(0);
});

test('is read page by page, in order, from a given time on', async () => {
  const { merchant } = await openPayer(world, 100_00n);
  for (let round = 0; round < 3; round += 1) expect((await settle(merchant.id, '1.00', '--yes')).status).toBe(0);
  const all = await about(merchant.id);
  const ids = all.map(({ entry_id }) => entry_id);
  expect(ids).toHaveLength(3);
  expect(ids).toEqual(ids.toSorted());
  const list = async (words: string) =>
    ((await cli.json(`journal list --about ${merchant.id} ${words}`)).entries as Document[]).map((one) => one.entry_id);
  expect(await list('--limit 2')).toEqual(ids.slice(0, 2));
  expect(await list(`--limit 2 --after ${ids[1]}`)).toEqual(ids.slice(2));
  expect(await list('--from 2999-01-01')).toEqual([]);
  expect(await list('--from 2020-01-01')).toEqual(ids);
  for (const slip of ['--after mch_1', '--about mch_1', '--from soon', '--limit 0']) {
    expect((await cli.run(`journal list ${slip}`)).status).toBe(2);
  }
});
