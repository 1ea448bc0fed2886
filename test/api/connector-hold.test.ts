/**
 * A connector that an operator holds: nothing is sent out through it, what waits is sent once afterwards, and everything else
 * goes on.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SENDERS } from '../../src/connectors/registry.ts';
import { holdId } from '../../src/domain/hold.ts';
import { holdConnector, resumeConnector } from '../../src/usecases/connector-hold.ts';
import { openHolds, readHolds } from '../../src/usecases/holds.ts';
import { startDue } from '../../src/usecases/payout-claim.ts';
import { createDispatcher } from '../../src/usecases/payout-dispatch.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { createRefundDispatcher, startDueRefunds } from '../../src/usecases/refund-dispatch.ts';
import { AGE_LIMITS_MS } from '../../src/watch/database-metrics.ts';
import { creditsOnCard, readyToPay, submitCard } from '../support/card-payments.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { balances, createPayout, lines, payee, readBatch, settled } from '../support/payout-flows.ts';
import { creditsOf, openPayer, untilLine } from '../support/payout-lines.ts';
import { minted, paidByPhone, readBack, refunded, untilRefund } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

const SAY = { by: 'amina', why: 'it pays twice' };
const MOMO = 'mtn-momo-disbursement';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterEach(async () => {
  for (const { connector } of SENDERS) await resumeConnector(world.gateway.deps, connector).catch(() => undefined);
  await world.pass(1_000);
});
afterAll(() => world.close());

/** Lets so much time pass that a lease runs out and every round could have sent what is due. */
async function passLeases(): Promise<void> {
  await world.pass(20_000, 4);
}

/** The parts of a process that has not asked about any hold yet. */
const unasked = () => ({ ...world.gateway.deps, holds: openHolds(world.gateway.deps, SENDERS) });

/** Holds the connector, and lets the second pass within which every process knows. */
async function hold(connector = MOMO): Promise<void> {
  await holdConnector(world.gateway.deps, connector, SAY);
  await world.pass(1_000);
}

const resume = (connector = MOMO) => resumeConnector(world.gateway.deps, connector);

describe('payouts to phones', () => {
  const DAMAGED = ['no JSON', 'null', '{}', '{"command":"x","hold":{}}'];

  test.each(DAMAGED)('wait while the row of the hold is %s, until an operator ends it', async (value) => {
    const payer = await openPayer(world, 100_00n);
    await hold();
    await rowsOf(world, 'update setting set value = $1, version = version + 1 where id = $2 returning id', [
      value,
      holdId(MOMO),
    ]);
    const held = await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(81), amount: '5.00' }] });
    await passLeases();
    expect((await readBatch(world, payer, held.json.batch_id)).json).toMatchObject({ pending_count: 1 });
    const { hold: found } = (await readHolds(world.gateway.deps, SENDERS)).find((one) => one.hold !== undefined) ?? {};
    expect(found).toMatchObject({ by: 'mbongo', why: 'the row of its hold is damaged' });
    await expect(holdConnector(world.gateway.deps, MOMO, SAY)).rejects.toThrow(`mbongo holds ${MOMO} already`);
    await resume();
    expect((await settled(world, payer, held.json.batch_id)).successful_count).toBe(1);
  });

  test('wait, reserved and untried, and are sent once when the hold has ended; wallets do not wait', async () => {
    const payer = await openPayer(world, 100_00n);
    await hold();
    const held = await createPayout(world, payer, { beneficiaries: lines(2, '5.00') });
    expect(held.status, held.text).toBe(200);
    const wallet = await world.wallet({ balance: 0n });
    const other = await createPayout(world, payer, {
      receipt_mode: 'wallet',
      beneficiaries: [{ wallet_number: wallet.number, amount: '1.00' }],
    });
    expect(other.status, other.text).toBe(200);
    expect((await settled(world, payer, other.json.batch_id)).successful_count).toBe(1);
    await passLeases();
    const waiting = (await readBatch(world, payer, held.json.batch_id)).json;
    expect(waiting).toMatchObject({ pending_count: 2, successful_count: 0, failed_count: 0 });
    expect((await balances(world, payer)).reserved).toBe(10_00n);
    const ids = held.json.beneficiaries.map(({ transaction_id: id }: { transaction_id: string }) => id);
    expect(await rowsOf(world, 'select id from attempt where payment_id = any($1)', [ids])).toEqual([]);

    await resume();
    expect((await settled(world, payer, held.json.batch_id)).successful_count).toBe(2);
    expect([creditsOf(world, payee(0)), creditsOf(world, payee(1))].map((found) => found.length)).toEqual([1, 1]);
    expect((await balances(world, payer)).reserved).toBe(0n);
  });

  test('a process that has just sent something knows of a hold a second later', async () => {
    const payer = await openPayer(world, 100_00n);
    const first = await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(11), amount: '1.00' }] });
    await settled(world, payer, first.json.batch_id);
    await hold();
    const second = await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(12), amount: '1.00' }] });
    await passLeases();
    expect(creditsOf(world, payee(12))).toEqual([]);
    await resume();
    await settled(world, payer, second.json.batch_id);
    expect(creditsOf(world, payee(12))).toHaveLength(1);
  });

  test('another process that starts meanwhile sends nothing either', async () => {
    const payer = await openPayer(world, 100_00n);
    await hold();
    const held = await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(13), amount: '1.00' }] });
    const second = await openSecond(world, world.clock, world.databaseUrl, { role: 'worker' });
    try {
      for (let times = 0; times < 4; times += 1) {
        await world.pass(20_000);
        await Promise.all(second.gateway.rounds.map((round) => round.runNow()));
      }
      expect(creditsOf(world, payee(13))).toEqual([]);
      await resume();
      await settled(world, payer, held.json.batch_id);
      expect(creditsOf(world, payee(13))).toHaveLength(1);
    } finally {
      await second.close();
    }
  });

  test('are not overdue: the alarm for late work is about what nobody holds', async () => {
    const payer = await openPayer(world, 100_00n);
    await hold();
    const held = await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(14), amount: '1.00' }] });
    await passLeases();
    const { store, deps } = world.gateway;
    const overdue = async (routes: readonly string[]) =>
      (await store.watched(deps.clock.now(), AGE_LIMITS_MS, routes)).overdue.map(({ kind }) => kind);
    expect(await overdue(['mtn-momo'])).not.toContain('payout');
    expect(await overdue([])).toContain('payout');
    await world.clock.advance(6_000);
    const page = await (await fetch(`${world.url}/metrics`)).text();
    expect(page).toContain('\nmbongo_work_overdue_seconds{kind="payout"} 0\n');
    expect(page).toContain(`\nmbongo_connector_held{connector="${MOMO}"} 1\n`);
    expect(page).toContain('\nmbongo_connector_held{connector="mastercard"} 0\n');
    await resume();
    await settled(world, payer, held.json.batch_id);
  });

  test('however many are held, what no round has taken is seen', async () => {
    const { store, deps } = world.gateway;
    const payer = await openPayer(world, 1_000_00n);
    await hold();
    const held = [await createPayout(world, payer, { beneficiaries: lines(60, '1.00') })];
    held.push(await createPayout(world, payer, { beneficiaries: lines(60, '1.00') }));
    await world.pass(40_000);
    const toWallet = `update payout_line set connector = null where id =
      (select max(id) from payout_line where merchant_id = $1) returning id`;
    const [line] = await rowsOf<{ id: string }>(world, toWallet, [payer.merchant.id]);
    const at = deps.clock.now() + 600_000;
    const overdue = (await store.watched(at, AGE_LIMITS_MS, ['mtn-momo'])).overdue.map(({ kind }) => kind);
    expect(overdue).toContain('payout');
    await rowsOf(world, "update payout_line set connector = 'mtn-momo' where id = $1", [line?.id ?? '']);
    await resume();
    for (const { json } of held) await settled(world, payer, json.batch_id);
  });
});

describe('what a process knows', () => {
  test('a hold that began while a line was being committed stops it all the same', async () => {
    const { deps } = world.gateway;
    const payer = await openPayer(world, 100_00n);
    await hold();
    await createPayout(world, payer, { beneficiaries: [{ phone_number: payee(71), amount: '1.00' }] });
    await world.pass(40_000);
    const other = unasked();
    expect(await startDue(other, createDispatcher(other))).toBe(0);
    // Leased here while the rounds pass it over; what this process knows of holds it has yet to read.
    const now = deps.clock.now();
    const [line] = await deps.store.payoutLine.leaseDue(now, now + 30_000, 1, []);
    const holds = openHolds(deps, SENDERS);
    await resume();
    const merchant = line && (await deps.store.merchant.get(line.shard, line.merchant_id));
    if (line === undefined || merchant === undefined) throw new Error('no line is due');
    const store: typeof deps.store = {
      ...deps.store,
      async commit(change) {
        const outcome = await deps.store.commit(change);
        if (change.inserts?.some(({ table }) => table === 'attempt') === true) {
          // The database answers late, and an operator is quicker.
          await holdConnector(deps, MOMO, SAY);
          await world.clock.advance(4_000);
        }
        return outcome;
      },
    };
    await (await startLine({ ...deps, store, holds }, line, merchant)).written;
    await passLeases();
    expect(creditsOf(world, payee(71))).toEqual([]);
    await resume();
    await untilLine(world, line, 'completed');
    expect(creditsOf(world, payee(71))).toHaveLength(1);
  });
});

describe('refunds', () => {
  test('wait for the connector that is held, and for no other', async () => {
    const merchant = await world.merchant();
    const byPhone = await paidByPhone(world, merchant, '01');
    const byCard = await readyToPay(world, merchant, 'frictionless', { minted });
    expect((await submitCard(world, byCard)).json.status).toBe('approved');
    await hold();
    const toPhone = await refunded(world, merchant, byPhone, { amount: '5.00' });
    const toCard = await refunded(world, merchant, byCard, { amount: '5.00' });
    await untilRefund(world, merchant, toCard.refund_id, 'completed');
    await passLeases();
    const other = unasked();
    expect(await startDueRefunds(other, createRefundDispatcher(other))).toBe(0);
    expect((await readBack(world, merchant, toPhone.refund_id)).status).toBe('pending');
    expect(await rowsOf(world, 'select id from attempt where payment_id = $1', [toPhone.refund_id])).toEqual([]);

    await hold('mastercard');
    await resume();
    await untilRefund(world, merchant, toPhone.refund_id, 'completed');
    const again = await refunded(world, merchant, byCard, { amount: '1.00' });
    await passLeases();
    expect((await readBack(world, merchant, again.refund_id)).status).toBe('pending');
    expect(creditsOnCard(world, byCard)).toHaveLength(1);
    await resume('mastercard');
    await untilRefund(world, merchant, again.refund_id, 'completed');
    expect(creditsOnCard(world, byCard)).toHaveLength(2);
  });
});

describe('mbongo connector', () => {
  let cli: CommandLine;
  beforeAll(async () => {
    cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  });
  afterAll(() => cli.close());

  const said = (by = SAY.by) => ['--by', by, '--why', 'pays twice'];

  test('holds, shows who holds and why, and resumes when confirmed', async () => {
    const held = await cli.run(['connector', 'hold', MOMO, ...said()]);
    expect([held.status, held.err]).toEqual([0, '']);
    expect(await cli.json('connector list')).toEqual({
      connectors: [
        {
          connector: MOMO,
          held: true,
          since: expect.stringMatching(/^\d{4}-/),
          by: expect.stringMatching(/^amina, as /),
          why: 'pays twice',
        },
        { connector: 'mastercard', held: false, since: null, by: null, why: null },
      ],
    });
    const again = await cli.run(['connector', 'hold', MOMO, ...said('luc')]);
    expect([again.status, again.err]).toEqual([
      1,
      expect.stringMatching(
        /^mbongo: amina, as .+ holds mtn-momo-disbursement already: see `mbongo connector list`\n$/,
      ),
    ]);
    const asked = await cli.run(['connector', 'resume', MOMO]);
    expect(asked.status).toBe(1);
    expect(asked.err).toMatch(
      /^mbongo: amina, as .+ has held mtn-momo-disbursement since .* \(pays twice\): add --yes to send what waits\n$/,
    );
    const done = await cli.run(['connector', 'resume', MOMO, '--yes', ...said('luc')]);
    expect([done.status, done.err]).toEqual([0, '']);
    const over = await cli.run(['connector', 'resume', MOMO, '--yes']);
    expect([over.status, over.err]).toEqual([1, 'mbongo: it is not held: see `mbongo connector list`\n']);
    const { entries } = await cli.json(`journal list --about hold:${MOMO}`);
    expect(entries).toMatchObject([
      { command: 'connector hold', by: expect.stringMatching(/^amina, as /), why: 'pays twice' },
      { command: 'connector resume', by: expect.stringMatching(/^luc, as /), why: 'pays twice' },
    ]);
  });

  test.each([
    ['hold mtn-momo', 'no connector called "mtn-momo" sends money out: there is mtn-momo-disbursement, mastercard'],
    ['resume nobody', 'no connector called "nobody" sends money out: there is mtn-momo-disbursement, mastercard'],
  ])('refuses `%s`', async (words, why) => {
    const { status, err } = await cli.run(['connector', ...words.split(' '), '--why', 'x']);
    expect([status, err]).toEqual([2, `mbongo: ${why}\n`]);
  });

  test('hold needs a reason', async () => {
    const { status, err } = await cli.run(['connector', 'hold', MOMO]);
    expect([status, err]).toEqual([2, "mbongo: required option '--why <text>' not specified\n"]);
  });

  test('doctor shows what is held, and how to end it', async () => {
    await cli.run(['connector', 'hold', 'mastercard', ...said()]);
    const { out } = await cli.run('doctor');
    expect(out).toMatch(
      /^warn +holds +amina, as .+ has held mastercard for .* \(pays twice\); mbongo connector resume mastercard ends it$/m,
    );
  });
});
