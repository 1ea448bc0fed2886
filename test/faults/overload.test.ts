/**
 * Five times the gateway's capacity, from a process that does not wait for answers: reads are shed first and
 * whatever finishes a payment last, nothing that was acknowledged is lost, and then everything is as before.
 */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KindReport, OverloadOrder, OverloadReport } from '../../bench/overload-load.ts';
import { openStore } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { freePort } from '../support/ports.ts';
import { CLEAN, startGateway } from '../support/processes.ts';

const LOAD = fileURLToPath(new URL('../../dist/bench/overload-load.js', import.meta.url));
/** 3 000 per second: more than any machine's gateway can handle, in case the peak was measured on a disturbed machine. */
const MIN_PER_SECOND = 3_000;
/** 2 000 refusals: enough of every class to compare their shares. */
const MIN_REFUSED = 2_000;
/**
 * 3 % that a share may be below that of the next class: where nearly all of both are shed, it is chance which of the two
 * came a moment earlier. That no class loses anything before those below it have lost everything is tested exactly in
 * src/http/overload.test.ts.
 */
const CHANCE = 0.03;
const CALM_LOOKS = 1_200;
const LOOK_EVERY_MS = 100;

let database: TestDatabase;
let world: FaultyWorld;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  await world.carrierThinks(0);
});
afterAll(async () => {
  await world?.close();
  await database?.drop();
});

async function overload(gateway: string): Promise<OverloadReport> {
  const { key_id, secret } = world.merchant;
  const order: OverloadOrder = {
    gateway,
    credentials: [`${key_id}:${secret}`],
    receiverPort: await freePort(),
    warmupSeconds: 1,
    peakSeconds: 1,
    factor: 5,
    leastPerSecond: MIN_PER_SECOND,
    overloadSeconds: 3,
    leastRefused: MIN_REFUSED,
    recoverySeconds: 180,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD, JSON.stringify(order)]);
  return JSON.parse(stdout) as OverloadReport;
}

/** The share of the requests that reached the gateway: if it answers slowly, all connections may be taken. */
const refusedShare = ({ offered, broken, unsent, refused }: KindReport): number =>
  refused.count / Math.max(1, offered - broken - unsent);

/** A number on the metrics page; 0 if it has not been counted. */
function numberOn(page: string, name: string): number {
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length) ?? 0,
  );
}

test('at five times the load requests are shed in the order of their classes, and no payment is lost', async () => {
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port, { LOG_LEVEL: 'info' }));
  const report = await overload(url);
  const { read, begin, collect, finish } = report.kinds;
  const told = JSON.stringify(report);

  // Some requests were shed, each with 503, 1402 and seconds to wait.
  expect(begin.refused.count, told).toBeGreaterThan(0);
  for (const kind of [read, begin, collect, finish]) {
    expect(kind.malformed, told).toBe(0);
    // If the machine leaves the carrier no time, it has not taken a submit; that is reported too.
    expect(
      Object.keys(kind.others).filter((status) => status !== '502'),
      told,
    ).toEqual([]);
  }
  // In the order of the classes. The carrier makes callbacks, so the gateway counts them.
  const page = await (await fetch(`${url}/metrics`)).text();
  const shares = [read, begin, collect, finish].map(refusedShare);
  for (const [at, share] of shares.entries()) expect(share + CHANCE, told).toBeGreaterThan(shares[at + 1] ?? 0);
  expect(numberOn(page, 'mbongo_http_shed_total{class="callback"}')).toBeLessThanOrEqual(finish.refused.count);
  expect(report.lost, told).toBe(0);
  expect(report.recoveredAfterSeconds, told).toBeDefined();

  let level = 5;
  for (let looks = 0; looks < CALM_LOOKS && level > 0; looks += 1) {
    level = numberOn(await (await fetch(`${url}/metrics`)).text(), 'mbongo_overload_level');
    if (level > 0) await pause(LOOK_EVERY_MS);
  }
  expect(level).toBe(0);
  const store = await openStore({ url: database.url });
  expect((await store.auditAll().finally(() => store.close())).findings).toEqual([]);
  expect(await gateway.stop()).toEqual(CLEAN);
  // Only now has everything that it prints been read.
  expect(gateway.printed().includes('"overload_over"')).toBe(true);
});
