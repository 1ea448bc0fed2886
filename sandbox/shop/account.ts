/**
 * What the shop knows of its gateway, once it has been told.
 * Invariant: only a program on this machine can tell it, and it tells nobody: no page and no answer contains one of its secrets.
 */
import type { Account } from './merchant.ts';

export type Known = {
  readonly account: Account;
  /** The gateway's own address as browsers reach it. */
  readonly gatewayOrigin: string;
  /** This shop's address as the gateway reaches it: the one at which the shop was told its account. */
  readonly shopUrl: string;
};

export type Desk = { readonly known: () => Known | undefined; readonly tell: (known: Known) => void };

export function createDesk(): Desk {
  let told: Known | undefined;
  return {
    known: () => told,
    tell: (known) => {
      told = known;
    },
  };
}

export type Reading = { readonly known: Known } | { readonly wrong: string };

/** Reads `{gateway_url, credential, webhook_secret, api?}`; `api` is where to call, if not at gateway_url/api/v1. */
export function readKnown(body: unknown, shopUrl: string): Reading {
  const given = (name: string): string => {
    const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const gateway = webAddress(given('gateway_url'));
  if (gateway === undefined) return { wrong: 'gateway_url must be an http or https address.' };
  const base = gateway.href.replace(/\/$/, '');
  const api = webAddress(given('api') || `${base}/api/v1`);
  if (api === undefined) return { wrong: 'api must be an http or https address, or absent.' };
  const credential = given('credential');
  if (!/^[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+$/.test(credential))
    return { wrong: 'credential must be a key id, a colon and the secret.' };
  const webhook_secret = given('webhook_secret');
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(webhook_secret))
    return { wrong: 'webhook_secret must be whsec_ followed by base64.' };
  const account = { api: api.href.replace(/\/$/, ''), credential, webhook_secret };
  return { known: { account, gatewayOrigin: gateway.origin, shopUrl } };
}

function webAddress(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
