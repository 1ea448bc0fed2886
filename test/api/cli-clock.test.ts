/**
 * `mbongo clock`: what it prints and refuses, and that every process of a gateway adopts a new time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';
import { freePort } from '../support/ports.ts';

const DAY = 24 * 60 * 60_000;
const LOOK_EVERY_MS = 50;

let database: TestDatabase;
let cli: CommandLine;
let children: ChildProcess[];

beforeEach(async () => {
  database = await createTestDatabase();
  cli = await openCommandLine(database.url, TEST_MASTER_KEY);
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await database.drop();
  await cli.close();
});

describe('mbongo clock', () => {
  it('shows the time, sets it forward, and adds one advance to another', async () => {
    const before = await cli.json('clock show');
    expect(before).toMatchObject({ shift_ms: 0, now: before.machine_time });
    expect((await cli.run('clock show')).out).toMatch(/^\d{4}-.*Z, the same as the machine's\n$/);
    expect(await cli.json('clock advance 30d')).toMatchObject({ shift_ms: 30 * DAY });
    const twice = await cli.json('clock advance 12h');
    expect(twice).toMatchObject({ shift_ms: 30.5 * DAY });
    expect(Date.parse(String(twice.now)) - Date.parse(String(twice.machine_time))).toBe(30.5 * DAY);
    expect(await cli.json('clock show')).toMatchObject({ shift_ms: 30.5 * DAY });
    expect((await cli.run('clock advance 90m')).out).toMatch(/^It is now .*Z\.\nA running gateway adopts the new time/);
  });

  it('adds up concurrent advances', async () => {
    await Promise.all(Array.from({ length: 5 }, () => cli.run('clock advance 1d')));
    expect(await cli.json('clock show')).toMatchObject({ shift_ms: 5 * DAY });
  });

  it('is the time of every other command', async () => {
    await cli.json('clock advance 365d');
    const made = await cli.json('merchant create --name Boutique');
    const { merchants } = (await cli.json('merchant list')) as { merchants: { created_at: string }[] };
    expect(made.merchant_id).toMatch(/^mch_/);
    expect(Date.parse(String(merchants[0]?.created_at)) - Date.now()).toBeGreaterThan(364 * DAY);
  });

  it('decides when an older master key may be removed', async () => {
    const { merchant_id } = await cli.json('merchant create --name Boutique');
    const newer = Buffer.alloc(32, 2).toString('base64');
    const both = { MASTER_KEY: `${newer},${TEST_MASTER_KEY}` };
    await cli.run('clock advance 60d', both);
    await cli.run(`webhook secret rotate --merchant ${String(merchant_id)} --grace 24h`, both);
    const early = await cli.run('clock show', { MASTER_KEY: newer });
    expect(early.err).toContain('MASTER_KEY lacks an older key that the database still needs (1 signing secret)');
    await cli.run('clock advance 2d', both);
    expect(await cli.run('clock show', { MASTER_KEY: newer })).toMatchObject({ status: 0, err: '' });
  });

  it.each([
    ['clock advance 0', 2, 'only moves forward'],
    ['clock advance 0d', 2, 'only moves forward'],
    ['clock advance soon', 2, 'or seconds (s), like 24h or 30m'],
    ['clock advance 1.5d', 2, 'write it in days (d)'],
    ['clock advance 3654d', 1, 'at most ten years ahead'],
    ['clock advance 9007199254740993d', 1, 'at most ten years ahead'],
    ['clock advance', 2, 'missing required argument'],
    ['clock advance -- -1d', 2, 'write it in days (d)'],
  ])('refuses %s', async (words, status, message) => {
    const refused = await cli.run(words);
    expect([refused.status, refused.out]).toEqual([status, '']);
    expect(refused.err).toContain(message);
    expect(refused.err.trimEnd()).not.toContain('\n');
    expect(await cli.json('clock show')).toMatchObject({ shift_ms: 0 });
  });

  it('does not go beyond ten years in steps either', async () => {
    await cli.json('clock advance 3653d');
    expect((await cli.run('clock advance 1s')).err).toContain('ten years');
  });

  it.each(['no JSON', '{}', '{"shiftMs":"1","leaptAt":0,"by":"x"}'])('says which row is damaged: %s', async (value) => {
    await cli.json('clock advance 1d');
    await database.pool.query("update setting set value = $1 where id = 'clock_shift'", [value]);
    const { status, err } = await cli.run('clock advance 1d');
    expect([status, err]).toEqual([1, expect.stringContaining('the row clock_shift of table setting is damaged')]);
  });

  it.each(['clock show', 'clock advance 1d'])('is refused in production: %s', async (words) => {
    const production = await createTestDatabase();
    const over = {
      DATABASE_URL: production.url,
      GATEWAY_MODE: 'production',
      PUBLIC_URL: 'https://pay.example',
      MASTER_KEY: TEST_MASTER_KEY,
    };
    const refused = await cli.run(words, over);
    await production.drop();
    expect(refused).toEqual({
      status: 1,
      out: '',
      err: 'mbongo: there is no test clock in production: GATEWAY_MODE is production\n',
    });
  });

  it('is adopted by every process of a running gateway, and by one that starts', async () => {
    const made = await cli.json('merchant create --name Boutique');
    const bearer = `${String(made.key_id)}:${String(made.secret)}`;
    const [first, second] = await Promise.all([serve('all'), serve('api')]);
    const token = await mint(first, bearer);
    for (const url of [first, second]) expect(await statusOfSession(url, token)).toBe(404);
    await cli.json('clock advance 2h');
    for (const url of [first, second]) await untilExpired(url, token);
    const third = await serve('api');
    expect(await statusOfSession(third, token)).toBe(401);
    expect(await statusOfSession(third, await mint(second, bearer))).toBe(404);
  });
});

/** Starts a gateway as a process; resolves with its address once it answers. */
async function serve(role: 'all' | 'api'): Promise<string> {
  const port = String(await freePort());
  const child = spawn(process.execPath, [builtProgram('src/main.js'), 'serve', '--role', role], {
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
  children.push(child);
  await once(child, 'message');
  return `http://127.0.0.1:${port}`;
}

async function mint(url: string, bearer: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/internal/sessions/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '1.00', currency: 'usd', customer_reference: 'order', ttl_seconds: 3_600 }),
  });
  const body = (await response.json()) as { session_token: string };
  return body.session_token;
}

/** 404 while the session is valid, as the payment does not exist. */
async function statusOfSession(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/payments/status/txn_unknown`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.text();
  return response.status;
}

/** Polls until the session has expired there; the limit is for a time that is never adopted. */
async function untilExpired(url: string, token: string): Promise<void> {
  const late = performance.now() + 120_000;
  while ((await statusOfSession(url, token)) !== 401) {
    if (performance.now() > late) throw new Error('the new time was not taken up');
    await pause(LOOK_EVERY_MS);
  }
}
