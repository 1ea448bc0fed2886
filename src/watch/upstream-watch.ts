/**
 * Wraps every call to an upstream, for metrics and traces.
 *
 * Invariant: the call is made once, and its answer is passed on unchanged; watching adds nothing and removes nothing.
 */

import type {
  CardConnector,
  CollectConnector,
  Connectors,
  PayoutConnector,
  TextSender,
  Upstream,
} from '../connectors/connector.ts';
import type { LastingRefusal } from '../domain/answer.ts';

export interface UpstreamCall {
  readonly connector: string;
  readonly operation: string;
  /** The transaction that it is made for, if the order names it. */
  readonly transactionId?: string | undefined;
  readonly attemptId?: string | undefined;
}

/** Makes the call and watches it. `outcomeOf` gives one word for its answer. */
export type UpstreamWatch = <A>(
  call: UpstreamCall,
  make: () => Promise<A>,
  outcomeOf: (answer: A) => string,
) => Promise<A>;

/** One word for an answer: its kind, or why it refuses for good. */
const kindOf = ({ kind, lasting }: { readonly kind: string; readonly lasting?: LastingRefusal }): string =>
  lasting ?? kind;

/** The same upstreams, watched. */
export function watchUpstreams(connectors: Connectors, watch: UpstreamWatch): Connectors {
  const card = connectors.card && watchCard(connectors.card, watch);
  const texts = connectors.texts && watchTexts(connectors.texts, watch);
  const collect = remembering(connectors.collect, (one) => watchCollect(one, watch));
  const payout = remembering(connectors.payout, (one) => watchPayout(one, watch));
  const upstream = remembering(connectors.upstream, (one) => watchInquiries(one, watch));
  return {
    ...connectors,
    card,
    texts,
    collect,
    payout,
    upstream: (name) => (name === card?.name ? card : upstream(name)),
  };
}

/** Wraps each connector once, when it is first found. */
function remembering<C>(find: (name: string) => C | undefined, wrap: (one: C) => C): (name: string) => C | undefined {
  const known = new Map<string, C>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const made = find(name);
    if (made === undefined) return undefined;
    const wrapped = wrap(made);
    known.set(name, wrapped);
    return wrapped;
  };
}

function watchInquiries<U extends Upstream>(upstream: U, watch: UpstreamWatch): U {
  return {
    ...upstream,
    inquire: (order) => {
      const { orderId, attemptId } = order;
      const call = { connector: upstream.name, operation: 'inquire', transactionId: orderId, attemptId };
      return watch(call, () => upstream.inquire(order), kindOf);
    },
  };
}

function watchCollect(connector: CollectConnector, watch: UpstreamWatch): CollectConnector {
  const { name } = connector;
  return {
    ...watchInquiries(connector, watch),
    start: (order) => {
      const call = { connector: name, operation: 'collect', attemptId: order.attemptId };
      return watch(call, () => connector.start(order), kindOf);
    },
  };
}

function watchPayout(connector: PayoutConnector, watch: UpstreamWatch): PayoutConnector {
  const { name } = connector;
  return {
    ...watchInquiries(connector, watch),
    payOut: (order) => {
      const call = { connector: name, operation: 'pay_out', attemptId: order.attemptId };
      return watch(call, () => connector.payOut(order), kindOf);
    },
  };
}

function watchCard(card: CardConnector, watch: UpstreamWatch): CardConnector {
  const { name } = card;
  const of = (operation: string, { orderId }: { readonly orderId: string }): UpstreamCall => {
    return { connector: name, operation, transactionId: orderId };
  };
  return {
    ...watchInquiries(card, watch),
    openForm: (order) => watch(of('open_form', order), () => card.openForm(order), kindOf),
    authenticate: (order, browser) => watch(of('authenticate', order), () => card.authenticate(order, browser), kindOf),
    authentication: (order) => watch(of('authentication', order), () => card.authentication(order), kindOf),
    pay: (order) => watch(of('pay', order), () => card.pay(order), kindOf),
    payByToken: (order) => watch(of('pay_by_token', order), () => card.payByToken(order), kindOf),
    orderStatus: (orderId) =>
      watch(
        of('order_status', { orderId }),
        () => card.orderStatus(orderId),
        (order) => (order === undefined ? 'unknown' : 'answered'),
      ),
    refund: (order) => watch(of('refund', order), () => card.refund(order), kindOf),
  };
}

function watchTexts(texts: TextSender, watch: UpstreamWatch): TextSender {
  const call = { connector: 'texts', operation: 'send_text' };
  return {
    sendText: (order) =>
      watch(
        call,
        () => texts.sendText(order),
        (outcome) => outcome,
      ),
  };
}
