/**
 * What every connector that sends money must pass: the checks of both directions, and those that apply to payouts only.
 *
 * Invariant: a line may be sent again only if nothing was accepted, and a merchant is never told that our own funds are missing.
 */

import assert from 'node:assert/strict';
import type { PayoutConnector, PayoutRequest } from '../connector.ts';
import { type Check, conformanceChecks, type Mover } from './conformance.ts';

/** A payout connector as the checks of both directions see it. */
export function moverOf(connector: PayoutConnector): Mover<PayoutRequest> {
  return {
    referenceFor: connector.referenceFor,
    start: connector.payOut,
    inquire: connector.inquire,
  };
}

export const PAYOUT_CHECKS: readonly Check<PayoutRequest>[] = [
  ...conformanceChecks<PayoutRequest>(),
  {
    name: 'what was certainly not taken goes out again under another attempt, and is paid once',
    async run({ connector, order, untilDecided, timesMoved }) {
      const turnedAway = order('carrier_is_down');
      assert.equal((await connector.start(turnedAway)).kind, 'not_sent');
      const again = order('completes');
      assert.notEqual(again.reference, turnedAway.reference);
      assert.equal((await connector.start(again)).kind, 'waiting');
      await untilDecided();
      assert.equal((await connector.inquire(turnedAway)).kind, 'not_found');
      assert.equal((await connector.inquire(again)).kind, 'approved');
      assert.deepEqual([await timesMoved(turnedAway.reference), await timesMoved(again.reference)], [0, 1]);
    },
  },
  {
    name: 'a payout that nobody decides waits, however long',
    async run({ connector, order, untilDecided, timesMoved }) {
      const open = order('stays_open');
      await connector.start(open);
      for (let look = 0; look < 3; look += 1) {
        await untilDecided();
        assert.equal((await connector.inquire(open)).kind, 'waiting');
      }
      assert.equal(await timesMoved(open.reference), 0);
    },
  },
  {
    name: 'nothing that the upstream says is told as a want of the merchant’s money, or of anybody’s confirmation',
    async run({ order, documented, facing }) {
      const asked = order('completes');
      const strange = ['insufficient_funds', 'customer_rejected', 'wrong_pin', 'prompt_expired', 'payer_unknown'];
      for (const { name, to, status, body } of documented(asked)) {
        const connector = await facing({ status, body });
        const answer = to === 'start' ? await connector.start(asked) : await connector.inquire(asked);
        assert.ok(answer.kind !== 'declined' || !strange.includes(answer.reason), `${name}: ${JSON.stringify(answer)}`);
      }
    },
  },
];
