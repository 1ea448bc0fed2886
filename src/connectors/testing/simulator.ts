/**
 * The sandbox as the test of a carrier's connector meets it: over real HTTP, with time moved by hand.
 *
 * Invariant: nothing here waits, and `close` leaves no socket behind.
 */

import type { AddressInfo } from 'node:net';
import { createSandbox } from '../../../sandbox/app.ts';
import { manualWorld } from '../../../sandbox/testing/manual-world.ts';
import { makeId } from '../../domain/ids.ts';
import { createOutbound } from '../../platform/outbound.ts';
import { manualClock } from '../../platform/testing/manual-clock.ts';
import { memoryLog } from '../../platform/testing/memory-log.ts';
import type { CarrierConnector } from '../connector.ts';
import type { AskedPayout, Course } from './conformance-world.ts';

const START = Date.UTC(2026, 10, 20, 12);

/** Last two digits of numbers by what happens to their orders (contract §11): 08 completes and sends no callback. */
export const ENDINGS: Readonly<Record<Course, string>> = { completes: '08', stays_open: '04', carrier_is_down: '06' };

/** `country`: the calling code of the orders' numbers, without the plus sign. */
export async function startSimulator(country: string, { referenceFor }: Pick<CarrierConnector, 'referenceFor'>) {
  const clock = manualClock(START);
  const log = memoryLog();
  const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
  const time = manualWorld();
  const sandbox = await createSandbox({ seed: 'conformance', now: time.now, schedule: time.schedule });
  await sandbox.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = sandbox.app.server.address() as AddressInfo;
  let made = 0;

  return {
    sandbox,
    time,
    clock,
    log,
    url: `http://127.0.0.1:${port}`,
    doors: { outbound, clock, log },

    /** An order for 12.50 dollars under a fresh attempt id, about a number with that ending. */
    order(ending: string): AskedPayout {
      made += 1;
      const random = new Uint8Array(16);
      new DataView(random.buffer).setUint32(9, made);
      const attemptId = makeId('att', START, random, 7);
      return {
        attemptId,
        orderId: makeId('txn', START, random, 7),
        reference: referenceFor(attemptId),
        msisdn: `+${country}77000${String(made % 100).padStart(2, '0')}${ending}`,
        amountMinor: 1_250n,
        currency: 'usd',
        merchantName: 'Boutique Mosala',
        customerReference: `order-${made}`,
        note: null,
        callbackUrl: 'http://127.0.0.1:9/upstream/carrier/unguessable',
      };
    },

    close: async (): Promise<void> => {
      await outbound.close();
      await sandbox.app.close();
    },
  };
}

export type Simulator = Awaited<ReturnType<typeof startSimulator>>;
