/** What a statement should have of ours: what ended in its span, from the first instant on, before the last, and all of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { reconcile } from '../../src/usecases/reconcile.ts';
import type { Matched, Span } from '../../src/usecases/reconcile-match.ts';
import { executeRefund } from '../../src/usecases/refund-decide.ts';
import { readyToPay, submitCard } from '../support/card-payments.ts';
import { untilStatus } from '../support/flows.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { refunded, untilTurnedAway } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let paid: Attempt;

const SAY = { by: 'amina', why: 'at the portal' };

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
  const paying = await pushed(world, merchant, '01');
  await untilStatus(world, paying, 'approved');
  paid = await attemptOf(world, paying);
});
afterAll(() => world.close());

/** Compares a statement without lines. */
async function missingIn({ from, to }: Span, connector = paid.connector) {
  const missing: string[] = [];
  const read = async function* () {};
  const note = async ({ verdict, ours }: Matched) => void missing.push(`${verdict} ${ours?.id}`);
  const { totals } = await reconcile(world.gateway, { connector, read, from, to }, note);
  return { missing, totals };
}

test('what ended at the first instant of the span is expected and summed up, what ended at its end is not', async () => {
  const at = paid.settled_at ?? 0;
  const expected = {
    missing: [`missing_there ${paid.id}`],
    totals: [expect.objectContaining({ attemptsMinor: 12_50n, isBooked: true })],
  };
  expect(await missingIn({ from: at, to: at + 1 })).toEqual(expected);
  const none = { missing: [], totals: [] };
  expect(await missingIn({ from: at - 1, to: at })).toEqual(none);
  expect(await missingIn({ from: at + 1, to: at + 2 })).toEqual(none);
});

test('a refund to a card that was carried out by hand is not taken for what its attempt paid late', async () => {
  const paying = await readyToPay(world, merchant, 'frictionless');
  expect((await submitCard(world, paying)).status).toBe(200);
  world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
  const { refund_id } = await refunded(world, merchant, paying);
  await untilTurnedAway(world, refund_id);
  world.sandbox.faults.clear();
  const { deps } = world.gateway;
  await executeRefund(deps, refund_id, { reference: 'PORTAL-7', notTaken: true }, SAY);
  const [tried] = await rowsOf<Attempt>(world, 'select * from attempt where payment_id = $1', [refund_id]);
  await world.clock.advance(1_000);
  await decideAttempt(deps, tried?.id ?? '', { paid: true, providerReference: 'P-1', ...SAY });
  const span = { from: world.clock.now() - 3_600_000, to: world.clock.now() + 1 };
  const { totals } = await missingIn(span, 'mastercard');
  expect(totals).toMatchObject([{ attemptsMinor: 25_00n, isBooked: true }]);
});

test('of an hour with more attempts than are read at a time, none is overlooked', async () => {
  const COUNT = 5_001;
  const { shard, created_at } = paid;
  const ids = Array.from({ length: COUNT }, () =>
    makeId('att', created_at, world.gateway.deps.random.bytes(16), shard),
  );
  await rowsOf(
    world,
    `insert into attempt select (jsonb_populate_record(a, jsonb_build_object('id', fresh, 'reference', fresh))).*
     from attempt a, unnest($2::text[]) fresh where a.id = $1`,
    [paid.id, ids],
  );
  const { missing } = await missingIn({ from: created_at - 1, to: (paid.settled_at ?? 0) + 1 });
  expect(missing.toSorted()).toEqual([...ids, paid.id].map((id) => `missing_there ${id}`).toSorted());
});
