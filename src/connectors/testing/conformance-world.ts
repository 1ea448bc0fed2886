/**
 * What a connector's test hands to the conformance checks: the connector, its simulator, and what its upstream documents.
 *
 * Invariant: the checks use only the terms of the contract. A carrier's own terms, and how its simulator is driven, are here.
 */

import assert from 'node:assert/strict';
import type { Answer, InquiryAnswer, LastingRefusal } from '../../domain/answer.ts';
import type { Currency } from '../../domain/currency.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CarrierOrder, Inquiry, PayoutRequest, Upstream } from '../connector.ts';
import type { Reply } from './scripted-upstream.ts';

/** An order that can be inquired about. */
export interface AskedOrder extends CarrierOrder, Inquiry {}

/** A payout that can be inquired about. */
export interface AskedPayout extends PayoutRequest, Inquiry {}

/** The course that an order takes at the simulator. */
export type Course = 'completes' | 'stays_open' | 'carrier_is_down';

/** A connector of either direction: `start` is a collect connector's, or a payout connector's `payOut`. */
export interface Mover<Order> extends Upstream {
  referenceFor(attemptId: string): string;
  start(order: Order): Promise<Answer>;
  inquire(order: Inquiry): Promise<InquiryAnswer>;
}

/** A movement in the simulator's own book. */
export interface Moved {
  /** The number, without the plus sign. */
  readonly msisdn: string;
  /** Decimal text, as people write it. */
  readonly amount: string;
  /** Lower case. */
  readonly currency: string;
  /** The attempt that asked for it: the auditor finds it by this. */
  readonly external_id: string;
  readonly times: number;
}

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

/** The doors through which a connector is tested. */
export type Doors = Pick<Platform, 'outbound' | 'clock' | 'log'>;

export interface ConformanceWorld<Order extends AskedOrder> {
  /** The connector, wired to its simulator. */
  readonly connector: Mover<Order>;
  /** The connector, wired through those doors to an upstream at that address, which has no slash at its end. */
  connectTo(url: string, doors: Doors): Mover<Order>;
  /** How the upstream lets a caller in: its answer to a request for a token; undefined: the path is that of another request. */
  access?(path: string): Reply | undefined;
  /** Keys and tokens that the connector sends, and that must show nowhere else. */
  readonly secrets: readonly string[];
  /** What the upstream takes. Those whose minor units differ are worth more than many. */
  readonly currencies: readonly Currency[];
  /** An order under a fresh attempt id. */
  order(course: Course): Order;
  /** Orders that the carrier finally refuses, at once or later, each with the expected reason. */
  refused(): readonly { readonly order: Order; readonly reason: string }[];
  /** What moved under a reference, by the simulator's own book; undefined: nothing. */
  moved(reference: string): Moved | undefined;
  /** Lets the simulator's time pass until it has decided everything that it decides by itself. */
  untilDecided(): void;
  /** Sets whether the simulator, from now on, accepts requests without its answer ever arriving. */
  loseAnswers(lose: boolean): void;
  /** Expires the tokens that the simulator has issued; absent: it issues none. */
  expireTokens?(): void;
  /** Every status, reason and refusal that the upstream documents, for that order: what it says to `start`, and to `inquire`. */
  documented(order: Order): readonly Documented[];
}

export interface Check<Order extends AskedOrder> {
  readonly name: string;
  run(world: ConformanceWorld<Order>): Promise<void>;
}

/** How often money moved under a reference. */
export function timesMoved<Order extends AskedOrder>(world: ConformanceWorld<Order>, { reference }: Order): number {
  return world.moved(reference)?.times ?? 0;
}

/** Asserts that an answer is of one of these kinds. */
export function assertKind({ kind }: { readonly kind: string }, kinds: readonly string[], about = ''): void {
  assert.ok(kinds.includes(kind), `${about}: the answer is ${kind}, and must be ${kinds.join(' or ')}`);
}

/** What an upstream that has accepted an order may say at once: some wait, others pay and refuse while the caller waits. */
export const ACCEPTED: readonly Answer['kind'][] = ['waiting', 'approved'];

/** What may be said of an order that the upstream turned away: not every upstream makes it certain that nothing was taken. */
export const NOT_TAKEN: readonly Answer['kind'][] = ['not_sent', 'unknown'];

/** The same reference with another amount, another currency or another attempt. */
export function othersThan<Order extends AskedOrder>(order: Order, another: Order): readonly Order[] {
  return [
    { ...order, amountMinor: order.amountMinor + 1n },
    { ...order, amountMinor: order.amountMinor * 100n },
    { ...order, currency: order.currency === 'usd' ? 'cdf' : 'usd' },
    { ...order, attemptId: another.attemptId },
  ];
}
