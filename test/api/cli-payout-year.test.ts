/**
 * A year of a monthly payout from 31 January, watched from a shell: a gateway as a process, `mbongo clock advance` from
 * month to month, and `mbongo payout` to look and to decide.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';
import { freePort } from '../support/ports.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';

const HOUR = 60 * 60_000;
const LOOK_EVERY_MS = 100;

let database: TestDatabase;
let cli: CommandLine;
let receiver: Receiver;
let gateway: ChildProcess | undefined;

beforeEach(async () => {
  database = await createTestDatabase();
  cli = await openCommandLine(database.url, TEST_MASTER_KEY);
  receiver = await openReceiver();
});

afterEach(async () => {
  if (gateway?.exitCode === null && gateway.signalCode === null) {
    gateway.kill('SIGKILL');
    await once(gateway, 'exit');
  }
  await receiver.close();
  await database.drop();
  await cli.close();
});

interface Shown {
  readonly state: string;
  readonly dates: readonly string[];
  readonly runs: readonly { readonly scheduled_date: string; readonly completed: number; readonly failed: number }[];
}

const shown = async (batchId: string): Promise<Shown> => (await cli.json(`payout show ${batchId}`)) as unknown as Shown;

/** Polls until it is so. Each look is a command of its own; without a pause they would take CPU time from the gateway. */
async function untilShown(batchId: string, isSo: (batch: Shown) => boolean): Promise<Shown> {
  const late = performance.now() + 240_000;
  for (;;) {
    const found = await shown(batchId);
    if (isSo(found)) return found;
    if (performance.now() > late) throw new Error(`still ${JSON.stringify(found.runs)}`);
    await pause(LOOK_EVERY_MS);
  }
}

/** Sets the clock forward to just after the hour of that date's payout. */
async function goTo(date: string): Promise<void> {
  const { now } = await cli.json('clock show');
  const hours = Math.ceil((Date.parse(`${date}T06:00:00Z`) - Date.parse(String(now))) / HOUR);
  await cli.json(`clock advance ${hours}h`);
}

test('twelve months, each paid on its last day, once, with an approval before and a pause in between', async () => {
  const made = await cli.json('merchant create --name Boutique');
  await cli.json(`merchant payouts --merchant ${String(made.merchant_id)} --approval-from 5.00 --currency usd`);
  const wallet = await cli.json('wallet open --pin 1234 --currency usd --phone +243810000042');
  const url = await serve();
  const year = new Date().getUTCFullYear() + 1;
  const response = await fetch(`${url}/api/v1/internal/payouts`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${String(made.key_id)}:${String(made.secret)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      customer_reference: 'rent',
      currency: 'usd',
      receipt_mode: 'wallet',
      notify_url: receiver.url,
      sending_type: 'recurring',
      recurring_frequency: 'monthly',
      recurring_start_date: `${year}-01-31`,
      recurring_occurrences: 12,
      beneficiaries: [{ wallet_number: wallet.wallet_number, amount: '10.00' }],
    }),
  });
  const { batch_id: batchId, approval } = (await response.json()) as { batch_id: string; approval: string };
  expect([response.status, approval]).toEqual([200, 'waiting']);
  expect((await cli.run(`payout approve ${batchId} --yes`)).status).toBe(0);
  const { dates } = await shown(batchId);
  const lastDays = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(year, month + 1, 0)).getUTCDate());
  expect(dates).toEqual(lastDays.map((day, month) => `${year}-${String(month + 1).padStart(2, '0')}-${day}`));

  for (const [index, date] of dates.entries()) {
    if (index === 5) expect((await cli.run(`payout pause ${batchId}`)).status).toBe(0);
    await goTo(date);
    if (index === 5) {
      // Skipping a month for good, or paying it late, must be confirmed.
      const asked = await cli.run(`payout resume ${batchId}`);
      expect([asked.status, asked.err]).toEqual([
        1,
        expect.stringContaining('; 1 date passed during the pause: add --yes to skip'),
      ]);
      const late = await cli.run(`payout resume ${batchId} --catch-up`);
      expect([late.status, late.err]).toEqual([
        1,
        expect.stringContaining('1 date passed during the pause: add --yes to pay'),
      ]);
      expect((await cli.run(`payout resume ${batchId} --yes`)).status).toBe(0);
    }
    const { runs } = await untilShown(batchId, (batch) => {
      const run = batch.runs[index];
      return run !== undefined && run.completed + run.failed === 1;
    });
    expect(runs).toHaveLength(index + 1);
  }

  const { state, runs } = await shown(batchId);
  expect(state).toBe('started');
  expect(runs.map(({ scheduled_date, completed }) => [scheduled_date, completed])).toEqual(
    // June passed while the batch was paused.
    dates.map((date, index) => [date, index === 5 ? 0 : 1]),
  );
  const told = (): Set<unknown> => new Set(receiver.hooks.map(({ headers }) => headers['webhook-id']));
  // The gateway tells of what a command has ended when that process's lease is over.
  await cli.json('clock advance 1m');
  await untilShown(batchId, () => told().size === 24);
  for (const date of dates) {
    const about = receiver.hooks.map(({ raw }) => JSON.parse(raw)).filter((body) => body.scheduled_date === date);
    expect(new Set(about.map(({ transaction_id }) => transaction_id)).size).toBe(1);
    expect(new Set(about.map(({ event }) => event))).toEqual(
      new Set(['payout.pending', date === dates[5] ? 'payout.failed' : 'payout.completed']),
    );
  }
}, 300_000);

/** Starts a gateway as a process; resolves with its address once it answers. */
async function serve(): Promise<string> {
  const port = String(await freePort());
  gateway = spawn(process.execPath, [builtProgram('src/main.js'), 'serve', '--role', 'all'], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      DATA_DIR: cli.dataDir,
      MASTER_KEY: TEST_MASTER_KEY,
      PORT: port,
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(gateway, 'message');
  return `http://127.0.0.1:${port}`;
}
