/**
 * Card payments whose PAY an unreliable network has turned away, and may have carried out all the same.
 *
 * Invariant: after `turnAway` the payment is pending, its session is free, and the network answers for itself again.
 */

import { expect } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { Attempt, Session } from '../../src/domain/records.ts';
import { type CardPaying, submitCard } from './card-payments.ts';
import { expectRefusal } from './envelope.ts';
import type { FickleDesk } from './fickle-desk.ts';
import { refusal } from './fickle-network.ts';
import { statusOf } from './flows.ts';
import { attemptOf, onlyHook } from './phone-payments.ts';
import { rowsOf } from './rows.ts';

/** A payment whose first PAY was turned away. */
export interface TurnedAway {
  readonly paying: CardPaying;
  /** Its first attempt. */
  readonly first: string;
  /** How often PAY had been sent by then. */
  readonly pays: number;
}

export interface TurnedAwayDesk {
  /** Collects a payment whose first PAY is turned away. */
  turnedAway(): Promise<TurnedAway>;
  /** Has the payment's next PAY turned away; returns its first attempt. */
  turnAway(paying: CardPaying): Promise<string>;
  attempt(id: string): Promise<Attempt>;
  /** Ends the payment's session, or frees it. */
  setSession(paying: CardPaying, status: Session['status']): Promise<void>;
  /** Expects that its first attempt pays it, that it is told once, and that the money was not asked for again. */
  expectPaidBy(tried: TurnedAway): Promise<void>;
}

export function openTurnedAwayDesk({ network, world, collected }: FickleDesk): TurnedAwayDesk {
  const turnAway = async (paying: CardPaying): Promise<string> => {
    network.issuer = 'SUCCESSFUL';
    network.instead('pay', refusal('SERVER_BUSY'));
    expectRefusal(await submitCard(world, paying), 502, '1404');
    expect(await statusOf(world, paying)).toBe('pending');
    network.instead('pay', undefined);
    const [attempt] = await rowsOf<{ id: string }>(world, 'select id from attempt where payment_id = $1', [
      paying.transaction_id,
    ]);
    return attempt?.id ?? '';
  };
  return {
    turnAway,
    async turnedAway() {
      const paying = await collected();
      const first = await turnAway(paying);
      return { paying, first, pays: network.count('pay') };
    },
    async attempt(id) {
      const attempt = await world.gateway.store.attempt.get(shardOf(id), id);
      if (attempt === undefined) throw new Error('the row is there');
      return attempt;
    },
    async setSession({ transaction_id }, status) {
      const { store } = world.gateway;
      const payment = await store.payment.get(shardOf(transaction_id), transaction_id);
      const session = await store.session.caller(shardOf(transaction_id), payment?.session_id ?? '');
      if (session === undefined) throw new Error('the row is there');
      const { shard, id, version } = session;
      const row = { status, submitting_payment_id: status === 'ACTIVE' ? null : transaction_id };
      expect(await store.commit({ updates: [{ table: 'session', shard, id, version, row }] })).toBe('won');
    },
    async expectPaidBy({ paying, first, pays }) {
      expect(network.count('pay')).toBe(pays);
      expect(await attemptOf(world, paying)).toMatchObject({ id: first, status: 'approved' });
      expect((await onlyHook(world, paying)).body.status).toBe('approved');
    },
  };
}
