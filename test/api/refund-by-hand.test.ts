/**
 * Refunds that an operator carries out: of bank transfers, and of whatever no configured connector can send.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { callOffRefund, executeRefund } from '../../src/usecases/refund-decide.ts';
import { makeRefundForMerchant } from '../../src/usecases/refund-make.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { detailOf, type Paying, statusOf } from '../support/flows.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import {
  balancesOf,
  expectSound,
  paidByPhone,
  paidByWallet,
  paidByWord,
  readBack,
  refunded,
  refundHooks,
  untilRefund,
  untilTurnedAway,
} from '../support/refund-flows.ts';
import { pngFile, promise, upload } from '../support/transfer-flows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let cli: CommandLine;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  await expectSound(world);
  await world.close();
  await cli.close();
});

async function paidByTransfer(merchant: MerchantCreated): Promise<Paying> {
  const paying = await promise(world, merchant);
  const { json } = await upload(world, paying, pngFile());
  await approveProof(world.gateway.deps, json.proof.id, null);
  expect(await statusOf(world, paying)).toBe('approved');
  return paying;
}

/** Makes a refund while no connector can send it; returns its id. */
async function unsendable({ merchant, key_id }: MerchantCreated, paid: Paying, amount?: string): Promise<string> {
  const { deps } = world.gateway;
  const unable = { ...deps, connectors: { ...deps.connectors, payout: () => undefined } };
  const caller = { kind: 'merchant', merchant, credentialId: key_id } as const;
  const command = { transaction_id: paid.transaction_id, amount, reason: undefined };
  let refundId = '';
  await makeRefundForMerchant(unable, caller, command, {
    receipt: undefined,
    render: ({ refund }) => {
      refundId = refund.id;
      return { status: 201, body: '' };
    },
    renderRefusal: ({ code }) => ({ status: code, body: '' }),
  });
  return refundId;
}

const SAY = { by: 'amina', why: 'seen at the bank' };

/** How many refunds wait for a person, and for how long the oldest has (seconds). */
async function waitingForPerson(): Promise<readonly (number | undefined)[]> {
  // A page that is requested sooner after another would show that one's numbers.
  await world.clock.advance(6_000);
  const page = await (await fetch(`${world.url}/metrics`)).text();
  const samples = ['mbongo_refunds{status="by_hand"}', 'mbongo_refund_oldest_waiting_seconds{for="person"}'];
  const numbers = new Map(page.split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), line]));
  return samples.map((sample) => Number(numbers.get(sample)?.split(' ').at(-1)));
}

describe('a refund of a bank transfer', () => {
  test('is counted while it waits for somebody, with its age', async () => {
    expect(await waitingForPerson()).toEqual([0, 0]);
    const merchant = await world.merchant();
    const { refund_id } = await refunded(world, merchant, await paidByTransfer(merchant));
    await world.pass(60_000);
    const [count, seconds] = await waitingForPerson();
    expect(count).toBe(1);
    expect(seconds).toBeGreaterThanOrEqual(66);
    await executeRefund(world.gateway.deps, refund_id, { reference: 'BT-0' }, SAY);
    expect(await waitingForPerson()).toEqual([0, 0]);
  });

  test('waits for an operator, its money reserved; whoever carries it out gives the reference', async () => {
    const merchant = await world.merchant();
    const paid = await paidByTransfer(merchant);
    const made = await refunded(world, merchant, paid, { amount: '4.50' });
    expect(made).toMatchObject({
      status: 'pending',
      method: 'bank_transfer',
      by_hand: true,
      message: 'The refund has been accepted. It is carried out by hand.',
    });
    await world.pass(60_000);
    expect((await readBack(world, merchant, made.refund_id)).status).toBe('pending');
    expect(await balancesOf(world, merchant)).toEqual({ available: 8_00n, reserved: 4_50n });

    const { refunds } = await cli.json('refund list --status pending');
    expect(refunds).toMatchObject([{ refund_id: made.refund_id, by_hand: true, amount: '4.50', currency: 'usd' }]);
    const asked = await cli.run(`refund execute ${made.refund_id} --reference BT-1`);
    expect([asked.status, asked.out]).toEqual([1, '']);
    expect(asked.err).toMatch(/^mbongo: 4\.50 usd back by bank_transfer for txn_[^\n]+--yes[^\n]+\n$/);
    const words = `refund execute ${made.refund_id} --reference BT-1 --why seen --yes --json`.split(' ');
    const done = await cli.run([...words, '--by', ' amina\n']);
    expect(done.status, done.err).toBe(0);
    expect(JSON.parse(done.out)).toMatchObject({
      status: 'completed',
      provider_reference: 'BT-1',
      payment_status: 'approved',
    });
    expect(JSON.parse(done.err.trim())).toMatchObject({
      event: 'refund_decided_by_operator',
      refund_id: made.refund_id,
      by: expect.stringMatching(/^amina, as /),
      why: 'seen',
    });
    expect(await readBack(world, merchant, made.refund_id)).toMatchObject({
      status: 'completed',
      by_hand: true,
      provider_reference: 'BT-1',
      refunded_amount: '4.50',
    });
    expect(await balancesOf(world, merchant)).toEqual({ available: 8_00n });
    for (const word of ['execute', 'fail']) {
      for (const yes of [[], ['--yes']]) {
        const evidence = word === 'fail' ? '--why' : '--reference';
        const again = await cli.run(['refund', word, made.refund_id, evidence, 'BT-1', ...yes]);
        expect([again.status, again.err]).toEqual([1, expect.stringContaining('is over: it has been completed')]);
      }
    }
    expect((await cli.run(`refund show ${made.refund_id}`)).out).toMatch(/provider_reference +BT-1\n/);
  });

  test('that is called off gives its money back, and can be requested again', async () => {
    const merchant = await world.merchant();
    const paid = await paidByTransfer(merchant);
    const made = await refunded(world, merchant, paid);
    const done = await cli.run(['refund', 'fail', made.refund_id, '--why', 'the account is closed', '--yes']);
    expect(done.status, done.err).toBe(0);
    const late = executeRefund(world.gateway.deps, made.refund_id, { reference: 'BT-1' }, SAY);
    await expect(late).rejects.toThrow('is over: it has failed');
    expect(await readBack(world, merchant, made.refund_id)).toMatchObject({
      status: 'failed',
      failure: { code: 'refund_called_off', message: 'The refund was called off by hand.' },
      refunded_amount: '0.00',
    });
    expect(await balancesOf(world, merchant)).toEqual({ available: 12_50n });
    const second = await refunded(world, merchant, paid);
    await executeRefund(world.gateway.deps, second.refund_id, { reference: 'BT 2' }, SAY);
    expect(await detailOf(world, paid)).toMatchObject({ status: 'refunded', refunded_amount: '12.50' });
    expect((await refundHooks(world, paid, 1)).map(({ raw }) => JSON.parse(raw).amount)).toEqual(['12.50']);
  });

  test('of two decisions at once, one counts', async () => {
    const merchant = await world.merchant();
    const paid = await paidByTransfer(merchant);
    const { refund_id } = await refunded(world, merchant, paid);
    const words = await Promise.allSettled([
      executeRefund(world.gateway.deps, refund_id, { reference: 'BT-3' }, SAY),
      callOffRefund(world.gateway.deps, refund_id, SAY),
      executeRefund(world.gateway.deps, refund_id, { reference: 'BT-4' }, SAY),
    ]);
    expect(words.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('the reference of a refund by hand', () => {
  const execute = (refundId: string, reference: string, deps = world.gateway.deps) =>
    executeRefund(deps, refundId, { reference }, SAY);

  test('stands for one refund, however it is written; what tells two apart is added to it', async () => {
    const merchant = await world.merchant();
    const paid = await paidByTransfer(merchant);
    const [first, second] = [
      await refunded(world, merchant, paid, { amount: '4.50' }),
      await refunded(world, merchant, paid, { amount: '3.00' }),
    ];
    await execute(first.refund_id, 'FT 26324-Kx9');
    for (const reference of ['FT 26324-Kx9', 'ft26324kx9']) {
      for (const yes of [[], ['--yes']]) {
        const { status, err } = await cli.run([
          'refund',
          'execute',
          second.refund_id,
          '--reference',
          reference,
          ...yes,
        ]);
        expect([status, err]).toEqual([
          1,
          expect.stringContaining(`already names 4.50 usd for ${paid.transaction_id}, since 2026-`),
        ]);
        expect(err).toContain(`like ${reference}/2`);
      }
    }
    expect(await balancesOf(world, merchant)).toEqual({ available: 5_00n, reserved: 3_00n });
    await execute(second.refund_id, 'FT 26324-Kx9/2');
    expect(await detailOf(world, paid)).toMatchObject({ refunded_amount: '7.50' });
  });

  test('stands for one of two refunds that are carried out at once, of whatever merchant', async () => {
    const made = await Promise.all(
      [0, 1].map(async () => {
        const merchant = await world.merchant();
        const paid = await paidByTransfer(merchant);
        const { refund_id } = await refunded(world, merchant, paid);
        return refund_id;
      }),
    );
    const done = await Promise.allSettled(made.map((refundId) => execute(refundId, 'FT 26325')));
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of done)
      if (one.status === 'rejected') expect(String(one.reason)).toContain('already names 12.50 usd');
  });

  test('is its own, also if the answer of the database was lost', async () => {
    const merchant = await world.merchant();
    const { refund_id } = await refunded(world, merchant, await paidByTransfer(merchant));
    const executing = execute(refund_id, 'FT 26326', losingAnswer(world.gateway.deps));
    await whileTimePasses(world, executing, 500);
    expect((await executing).refund).toMatchObject({ status: 'completed', provider_reference: 'FT 26326' });
  });

  test('tells something apart', async () => {
    const merchant = await world.merchant();
    const { refund_id } = await refunded(world, merchant, await paidByTransfer(merchant));
    for (const yes of [[], ['--yes']]) {
      const { status, err } = await cli.run(['refund', 'execute', refund_id, '--reference', '--- /', ...yes]);
      expect([status, err]).toEqual([2, expect.stringContaining('must contain letters or digits')]);
    }
  });
});

describe('an operator', () => {
  test('cannot decide what is over, at the upstream, unknown, or badly worded', async () => {
    const merchant = await world.merchant();
    const { deps } = world.gateway;
    const wallet = await refunded(world, merchant, await paidByWallet(world, merchant));
    await expect(callOffRefund(deps, wallet.refund_id, SAY)).rejects.toThrow('is over: it has been completed');
    const phone = await refunded(world, merchant, await paidByWord(world, merchant, '04'));
    await untilRefund(world, merchant, phone.refund_id, 'processing');
    await expect(callOffRefund(deps, phone.refund_id, SAY)).rejects.toThrow('mbongo attempt settle');
    await expect(callOffRefund(deps, 'rfd_x', SAY)).rejects.toThrow('the refund id is not valid');
    const unknown = wallet.refund_id.replace(/^rfd_.{20}/, 'rfd_00000000000000000000');
    await expect(callOffRefund(deps, unknown, SAY)).rejects.toThrow('there is no refund');
    const made = await refunded(world, merchant, await paidByTransfer(merchant));
    await expect(executeRefund(deps, made.refund_id, { reference: ' ' }, SAY)).rejects.toThrow('1 to 140 characters');
    await expect(executeRefund(deps, made.refund_id, { reference: 'a\nb' }, SAY)).rejects.toThrow(
      '1 to 140 characters',
    );
    await expect(callOffRefund(deps, made.refund_id, { by: '', why: null })).rejects.toThrow('one line');
    for (const yes of [[], ['--yes']]) {
      for (const words of [
        ['execute', made.refund_id, '--reference', ' '],
        ['fail', made.refund_id, '--why', ' '],
      ]) {
        const { status, err } = await cli.run(['refund', ...words, ...yes]);
        expect([status, err]).toEqual([2, expect.stringContaining('must be one line of 1 to')]);
      }
    }
    expect((await cli.run('refund list --status odd')).err).toContain('not a status of a refund');
    expect((await cli.run(`refund fail ${made.refund_id} --yes`)).status).toBe(2);
    expect((await readBack(world, merchant, made.refund_id)).status).toBe('pending');
  });

  test('calls off what waits for a carrier that is down', async () => {
    const merchant = await world.merchant();
    const paid = await paidByPhone(world, merchant, '01');
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const { refund_id } = await refunded(world, merchant, paid);
    await untilTurnedAway(world, refund_id);
    expect((await readBack(world, merchant, refund_id)).status).toBe('pending');
    // With and without --yes: the carrier may have made it after all.
    const words = [`refund fail ${refund_id} --why down`, `refund execute ${refund_id} --reference BT-9`];
    for (const word of words.flatMap((one) => [one, `${one} --yes`])) {
      const { status, err } = await cli.run(word);
      expect([word, status, err]).toEqual([word, 1, expect.stringMatching(/turned .* away, but may have made it/)]);
    }
    for (const word of words) expect((await cli.run(`${word} --not-taken`)).err).toMatch(/: add --yes /);
    await callOffRefund(world.gateway.deps, refund_id, SAY, { notTaken: true });
    world.sandbox.faults.clear();
    await world.pass(60_000);
    expect((await readBack(world, merchant, refund_id)).status).toBe('failed');
    expect(await balancesOf(world, merchant)).toEqual({ available: 12_50n });
  });
});

test('a refund that was turned away and then carried out by hand does not hold up the next one', async () => {
  const merchant = await world.merchant();
  const paid = await paidByPhone(world, merchant, '01');
  const { deps } = world.gateway;
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  const { refund_id } = await refunded(world, merchant, paid, { amount: '4.50' });
  await untilTurnedAway(world, refund_id);
  await executeRefund(deps, refund_id, { reference: 'BT-5', notTaken: true }, SAY);
  // Nobody has to look once more for what the upstream has made of the first one.
  await executeRefund(deps, await unsendable(merchant, paid, '3.00'), { reference: 'BT-6' }, SAY);
  expect(await detailOf(world, paid)).toMatchObject({ status: 'approved', refunded_amount: '7.50' });
});

test('what no connector can send is carried out by hand, and booked where the money had come in', async () => {
  const merchant = await world.merchant();
  const paid = await paidByPhone(world, merchant, '01');
  const { deps } = world.gateway;
  const refundId = await unsendable(merchant, paid);
  expect(await readBack(world, merchant, refundId)).toMatchObject({
    status: 'pending',
    by_hand: true,
    method: 'mobile_money',
  });
  const transit = async () =>
    (await deps.store.account.get(merchant.merchant.shard, 'transit:mtn-momo:usd'))?.balance ?? 0n;
  const before = await transit();
  const { refund } = await executeRefund(deps, refundId, { reference: ' PORTAL-7 ' }, SAY);
  expect(refund.provider_reference).toBe('PORTAL-7');
  expect((await transit()) - before).toBe(12_50n);
  expect(await statusOf(world, paid)).toBe('refunded');
});
