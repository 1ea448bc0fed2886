/**
 * A slow world: with `SLOW_WORLD=40` in the environment the database, the upstreams, the receivers and the tests themselves take
 * up to 40 ms longer each time, at random. A test that counts on what is not promised shows itself (CONTRIBUTING).
 *
 * Invariant: nothing is lost, and what comes over one connection keeps its order.
 */
import type { Outbound } from '../../src/platform/platform.ts';
import { openWire } from './wire.ts';

const MOST_MS = Number(process.env.SLOW_WORLD ?? 0);
if (!(MOST_MS >= 0)) throw new Error('SLOW_WORLD is a number of milliseconds, for example SLOW_WORLD=40');

/** Waits as long as the world is slow; not at all where it is not. */
export async function slowness(): Promise<void> {
  if (MOST_MS > 0) await new Promise((done) => setTimeout(done, Math.random() * MOST_MS));
}

/** The same door, whose requests leave later and whose answers come later. */
export function slowly(outbound: Outbound): Outbound {
  if (MOST_MS === 0) return outbound;
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

/** The way to a database that answers later. */
export async function slowDatabase(url: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  return MOST_MS === 0 ? { url, close: async () => undefined } : openWire(url, slowness);
}
