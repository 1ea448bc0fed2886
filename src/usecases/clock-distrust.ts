/**
 * Distrusts upstreams' "not found" by a clock that was set forward a moment ago, or is not the database's.
 *
 * Invariant: skipped time proves nothing, nor does time between the instants of two clocks. "Not found" counts only if our call
 * really had the time to arrive, and the upstream the time to register it.
 */

import type { Connectors, Upstream } from '../connectors/connector.ts';
import type { Clock } from '../platform/platform.ts';
import { openSharedClock } from './clock-guard.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';

/** 60 s, longer than a call can be in flight, and than any process takes to notice a leap. */
const CALM_MS = 60_000;

/** The same upstreams; while the clock is not to be believed, their "not found" becomes "unknown", so that they are asked again. */
export function distrustByClock(connectors: Connectors, deps: Pick<Deps, 'store' | 'clock' | 'mode'>): Connectors {
  const known = new Map<string, Upstream>();
  const isShared = openSharedClock(deps);
  const doubt = async (): Promise<string | undefined> => {
    if (hasLeapt(deps.clock)) return 'the clock was set forward a moment ago';
    const isBelieved = await isShared().catch((error: unknown) => {
      rethrowUnlessTransient(error);
      return false;
    });
    return isBelieved ? undefined : "this machine's clock is not known to be the database's";
  };
  const doubting = <U extends Upstream>(upstream: U): U => ({
    ...upstream,
    inquire: async (order) => {
      const answer = await upstream.inquire(order);
      const reason = answer.kind === 'not_found' ? await doubt() : undefined;
      return reason === undefined ? answer : { kind: 'unknown', reason };
    },
  });
  const card = connectors.card && doubting(connectors.card);
  return {
    ...connectors,
    card,
    upstream(name) {
      if (name === card?.name) return card;
      const found = known.get(name) ?? connectors.upstream(name);
      if (found === undefined) return undefined;
      const doubted = known.get(name) ?? doubting(found);
      known.set(name, doubted);
      return doubted;
    },
  };
}

function hasLeapt(clock: Pick<Clock, 'wall' | 'leaptAt'>): boolean {
  const leapt = clock.leaptAt();
  return leapt !== undefined && clock.wall() - leapt < CALM_MS;
}
