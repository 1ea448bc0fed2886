/**
 * The hosted page in another language: what has been typed stays, and what is secret does not.
 */

import { afterAll, expect, test } from 'vitest';
import { elementsOf, host, type Shown, textOf, visitor } from '../support/checkout-flows.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
afterAll(() => world.close());

const contentOf = (page: Shown, id: string): string | undefined =>
  elementsOf(page)
    .find(({ attributes }) => attributes.get('id') === id)
    ?.attributes.get('value');

const isChecked = (page: Shown, id: string): boolean =>
  elementsOf(page).some(({ attributes }) => attributes.get('id') === id && attributes.has('checked'));

test('a phone number that was typed is still there, and the language is kept', async () => {
  const me = visitor(world);
  const address = new URL((await me.open((await host(world, merchant)).url)).url);
  const page = await me.open(address.href);
  const path = /data-keeps="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const fields = { method: 'mobile_money', phone: '0812 345 642', country: 'CD', lang: 'es' };
  const changed = await me.send(path, fields);
  expect(changed.status).toBe(200);
  expect(changed.html).toContain('<html lang="es">');
  expect(contentOf(changed, 'mobile_money-phone')).toBe('0812 345 642');
  expect(changed.url).not.toContain('0812');
  expect(changed.headers.get('cache-control')).toContain('no-store');
  const again = await me.open(path);
  expect(again.html, 'the address, opened by hand, shows the page').toContain('<html lang="es">');
  expect(contentOf(again, 'mobile_money-phone')).toBe('');
});

test('neither a PIN nor a card number that was typed is shown again', async () => {
  const me = visitor(world);
  const page = await me.open((await host(world, merchant)).url);
  const path = /data-keeps="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const wallet = await me.send(path, { method: 'wallet', number: '61 20', pin: '4711', code: '836251', lang: 'fr' });
  expect(isChecked(wallet, 'm-wallet')).toBe(true);
  expect(contentOf(wallet, 'wallet-number')).toBe('61 20');
  expect(wallet.html).not.toMatch(/4711|836251/);
  const card = await me.send(path, { method: 'wallet', number: '5123 4500 0000 0008', lang: 'fr' });
  expect(isChecked(card, 'm-wallet')).toBe(true);
  expect(card.html).not.toContain('5123');
});

test('only a page of ours, in the browser that opened it, may ask for that', async () => {
  const me = visitor(world);
  const page = await me.open((await host(world, merchant)).url);
  const path = /data-keeps="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const fields = { method: 'mobile_money', phone: '<b>0812', lang: 'en' };
  const foreign = await me.send(path, fields, { origin: 'https://elsewhere.example' });
  expect(foreign.status).toBe(403);
  const stranger = await visitor(world).send(path, fields);
  expect(stranger.status).toBe(404);
  for (const { html } of [foreign, stranger]) expect(html).not.toContain('0812');
  const own = await me.send(path, fields);
  expect(own.html).not.toContain('<b>0812');
  expect(contentOf(own, 'mobile_money-phone')).toBe('<b>0812');
});

test('a payment that has moved on meanwhile is shown as it is, in the other language', async () => {
  const wallet = await world.wallet();
  const me = visitor(world);
  const page = await me.open((await host(world, merchant)).url);
  const path = /data-keeps="([^"]+)"/.exec(page.html)?.[1] ?? '';
  const paid = { method: 'wallet', number: wallet.number, pin: wallet.pin };
  await me.send(path.replace(/language$/, 'pay'), paid);
  const changed = await me.send(path, { method: 'wallet', number: wallet.number, lang: 'fr' });
  expect(changed.html).toContain('<html lang="fr">');
  expect(textOf(changed)).not.toContain(wallet.number);
});
