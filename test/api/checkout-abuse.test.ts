/**
 * The hosted page and people other than its customer: tickets, cookies, foreign forms, foreign text.
 */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { elementsOf, host, setSettings, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { neighbourOf } from '../support/flows.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
afterAll(() => world.close());

const HTML = { accept: 'text/html', 'accept-language': 'en' };

describe('a ticket', () => {
  test('opens once: the browser that opened it can see the page again, another one cannot', async () => {
    const { url } = await host(world, merchant);
    const me = visitor(world);
    expect(titleOf(await me.open(url))).toBe('How would you like to pay?');
    expect(titleOf(await me.open(url))).toBe('How would you like to pay?');
    const other = await visitor(world).open(url);
    expect(other.status).toBe(410);
    expect(titleOf(other)).toBe('This link has already been opened');
    expect(other.html).not.toContain('12.50');
    expect(other.html).not.toContain('Boutique Kivu');
  });

  test('is won by one of many browsers that open it at once', async () => {
    const { url } = await host(world, merchant);
    const answers = await Promise.all(Array.from({ length: 12 }, () => visitor(world).open(url)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 410)]);
  });

  test('that is unknown, altered, truncated or another page’s gets the same answer', async () => {
    const { url } = await host(world, merchant);
    const stranger = await neighbourOf(world, merchant);
    const other = await host(world, stranger);
    const [base = '', ticket = ''] = url.split('?ticket=');
    const [id = '', secret = ''] = ticket.split('.');
    const otherSecret = other.url.split('.').at(-1) ?? '';
    const altered = secret.startsWith('A') ? `B${secret.slice(1)}` : `A${secret.slice(1)}`;
    const bad = [
      '',
      'x',
      id,
      `${id}.`,
      `${id}.${altered}`,
      `${id}.${otherSecret}`,
      `${id}.${secret}x`,
      `chk_0.${secret}`,
    ];
    const pages = await Promise.all(bad.map((one) => visitor(world).open(`${base}?ticket=${encodeURIComponent(one)}`)));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
    expect(new Set(pages.map(({ html }) => html)).size).toBe(1);
    expect((await visitor(world).open(url)).status).toBe(200);
  });

  test('is not used up by a preview, a prefetch or a HEAD request', async () => {
    const { url } = await host(world, merchant);
    const looks: RequestInit[] = [
      { method: 'HEAD', headers: HTML },
      { headers: { ...HTML, purpose: 'prefetch' } },
      { headers: { ...HTML, 'sec-purpose': 'prefetch;prerender' } },
      { headers: { accept: '*/*', 'x-moz': 'prefetch' } },
      { method: 'HEAD', headers: { accept: '*/*' } },
    ];
    for (const look of looks) {
      const answer = await fetch(url, look);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(await answer.text()).not.toContain('<form');
    }
    expect(titleOf(await visitor(world).open(url))).toBe('How would you like to pay?');
  });

  test('expires with its session, and a page that was opened says so', async () => {
    const hosted = await host(world, merchant, { minted: { ttl_seconds: 60 } });
    const unopened = await host(world, merchant, { minted: { ttl_seconds: 60 } });
    const me = visitor(world);
    const page = await me.open(hosted.url);
    await world.pass(61_000);
    const over = await visitor(world).open(unopened.url);
    expect(over.status).toBe(410);
    expect(titleOf(over)).toBe('This payment link has expired');
    expect(titleOf(await me.open(hosted.url))).toBe('The time to pay is over');
    const wallet = await world.wallet();
    const late = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(titleOf(late)).toBe('The time to pay is over');
  });

  test('and the session’s token appear in no address, no log line and no row', async () => {
    const { url, token } = await host(world, merchant);
    const secret = url.split('.').at(-1) ?? '';
    const page = await visitor(world).open(url);
    expect(page.html).not.toContain(token);
    expect(page.html).not.toContain(secret);
    expect(world.log.lines.join('\n')).not.toContain(secret);
    const id = /chk_[0-9a-z]+/.exec(url)?.[0] ?? '';
    const row = await world.gateway.store.checkout.get(merchant.merchant.shard, id);
    expect(
      JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(secret);
  });
});

describe('a page', () => {
  test('is closed without its cookie, and another page’s cookie does not help', async () => {
    const [mine, theirs] = [await host(world, merchant), await host(world, merchant)];
    const [me, they] = [visitor(world), visitor(world)];
    const page = await me.open(mine.url);
    await they.open(theirs.url);
    const address = stepOf(page, 'pay').replace(/\/pay$/, '');
    for (const path of ['', '/card', '/state']) expect((await they.open(`${address}${path}`)).status).toBe(404);
    const [[name = ''] = []] = me.cookies;
    const [[, value = ''] = []] = they.cookies;
    they.cookies.set(name, value);
    expect((await they.open(address)).status).toBe(404);
    const wallet = await world.wallet();
    const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
    expect((await they.send(`${address}/pay`, fields)).status).toBe(404);
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
  ])('accepts no form from %s', async (_name, headers) => {
    const wallet = await world.wallet();
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
    const refused = await me.send(stepOf(page, 'pay'), fields, headers);
    expect(refused.status).toBe(403);
    expect(titleOf(refused)).toBe('This step came from another page');
    const payment = await world.gateway.store.payment.get(merchant.merchant.shard, transaction_id);
    expect(payment?.status).toBe('pending');
  });

  test('accepts a form whose origin its own referrer policy has hidden', async () => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
    const headers = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    expect(titleOf(await me.send(stepOf(page, 'pay'), fields, headers))).toBe('Paid');
  });

  test('sends its protective headers: a policy without inline script or style, no framing, no caching, no referrer', async () => {
    const { url } = await host(world, merchant);
    const page = await visitor(world).open(url);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const elements = elementsOf(page);
    expect(elements.filter(({ attributes }) => attributes.has('style'))).toEqual([]);
    expect(elements.filter(({ name }) => name === 'style')).toEqual([]);
    for (const { name, attributes } of elements) {
      const source = attributes.get('src') ?? (name === 'link' ? attributes.get('href') : undefined);
      if (source !== undefined) expect(source).toMatch(/^\/checkout\//);
      expect([...attributes.keys()].filter((one) => one.startsWith('on'))).toEqual([]);
    }
    const [cookie = ''] = (await fetch((await host(world, merchant)).url, { headers: HTML })).headers.getSetCookie();
    expect(cookie).toMatch(
      /^mbongo_checkout_[0-9a-z]{12}=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
    );
  });

  test('counts towards its session’s limit, and says when to come again', async () => {
    const busy = await world.merchant('Boutique Pressée');
    await setSettings(world, busy, { rate_limits: { payments: 5 } });
    const { url } = await host(world, busy);
    const me = visitor(world);
    const answers = [];
    for (let i = 0; i < 6; i += 1) answers.push(await me.open(url));
    const last = answers.at(-1);
    expect(last?.status).toBe(429);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(last === undefined ? '' : textOf(last)).toMatch(/Too many requests at once\. Wait \d+ s/);
    const menu = last === undefined ? [] : elementsOf(last);
    const french = menu.find(({ attributes }) => attributes.get('hreflang') === 'fr')?.attributes.get('href') ?? '';
    const same = await visitor(world).open(french);
    expect([same.status, titleOf(same)]).toEqual([200, 'Ce paiement n’est pas possible en ce moment']);
    expect(textOf(same)).toMatch(/Trop de demandes à la fois\. Attendez \d+ s/);
  });

  test('of a suspended merchant accepts nothing', async () => {
    const gone = await world.merchant('Boutique Fermée');
    const { url } = await host(world, gone);
    const { shard, id } = gone.merchant;
    const found = await world.gateway.store.merchant.get(shard, id);
    const version = found?.version ?? 0;
    await world.gateway.store.commit({
      updates: [{ table: 'merchant', shard, id, version, row: { status: 'SUSPENDED' } }],
    });
    const page = await visitor(world).open(url);
    expect(page.status).toBe(403);
    expect(titleOf(page)).toBe('This cannot be paid now');
  });
});

describe('untrusted text', () => {
  const NASTY = `"><script>alert(1)</script><img src=x onerror=alert(2)>' &lt; {amount}`;

  test('stays text wherever a page shows it', async () => {
    const nasty = await world.merchant(NASTY.slice(0, 100));
    const wallet = await world.wallet();
    const { url } = await host(world, nasty, { minted: { customer_reference: NASTY } });
    const me = visitor(world);
    const page = await me.open(url);
    const refused = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: '"><script>', pin: '1234' });
    const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    for (const shown of [page, refused, paid]) {
      const scripts = elementsOf(shown).filter(({ name }) => name === 'script');
      expect(scripts.every(({ attributes }) => attributes.get('src')?.startsWith('/checkout/assets/'))).toBe(true);
      expect(elementsOf(shown).filter(({ name }) => name === 'img')).toEqual([]);
      expect(shown.html).not.toContain('<script>alert');
    }
    expect(titleOf(paid)).toBe('Paid');
  });

  test('cannot add a header to an answer, or an address to a page', async () => {
    const me = visitor(world);
    const { url } = await host(world, merchant);
    const page = await me.open(url);
    const address = stepOf(page, 'pay').replace(/\/pay$/, '');
    const odd = await me.open(`${address}?lang=en%0d%0aSet-Cookie:%20x=1&stay=%22%3E&ticket=x`);
    expect(odd.status).toBe(200);
    expect(me.cookies.has('x')).toBe(false);
    for (const path of [
      '/checkout/brand/0b6e4f.css%0d%0a',
      '/checkout/brand/xyz.css',
      '/checkout/assets/..%2fpackage.json',
      '/checkout/logo/mch_x/1',
      '/checkout/closed/__proto__',
    ]) {
      expect((await me.open(path)).status).toBe(404);
    }
  });
});

test('card data typed into our own fields is refused, and appears neither in the page nor in the log', async () => {
  const card = '4508 7500 1574 1019';
  const { url } = await host(world, merchant);
  const me = visitor(world);
  const page = await me.open(url);
  const refused = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: card, pin: '1234' });
  expect(refused.status).toBe(400);
  expect(textOf(refused)).toContain('Do not type a card number here.');
  expect(refused.html).not.toMatch(/7500.?1574/);
  const hidden = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: '5', pin: '1234', cvv: '123' });
  expect(textOf(hidden)).toContain('Do not type a card number here.');
  expect(world.log.lines.join('\n')).not.toMatch(/7500.?1574/);
});

test('a merchant’s colour is readable whatever it is, and its name replaces a missing logo', async () => {
  const bright = await world.merchant('Lumière');
  await setSettings(world, bright, { brand: { colour: '#ffee00' } });
  const { url } = await host(world, bright);
  const me = visitor(world);
  const page = await me.open(url);
  expect(page.html).toContain('href="/checkout/brand/ffee00.css"');
  const style = await me.open('/checkout/brand/ffee00.css');
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(style.html).toMatch(/^:root\{--brand:#[0-9a-f]{6};--on-brand:#[0-9a-f]{6};--tint:#[0-9a-f]{6}\}@media/);
});

test('a body of unknown length that is not a form, sent to a page’s upload address, counts against the memory budget for bodies', async () => {
  const { hostname, port } = new URL(world.url);
  const callers: Socket[] = [];
  const promise = async (): Promise<Socket> => {
    const reached = once(world.gateway.app.server, 'request');
    const caller = connect(Number(port), hostname);
    caller.on('error', () => undefined);
    callers.push(caller);
    caller.write(
      'POST /checkout/x/proof HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    await reached;
    return caller;
  };
  for (let count = 0; count < 32; count += 1) await promise();
  const [answer] = await once(await promise(), 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  for (const caller of callers) caller.destroy();
});
