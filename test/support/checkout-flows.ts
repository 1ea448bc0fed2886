/**
 * A browser without scripts: it keeps cookies, follows redirects within the gateway, and sends forms.
 *
 * Invariant: it sends what the page's own forms say, and nothing that a person could not have typed.
 */

import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { expect } from 'vitest';
import type { MerchantSettings } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { Fields } from './flows.ts';
import { collectBody, mint, type World } from './world.ts';

export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The address that the page was shown at, after redirects. */
  readonly url: string;
}

export interface Visitor {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  open(url: string, headers?: Readonly<Record<string, string>>): Promise<Shown>;
  /** Sends a form as the browser does; follows redirects. */
  send(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Shown>;
}

export function visitor(world: World, language = 'en'): Visitor {
  const cookies = new Map<string, string>();
  type Asked = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };
  const ask = async (url: string, init: Asked): Promise<Shown> => {
    const response = await fetch(new URL(url, world.url), {
      ...init,
      redirect: 'manual',
      headers: {
        accept: 'text/html,application/xhtml+xml',
        'accept-language': language,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...init.headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      if (line.includes('Max-Age=0;')) cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (response.status === 303 && location !== null) return ask(new URL(location, response.url).href, {});
    return { status: response.status, headers: response.headers, html: await response.text(), url: response.url };
  };
  return {
    cookies,
    open: (url, headers = {}) => ask(url, { headers: { ...headers } }),
    send: (url, fields, headers = {}) =>
      ask(url, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin: world.url, ...headers },
      }),
  };
}

/** A payment on a hosted page, and the address to which its customer is sent. */
export interface Hosted {
  readonly url: string;
  readonly token: string;
  readonly transaction_id: string;
  readonly payment_id: string;
}

export async function host(
  world: World,
  merchant: MerchantCreated,
  options: { readonly body?: Fields; readonly minted?: Fields } = {},
): Promise<Hosted> {
  const { token } = await mint(world, merchant, options.minted);
  const { payment_method: _none, ...body } = collectBody(world, 'none');
  const made = await world.call('POST', '/payments/collect-redirect', {
    bearer: token,
    body: { ...body, ...options.body },
  });
  expect(made.status, made.text).toBe(200);
  const { transaction_id, payment_id, redirect_url: url } = made.json;
  return { url, token, transaction_id, payment_id };
}

/** The address that the page's form for a step posts to. */
export function stepOf(shown: Shown, step: string): string {
  const found = new RegExp(`action="(/checkout/chk_[0-9a-z]+/${step})"`).exec(shown.html)?.[1];
  if (found === undefined) throw new Error(`no form of this page posts to ${step}: ${titleOf(shown)}`);
  return found;
}

/** The page's only first-level heading. */
export function titleOf({ html }: Shown): string {
  const [title, second] = [...html.matchAll(/<h1>(.*?)<\/h1>/gs)].map(([, text]) => text);
  expect(second, 'a page has one h1').toBeUndefined();
  return (title ?? '').replaceAll(/[\u00a0\u202f]/g, ' ');
}

/** The page's text without its markup, with whitespace collapsed. */
export function textOf({ html }: Shown): string {
  const body = html.slice(html.indexOf('<body'));
  return body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/[\s\u00a0\u202f]+/g, ' ')
    .replaceAll('&#39;', '’');
}

/** Every element of a page by its name, with its attributes, as a browser would parse it. */
export function elementsOf({
  html,
}: Shown): { readonly name: string; readonly attributes: ReadonlyMap<string, string> }[] {
  const found: { name: string; attributes: Map<string, string> }[] = [];
  const walk = (node: DefaultTreeAdapterTypes.ChildNode): void => {
    if ('attrs' in node) {
      found.push({ name: node.tagName, attributes: new Map(node.attrs.map(({ name, value }) => [name, value])) });
    }
    if ('childNodes' in node) for (const child of node.childNodes) walk(child);
  };
  for (const child of parse(html).childNodes) walk(child);
  return found;
}

/** Changes settings that an operator may set for a merchant, on top of those already set. */
export async function setSettings(
  world: World,
  { merchant }: MerchantCreated,
  settings: MerchantSettings,
): Promise<void> {
  const { store } = world.gateway;
  const { shard, id } = merchant;
  const found = await store.merchant.get(shard, id);
  if (found === undefined) throw new Error('no such merchant');
  const row = { settings: { ...found.settings, ...settings } };
  await store.commit({ updates: [{ table: 'merchant', shard, id, version: found.version, row }] });
}
