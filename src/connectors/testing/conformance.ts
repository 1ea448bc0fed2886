/**
 * What every connector that moves money must pass, in and out, against its simulator and against upstreams that misbehave.
 *
 * Invariant: a check uses only the terms of the contract. A carrier's own terms, and how its simulator is driven, are in the
 * world that the connector's test hands in; the test runs each check as a test of that name.
 */

import assert from 'node:assert/strict';
import type { Answer, InquiryAnswer, LastingRefusal } from '../../domain/answer.ts';
import type { CarrierOrder, Inquiry } from '../connector.ts';

/** The course that an order takes at the simulator. */
export type Course = 'completes' | 'stays_open' | 'carrier_is_down';

/** A connector of either direction: `start` is a collect connector's, or a payout connector's `payOut`. */
export interface Mover<Order> {
  referenceFor(attemptId: string): string;
  start(order: Order): Promise<Answer>;
  inquire(order: Inquiry): Promise<InquiryAnswer>;
}

/** How an upstream can misbehave. In all cases but the first it accepts the connection. */
export type Misbehaviour = 'refuses_connections' | 'cuts' | 'garbage' | 'html' | 'empty' | 'huge' | 'endless';

export const MISBEHAVIOURS: readonly Misbehaviour[] = [
  'refuses_connections',
  'cuts',
  'garbage',
  'html',
  'empty',
  'huge',
  'endless',
];

/** One reply in the upstream's terms, and what it means in ours. */
export interface Documented {
  readonly name: string;
  readonly to: 'start' | 'inquire';
  readonly status: number;
  readonly body: string;
  readonly means: {
    readonly kind: (Answer | InquiryAnswer)['kind'];
    readonly reason?: string;
    readonly lasting?: LastingRefusal;
  };
}

export interface ConformanceWorld<Order extends CarrierOrder> {
  /** The connector, wired to its simulator. */
  readonly connector: Mover<Order>;
  /** An order under a fresh attempt id. */
  order(course: Course): Order;
  /** Orders that the carrier accepts and then finally refuses, each with the expected reason. */
  refused(): readonly { readonly order: Order; readonly reason: string }[];
  /** How often money moved under a reference, by the simulator's own book. */
  timesMoved(reference: string): Promise<number>;
  /** Lets the simulator's time pass until it has decided everything that it decides by itself. */
  untilDecided(): Promise<void>;
  /** Sets whether the simulator, from now on, accepts requests without its answer ever arriving. */
  loseAnswers(lose: boolean): Promise<void>;
  /** Expires the tokens that the simulator has issued. */
  expireTokens(): Promise<void>;
  /** The connector, wired to an upstream that authorises calls and then misbehaves, or replies as told. */
  facing(upstream: Misbehaviour | Pick<Documented, 'status' | 'body'>): Promise<Mover<Order>>;
  /** Every status, reason and refusal that the upstream documents, for that order. */
  documented(order: Order): readonly Documented[];
}

export interface Check<Order extends CarrierOrder> {
  readonly name: string;
  run(world: ConformanceWorld<Order>): Promise<void>;
}

/** The checks that hold in both directions. */
export function conformanceChecks<Order extends CarrierOrder>(): readonly Check<Order>[] {
  return [...movingChecks<Order>(), ...doubtfulChecks<Order>(), ...wordChecks<Order>(), ...misbehaviourChecks<Order>()];
}

/** Money that moves once, or not at all. */
function movingChecks<Order extends CarrierOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'an attempt has one reference, and no other attempt has it',
      async run({ connector, order }) {
        const [one, other] = [order('completes').attemptId, order('completes').attemptId];
        assert.equal(connector.referenceFor(one), connector.referenceFor(one));
        assert.notEqual(connector.referenceFor(one), connector.referenceFor(other));
      },
    },
    {
      name: 'an accepted order waits, is approved once paid, and stays so',
      async run({ connector, order, untilDecided, timesMoved }) {
        const paying = order('completes');
        assert.equal((await connector.start(paying)).kind, 'waiting');
        assert.equal((await connector.inquire(paying)).kind, 'waiting');
        await untilDecided();
        const answer = await connector.inquire(paying);
        assert.equal(answer.kind, 'approved');
        assert.ok(answer.kind === 'approved' && answer.providerReference);
        assert.deepEqual(await connector.inquire(paying), answer);
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
    {
      name: 'starting twice under one attempt moves money once',
      async run({ connector, order, untilDecided, timesMoved }) {
        const paying = order('completes');
        await connector.start(paying);
        assert.ok(['waiting', 'unknown'].includes((await connector.start(paying)).kind));
        await untilDecided();
        assert.ok(['waiting', 'approved', 'unknown'].includes((await connector.start(paying)).kind));
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
    {
      name: 'two starts at the same moment move money once',
      async run({ connector, order, untilDecided, timesMoved }) {
        const paying = order('completes');
        const answers = await Promise.all([connector.start(paying), connector.start(paying)]);
        for (const answer of answers) assert.ok(['waiting', 'unknown'].includes(answer.kind), answer.kind);
        await untilDecided();
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
    {
      name: 'a final no is declined with its reason, and moves nothing',
      async run({ connector, refused, untilDecided, timesMoved }) {
        for (const { order, reason } of refused()) {
          assert.equal((await connector.start(order)).kind, 'waiting');
          await untilDecided();
          const answer = await connector.inquire(order);
          assert.ok(answer.kind === 'declined' && answer.reason === reason, JSON.stringify(answer));
          assert.equal(await timesMoved(order.reference), 0);
        }
      },
    },
  ];
}

/** Uncertain outcomes, and orders that certainly were not carried out. */
function doubtfulChecks<Order extends CarrierOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'a lost answer is unknown, and found by inquiry',
      async run({ connector, order, loseAnswers, untilDecided, timesMoved }) {
        await connector.inquire(order('completes'));
        const paying = order('completes');
        await loseAnswers(true);
        assert.equal((await connector.start(paying)).kind, 'unknown');
        assert.equal((await connector.inquire(paying)).kind, 'unknown');
        await loseAnswers(false);
        await untilDecided();
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
    {
      name: 'a start that is repeated after a lost answer moves money once',
      async run({ connector, order, loseAnswers, untilDecided, timesMoved }) {
        await connector.inquire(order('completes'));
        const paying = order('completes');
        await loseAnswers(true);
        assert.equal((await connector.start(paying)).kind, 'unknown');
        await untilDecided();
        assert.equal((await connector.start(paying)).kind, 'unknown');
        await loseAnswers(false);
        assert.ok(['waiting', 'approved', 'unknown'].includes((await connector.start(paying)).kind));
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
    {
      name: 'a carrier that is down has certainly taken nothing',
      async run({ connector, order, untilDecided, timesMoved }) {
        const refused = order('carrier_is_down');
        assert.equal((await connector.start(refused)).kind, 'not_sent');
        await untilDecided();
        assert.equal((await connector.inquire(refused)).kind, 'not_found');
        assert.equal(await timesMoved(refused.reference), 0);
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
      async run({ connector, order, expireTokens, untilDecided, timesMoved }) {
        await connector.inquire(order('completes'));
        const paying = order('completes');
        await expireTokens();
        assert.equal((await connector.start(paying)).kind, 'waiting');
        await untilDecided();
        await expireTokens();
        assert.equal((await connector.inquire(paying)).kind, 'approved');
        assert.equal(await timesMoved(paying.reference), 1);
      },
    },
  ];
}

/** Which messages are trusted, and what they mean. */
function wordChecks<Order extends CarrierOrder>(): readonly Check<Order>[] {
  return [
    {
      name: 'an answer about something else than was ordered is not believed',
      async run({ connector, order, untilDecided }) {
        const paying = order('completes');
        await connector.start(paying);
        await untilDecided();
        const others = [
          { ...paying, amountMinor: paying.amountMinor + 1n },
          { ...paying, currency: paying.currency === 'usd' ? 'cdf' : 'usd' } as const,
          { ...paying, attemptId: order('completes').attemptId },
        ];
        for (const other of others) assert.equal((await connector.inquire(other)).kind, 'unknown');
      },
    },
    {
      name: 'everything that the upstream documents is translated',
      async run({ order, documented, facing }) {
        const asked = order('completes');
        const replies = documented(asked);
        assert.ok(replies.length > 0);
        for (const { name, to, status, body, means } of replies) {
          const connector = await facing({ status, body });
          const answer = to === 'start' ? await connector.start(asked) : await connector.inquire(asked);
          const reason = 'reason' in answer ? answer.reason : undefined;
          assert.equal(answer.kind, means.kind, `${name}: ${answer.kind}`);
          if (means.reason !== undefined) assert.equal(reason, means.reason, name);
          assert.equal(answer.kind === 'not_sent' ? answer.lasting : undefined, means.lasting, name);
        }
      },
    },
  ];
}

/** An upstream that breaks its own rules. */
function misbehaviourChecks<Order extends CarrierOrder>(): readonly Check<Order>[] {
  return MISBEHAVIOURS.map((misbehaviour) => ({
    name: `an upstream that misbehaves (${misbehaviour}) gets an answer of ours, and nothing is thrown`,
    async run({ order, facing }) {
      const connector = await facing(misbehaviour);
      const { kind } = await connector.start(order('completes'));
      assert.equal(kind, misbehaviour === 'refuses_connections' ? 'not_sent' : 'unknown');
      assert.equal((await connector.inquire(order('completes'))).kind, 'unknown');
    },
  }));
}
