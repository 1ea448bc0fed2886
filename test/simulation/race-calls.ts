/**
 * What everybody can do at the gateways of a race, and what they were answered.
 *
 * Invariant: every answer about a payment is kept, to be judged. What a gateway says in the moment of its death counts for nothing.
 */
import { isRemembered } from '../../src/domain/refusal.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import type { Fields, Paying } from '../support/flows.ts';
import { type Answer, type CallOptions, callAt, collectBody, mint, type World } from '../support/world.ts';
import type { Chance } from './chance.ts';
import type { Member, Pair } from './gateway-pair.ts';
import type { Way } from './unruly-way.ts';

/** The place of a race. */
export interface Place {
  readonly world: World;
  readonly pair: Pair;
  readonly way: Way;
  readonly chance: Chance;
  note(line: string): void;
  /** Lets time pass, in steps of that length. */
  pass(milliseconds: number, stepMs: number): Promise<void>;
}

/** An answer about a payment, and the call that got it. */
export interface Heard {
  readonly call: string;
  readonly transactionId: string;
  readonly answer: Answer;
}

/** A call under an Idempotency-Key, and the first final answer to it. */
export interface Keyed {
  readonly path: string;
  readonly options: CallOptions;
  first: Answer | undefined;
}

export interface Order {
  readonly token: string;
  readonly reference: string;
  readonly payments: Made[];
  /** It belongs to a scene. */
  readonly isStaged: boolean;
  /** It has been paid, as far as its customer knows. */
  isOver: boolean;
}

/** A payment of an order. `form`: the hosted form's session, if it has one. */
export type Made = Paying & { readonly order: Order; form: string | undefined };

/** Methods answer undefined if the gateway died, or the step was not possible. */
export interface Calls {
  readonly orders: readonly Order[];
  readonly keyed: readonly Keyed[];
  readonly heard: readonly Heard[];
  /** What was wrong with single answers. */
  readonly wrongs: string[];
  /** Begins something that is not awaited here. */
  begin(work: Promise<unknown>): void;
  call(name: string, method: string, path: string, options: CallOptions, at?: Member): Promise<Answer | undefined>;
  newCall(path: string, bearer: string, body: unknown): Keyed;
  /** A call that may be repeated under its key: what was answered for good is answered again, to the byte. */
  send(name: string, sent: Keyed, at?: Member): Promise<Answer | undefined>;
  /** An order with a session of its own. */
  newOrder(options?: { readonly lifeSeconds?: number; readonly isStaged?: boolean }): Promise<Order | undefined>;
  /** A payment of an order, by that method. */
  collect(order: Order, method: string, more?: Fields): Promise<Made | undefined>;
  /** The payment that a collect has answered. */
  made(order: Order, answer: Answer | undefined): Made | undefined;
  suspendOrAllow(): Promise<void>;
  /** Lifts what hinders anybody, and waits until every call has been answered. Then repeats every call under its key. */
  finish(): Promise<void>;
}

/** 800 s by the clock: calls that have not been answered by then never will be. */
const FINISH_STEPS = 400;

export function openCalls({ world, pair, way, chance, note, pass }: Place, merchant: MerchantCreated): Calls {
  const orders: Order[] = [];
  const heard: Heard[] = [];
  const wrongs: string[] = [];
  const keyed: Keyed[] = [];
  const running = new Set<Promise<void>>();
  let keys = 0;
  let isSuspended = false;
  let suspensions = 0;

  const headers = (): Record<string, string> => {
    keys += 1;
    return chance.isOn(0.4) ? {} : { 'idempotency-key': `${merchant.key_id}-${keys}` };
  };

  function begin(work: Promise<unknown>): void {
    const one = work.catch((error: unknown) => void wrongs.push(String(error))).then(() => void running.delete(one));
    running.add(one);
  }

  async function call(
    name: string,
    method: string,
    path: string,
    options: CallOptions,
    member = chance.pick(pair.members()),
  ): Promise<Answer | undefined> {
    note(`${name} at ${member.name}`);
    const answer = await callAt(member.url, method, path, options).catch(() => undefined);
    if (answer === undefined || member.isDead) return undefined;
    const { json } = answer;
    note(`${name} at ${member.name}: ${answer.status} ${json?.status ?? json?.error_code} ${json?.transaction_id}`);
    if (json?.error_code === '1401') wrongs.push(`${name} was answered ${answer.text}`);
    if (json?.transaction_id) heard.push({ call: name, transactionId: json.transaction_id, answer });
    const order = orders.find(({ token }) => token === options.bearer);
    const isConsumed = json?.details?.[0]?.code === 'SESSION_CONSUMED';
    if (order !== undefined && (isConsumed || json?.status === 'approved')) order.isOver = true;
    return answer;
  }

  async function send(name: string, sent: Keyed, at?: Member): Promise<Answer | undefined> {
    const answer = await call(name, 'POST', sent.path, sent.options, at);
    if (answer === undefined || answer.json?.retryable) return answer;
    if (answer.status >= 300 && !isRemembered(answer.status)) return answer;
    if (sent.options.headers?.['idempotency-key'] !== undefined) {
      sent.first ??= answer;
      if (sent.first.text !== answer.text) wrongs.push(`${name}: first ${sent.first.text}, then ${answer.text}`);
    }
    return answer;
  }

  function newCall(path: string, bearer: string, body: unknown): Keyed {
    const one = { path, options: { bearer, body, headers: headers() }, first: undefined };
    if ('idempotency-key' in one.options.headers) keyed.push(one);
    return one;
  }

  function made(order: Order, answer: Answer | undefined): Made | undefined {
    if (answer?.status !== 200) return undefined;
    const { payment_id, transaction_id, session_id: form } = answer.json;
    const { token, reference } = order;
    const one = { payment_id, transaction_id, token, reference, order, form };
    order.payments.push(one);
    return one;
  }

  async function suspendOrAllow(): Promise<void> {
    const { id } = merchant.merchant;
    note(isSuspended ? 'the merchant is allowed' : 'the merchant is suspended');
    if (isSuspended) {
      await setMerchantStatus(world.gateway.deps, id, 'ALLOWED');
      isSuspended = false;
      return;
    }
    isSuspended = true;
    suspensions += 1;
    await setMerchantStatus(world.gateway.deps, id, 'SUSPENDED');
  }

  /** Undefined while the merchant is suspended, or if that happens meanwhile. */
  async function minted(lifeSeconds: number): Promise<{ token: string; reference: string } | undefined> {
    if (isSuspended) return undefined;
    const before = suspensions;
    return mint(world, merchant, { ttl_seconds: lifeSeconds }).catch((error: unknown) => {
      if (suspensions === before) throw error;
      return undefined;
    });
  }

  return {
    orders,
    keyed,
    heard,
    wrongs,
    begin,
    call,
    newCall,
    send,
    made,
    suspendOrAllow,
    async newOrder({ lifeSeconds = 7_200, isStaged = false } = {}) {
      const session = await minted(lifeSeconds);
      if (session === undefined) return undefined;
      const { token, reference } = session;
      const order: Order = { token, reference, payments: [], isStaged, isOver: false };
      orders.push(order);
      return order;
    },
    async collect(order, method, more) {
      const options = { bearer: order.token, body: collectBody(world, method, more), headers: headers() };
      return made(order, await call('collect', 'POST', '/payments/collect', options));
    },
    async finish() {
      way.trouble = 0;
      pair.heal();
      if (isSuspended) await suspendOrAllow();
      for (let i = 0; i < FINISH_STEPS && running.size + way.delayed() > 0; i += 1) await pass(2_000, 2_000);
      if (running.size > 0) wrongs.push(`${running.size} calls were not answered`);
      for (const one of keyed) if (one.first !== undefined) await send('repeated at last', one);
    },
  };
}
