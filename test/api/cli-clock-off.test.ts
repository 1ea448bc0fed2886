/**
 * In production an operator's command changes nothing by a clock that is far from the database's: by a fast one, dates of a paused
 * payroll would count as passed, and be skipped for good.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { pausePayout } from '../../src/usecases/payout-pause.ts';
import { type CommandLine, openCommandLine, type Result } from '../support/command-line.ts';
import { batchNow, makeBatch } from '../support/payout-batches.ts';
import { DAY, SAY } from '../support/payout-desk.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

const MINUTE = 60_000;
const PRODUCTION = {
  GATEWAY_MODE: 'production',
  PUBLIC_URL: 'https://pay.example.com',
  MASTER_KEY: WORLD_MASTER_KEY,
};

let world: World;
let cli: CommandLine;

// The database's clock is the machine's, so the world begins now.
beforeAll(async () => {
  world = await openWorld({ start: Date.now(), env: PRODUCTION });
  cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
});
afterAll(async () => {
  await cli.close();
  await world.close();
});

/** Runs a command on a machine whose clock differs by that many milliseconds. */
async function runApart(milliseconds: number, words: string): Promise<Result> {
  const { now } = Date;
  const wrong = vi.spyOn(Date, 'now').mockImplementation(() => now() + milliseconds);
  try {
    return await cli.run(words, PRODUCTION);
  } finally {
    wrong.mockRestore();
  }
}

const REFUSED = /^mbongo: this machine's clock is \d+ \w+ from the database's: .*NTP.*\n$/;

test('a payroll that is resumed by a clock two days ahead keeps its dates', async () => {
  const merchant = await world.merchant();
  const { number } = await world.wallet();
  const start = new Date(Date.now() + DAY).toISOString().slice(0, 10);
  const schedule = { sending_type: 'recurring', start, frequency: 'daily', occurrences: 3 } as const;
  const batch = await makeBatch(world, merchant, { wallets: [number], schedule });
  await pausePayout(world.gateway.deps, batch.id, SAY);
  const { status, out, err } = await runApart(2 * DAY, `payout resume ${batch.id} --yes`);
  expect([status, out, err]).toEqual([1, '', expect.stringMatching(REFUSED)]);
  expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 1, paused_at: expect.any(Number) });
});

describe.each([
  ['ahead', 6 * MINUTE],
  ['behind', -6 * MINUTE],
])('by a clock that is six minutes %s', (_which, apart) => {
  test.each(['merchant create --name Boutique', 'archive --older-than 13m', 'archive drop --month 2020-01 --yes'])(
    '%s is refused',
    async (words) => {
      const { status, out, err } = await runApart(apart, words);
      expect([status, out, err]).toEqual([1, '', expect.stringMatching(REFUSED)]);
    },
  );

  test('what changes nothing is answered', async () => {
    expect(await runApart(apart, 'archive list')).toEqual({ status: 0, out: 'none\n', err: '' });
  });

  test('what only stops something is done', async () => {
    const { merchant, key_id } = await world.merchant();
    for (const words of [
      `credential revoke --key ${key_id}`,
      `merchant suspend --merchant ${merchant.id}`,
      'connector hold mtn-momo-disbursement --why fraud',
    ])
      expect(await runApart(apart, words), words).toMatchObject({ status: 0, err: '' });
    await cli.run('connector resume mtn-momo-disbursement --why over --yes', PRODUCTION);
  });
});

test('a clock that is four minutes off is believed', async () => {
  expect(await runApart(4 * MINUTE, 'merchant create --name Boutique')).toMatchObject({ status: 0, err: '' });
});
