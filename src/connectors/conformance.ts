/**
 * What every connector that takes money must pass, against its simulator and against upstreams that misbehave.
 *
 * Invariant: a check speaks only the words of the contract. A carrier's own words, and how its simulator is driven,
 * are in the world that the connector's test hands in; the test runs each check as a test of that name.
 */

import assert from 'node:assert/strict';
import type { Answer, CollectConnector, CollectOrder, InquiryAnswer } from './connector.ts';

/** How the customer, or the carrier for that customer, behaves at the simulator. */
export type Customer = 'pays' | 'does_nothing' | 'has_no_funds' | 'rejects' | 'carrier_is_down';

/** What an upstream can do to those who ask it. All but the first take the connection. */
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

/** One reply in the upstream's words, and what it means in ours. */
export interface Documented {
  readonly name: string;
  readonly to: 'start' | 'inquire';
  readonly status: number;
  readonly body: string;
  readonly means: { readonly kind: (Answer | InquiryAnswer)['kind']; readonly reason?: string };
}

export interface ConformanceWorld {
  /** The connector, wired to its simulator. */
  readonly connector: CollectConnector;
  /** An order under a fresh attempt id. */
  order(customer: Customer): CollectOrder;
  /** How often money moved under a reference, by the simulator's own book. */
  timesDebited(reference: string): Promise<number>;
  /** Lets the simulator's time pass until it has decided what it decides by itself. */
  untilDecided(): Promise<void>;
  /** Whether the simulator, from now on, takes a request without its answer ever arriving. */
  loseAnswers(lose: boolean): Promise<void>;
  /** Ends what the simulator gave out to authorise calls. */
  expireTokens(): Promise<void>;
  /** Bodies that somebody who knows the callback address could send to say that an order is paid. */
  forgedCallbacks(order: CollectOrder): readonly string[];
  /** The connector, wired to an upstream that authorises calls and then misbehaves, or replies as told. */
  facing(upstream: Misbehaviour | Pick<Documented, 'status' | 'body'>): Promise<CollectConnector>;
  /** Every status, reason and refusal that the upstream documents, for that order. */
  documented(order: CollectOrder): readonly Documented[];
}

export interface Check {
  readonly name: string;
  run(world: ConformanceWorld): Promise<void>;
}

export const CHECKS: readonly Check[] = [
  {
    name: 'an attempt has one reference, and no other attempt has it',
    async run({ connector, order }) {
      const [one, other] = [order('pays').attemptId, order('pays').attemptId];
      assert.equal(connector.referenceFor(one), connector.referenceFor(one));
      assert.notEqual(connector.referenceFor(one), connector.referenceFor(other));
    },
  },
  {
    name: 'an accepted order waits, is approved once paid, and stays so',
    async run({ connector, order, untilDecided, timesDebited }) {
      const paying = order('pays');
      assert.equal((await connector.start(paying)).kind, 'waiting');
      assert.equal((await connector.inquire(paying)).kind, 'waiting');
      await untilDecided();
      const answer = await connector.inquire(paying);
      assert.equal(answer.kind, 'approved');
      assert.ok(answer.kind === 'approved' && answer.providerReference);
      assert.deepEqual(await connector.inquire(paying), answer);
      assert.equal(await timesDebited(paying.reference), 1);
    },
  },
  {
    name: 'starting twice under one attempt moves money once',
    async run({ connector, order, untilDecided, timesDebited }) {
      const paying = order('pays');
      await connector.start(paying);
      assert.ok(['waiting', 'unknown'].includes((await connector.start(paying)).kind));
      await untilDecided();
      assert.ok(['waiting', 'approved', 'unknown'].includes((await connector.start(paying)).kind));
      assert.equal((await connector.inquire(paying)).kind, 'approved');
      assert.equal(await timesDebited(paying.reference), 1);
    },
  },
  {
    name: 'two starts at the same moment move money once',
    async run({ connector, order, untilDecided, timesDebited }) {
      const paying = order('pays');
      const answers = await Promise.all([connector.start(paying), connector.start(paying)]);
      for (const answer of answers) assert.ok(['waiting', 'unknown'].includes(answer.kind), answer.kind);
      await untilDecided();
      assert.equal(await timesDebited(paying.reference), 1);
    },
  },
  {
    name: 'a lost answer is unknown, and found by inquiry',
    async run({ connector, order, loseAnswers, untilDecided, timesDebited }) {
      await connector.inquire(order('pays'));
      const paying = order('pays');
      await loseAnswers(true);
      assert.equal((await connector.start(paying)).kind, 'unknown');
      assert.equal((await connector.inquire(paying)).kind, 'unknown');
      await loseAnswers(false);
      await untilDecided();
      assert.equal((await connector.inquire(paying)).kind, 'approved');
      assert.equal(await timesDebited(paying.reference), 1);
    },
  },
  {
    name: 'a carrier that is down has certainly taken nothing',
    async run({ connector, order, untilDecided, timesDebited }) {
      const refused = order('carrier_is_down');
      assert.equal((await connector.start(refused)).kind, 'not_sent');
      await untilDecided();
      assert.equal((await connector.inquire(refused)).kind, 'not_found');
      assert.equal(await timesDebited(refused.reference), 0);
    },
  },
  {
    name: 'a reference that never arrived is not found',
    async run({ connector, order }) {
      assert.deepEqual(await connector.inquire(order('pays')), { kind: 'not_found' });
    },
  },
  {
    name: 'a final no is declined with its reason, and moves nothing',
    async run({ connector, order, untilDecided, timesDebited }) {
      for (const [customer, reason] of [
        ['has_no_funds', 'insufficient_funds'],
        ['rejects', 'customer_rejected'],
      ] as const) {
        const refused = order(customer);
        assert.equal((await connector.start(refused)).kind, 'waiting');
        await untilDecided();
        const answer = await connector.inquire(refused);
        assert.ok(answer.kind === 'declined' && answer.reason === reason, JSON.stringify(answer));
        assert.equal(await timesDebited(refused.reference), 0);
      }
    },
  },
  {
    name: 'a forged callback changes nothing',
    async run({ connector, order, forgedCallbacks, timesDebited }) {
      const open = order('does_nothing');
      await connector.start(open);
      for (const body of forgedCallbacks(open)) {
        assert.ok(['finished', 'open', 'unreadable'].includes(connector.callbackHint(body)));
        assert.equal((await connector.inquire(open)).kind, 'waiting');
      }
      assert.equal(await timesDebited(open.reference), 0);
    },
  },
  {
    name: 'a token that ends in the middle delays nothing and doubles nothing',
    async run({ connector, order, expireTokens, untilDecided, timesDebited }) {
      await connector.inquire(order('pays'));
      const paying = order('pays');
      await expireTokens();
      assert.equal((await connector.start(paying)).kind, 'waiting');
      await untilDecided();
      await expireTokens();
      assert.equal((await connector.inquire(paying)).kind, 'approved');
      assert.equal(await timesDebited(paying.reference), 1);
    },
  },
  {
    name: 'an answer about something else than was ordered is not believed',
    async run({ connector, order, untilDecided }) {
      const paying = order('pays');
      await connector.start(paying);
      await untilDecided();
      const others = [
        { ...paying, amountMinor: paying.amountMinor + 1n },
        { ...paying, currency: paying.currency === 'usd' ? 'cdf' : 'usd' } as const,
        { ...paying, attemptId: order('pays').attemptId },
      ];
      for (const other of others) assert.equal((await connector.inquire(other)).kind, 'unknown');
    },
  },
  {
    name: 'everything that the upstream documents is translated',
    async run({ order, documented, facing }) {
      const asked = order('pays');
      const replies = documented(asked);
      assert.ok(replies.length > 0);
      for (const { name, to, status, body, means } of replies) {
        const connector = await facing({ status, body });
        const answer = to === 'start' ? await connector.start(asked) : await connector.inquire(asked);
        const reason = 'reason' in answer ? answer.reason : undefined;
        assert.equal(answer.kind, means.kind, `${name}: ${answer.kind}`);
        if (means.reason !== undefined) assert.equal(reason, means.reason, name);
      }
    },
  },
  ...MISBEHAVIOURS.map((misbehaviour) => ({
    name: `an upstream that misbehaves (${misbehaviour}) gets an answer of ours, and nothing is thrown`,
    async run({ order, facing }: ConformanceWorld) {
      const connector = await facing(misbehaviour);
      const { kind } = await connector.start(order('pays'));
      assert.equal(kind, misbehaviour === 'refuses_connections' ? 'not_sent' : 'unknown');
      assert.equal((await connector.inquire(order('pays'))).kind, 'unknown');
    },
  })),
];
