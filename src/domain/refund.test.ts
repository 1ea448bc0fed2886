/**
 * The law of refunds, whatever is asked, answered and decided, in any order: never more than was paid, every refund ends once,
 * and the money is where their states say.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import type { SettlementContext } from './attempt-settlement.ts';
import type { Refund } from './outgoing-records.ts';
import { isRefundOver, REFUND } from './refund.ts';
import { expectSound, paid, RefundWorld, SETTLE_DELAY_MS, UPSTREAM, WALLET } from './testing/refund-world.ts';

/** What never changes once a refund is over; records of money that left late are no part of it. */
function toldOf({ version: _version, late_attempt_id: _late, ...told }: Refund) {
  return told;
}

const answer: fc.Arbitrary<AttemptAnswer> = fc.constantFrom<AttemptAnswer[]>(
  { kind: 'approved', providerReference: 'P' },
  { kind: 'waiting', providerReference: null },
  { kind: 'declined', reason: 'payee_unknown', providerReference: null },
  { kind: 'not_sent', reason: 'x' },
  { kind: 'unknown', reason: 'x' },
  { kind: 'not_found' },
);

/** Which of those that there are: most deeds would meet nobody if it were a number of its own. */
const place = fc.nat();
const among = (count: number, at: number): number => (count === 0 ? 0 : at % count);

const deed = fc.oneof(
  fc.record({
    do: fc.constant('make' as const),
    amount: fc.option(fc.constantFrom('0.01', '2.50', '5.00', '9.99', '10.00')),
    way: fc.constantFrom(UPSTREAM, UPSTREAM, WALLET, { kind: 'by_hand' } as const),
  }),
  fc.record({ do: fc.constant('start' as const), at: place }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      at: place,
      answer,
      inquiry: fc.constantFrom<SettlementContext['inquiry'][]>(false, 'due', 'hint'),
    }),
  },
  fc.record({
    do: fc.constant('decide' as const),
    at: place,
    fact: fc.constantFrom('executed_by_hand' as const, 'called_off' as const),
  }),
  fc.record({ do: fc.constant('release' as const) }),
);

function carryOut(world: RefundWorld, one: typeof deed extends fc.Arbitrary<infer D> ? D : never): void {
  switch (one.do) {
    case 'make':
      world.make(one.amount ?? undefined, one.way);
      break;
    case 'start':
      world.start(among(world.all().length, one.at));
      break;
    case 'say':
      // An answer to our own call comes without an inquiry; "not found" is only ever the answer to one.
      world.say(
        among(world.attempts.length, one.at),
        one.answer,
        one.answer.kind === 'not_found' && one.inquiry === false ? 'due' : one.inquiry,
      );
      break;
    case 'decide':
      world.decide(among(world.all().length, one.at), one.fact);
      break;
    case 'release':
      world.release();
      break;
  }
}

describe('whatever is asked, said and decided, in whatever order', () => {
  test('never more is refunded than was paid, and the money is where the states say', () => {
    const steps = fc.array(fc.tuple(deed, fc.constantFrom(1, 10_000, SETTLE_DELAY_MS)), { maxLength: 40, size: 'max' });
    const delivery = fc.constantFrom('direct_delivery' as const, 'delayed_delivery' as const);
    const covered = fc.constantFrom('buyer' as const, 'merchant' as const);
    fc.assert(
      fc.property(delivery, covered, fc.bigInt({ min: 0n, max: 60n }), steps, (delivered, fee, available, all) => {
        const world = new RefundWorld({ ...paid, delivery_behaviour: delivered, fee_covered_by: fee }, available);
        const ended = new Map<string, Refund>();
        for (const [one, pause] of all) {
          world.now += pause;
          carryOut(world, one);
          expectSound(world);
          for (const refund of world.all()) {
            const before = ended.get(refund.id);
            if (before !== undefined) expect(toldOf(refund)).toEqual(toldOf(before));
            else if (isRefundOver(refund.status)) ended.set(refund.id, refund);
          }
        }
      }),
      { numRuns: 250 },
    );
  });
});

test('a final refund stays as it is, whatever is heard of it', () => {
  for (const status of REFUND.final) {
    for (const fact of REFUND.facts) expect([undefined, status]).toContain(REFUND.table[status][fact]);
  }
});

test.each([
  ['while the payment is held', false, { held: 970n, available: 100n }],
  ['after its release', true, { held: 0n, available: 1_070n }],
])('a refund that fails %s returns what it took to where it belongs now', (_, isReleased, balances) => {
  const world = new RefundWorld({ ...paid, delivery_behaviour: 'delayed_delivery' }, 100n);
  world.make('10.00', UPSTREAM);
  expect([world.balance('held'), world.balance('available'), world.balance('reserved')]).toEqual([0n, 70n, 1_000n]);
  if (isReleased) world.release();
  world.start(0);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  expect({ held: world.balance('held'), available: world.balance('available') }).toEqual(balances);
  expectSound(world);
});

test('money that has left for a refund that failed is booked aside, once, and the refund stays failed', () => {
  const world = new RefundWorld(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  expect(world.all()[0]?.status).toBe('failed');
  for (let times = 0; times < 2; times += 1) {
    world.say(0, { kind: 'approved', providerReference: 'P' }, 'due');
    expect(world.balances.get('suspense:usd')).toBe(-500n);
    expectSound(world);
  }
});

test('what a failed refund has paid late cannot be refunded again', () => {
  const world = new RefundWorld(paid, 5_000n);
  world.make('6.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  const { version } = world.payment;
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'hint');
  // What was decided on the payment before that loses.
  expect(world.payment.version).toBe(version + 1);
  world.make('4.01', UPSTREAM);
  expect(world.all()).toHaveLength(1);
  world.make(undefined, UPSTREAM);
  expect(world.all()[1]).toMatchObject({ amount: '4.00', status: 'pending' });
});

test('if an earlier attempt has paid and the current one has not, the refund is completed by the earlier one', () => {
  const world = new RefundWorld(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'hint');
  expect(world.all()[0]).toMatchObject({ status: 'processing', late_attempt_id: 'att_1', tries: 2, started_at: 10 });
  // The rest can be given back meanwhile: an open refund has its share, and no more.
  world.make('4.70', UPSTREAM);
  expect(world.all()).toHaveLength(2);
  world.say(1, { kind: 'not_sent', reason: 'x' }, false);
  expect(world.all()[0]).toMatchObject({ status: 'completed', attempt_id: 'att_1' });
  expect(world.balances.get('suspense:usd')).toBe(0n);
  expectSound(world);
});

test('if an earlier attempt was taken and the current one has not paid, the refund waits for the earlier one', () => {
  const world = new RefundWorld(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(0, { kind: 'waiting', providerReference: null }, 'hint');
  expect(world.all()[0]).toMatchObject({ status: 'processing', attempt_id: 'att_2', late_attempt_id: 'att_1' });
  world.say(1, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  expect(world.all()[0]).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: null });
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'due');
  expect(world.all()[0]).toMatchObject({ status: 'completed', provider_reference: 'P' });
  expect(world.balances.get('suspense:usd') ?? 0n).toBe(0n);
  expectSound(world);
});

test('a refund that was called off, and of which two attempts were taken, remembers the last, whose money is booked aside', () => {
  const world = new RefundWorld(paid, 5_000n);
  world.make('6.00', UPSTREAM);
  for (const at of [0, 1]) {
    world.start(0);
    world.say(at, { kind: 'not_sent', reason: 'x' }, false);
  }
  world.decide(0, 'called_off');
  for (const at of [0, 1]) world.say(at, { kind: 'waiting', providerReference: null }, 'hint');
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, 'due');
  expect(world.all()[0]).toMatchObject({ status: 'failed', late_attempt_id: 'att_2' });
  expectSound(world);
  world.say(1, { kind: 'approved', providerReference: 'P' }, 'due');
  expect([world.attempts[1]?.status, world.balances.get('suspense:usd')]).toEqual(['approved', -600n]);
  expectSound(world);
});

test('what a failed refund may still pay cannot be refunded again, until that is over', () => {
  const world = new RefundWorld(paid, 5_000n);
  world.make('6.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(1, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  world.say(0, { kind: 'waiting', providerReference: null }, 'hint');
  world.make('4.01', UPSTREAM);
  expect(world.all()).toHaveLength(1);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, 'due');
  world.make('10.00', UPSTREAM);
  expect(world.all()).toHaveLength(2);
});
