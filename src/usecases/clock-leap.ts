/**
 * Distrusts upstreams' "not found" just after the test clock was set forward.
 *
 * Invariant: skipped time proves nothing. "Not found" counts only if our call really had the time to arrive.
 */

import type { Connectors, Upstream } from '../connectors/connector.ts';
import type { Clock } from '../platform/platform.ts';

/** 60 s, longer than a call can be in flight, and than any process takes to notice a leap. */
const CALM_MS = 60_000;

/** The same upstreams; for `CALM_MS` after a leap their "not found" becomes "unknown", so that they are asked again. */
export function distrustAfterLeap(connectors: Connectors, clock: Pick<Clock, 'wall' | 'leaptAt'>): Connectors {
  const known = new Map<string, Upstream>();
  const calm = (): boolean => {
    const leapt = clock.leaptAt();
    return leapt === undefined || clock.wall() - leapt >= CALM_MS;
  };
  const doubting = <U extends Upstream>(upstream: U): U => ({
    ...upstream,
    inquire: async (order) => {
      const answer = await upstream.inquire(order);
      if (answer.kind !== 'not_found' || calm()) return answer;
      return { kind: 'unknown', reason: 'the clock was set forward a moment ago' };
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
