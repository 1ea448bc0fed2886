/**
 * Refunds whose process dies, races with another, or loses the database’s answer: sent once all the same.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Refund } from '../../src/domain/outgoing-records.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { makeRefundForMerchant } from '../../src/usecases/refund-make.ts';
import { startRefund } from '../../src/usecases/refund-start.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import {
  balancesOf,
  creditsOf,
  expectSound,
  type Paid,
  paidByPhone,
  readBack,
  refundHooks,
  untilRefund,
} from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
beforeEach(async () => {
  merchant = await world.merchant();
});
afterAll(async () => {
  await expectSound(world);
  await world.close();
});

/** A refund that is committed, and whose process died before it could send it. */
async function orphaned(paid: Paid): Promise<Refund> {
  const { deps } = world.gateway;
  let made: Refund | undefined;
  const silent = { ...deps, store: { ...deps.store, commit: unheard(deps) } };
  const caller = { kind: 'merchant', merchant: merchant.merchant, credentialId: merchant.key_id } as const;
  const command = { transaction_id: paid.transaction_id, amount: undefined, reason: undefined };
  await makeRefundForMerchant(silent, caller, command, {
    receipt: undefined,
    render: ({ refund }) => {
      made = refund;
      return { status: 201, body: '' };
    },
    renderRefusal: ({ code }) => ({ status: code, body: '' }),
  });
  if (made === undefined) throw new Error('nothing was made');
  return made;
}

/** A commit as made by a process that does not pass the refund on afterwards. */
function unheard(deps: Deps): Deps['store']['commit'] {
  return (change) =>
    deps.store.commit({ ...change, inserts: [], claims: [...(change.claims ?? []), ...refundsOf(change)] });
}

/** The refund inserts of a change: as claims they write the same rows, but nothing in the process is notified of them. */
function refundsOf({ inserts = [] }: Parameters<Deps['store']['commit']>[0]) {
  return inserts.flatMap((insert) => (insert.table === 'refund' ? [insert] : []));
}

const attemptsOf = (refund: Pick<Refund, 'id'>): Promise<{ status: string }[]> =>
  rowsOf(world, 'select status from attempt where payment_id = $1 order by id', [refund.id]);

async function expectSentOnce(paid: Paid, refund: Refund): Promise<void> {
  await untilRefund(world, merchant, refund.id, 'completed', 5_000);
  expect(creditsOf(world, paid.msisdn)).toMatchObject([{ amount: '12.50', times: 1 }]);
  expect(await refundHooks(world, paid, 1)).toHaveLength(1);
  expect(await balancesOf(world, merchant)).toEqual({});
}

test('a refund whose process died is sent by the round, once its lease is over', async () => {
  const paid = await paidByPhone(world, merchant, '01');
  const refund = await orphaned(paid);
  await world.pass(1_000, 29);
  expect((await readBack(world, merchant, refund.id)).status).toBe('pending');
  await expectSentOnce(paid, refund);
});

test('a process that dies before calling the carrier: inquired about twice, and sent under another attempt', async () => {
  const paid = await paidByPhone(world, merchant, '01');
  const refund = await orphaned(paid);
  const { deps } = world.gateway;
  const connectors = {
    ...deps.connectors,
    payout: (name: string) => {
      const connector = deps.connectors.payout(name);
      return connector && { ...connector, payOut: () => Promise.reject(new Error('killed')) };
    },
  };
  await expect(startRefund({ ...deps, connectors }, refund)).rejects.toThrow('killed');
  expect(await attemptsOf(refund)).toEqual([{ status: 'intended' }]);
  expect((await readBack(world, merchant, refund.id)).status).toBe('processing');
  await expectSentOnce(paid, refund);
  expect((await attemptsOf(refund)).map(({ status }) => status)).toEqual(['not_sent', 'approved']);
});

test('a process that dies before recording the carrier’s answer: inquired about, and not sent again', async () => {
  const paid = await paidByPhone(world, merchant, '01');
  const refund = await orphaned(paid);
  const { deps } = world.gateway;
  const connectors = {
    ...deps.connectors,
    payout: (name: string) => {
      const connector = deps.connectors.payout(name);
      const payOut: NonNullable<typeof connector>['payOut'] = async (order) => {
        await connector?.payOut(order);
        throw new Error('killed');
      };
      return connector && { ...connector, payOut };
    },
  };
  await expect(startRefund({ ...deps, connectors }, refund)).rejects.toThrow('killed');
  await expectSentOnce(paid, refund);
  expect(await attemptsOf(refund)).toEqual([{ status: 'approved' }]);
});

test('of ten processes that start the same refund, one sends it', async () => {
  const paid = await paidByPhone(world, merchant, '01');
  const refund = await orphaned(paid);
  await Promise.all(Array.from({ length: 10 }, () => startRefund(world.gateway.deps, refund)));
  await expectSentOnce(paid, refund);
  expect(await attemptsOf(refund)).toEqual([{ status: 'approved' }]);
});

test('an intention whose commit’s answer was lost is looked up, and sent once', async () => {
  const paid = await paidByPhone(world, merchant, '01');
  const refund = await orphaned(paid);
  await startRefund(losingAnswer(world.gateway.deps), refund);
  await expectSentOnce(paid, refund);
  expect(await attemptsOf(refund)).toEqual([{ status: 'approved' }]);
});
