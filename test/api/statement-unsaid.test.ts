/**
 * GET /internal/statement where the query leaves out in which currency it is, or on which day it begins.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf } from '../support/flows.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

function read(merchant: MerchantCreated, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return world.call('GET', `/internal/statement?${new URLSearchParams(query)}`, { bearer: bearerOf(merchant) });
}

test('a statement needs no currency where all accounts are in one, and asks for it where they are in none or in two', async () => {
  const merchant = await world.merchant();
  expectRefusal(await read(merchant), 400, '1109', 'REQUIRED');
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'cdf', 5_00n);
  const { status, json, text } = await read(merchant);
  expect(status, text).toBe(200);
  expect(json).toMatchObject({ currency: 'cdf', closing_balance: '5.00' });
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 5_00n);
  const asked = await read(merchant, { format: 'csv' });
  expectRefusal(asked, 400, '1109', 'REQUIRED');
  expect(asked.json.details).toMatchObject([{ field: 'currency' }]);
});

test('a statement that was begun without a currency goes on in its own, although there is an account in another one by now', async () => {
  const merchant = await world.merchant();
  const { id } = merchant.merchant;
  for (const minor of [1n, 2n, 3n]) await creditBalance(world.gateway.deps, id, 'cdf', minor);
  const first = await read(merchant, { limit: '1' });
  await creditBalance(world.gateway.deps, id, 'usd', 5_00n);
  const second = await read(merchant, { limit: '1', cursor: first.json.next_cursor });
  expect(second.status, second.text).toBe(200);
  const named = { limit: '1', cursor: second.json.next_cursor, currency: 'cdf' };
  const pages = [first.json, second.json, (await read(merchant, named)).json];
  expect(pages.map(({ currency, lines }) => [currency, lines[0].amount])).toEqual([
    ['cdf', '0.01'],
    ['cdf', '0.02'],
    ['cdf', '0.03'],
  ]);
  expect(pages[2].next_cursor).toBeNull();
  expectRefusal(await read(merchant, { ...named, currency: 'usd' }), 400, '1110', 'INVALID_CURSOR');
});

test('a statement that ends in the future ends now, and so begins with this month', async () => {
  const merchant = await world.merchant();
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 5_00n);
  const { json, text } = await read(merchant, { to: '2027-03-31' });
  expect(json.lines, text).toMatchObject([{ amount: '5.00', balance_after: '5.00' }]);
  expect(json.from).toBe('2026-11-01T00:00:00.000Z');
});
