/**
 * Distrusts what upstreams deny while this machine's clock cannot be believed: "not found" if the clock was set forward a moment ago
 * or differs from the database's, and, if it differs, also that they turned a payout or a refund away.
 *
 * Invariant: skipped time proves nothing, nor does time between the instants of two clocks. "Not found" counts only if our call
 * really had the time to arrive, and the upstream the time to register it.
 */

import type { CardConnector, Connectors, PayoutConnector, Upstream } from '../connectors/connector.ts';
import type { Answer } from '../domain/answer.ts';
import { isClockShared, openSharedClock } from './clock-guard.ts';
import { hasJustLeapt } from './clock-leap.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';

/** The same upstreams; while the clock is not to be believed, what they deny becomes "unknown", so that they are asked again. */
export function distrustByClock(connectors: Connectors, deps: Pick<Deps, 'store' | 'clock' | 'mode'>): Connectors {
  const { doubting, payingOut, refunding } = doubtsOf(deps);
  const card = connectors.card && refunding(doubting(connectors.card));
  return {
    ...connectors,
    card,
    payout: remembered((name) => connectors.payout(name), payingOut),
    upstream: remembered(
      (name) => (name === card?.name ? card : connectors.upstream(name)),
      (upstream) => (upstream === card ? card : doubting(upstream)),
    ),
  };
}

/** What `wrap` makes of the upstream that `find` finds, made once for each name. */
function remembered<U>(
  find: (name: string) => U | undefined,
  wrap: (upstream: U) => U,
): (name: string) => U | undefined {
  const known = new Map<string, U>();
  return (name) => {
    const made = known.get(name);
    if (made !== undefined) return made;
    const found = find(name);
    const wrapped = found && wrap(found);
    if (wrapped !== undefined) known.set(name, wrapped);
    return wrapped;
  };
}

const APART = "this machine's clock is not known to be the database's";

/** How upstreams of each kind are distrusted. */
function doubtsOf(deps: Pick<Deps, 'store' | 'clock' | 'mode'>) {
  const isShared = openSharedClock(deps);
  const isTrue = (looked: Promise<boolean>): Promise<boolean> =>
    looked.catch((error: unknown) => {
      rethrowUnlessTransient(error);
      return false;
    });
  const doubt = async (before: Promise<boolean>): Promise<string | undefined> => {
    if (hasJustLeapt(deps.clock)) return 'the clock was set forward a moment ago';
    return (await isTrue(before)) && (await isTrue(isShared())) ? undefined : APART;
  };
  /**
   * An order that was turned away is sent again once the settle delay since then is over, by whichever process finds it due. By the
   * instant that a slow clock writes, that delay would be over at once; so its outcome is inquired about instead. The clock is looked
   * at anew: a machine that was suspended during the call does not notice by what it remembers. The call was made, so whatever
   * prevents that look, the outcome is unknown.
   */
  const turnedAway = async (answer: Answer): Promise<Answer> => {
    if (answer.kind !== 'not_sent' || (await isClockShared(deps).catch(() => false))) return answer;
    return { kind: 'unknown', reason: `${APART}; the upstream had said: ${answer.reason}` };
  };
  return {
    doubting: <U extends Upstream>(upstream: U): U => ({
      ...upstream,
      inquire: async (order) => {
        // Looked at before the call, too: the instant at which it is made is wrong by a clock that is set right meanwhile.
        const before = isShared();
        const answer = await upstream.inquire(order);
        const reason = answer.kind === 'not_found' ? await doubt(before) : undefined;
        return reason === undefined ? answer : { kind: 'unknown', reason };
      },
    }),
    payingOut: (carrier: PayoutConnector): PayoutConnector => ({
      ...carrier,
      payOut: async (order) => turnedAway(await carrier.payOut(order)),
    }),
    refunding: (card: CardConnector): CardConnector => ({
      ...card,
      refund: async (order) => turnedAway(await card.refund(order)),
    }),
  };
}
