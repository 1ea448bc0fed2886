/**
 * What every connector that moves money must pass, in and out, against its simulator and against upstreams that misbehave.
 *
 * Invariant: a check uses only the terms of the contract; the connector's test runs each check as a test of that name.
 */

import assert from 'node:assert/strict';
import { parsePaddedAmount } from '../../domain/money.ts';
import { CALL_LIFE_MS } from '../../usecases/attempt-ask.ts';
import {
  ACCEPTED,
  type AskedOrder,
  assertKind,
  type Check,
  NOT_TAKEN,
  othersThan,
  timesMoved,
} from './conformance-world.ts';
import { distrustChecks } from './distrust-checks.ts';
import { standBefore } from './stand.ts';

/** The checks that hold in both directions. */
export function conformanceChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [...movingChecks<Order>(), ...wireChecks<Order>(), ...doubtfulChecks<Order>(), ...distrustChecks<Order>()];
}

/** Money that moves once, or not at all. */
function movingChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'an accepted order is approved once paid, and stays so',
      async run(world) {
        const { connector } = world;
        const paying = world.order('completes');
        const first = await connector.start(paying);
        assertKind(first, ACCEPTED, 'start');
        assert.equal((await connector.inquire(paying)).kind, first.kind);
        world.untilDecided();
        const answer = await connector.inquire(paying);
        assert.equal(answer.kind, 'approved');
        assert.ok(answer.kind === 'approved' && answer.providerReference, 'the upstream’s own id is lost');
        assert.deepEqual(await connector.inquire(paying), answer);
        assert.equal(timesMoved(world, paying), 1);
      },
    },
    {
      name: 'starting twice under one attempt moves money once',
      async run(world) {
        const { connector } = world;
        const paying = world.order('completes');
        await connector.start(paying);
        assertKind(await connector.start(paying), [...ACCEPTED, 'unknown'], 'the second start');
        world.untilDecided();
        assertKind(await connector.start(paying), [...ACCEPTED, 'unknown'], 'a start after the end');
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(timesMoved(world, paying), 1);
      },
    },
    {
      name: 'two starts at the same moment move money once',
      async run(world) {
        const { connector } = world;
        const paying = world.order('completes');
        const answers = await Promise.all([connector.start(paying), connector.start(paying)]);
        for (const answer of answers) assertKind(answer, [...ACCEPTED, 'unknown'], 'start');
        world.untilDecided();
        assert.equal(timesMoved(world, paying), 1);
      },
    },
    {
      name: 'a final no is declined with its reason, and moves nothing',
      async run(world) {
        const { connector } = world;
        for (const { order, reason } of world.refused()) {
          assertKind(await connector.start(order), ['waiting', 'declined'], 'start');
          world.untilDecided();
          const answer = await connector.inquire(order);
          assert.ok(answer.kind === 'declined' && answer.reason === reason, JSON.stringify(answer));
          assert.equal(timesMoved(world, order), 0);
        }
      },
    },
  ];
}

/** What reaches the upstream is what was ordered. */
function wireChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'an attempt has one reference, which no other attempt has, in whatever process',
      async run(world) {
        const { connector, order } = world;
        const [one, other] = [order('completes').attemptId, order('completes').attemptId];
        assert.notEqual(connector.referenceFor(one), connector.referenceFor(other));
        await standBefore(world, 'cuts', async ({ connector: elsewhere }) =>
          assert.equal(elsewhere.referenceFor(one), connector.referenceFor(one)),
        );
      },
    },
    {
      name: 'the connector’s name fits into a callback’s address, and its settle delay outlasts a call',
      async run({ connector: { name, settleDelayMs } }) {
        assert.match(name, /^[a-z][a-z0-9-]{0,63}$/);
        assert.ok(
          settleDelayMs >= CALL_LIFE_MS,
          `${settleDelayMs} ms: a call may be on its way for ${CALL_LIFE_MS} ms`,
        );
      },
    },
    {
      name: 'what moves is what was ordered: number, amount, currency and attempt, in each currency',
      async run(world) {
        for (const currency of world.currencies) {
          const paying = { ...world.order('completes'), currency, amountMinor: 123_400n };
          assertKind(await world.connector.start(paying), ACCEPTED, currency);
          world.untilDecided();
          const { amount, ...moved } = world.moved(paying.reference) ?? assert.fail(`${currency}: nothing moved`);
          assert.equal(parsePaddedAmount(amount, currency)?.minor, paying.amountMinor, `${amount} ${currency}`);
          assert.equal(moved.currency, currency);
          assert.equal(moved.msisdn, paying.msisdn.replace('+', ''));
          assert.equal(moved.external_id, paying.attemptId);
          assert.equal((await world.connector.inquire(paying)).kind, 'approved');
        }
      },
    },
    {
      name: 'words of any length and script reach the upstream in a form that it takes',
      async run({ connector, order }) {
        for (const words of ['x'.repeat(500), '\u{1f600}'.repeat(99), "Mama's “café” & <fils>\r\n\u0000\u202e"]) {
          const worded = { ...order('completes'), merchantName: words, customerReference: words };
          assertKind(await connector.start('note' in worded ? { ...worded, note: words } : worded), ACCEPTED, words);
        }
      },
    },
    {
      name: 'an answer about something else than was ordered is not believed',
      async run({ connector, order, untilDecided }) {
        const paying = order('completes');
        await connector.start(paying);
        untilDecided();
        for (const other of othersThan(paying, order('completes')))
          assert.equal((await connector.inquire(other)).kind, 'unknown');
      },
    },
  ];
}

/** Uncertain outcomes, and orders that certainly were not carried out. */
function doubtfulChecks<Order extends AskedOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'a lost answer is unknown, and found by inquiry',
      async run(world) {
        const { connector } = world;
        await connector.inquire(world.order('completes'));
        const paying = world.order('completes');
        world.loseAnswers(true);
        assert.equal((await connector.start(paying)).kind, 'unknown');
        assert.equal((await connector.inquire(paying)).kind, 'unknown');
        world.loseAnswers(false);
        world.untilDecided();
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(timesMoved(world, paying), 1);
      },
    },
    {
      name: 'a start that is repeated after a lost answer moves money once',
      async run(world) {
        const { connector } = world;
        await connector.inquire(world.order('completes'));
        const paying = world.order('completes');
        world.loseAnswers(true);
        assert.equal((await connector.start(paying)).kind, 'unknown');
        world.untilDecided();
        assert.equal((await connector.start(paying)).kind, 'unknown');
        world.loseAnswers(false);
        assertKind(await connector.start(paying), [...ACCEPTED, 'unknown'], 'the third start');
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(timesMoved(world, paying), 1);
      },
    },
    {
      name: 'a carrier that is down has taken nothing',
      async run(world) {
        const { connector } = world;
        const refused = world.order('carrier_is_down');
        assertKind(await connector.start(refused), NOT_TAKEN, 'start');
        world.untilDecided();
        assert.equal((await connector.inquire(refused)).kind, 'not_found');
        assert.equal(timesMoved(world, refused), 0);
      },
    },
    {
      name: 'a reference that never arrived is not found',
      async run({ connector, order }) {
        assert.deepEqual(await connector.inquire(order('completes')), { kind: 'not_found' });
      },
    },
    {
      name: 'a token that ends in the middle delays nothing and doubles nothing',
      async run(world) {
        const { connector } = world;
        await connector.inquire(world.order('completes'));
        const paying = world.order('completes');
        world.expireTokens?.();
        assertKind(await connector.start(paying), ACCEPTED, 'start');
        world.untilDecided();
        world.expireTokens?.();
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(timesMoved(world, paying), 1);
      },
    },
  ];
}
