/**
 * The card network at the end of an unruly way.
 *
 * Invariant: what an order's customer has been given is remembered as the network was given it.
 */
import type { OutboundRequest } from '../../src/platform/platform.ts';
import type { Upstream } from './unruly-way.ts';

export interface CardNetwork extends Upstream {
  /** The return addresses that it was given, by order. */
  readonly returns: ReadonlyMap<string, readonly string[]>;
  /** Notes what a request tells it. */
  hear(request: OutboundRequest): void;
}

const MOVES_MONEY = /"apiOperation":"(PAY|REFUND)"/;

export function openCardNetwork(): CardNetwork {
  const returns = new Map<string, string[]>();
  const isMoney = ({ body }: OutboundRequest): boolean => MOVES_MONEY.test(body ?? '');
  return {
    returns,
    isMoney,
    orderOf,
    referenceOf: ({ url }) => url.split('/').at(-1) ?? '',
    /** The form and the beginning of an authentication are seldom disturbed: otherwise nobody would ever get to the money. */
    shareOf(request) {
      if (isMoney(request)) return 2;
      return request.method !== 'GET' || request.url.includes('/session/') ? 0.25 : 1;
    },
    busy: JSON.stringify({ result: 'ERROR', error: { cause: 'SERVER_BUSY', explanation: 'busy' } }),
    nameOf({ method, url, body }) {
      const operation = /"apiOperation":"(\w+)"/.exec(body ?? '')?.[1] ?? method;
      return `${operation} ${url.replace(/^.*\/merchant\/[^/]+/, '')}`;
    },
    hear(request) {
      const order = orderOf(request);
      const address = /"redirectResponseUrl":"([^"]+)"/.exec(request.body ?? '')?.[1];
      if (order !== undefined && address !== undefined) returns.set(order, [...(returns.get(order) ?? []), address]);
    },
  };
}

function orderOf({ url }: OutboundRequest): string | undefined {
  return /\/order\/([^/]+)/.exec(url)?.[1];
}
