/**
 * A desk where money arrives late: a carrier that changes its answer, a merchant, and an operator's command line.
 */

import { expect } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';
import { type FickleCarrier, openFickleCarrier } from './fickle-carrier.ts';
import { collect, type Fields, numberEnding, type Paying, payByPhone, statusOf } from './flows.ts';
import { attemptOf, callBack } from './phone-payments.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from './world.ts';

export interface LateDesk {
  readonly carrier: FickleCarrier;
  readonly world: World;
  readonly merchant: MerchantCreated;
  readonly cli: CommandLine;
  /** A payment whose prompt is on the phone. */
  submitted(fields?: Fields): Promise<Paying>;
  /** A payment that failed, and was paid after that. */
  paidLate(fields?: Fields): Promise<{ readonly paying: Paying; readonly attempt: Attempt }>;
  close(): Promise<void>;
}

export async function openLateDesk(): Promise<LateDesk> {
  const carrier = await openFickleCarrier();
  const world = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' } });
  const merchant = await world.merchant();
  const cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);
  const submitted = async (fields: Fields = {}): Promise<Paying> => {
    const paying = await collect(world, merchant, { body: fields });
    carrier.say('PENDING');
    const answer = await payByPhone(world, paying, numberEnding('42'));
    expect(answer.status, answer.text).toBe(200);
    return paying;
  };
  return {
    carrier,
    world,
    merchant,
    cli,
    submitted,
    async paidLate(fields = {}) {
      const paying = await submitted(fields);
      for (const word of ['FAILED', 'SUCCESSFUL']) {
        carrier.say(word);
        expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
      }
      expect(await statusOf(world, paying)).toBe('failed');
      return { paying, attempt: await attemptOf(world, paying) };
    },
    async close() {
      await world.close();
      await cli.close();
      await carrier.close();
    },
  };
}
