/**
 * What tests of a carrier that refuses calls but has taken them all the same begin with: a gateway that uses that carrier.
 *
 * Invariant: the gateway is called over HTTP; only the rows of its attempts are read besides.
 */

import { expect } from 'vitest';
import type { Reply } from '../../src/connectors/testing/scripted-upstream.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from './envelope.ts';
import { collect, numberEnding, type Paying, payByPhone, statusOf } from './flows.ts';
import { callBack } from './phone-payments.ts';
import { rowsOf } from './rows.ts';
import { until } from './waiting.ts';
import { openWaveringCarrier, type Said, TURNED_AWAY, type WaveringCarrier } from './wavering-carrier.ts';
import { openWorld, type World } from './world.ts';

export const NO_ANSWER: Reply = { status: 500, body: '' };

export interface WaveringDesk {
  readonly carrier: WaveringCarrier;
  readonly world: World;
  /** The environment that makes a gateway use that carrier. */
  readonly env: Readonly<Record<string, string>>;
  /** The attempts of a payment, a payout line or a refund, in the order in which they were made. */
  attemptsOf(order: string): Promise<Attempt[]>;
  attemptOf(order: string, at: number): Promise<Attempt>;
  /** Resolves when that attempt of the order has that status, while time passes. */
  untilAttempt(order: string, at: number, status: string): Promise<true>;
  /** From now on the carrier answers `said` about an attempt; it also calls back. */
  hearOf(attempt: Attempt, said: Said): Promise<void>;
  /** A payment by phone whose only attempt was refused by the carrier. */
  turnedAway(merchant?: MerchantCreated): Promise<{ readonly paying: Paying; readonly first: Attempt }>;
  close(): Promise<void>;
}

export async function openWaveringDesk(): Promise<WaveringDesk> {
  const carrier = await openWaveringCarrier();
  const env = { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' };
  const world = await openWorld({ env });

  const attemptsOf = (order: string): Promise<Attempt[]> =>
    rowsOf(world, 'select * from attempt where payment_id = $1 order by created_at, id', [order]);
  const attemptOf = async (order: string, at: number): Promise<Attempt> => {
    const attempt = (await attemptsOf(order))[at];
    if (attempt === undefined) throw new Error(`no attempt ${at} has been made`);
    return attempt;
  };

  return {
    carrier,
    world,
    env,
    attemptsOf,
    attemptOf,
    untilAttempt: (order, at, status) =>
      until(async () => {
        if ((await attemptsOf(order))[at]?.status === status) return true;
        await world.pass(5_000);
        return undefined;
      }),
    async hearOf(attempt, said) {
      carrier.say(attempt.reference, said);
      expect(await callBack(callbackUrl(world.gateway.deps, attempt), {})).toBe(200);
    },
    async turnedAway(merchant) {
      carrier.answer(TURNED_AWAY);
      const paying = await collect(world, merchant ?? (await world.merchant()), { method: 'mobile_money' });
      const refused = await payByPhone(world, paying, numberEnding('42'));
      expectRefusal(refused, 502, '1404', 'CARRIER_DOWN');
      expect(await statusOf(world, paying)).toBe('pending');
      return { paying, first: await attemptOf(paying.transaction_id, 0) };
    },
    async close() {
      await world.close();
      await carrier.close();
    },
  };
}
