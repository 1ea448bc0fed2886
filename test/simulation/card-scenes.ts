/**
 * Customers in situations in which a gateway could charge an order twice, or lose sight of its money: each scene leads up to one
 * dangerous moment, and chance decides how it goes on.
 *
 * Invariant: a scene relies on nothing. Whatever else happens at the same time may make it end early.
 */
import { pause } from '../../src/usecases/patience.ts';
import { type CardCalls, type CardPlace, submitOf } from './card-calls.ts';
import type { Made, Order } from './race-calls.ts';

/** How a customer tries again: with another form of the same payment, another payment of the order, or a wallet's token. */
type Again = 'form' | 'payment' | 'token';

export type Scene = 'returns' | 'arrives_last' | `turned_away_${Again}`;

/** How often a customer who is turned away tries again. */
const TRIES = 4;
/** 5 000 ms: the longest after which the network carries out what it has turned away. */
const SOON_MS = 5_000;
/** 50 000 ms, and up to 9 000 more: a request that arrives so late has been inquired about, and its sender waits no longer. */
const LATE_MS = 50_000;
const VERY_LATE_MS = 9_000;

export function scenesOf(place: CardPlace, calls: CardCalls): Record<Scene, () => Promise<void>> {
  const { world, pair, way, network, chance, note } = place;
  const wait = (least: number, most: number): Promise<void> =>
    pause(world.clock, least + (most - least) * chance.roll());

  /** Keeps asking until there is something. */
  async function insist<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const found = await ask();
      if (found !== undefined) return found;
      await wait(2_000, 6_000);
    }
    return undefined;
  }

  async function paying(card: 'challenge' | 'frictionless'): Promise<Made | undefined> {
    const order = await insist(() => calls.newOrder({ isStaged: true }));
    const one = order && (await insist(() => calls.collectCard(order)));
    if (one !== undefined) await calls.fill(one, card);
    return one;
  }

  /** The status with which a submit succeeds; undefined if none does. */
  const submit = (one: Made): Promise<number | undefined> =>
    insist(async () => {
      const answer = await calls.send('submit', submitOf(calls, one));
      return answer !== undefined && answer.status < 300 ? answer.status : undefined;
    });

  /** The customer passes the challenge; then the browser, the network and readers come to both gateways at once. */
  async function returnAtOnce(one: Made): Promise<void> {
    const fields = await calls.answerIssuer(one, 'pass');
    if (fields === undefined) return;
    const [first, second] = chance.isOn(0.5) ? pair.members() : pair.members().toReversed();
    const address = network.returns.get(one.transaction_id)?.at(-1);
    const query = address === undefined ? '' : new URL(address).search;
    const browser = { 'order.id': one.transaction_id, result: 'SUCCESS' };
    const read = `/payments/check-status/${one.transaction_id}`;
    await Promise.all([
      calls.comeBack('signed', fields, '', first),
      calls.comeBack('browser', browser, query, second),
      calls.call('check-status', 'GET', read, { bearer: one.token }, first),
      calls.call('check-status', 'GET', read, { bearer: one.token }, second),
    ]);
  }

  async function payAgain(order: Order, before: Made, how: Again): Promise<void> {
    note(`${before.transaction_id}: its customer tries again, by another ${how}`);
    if (how === 'token') return calls.payByToken(order, 'tok_approved');
    const one = how === 'payment' ? await calls.collectCard(order) : before;
    if (one === undefined || (how === 'form' && !(await calls.reopen(one)))) return;
    await calls.fill(one, 'frictionless');
    await calls.send('submit', submitOf(calls, one));
  }

  /** The network turns the request for the money away, and carries it out all the same; so the customer tries again. */
  async function turnedAway(how: Again): Promise<void> {
    const one = await paying('frictionless');
    if (one === undefined) return;
    way.plan(one.transaction_id, { fate: 'lied', afterMs: SOON_MS * chance.roll() });
    await calls.send('submit', submitOf(calls, one));
    for (let tries = 0; tries < TRIES && !one.order.isOver; tries += 1) {
      await wait(2 * SOON_MS, 4 * SOON_MS);
      await payAgain(one.order, one, how);
    }
  }

  return {
    async returns() {
      const one = await paying('challenge');
      if (one !== undefined && (await submit(one)) === 202) await returnAtOnce(one);
    },
    /** The request for the money arrives when nobody waits for its answer any more. */
    async arrives_last() {
      const one = await paying(chance.pick(['challenge', 'frictionless']));
      if (one === undefined) return;
      way.plan(one.transaction_id, { fate: 'sent_late', afterMs: LATE_MS + VERY_LATE_MS * chance.roll() });
      if ((await submit(one)) === 202) await returnAtOnce(one);
    },
    turned_away_form: () => turnedAway('form'),
    turned_away_payment: () => turnedAway('payment'),
    turned_away_token: () => turnedAway('token'),
  };
}
