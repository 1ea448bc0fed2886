/**
 * What every connector that sends money must pass: the checks of both directions, and those that apply to payouts only.
 *
 * Invariant: a line may be sent again only if nothing was accepted, and a merchant is never told that our own funds are missing.
 */

import assert from 'node:assert/strict';
import type { PayoutConnector } from '../connector.ts';
import { conformanceChecks } from './conformance.ts';
import {
  ACCEPTED,
  type AskedPayout,
  assertKind,
  type Check,
  type Mover,
  NOT_TAKEN,
  timesMoved,
} from './conformance-world.ts';
import { standBefore } from './stand.ts';

/** A payout connector as the checks of both directions see it. */
export function moverOf(connector: PayoutConnector): Mover<AskedPayout> {
  return { ...connector, start: connector.payOut };
}

export const PAYOUT_CHECKS: readonly Check<AskedPayout>[] = [
  ...conformanceChecks<AskedPayout>(),
  {
    name: 'what was not taken goes out again under another attempt, and is paid once',
    async run(world) {
      const { connector } = world;
      const turnedAway = world.order('carrier_is_down');
      assertKind(await connector.start(turnedAway), NOT_TAKEN, 'start');
      const again = world.order('completes');
      assert.notEqual(again.reference, turnedAway.reference);
      assertKind(await connector.start(again), ACCEPTED, 'start');
      world.untilDecided();
      assert.equal((await connector.inquire(turnedAway)).kind, 'not_found');
      assert.equal((await connector.inquire(again)).kind, 'approved');
      assert.deepEqual([timesMoved(world, turnedAway), timesMoved(world, again)], [0, 1]);
    },
  },
  {
    name: 'a payout that nobody decides waits, however long',
    async run(world) {
      const open = world.order('stays_open');
      await world.connector.start(open);
      for (let look = 0; look < 3; look += 1) {
        world.untilDecided();
        assert.equal((await world.connector.inquire(open)).kind, 'waiting');
      }
      assert.equal(timesMoved(world, open), 0);
    },
  },
  {
    name: 'nothing that the upstream says is told as a want of the merchant’s money, or of anybody’s confirmation',
    async run(world) {
      const asked = world.order('completes');
      const strange = ['insufficient_funds', 'customer_rejected', 'wrong_pin', 'prompt_expired', 'payer_unknown'];
      await standBefore(world, 'empty', async (stand) => {
        for (const { name, to, status, body } of world.documented(asked)) {
          stand.reply = { status, body };
          const { connector } = stand;
          const answer = to === 'start' ? await connector.start(asked) : await connector.inquire(asked);
          assert.ok(
            answer.kind !== 'declined' || !strange.includes(answer.reason),
            `${name}: ${JSON.stringify(answer)}`,
          );
        }
      });
    },
  },
];
