/**
 * Customers who pay by phone and from wallets, and a merchant who pays out, refunds, changes its mind or is suspended: steps in any
 * order that chance finds.
 *
 * Invariant: nothing is awaited that a person would not wait for.
 */
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { pausePayout, resumePayout } from '../../src/usecases/payout-pause.ts';
import { answerPrompt, bearerOf, type Fields, numberEnding } from '../support/flows.ts';
import { payoutBody } from '../support/payout-flows.ts';
import { stillness } from '../support/stillness.ts';
import type { Calls, Made, Order, Place } from './race-calls.ts';
import { type Acts, takeOne, troublesOf } from './race-troubles.ts';

export interface Payers {
  /** Takes one step, and gives what it has begun some time. */
  act(): Promise<void>;
}

/** How often a customer has a number with each ending; 42 waits for the phone. */
const PAYER_ENDINGS = { '01': 4, '02': 1, '03': 1, '04': 0.5, '05': 2, '06': 0.5, '07': 2, '08': 3, '42': 5 };
const PAYEE_ENDINGS = { '50': 6, '02': 1, '03': 0.5, '05': 2, '06': 0.5, '07': 1, '08': 2 };
/** 5 000 ms: the longest after which a carrier carries out what it has turned away. */
const SOON_MS = 5_000;
const DAY_MS = 86_400_000;

export async function openPayers(place: Place, merchant: MerchantCreated, calls: Calls): Promise<Payers> {
  const { world, way, chance, note } = place;
  const { deps } = world.gateway;
  const { orders, begin, call, send, newCall } = calls;
  const wallet = await world.wallet({ balance: 1_000_00n });
  const numbers: string[] = [];
  const batches: string[] = [];

  const anyOf = <T>([first, ...rest]: readonly T[]): T | undefined => first && chance.pick([first, ...rest]);
  const live = (): readonly Order[] => {
    const open = orders.filter(({ isOver }) => !isOver);
    return open.length > 0 && chance.isOn(0.85) ? open : orders;
  };
  const anyMade = (): Made | undefined => anyOf(live().flatMap(({ payments }) => payments));

  /** The carrier turns the next request about that number away, and carries it out all the same. */
  function lieAbout(msisdn: string): void {
    way.plan(msisdn.slice(1), { fate: 'lied', afterMs: SOON_MS * chance.roll() });
  }

  async function startOrder(): Promise<void> {
    await collect(await calls.newOrder({ lifeSeconds: chance.pick([600, 7_200, 7_200]) }));
  }

  async function collect(order = anyOf(live())): Promise<void> {
    if (order === undefined) return;
    const work = async (): Promise<void> => {
      const one = await calls.collect(order, chance.pick(['mobile_money', 'none']));
      if (one !== undefined && chance.isOn(0.8)) submit(one);
    };
    begin(work());
    if (chance.isOn(0.8)) await stillness();
  }

  /** From a new number, or one that has paid before, in one tab or two. */
  function submit(one = anyMade()): void {
    if (one === undefined) return;
    const known = chance.isOn(0.3) ? anyOf(numbers) : undefined;
    const msisdn = known ?? numberEnding(chance.weighed(PAYER_ENDINGS));
    if (known === undefined) numbers.push(msisdn);
    if (chance.isOn(0.1)) lieAbout(msisdn);
    const means = { payment_method_id: 'mobile_money', mobile_money_phone_number: msisdn };
    const sent = newCall('/payments/submit', one.token, { payment_id: one.payment_id, ...means });
    note(`${one.transaction_id}: ${msisdn}`);
    for (let tabs = chance.pick([1, 1, 2]); tabs > 0; tabs -= 1) begin(send('submit', sent));
  }

  function answer(): void {
    const msisdn = anyOf(numbers.filter((number) => number.endsWith('42')));
    if (msisdn !== undefined) begin(answerPrompt(world, msisdn, chance.pick(['approve', 'approve', 'reject'])));
  }

  function payFromWallet(one = anyMade()): void {
    if (one === undefined) return;
    const means = { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin };
    begin(send('submit', newCall('/payments/submit', one.token, { payment_id: one.payment_id, ...means })));
  }

  function refund(): void {
    const one = anyOf(orders.flatMap(({ payments }) => payments));
    if (one === undefined) return;
    const { transaction_id } = one;
    const amount = chance.pick([{}, {}, { amount: '4.00' }, { amount: '8.50' }]);
    begin(send('refund', newCall('/internal/refunds', bearerOf(merchant), { transaction_id, ...amount })));
  }

  function beneficiary(): Fields {
    if (chance.isOn(0.15)) return { wallet_number: wallet.number, amount: '3.00' };
    const phone_number = numberEnding(chance.weighed(PAYEE_ENDINGS));
    if (chance.isOn(0.1)) lieAbout(phone_number);
    return { phone_number, amount: chance.pick(['2.00', '3.50', '7.00']) };
  }

  function payOut(): void {
    const people = Array.from({ length: chance.pick([1, 2, 3]) }, beneficiary);
    const receipt_mode = people.every((one) => 'wallet_number' in one) ? 'wallet' : 'mobile_money';
    const beneficiaries = people.filter((one) => receipt_mode === 'wallet' || 'phone_number' in one);
    const tomorrow = new Date(deps.clock.now() + DAY_MS).toISOString().slice(0, 10);
    const later = { sending_type: 'scheduled', scheduled_dates: [tomorrow] };
    const body = payoutBody(world, { receipt_mode, beneficiaries, ...(chance.isOn(0.2) ? later : {}) });
    const work = async (): Promise<void> => {
      const made = await send('payout', newCall('/internal/payouts', bearerOf(merchant), body));
      if (made?.status === 200) batches.push(made.json.batch_id);
    };
    begin(work());
  }

  function payAgain(): void {
    const batch = anyOf(batches);
    if (batch === undefined) return;
    const work = async (): Promise<void> => {
      const made = await send('retry', newCall(`/internal/payouts/${batch}/retry`, bearerOf(merchant), {}));
      if (made?.status === 200) batches.push(made.json.batch_id);
    };
    begin(work());
  }

  /** An operator, on a machine of its own, who is told when there is nothing to do. */
  function operate(): void {
    const batch = anyOf(batches);
    if (batch === undefined) return;
    const said = { by: 'amina', why: null };
    const what = chance.weighed({ cancel: 2, pause: 1, resume: 1 });
    const work = {
      cancel: () => cancelPayout(deps, batch, said),
      pause: () => pausePayout(deps, batch, said),
      resume: () => resumePayout(deps, batch, { ...said, catchUp: chance.isOn(0.5) }),
    }[what];
    note(`${batch}: ${what}`);
    begin(work().then(() => undefined, unlessTold));
  }

  function read(): void {
    const one = anyMade();
    if (one === undefined) return;
    const { transaction_id: id, payment_id, token: bearer, reference } = one;
    const path = chance.pick([
      `check-status/${id}`,
      `check-status/${reference}`,
      `status/${id}`,
      `mobile-money/status/${payment_id}`,
    ]);
    begin(call(path.split('/')[0] ?? '', 'GET', `/payments/${path}`, { bearer }));
  }

  const acts: Acts = {
    startOrder: [6, startOrder],
    collect: [3, () => collect()],
    submit: [8, () => submit()],
    repeat: [4, () => begin(Promise.resolve(anyOf(calls.keyed)).then((one) => one && send('repeated', one)))],
    answer: [8, answer],
    payFromWallet: [2, () => payFromWallet()],
    refund: [5, refund],
    payOut: [6, payOut],
    payAgain: [2, payAgain],
    operate: [2, operate],
    read: [4, read],
    suspendOrAllow: [0.5, calls.suspendOrAllow],
    ...troublesOf(place),
  };

  return { act: () => takeOne(acts, chance) };
}

/** Operators are told when there is nothing to do, or to come again. */
export function unlessTold(error: unknown): void {
  if (!(error instanceof OperatorError)) throw error;
}
