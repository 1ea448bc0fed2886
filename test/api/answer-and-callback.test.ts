/**
 * A callback that comes while the answer to our own call is being written: the inquiry that it causes is decided afterwards.
 */

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import { type FickleCarrier, openFickleCarrier } from '../support/fickle-carrier.ts';
import { collect, freshKey, numberEnding, payByPhone, statusOf } from '../support/flows.ts';
import { attemptOf, callBack } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let carrier: FickleCarrier;
let world: World;
let other: pg.Client;

beforeAll(async () => {
  carrier = await openFickleCarrier();
  world = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url } });
  other = new pg.Client({ connectionString: world.databaseUrl });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await world.close();
  await carrier.close();
});

const hasInquired = async (): Promise<true | undefined> => {
  const text = await (await fetch(`${world.url}/metrics`)).text();
  return /operation="inquire",outcome="approved"\} 1$/m.test(text) || undefined;
};

test('a callback that overtakes the record of the carrier’s answer is decided after it, and no commit is lost', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  const held = carrier.holdNext();
  // With a key, the carrier's answer is written before the submit is answered.
  const submitting = payByPhone(world, paying, numberEnding('42'), freshKey());
  await held.asked;
  const attempt = await attemptOf(world, paying);
  // From now on any writer of that row waits.
  await other.query('begin');
  await other.query('select 1 from attempt where id = $1 for update', [attempt.id]);
  held.answer({ status: 202, body: '' });
  await until(async () => {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await rowsOf(world, text))[0];
  });

  carrier.say('SUCCESSFUL');
  const calling = callBack(callbackUrl(world.gateway.deps, attempt), {});
  await until(hasInquired);
  // By the time these are answered, whatever the answer sets off at once has begun.
  for (const _ of [1, 2, 3]) expect(await statusOf(world, paying)).toBe('processing');
  const { commit } = world.gateway.store.stats();
  await other.query('rollback');
  expect(commit.waiting).toBe(0);

  expect((await submitting).json).toMatchObject({ status: 'pending_mobile_money_verification' });
  expect(await calling).toBe(200);
  expect(await statusOf(world, paying)).toBe('approved');
  expect(world.gateway.store.stats().commit).toMatchObject({ lostInBatch: 0, lostAtDatabase: 0 });
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('“not found” for a callback’s inquiry that began before our own call was answered proves nothing', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  const attempt = await attemptOf(world, paying);
  expect(attempt.status).toBe('waiting');
  carrier.forget();
  // In the state in which the callback read it.
  const begun = { ...attempt, status: 'intended', version: 1 } as const;
  await inquireAttempt(world.gateway.deps, begun);
  expect(await attemptOf(world, paying)).toEqual(attempt);
  expect(world.log.lines.filter((line) => line.includes('attempt_alarm'))).toEqual([]);
  // An inquiry that begins now is a contradiction, and somebody must look.
  await inquireAttempt(world.gateway.deps, attempt);
  expect(world.log.lines.filter((line) => line.includes('attempt_alarm'))).toHaveLength(1);
});

test('an inquiry that was due before the carrier accepted is not counted against the time that the accepted payment has', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  carrier.say('PENDING');
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  const attempt = await attemptOf(world, paying);
  expect(attempt).toMatchObject({ status: 'waiting', inquiries: 0 });
  // In the state in which the round read it.
  const begun = { ...attempt, status: 'intended', version: 1 } as const;
  await inquireAttempt(world.gateway.deps, begun, 'due');
  expect(await attemptOf(world, paying)).toEqual(attempt);
  await inquireAttempt(world.gateway.deps, attempt, 'due');
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'waiting', inquiries: 1 });
});
