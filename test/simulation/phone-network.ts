/**
 * A carrier at the end of an unruly way: MTN's two products (upstreams §1).
 *
 * Invariant: as of every upstream in a race. Plans are made by the number whose money moves.
 */
import type { OutboundRequest } from '../../src/platform/platform.ts';
import type { Upstream } from './unruly-way.ts';

const MOVES_MONEY = /\/v1_0\/(requesttopay|transfer)$/;
const PARTY = /"partyId":"(\d+)"/;

export function isOfCarrier({ url }: OutboundRequest): boolean {
  return /\/(collection|disbursement)\//.test(url);
}

export const PHONE_NETWORK: Upstream = {
  isMoney,
  referenceOf: ({ url, headers }) => headers['x-reference-id'] ?? url.split('/').at(-1) ?? '',
  orderOf: ({ body }) => PARTY.exec(body ?? '')?.[1],
  /** Without a token nobody would ever get to the money. */
  shareOf(request) {
    if (isMoney(request)) return 2;
    return request.method === 'GET' ? 1 : 0.25;
  },
  busy: JSON.stringify({ code: 'SERVICE_UNAVAILABLE', message: 'busy' }),
  nameOf(request) {
    const what = request.url.replace(/^.*\/(collection|disbursement)\//, '').replace(/^v1_0\//, '');
    return `${request.method} ${what} ${request.headers['x-reference-id'] ?? ''} ${PHONE_NETWORK.orderOf(request) ?? ''}`;
  },
};

function isMoney({ method, url }: OutboundRequest): boolean {
  return method === 'POST' && MOVES_MONEY.test(url);
}
