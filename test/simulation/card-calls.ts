/**
 * What customers who pay by card can do at the gateways and at the card network.
 *
 * Invariant: as of every call in a race.
 */
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { CARDS, type CardName, openFormOf } from '../support/card-payments.ts';
import { type Answer, collectBody } from '../support/world.ts';
import type { CardNetwork } from './card-network.ts';
import type { Member } from './gateway-pair.ts';
import { type Calls, type Keyed, type Made, type Order, openCalls, type Place } from './race-calls.ts';

/** A race in which a card network takes part. */
export type CardPlace = Place & { readonly network: CardNetwork };

/** Methods answer undefined if the gateway died, or the step was not possible. */
export interface CardCalls extends Calls {
  /** The fields that issuers have sent so far. */
  readonly callbacks: unknown[];
  /** A payment whose card is typed into the hosted form. */
  collectCard(order: Order): Promise<Made | undefined>;
  payByToken(order: Order, token: string): Promise<void>;
  fill(one: Made, card: CardName, expiry?: string): Promise<void>;
  /** The hosted page opens another form. */
  reopen(one: Made): Promise<boolean>;
  /** The issuer's fields, once its customer has answered. */
  answerIssuer(one: Made, result: 'pass' | 'fail' | 'cancel'): Promise<unknown>;
  comeBack(kind: string, body: unknown, query: string, at?: Member): Promise<Answer | undefined>;
  control(path: string, body: unknown): Promise<string | undefined>;
}

export function openCardCalls(place: CardPlace, merchant: MerchantCreated): CardCalls {
  const { world, chance, note } = place;
  const calls = openCalls(place, merchant);
  const callbacks: unknown[] = [];

  async function control(path: string, body: unknown): Promise<string | undefined> {
    const answer = await fetch(`${world.sandboxUrl}/control/cardnet/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    return answer.status === 200 ? text : undefined;
  }

  return {
    ...calls,
    callbacks,
    control,
    collectCard: (order) => calls.collect(order, 'card', { cardnet_payment_method: 'HOSTED_SESSION' }),
    async payByToken(order, native_pay_token) {
      const method = chance.pick(['google_pay', 'apple_pay']);
      const body = collectBody(world, method, { native_pay_token, native_pay_token_type: 'PAYMENT_GATEWAY' });
      const sent = calls.newCall('/payments/collect', order.token, body);
      calls.made(order, await calls.send(native_pay_token, sent));
    },
    async fill(one, card, expiry = '01/39') {
      const [expiry_month, expiry_year] = expiry.split('/');
      note(`${one.transaction_id}: ${card} ${expiry}`);
      await control(`sessions/${one.form}`, { number: CARDS[card], expiry_month, expiry_year, security_code: '100' });
    },
    async reopen(one) {
      const form = await openFormOf(world, one).catch(() => undefined);
      if (form === undefined) return false;
      note(`${one.transaction_id}: another form`);
      one.form = form;
      return true;
    },
    async answerIssuer(one, result) {
      const fields = await control(`challenges/${one.transaction_id}`, { result });
      if (fields === undefined) return undefined;
      note(`${one.transaction_id}: the issuer says ${result}`);
      callbacks.push(JSON.parse(fields));
      return callbacks.at(-1);
    },
    comeBack: (kind, body, query, at) =>
      calls.call(`callback (${kind})`, 'POST', `/api/v1/payments/card/3ds-callback${query}`, { body }, at),
  };
}

/** The submit of a payment's form. */
export function submitOf({ newCall }: Pick<Calls, 'newCall'>, { payment_id, form: session_id, token }: Made): Keyed {
  const means = { payment_method_id: 'card', cardnet_payment_method: 'HOSTED_SESSION', session_id };
  return newCall('/payments/submit', token, { payment_id, ...means });
}
