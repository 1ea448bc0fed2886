/**
 * Customers who pay by card in any order of steps that chance finds: several tabs, cards, methods and tries at once, callbacks
 * that come twice, late or about another order; and a merchant who is suspended meanwhile, or refunds.
 *
 * Invariant: nothing is awaited that a person would not wait for.
 */
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { callbackFor } from '../support/card-payments.ts';
import { bearerOf } from '../support/flows.ts';
import { stillness } from '../support/stillness.ts';
import { collectBody } from '../support/world.ts';
import { type CardCalls, type CardPlace, submitOf } from './card-calls.ts';
import type { Made, Order } from './race-calls.ts';
import { type Acts, takeOne, troublesOf } from './race-troubles.ts';

export interface Shoppers {
  /** Takes one step, and gives what it has begun some time. */
  act(): Promise<void>;
}

/** The share of steps that may concern an order of a scene. */
const STAGED_SHARE = 0.15;

export async function openShoppers(place: CardPlace, merchant: MerchantCreated, calls: CardCalls): Promise<Shoppers> {
  const { world, network, chance } = place;
  const { orders, callbacks, begin, call, send, newCall } = calls;
  const wallet = await world.wallet({ balance: 1_000_00n });

  const anyOf = <T>([first, ...rest]: readonly T[]): T | undefined => first && chance.pick([first, ...rest]);
  /** Mostly orders that may still be paid, and seldom those of a scene: it would seldom come to its moment. */
  const live = (): readonly Order[] => {
    const some = chance.isOn(STAGED_SHARE) ? orders : orders.filter(({ isStaged }) => !isStaged);
    const open = some.filter(({ isOver }) => !isOver);
    return open.length > 0 && chance.isOn(0.85) ? open : some;
  };
  const anyMade = (): Made | undefined => anyOf(live().flatMap(({ payments }) => payments));
  const anyByCard = (): Made | undefined =>
    anyOf(live().flatMap(({ payments }) => payments.filter(({ form }) => form !== undefined)));

  async function startOrder(): Promise<void> {
    await collect(await calls.newOrder({ lifeSeconds: chance.pick([600, 7_200, 7_200]) }));
  }

  async function collect(order = anyOf(live())): Promise<void> {
    if (order === undefined) return;
    const work = async (): Promise<void> => {
      const one = await calls.collectCard(order);
      if (one === undefined) return;
      await fill(one);
      if (chance.isOn(0.7)) submit(one);
    };
    begin(work());
    if (chance.isOn(0.8)) await stillness();
  }

  async function fill(one = anyByCard()): Promise<void> {
    if (one === undefined) return;
    const card = chance.weighed({
      challenge: 6,
      frictionless: 4,
      lost: 3,
      by_expiry: 3,
      declined: 1,
      not_enrolled: 1,
      rejected: 1,
      no_funds: 1,
    });
    // The network's own test data: times out, fails, does not know, declines.
    const expiry = card === 'by_expiry' ? chance.pick(['08/28', '01/37', '05/37', '05/39']) : '01/39';
    await calls.fill(one, card, expiry);
  }

  function submit(one = anyByCard()): void {
    if (one === undefined) return;
    const sent = submitOf(calls, one);
    const work = async (): Promise<void> => {
      const answer = await send('submit', sent);
      if (answer?.status === 202 && chance.isOn(0.6)) await answerIssuer(one);
    };
    for (let tabs = chance.pick([1, 1, 2]); tabs > 0; tabs -= 1) begin(work());
  }

  async function answerIssuer(one = anyByCard()): Promise<void> {
    if (one === undefined) return;
    const result = chance.weighed({ pass: 6, fail: 1, cancel: 1 });
    if ((await calls.answerIssuer(one, result)) === undefined) return;
    for (let times = chance.pick([0, 1, 1, 2]); times > 0; times -= 1) comeBack(one);
  }

  /** A callback: signed, a signed one again, or a browser's return, perhaps with another order's name. */
  function comeBack(one = anyByCard()): void {
    if (one === undefined) return;
    const kind = chance.weighed({ again: callbacks.length === 0 ? 0 : 4, signed: 2, browser: 4, mixed: 1 });
    let body: unknown = anyOf(callbacks);
    let query = '';
    if (kind === 'signed') {
      body = callbackFor(world, one, { result: chance.pick(['AUTHENTICATED', 'REJECTED']) });
      callbacks.push(body);
    } else if (kind !== 'again') {
      const address = anyOf(network.returns.get(one.transaction_id) ?? []);
      if (address === undefined) return;
      query = new URL(address).search;
      body = { 'order.id': (kind === 'mixed' ? anyMade() : one)?.transaction_id, result: 'SUCCESS' };
    }
    for (let times = chance.pick([1, 1, 2]); times > 0; times -= 1) begin(calls.comeBack(kind, body, query));
  }

  function payByToken(): void {
    const order = anyOf(live());
    if (order === undefined) return;
    const token = chance.weighed({ tok_approved: 2, tok_timeout: 1, tok_declined: 1, tok_unavailable: 1 });
    begin(calls.payByToken(order, token));
  }

  function payFromWallet(): void {
    const order = anyOf(live());
    if (order === undefined) return;
    const { token: bearer } = order;
    const work = async (): Promise<void> => {
      const body = collectBody(world, 'none');
      const answer = await call('collect', 'POST', '/payments/collect', { bearer, body });
      if (answer?.status !== 200) return;
      const means = { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin };
      const paid = { payment_id: answer.json.payment_id, ...means };
      await call('submit', 'POST', '/payments/submit', { bearer, body: paid });
    };
    begin(work());
  }

  function refund(): void {
    const one = anyOf(orders.flatMap(({ payments }) => payments));
    if (one === undefined) return;
    const { transaction_id } = one;
    const amount = chance.pick([{}, {}, { amount: '4.00' }, { amount: '8.50' }]);
    begin(send('refund', newCall('/internal/refunds', bearerOf(merchant), { transaction_id, ...amount })));
  }

  function read(): void {
    const one = anyMade();
    if (one === undefined) return;
    const { transaction_id: id, token: bearer, reference } = one;
    const path = chance.pick([
      `check-status/${id}`,
      `check-status/${reference}`,
      `status/${id}`,
      `cardnet/status/${id}`,
    ]);
    begin(call(path.split('/')[0] ?? '', 'GET', `/payments/${path}`, { bearer }));
  }

  async function reopen(): Promise<void> {
    const one = anyMade();
    if (one !== undefined && (await calls.reopen(one))) await fill(one);
  }

  const acts: Acts = {
    startOrder: [5, startOrder],
    collect: [5, () => collect()],
    fill: [2, () => fill()],
    submit: [9, () => submit()],
    repeat: [4, () => begin(Promise.resolve(anyOf(calls.keyed)).then((one) => one && send('repeated', one)))],
    answerIssuer: [8, () => answerIssuer()],
    comeBack: [8, () => comeBack()],
    payByToken: [3, payByToken],
    payFromWallet: [2, payFromWallet],
    refund: [4, refund],
    read: [4, read],
    reopen: [2, reopen],
    tamper: [0.5, () => calls.control('attacks', { order_id: anyByCard()?.transaction_id, tamper_amount: '1.00' })],
    suspendOrAllow: [0.5, calls.suspendOrAllow],
    ...troublesOf(place),
  };

  return { act: () => takeOne(acts, chance) };
}
