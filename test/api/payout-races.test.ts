/** Payouts that race for one key, one balance or one session. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { expectRefusal } from '../support/envelope.ts';
import { debitsOf, freshKey } from '../support/flows.ts';
import { balances, createPayout, lines, payee, payoutBody, settled } from '../support/payout-flows.ts';
import { openPayer } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

test('twenty racing calls with one key, each under a session of its own, pay once and answer the same bytes', async () => {
  const merchant = await openPayer(world);
  const sessions = await Promise.all(Array.from({ length: 20 }, () => mint(world, merchant, { scope: 'payout' })));
  const headers = freshKey();
  const body = payoutBody(world, { beneficiaries: lines(5) });
  const answers = await Promise.all(
    sessions.map(({ token }) => world.call('POST', '/payments/send', { bearer: token, body, headers })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
  await settled(world, merchant, answers[0]?.json.batch_id);
  expect(await balances(world, merchant)).toEqual({ available: 10_000_00n - 10_00n, reserved: 0n });
  const { id } = merchant.merchant;
  expect(await rowsOf(world, 'select count(*)::int as n from payout_batch where merchant_id = $1', [id])).toEqual([
    { n: 1 },
  ]);
  expect(debitsOf(world, payee(0))).toMatchObject([{ kind: 'credit', amount: '2.00', times: 1 }]);
});

test('of batches that race for one balance, those that it covers win, and it is never overdrawn', async () => {
  const merchant = await openPayer(world, 100_00n);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => createPayout(world, merchant, { beneficiaries: lines(3, '3.00') })),
  );
  const made = answers.filter(({ status }) => status === 200);
  expect(made).toHaveLength(11);
  for (const { status, json } of answers) {
    if (status !== 200) expect([status, json.error_code]).toEqual([402, '1201']);
  }
  for (const { json } of made) await settled(world, merchant, json.batch_id);
  expect(await balances(world, merchant)).toEqual({ available: 1_00n, reserved: 0n });
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('a session that collects and sends at once does one of the two, or sends first', async () => {
  const merchant = await openPayer(world);
  for (let round = 0; round < 10; round += 1) {
    const { token } = await mint(world, merchant);
    const [collected, sent] = await Promise.all([
      world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') }),
      world.call('POST', '/payments/send', { bearer: token, body: payoutBody(world) }),
    ]);
    expect(collected.status, collected.text).toBe(200);
    expect([200, 403], sent.text).toContain(sent.status);
    // Whichever was first: from now on the session has collected.
    const again = await world.call('POST', '/payments/send', { bearer: token, body: payoutBody(world) });
    expect([again.status, again.json.error_code, again.json.details[0].code]).toEqual([
      403,
      '1003',
      'SESSION_COLLECTED',
    ]);
  }
});

test('a payout whose session collects between the read and the commit is refused', async () => {
  const merchant = await openPayer(world);
  const { token } = await mint(world, merchant);
  const { store } = world.gateway;
  const commit = store.commit.bind(store);
  const spy = vi.spyOn(store, 'commit').mockImplementation(async (change) => {
    if (!change.claims?.some(({ table }) => table === 'payout_batch')) return commit(change);
    spy.mockRestore();
    const collected = await world.call('POST', '/payments/collect', {
      bearer: token,
      body: collectBody(world, 'none'),
    });
    expect(collected.status, collected.text).toBe(200);
    return commit(change);
  });
  const sent = await world.call('POST', '/payments/send', { bearer: token, body: payoutBody(world) });
  expectRefusal(sent, 403, '1003', 'SESSION_COLLECTED');
  expect(await balances(world, merchant)).toEqual({ available: 10_000_00n, reserved: 0n });
});
