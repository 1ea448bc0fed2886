/**
 * A slow world: with `SLOW_WORLD=40` in the environment the database, the upstreams, the receivers and the tests themselves take
 * up to 40 ms longer each time, at random. This exposes a test that relies on what is not promised (CONTRIBUTING).
 *
 * Invariant: nothing is lost, and what comes over one connection keeps its order.
 */
import type { Outbound } from '../../src/platform/platform.ts';
import { working } from './stillness.ts';
import { openWire } from './wire.ts';

const MAX_MS = Number(process.env.SLOW_WORLD ?? 0);
if (!(MAX_MS >= 0)) throw new Error('SLOW_WORLD is a number of milliseconds, for example SLOW_WORLD=40');

/** Waits for up to SLOW_WORLD milliseconds, at random; not at all if it is unset. */
export async function slowness(): Promise<void> {
  if (MAX_MS > 0) await working(new Promise((done) => setTimeout(done, Math.random() * MAX_MS)));
}

/** The same outbound calls, with requests that leave later and answers that come later. */
export function slowly(outbound: Outbound): Outbound {
  if (MAX_MS === 0) return outbound;
  return {
    ...outbound,
    async request(request) {
      await slowness();
      const answer = await outbound.request(request);
      await slowness();
      return answer;
    },
  };
}

/** An address through which the database answers later. */
export async function slowDatabase(url: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  return MAX_MS === 0 ? { url, close: async () => undefined } : openWire(url, slowness);
}
