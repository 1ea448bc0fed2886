/**
 * A credential that has leaked: whoever revokes it is shown the payouts that were ordered with it and go on, and can find all of them.
 */
import { afterAll, expect, test } from 'vitest';
import { openCommandWorld } from '../support/command-world.ts';
import { bearerOf } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { createPayout, lines, payoutBody, sendPayout } from '../support/payout-flows.ts';
import { rowsOf } from '../support/rows.ts';

const DAY = 86_400_000;

// The command line uses the machine's clock.
const { world, cli, close } = await openCommandWorld({ start: Date.now() });
afterAll(close);

const later = () => ({
  sending_type: 'scheduled',
  scheduled_dates: [new Date(world.clock.now() + 3 * DAY).toISOString().slice(0, 10)],
});
const batchOf = async (answer: ReturnType<typeof createPayout>): Promise<string> => {
  const { status, json, text } = await answer;
  expect(status, text).toBe(200);
  return json.batch_id;
};

test('what goes on of the payouts that it, or a session of it, has ordered is listed, and nothing else', async () => {
  const merchant = await world.merchant();
  const { id } = merchant.merchant;
  await fund(world, merchant, 100_00n);
  const issued = await cli.json(`credential issue --merchant ${id}`);
  const leaked = { ...merchant, key_id: String(issued.key_id), secret: String(issued.secret) };
  const others = await batchOf(createPayout(world, merchant, later()));
  const paid = await batchOf(createPayout(world, leaked, { beneficiaries: lines(1, '2.00') }));
  const own = await batchOf(createPayout(world, leaked, later()));
  const bySession = await batchOf(sendPayout(world, leaked, later()));
  const down = { beneficiaries: [{ phone_number: '+243810000106', amount: '2.00' }] };
  const stuck = await batchOf(createPayout(world, leaked, down));
  const list = async (words: string) => (await cli.json(`payout list ${words}`)).payouts as { batch_id: string }[];
  await world.pass(5_000);
  expect((await list(`--credential ${leaked.key_id}`)).map((one) => one.batch_id)).toEqual([
    paid,
    own,
    bySession,
    stuck,
  ]);
  expect((await list(`--merchant ${id}`)).map((one) => one.batch_id)).toContain(others);
  const { out, status } = await cli.run(`credential revoke --key ${leaked.key_id}`);
  expect(status).toBe(0);
  expect(out).toContain('is revoked, and with it every session that it minted.');
  expect([...out.matchAll(/^batch_\S+/gm)].map(([batch]) => batch)).toEqual([own, bySession, stuck]);
  const again = await cli.json(`credential revoke --key ${leaked.key_id}`);
  expect(again).toMatchObject({
    status: 'REVOKED',
    payouts: [own, bySession, stuck].map((batch_id) => ({ batch_id, credential_id: leaked.key_id })),
    more_payouts: false,
    unknown_count: 0,
  });
  // As if one had been made before credentials were kept; and one whose line's outcome is open.
  await rowsOf(world, 'update payout_batch set credential_id = null where id = $1', [own]);
  await rowsOf(
    world,
    "update payout_line set status = 'processing', next_start_at = null, reserved_at = now() where batch_id = $1",
    [stuck],
  );
  expect(await cli.json(`credential revoke --key ${leaked.key_id}`)).toMatchObject({
    payouts: [{ batch_id: bySession }, { batch_id: stuck }],
    unknown_count: 1,
  });
  for (const batch of [own, bySession]) await cli.run(`payout cancel ${batch} --by amina --yes`);
  expect((await cli.json(`credential revoke --key ${leaked.key_id}`)).payouts).toMatchObject([{ batch_id: stuck }]);
});

test('of a credential that has ordered none, none are listed', async () => {
  const merchant = await world.merchant();
  const { out } = await cli.run(`credential revoke --key ${merchant.key_id}`);
  expect(out).toBe(`${merchant.key_id} is revoked, and with it every session that it minted.\n`);
});

test('a line that is paid again is ordered by whoever pays it again', async () => {
  const merchant = await world.merchant();
  await fund(world, merchant, 100_00n);
  const failing = payoutBody(world, { beneficiaries: [{ phone_number: '+243810000102', amount: '2.00' }] });
  const batch = await batchOf(createPayout(world, merchant, failing));
  await world.pass(5_000);
  const second = await cli.json(`credential issue --merchant ${merchant.merchant.id}`);
  const bearer = bearerOf({ key_id: String(second.key_id), secret: String(second.secret) });
  const again = await batchOf(world.call('POST', `/internal/payouts/${batch}/retry`, { bearer, body: {} }));
  const listed = await cli.json(`payout list --credential ${String(second.key_id)}`);
  expect(listed.payouts).toMatchObject([{ batch_id: again }]);
});
