/**
 * Another account of ours is configured at an upstream while attempts of the earlier one are open: what the new account does not
 * find may have been paid all the same.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMastercard } from '../../src/connectors/mastercard/connector.ts';
import { createMtnMomo } from '../../src/connectors/mtn-momo/connector.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { inquireUpstream } from '../../src/usecases/upstream-inquire.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

/** A payment whose answer was lost, and which the carrier does not know; sent by an account, or before accounts were kept. */
async function lost(account: string | null) {
  const paying = await pushed(world, merchant, '42', { ttl_seconds: 86_400 });
  const attempt = await attemptOf(world, paying);
  await rowsOf(world, `update attempt set status = 'unknown', reference = $2, upstream_account = $3 where id = $1`, [
    attempt.id,
    randomUUID(),
    account,
  ]);
  return { paying, account: attempt.upstream_account };
}

test('an attempt keeps the account that sends it, and what another account does not find is not given up', async () => {
  const { paying, account } = await lost('of the merchant id before');
  expect(account).toBe(world.gateway.deps.connectors.upstream('mtn-momo')?.account);
  await world.pass(60_000, 5);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'unknown', not_found_at: null });
  await rowsOf(world, 'update attempt set upstream_account = $2 where payment_id = $1', [
    paying.transaction_id,
    account,
  ]);
  await world.pass(60_000, 40);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'not_sent' });
});

test('what the former account was certainly refused is not found, and may be sent again', async () => {
  const paying = await pushed(world, merchant, '42', { ttl_seconds: 86_400 });
  const attempt = { ...(await attemptOf(world, paying)), reference: randomUUID(), upstream_account: 'another' };
  const answerOf = async (status: 'not_sent' | 'unknown') =>
    (await inquireUpstream(world.gateway.deps, { ...attempt, status })).answer.kind;
  expect([await answerOf('not_sent'), await answerOf('unknown')]).toEqual(['not_found', 'unknown']);
});

test('an attempt that was made before accounts were kept ends as ever', async () => {
  const { paying } = await lost(null);
  await world.pass(60_000, 40);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'not_sent' });
});

test('an account is its upstream’s host, and what references are within: no key, no port', () => {
  const doors = world.gateway.deps as unknown as Parameters<typeof createMtnMomo>[1];
  const mtn = {
    baseUrl: 'https://proxy.example:8443',
    subscriptionKey: 'k',
    apiUser: 'u',
    apiKey: 's',
    targetEnvironment: 'mtnuganda',
  };
  const accountOf = (more: object) => createMtnMomo({ ...mtn, ...more }, doors).account;
  const same = [{}, { apiKey: 'new' }, { subscriptionKey: 'new' }, { baseUrl: 'https://proxy.example' }];
  expect(new Set(same.map(accountOf)).size).toBe(1);
  const others = [{}, { apiUser: 'v' }, { targetEnvironment: 'mtnghana' }, { baseUrl: 'https://other.example' }];
  expect(new Set(others.map(accountOf)).size).toBe(others.length);
  const card = {
    baseUrl: 'https://gw.example',
    merchantId: 'A',
    apiPassword: 'p',
    apiVersion: 78,
    formUrl: 'https://gw.example',
  };
  expect(createMastercard(card, doors).account).not.toBe(createMastercard({ ...card, merchantId: 'B' }, doors).account);
});
