/**
 * A session may have 150 payments, and whichever of them is paid ends all the others in the same change.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  collectWith,
  debitsOf,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  untilStatus,
} from '../support/flows.ts';
import { onlyHook } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const MAX = 150;

/** A session with as many payments as it may have; one of them, in the middle, is to be paid. */
async function fullSession() {
  const { token, reference, session_id } = await mint(world, merchant, { ttl_seconds: 600 });
  const made = await Promise.all(Array.from({ length: MAX }, () => collectWith(world, token)));
  const [chosen] = made.slice(MAX / 2);
  if (chosen === undefined) throw new Error('no payment');
  const paying: Paying = { token, reference, ...chosen };
  const others = made.filter(({ payment_id }) => payment_id !== chosen.payment_id);
  return { paying, others, session_id };
}

/** Expects that one transaction cancelled all the others: the one that wrote this status of the paid one. */
async function expectEndedTogether(session_id: string, paying: Paying, status: string): Promise<void> {
  const lines = await rowsOf<{ transaction: string; paid: boolean; status: string; payments: number }>(
    world,
    `select h.xmin::text as transaction, h.payment_id = $3 as paid, h.status, count(*)::int as payments
     from payment_history h join payment p on p.shard = h.shard and p.id = h.payment_id
     where p.shard = $1 and p.session_id = $2 and (h.payment_id <> $3 or h.status = $4)
     group by 1, 2, 3 order by 2`,
    [shardOf(session_id), session_id, paying.transaction_id, status],
  );
  expect(lines).toMatchObject([
    { paid: false, status: 'cancelled', payments: MAX - 1 },
    { paid: true, status, payments: 1 },
  ]);
  expect(new Set(lines.map(({ transaction }) => transaction)).size).toBe(1);
}

describe('a session with 150 payments', () => {
  test('accepts no more: 1301 until it expires, and not retryable', async () => {
    const { paying } = await fullSession();
    await world.clock.advance(60_500);
    const bearer = paying.token;
    const refused = await world.call('POST', '/payments/collect', { bearer, body: collectBody(world, 'none') });
    expectRefusal(refused, 429, '1301', 'PAYMENTS_USED');
    expect(refused.headers.get('retry-after')).toBe('540');
    expect(refused.json).toMatchObject({ retryable: false, retry_after: 540 });
  });

  test('accepts exactly 150 of 160 that race', async () => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'none');
    const answers = await Promise.all(
      Array.from({ length: MAX + 10 }, () => world.call('POST', '/payments/collect', { bearer: token, body })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAX);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 429, '1301');
  });

  test('is paid from a wallet: the others end in the same change, each with its event', async () => {
    const { paying, others, session_id } = await fullSession();
    const wallet = await world.wallet();
    expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
    await expectEndedTogether(session_id, paying, 'approved');
    for (const { transaction_id } of others) {
      expect((await world.receiver.about(transaction_id)).body.status).toBe('cancelled');
    }
  });

  test('is paid by phone: the others end in the change that consumes it', async () => {
    const { paying, session_id } = await fullSession();
    const msisdn = numberEnding('01');
    const submitted = await payByPhone(world, paying, msisdn);
    expect(submitted.json, submitted.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    await expectEndedTogether(session_id, paying, 'pending_mobile_money_verification');
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });
});
