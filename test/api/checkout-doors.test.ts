/** The entrances of the hosted page: a browser is always answered in words, a script in JSON, and a plain browser gets in. */

import { afterAll, describe, expect, test } from 'vitest';
import { elementsOf, host, type Shown, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { expectEnvelope, expectRefusal } from '../support/envelope.ts';
import { sendRaw } from '../support/raw.ts';
import { addAccount } from '../support/transfer-flows.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
await addAccount(world, merchant);
afterAll(() => world.close());

const ANY = { accept: '*/*' };

describe('a browser that does not accept HTML explicitly', () => {
  test('sees what is to be paid, and opens the page with its button, once', async () => {
    const { url, transaction_id } = await host(world, merchant);
    const payment = await world.gateway.store.payment.get(merchant.merchant.shard, transaction_id);
    const me = visitor(world);
    const closed = await me.open(url, ANY);
    expect(titleOf(closed)).toBe('Payment to Boutique Kivu');
    expect(textOf(closed)).toContain(`Order ${payment?.customer_reference}`);
    expect(textOf(closed)).toContain('$12.50');
    expect(me.cookies.size).toBe(0);
    const fields = elementsOf(closed)
      .filter(({ name }) => name === 'input')
      .map(({ attributes }): [string, string] => [attributes.get('name') ?? '', attributes.get('value') ?? '']);
    const form = elementsOf(closed).find(({ name }) => name === 'form');
    expect(form?.attributes.get('method')).toBe('get');
    const address = `${form?.attributes.get('action')}?${new URLSearchParams(fields)}`;
    const page = await me.open(address, ANY);
    expect(titleOf(page)).toBe('How would you like to pay?');
    expect(me.cookies.size).toBe(1);
    expect(titleOf(await me.open(url))).toBe('How would you like to pay?');
    expect((await visitor(world).open(address, ANY)).status).toBe(401);
  });

  test('keeps its ticket when it changes the language, and the language when it opens the page', async () => {
    const { url } = await host(world, merchant);
    const ticket = new URL(url).searchParams.get('ticket');
    const me = visitor(world);
    const closed = await me.open(url, ANY);
    const french = elementsOf(closed).find(({ attributes }) => attributes.get('hreflang') === 'fr');
    const address = french?.attributes.get('href') ?? '';
    expect(new URL(address, world.url).searchParams.get('ticket')).toBe(ticket);
    expect(titleOf(await me.open(address, ANY))).toBe('Paiement à Boutique Kivu');
    expect(titleOf(await me.open(`${url}&open=1`, ANY))).toBe('Comment voulez‑vous payer ?');
  });

  test('opens nothing by a HEAD or a prefetch of the button’s address, nor by another value in it', async () => {
    const { url } = await host(world, merchant);
    const open = `${url}&open=1`;
    await fetch(open, { method: 'HEAD', headers: { accept: 'text/html' } });
    await (await fetch(open, { headers: { ...ANY, 'sec-purpose': 'prefetch' } })).text();
    await (await fetch(`${url}&open=yes`, { headers: ANY })).text();
    expect(titleOf(await visitor(world).open(url))).toBe('How would you like to pay?');
  });
});

describe('a browser is answered in words', () => {
  test('if its form is larger than any', async () => {
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const refused = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: '5'.repeat(300_000), pin: '1234' });
    expect(refused.status).toBe(413);
    expect(titleOf(refused)).toBe('That was too much to send');
    const menu = elementsOf(refused).find(({ attributes }) => attributes.get('hreflang') === 'fr');
    const french = await me.open(menu?.attributes.get('href') ?? '');
    expect(titleOf(french)).toBe('Cet envoi est trop grand');
  });

  test.each([
    ['/checkout/%ff', 404],
    ['/checkout/chk_x/nothing', 404],
    ['/checkout/x/y/z', 404],
  ])('at the address %s', async (path, status) => {
    const shown = await visitor(world).open(path);
    expect(shown.status).toBe(status);
    expect(titleOf(shown)).toBe('This payment page does not exist');
    expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const spoken = await visitor(world, 'ru').open(path);
    expect(elementsOf(spoken)[0]?.attributes.get('lang')).toBe('ru');
  });

  test('if what it wants can only be done by a form', async () => {
    const shown = await visitor(world).send('/checkout/chk_x', {});
    expect(shown.status).toBe(405);
    expect(titleOf(shown)).toBe('This step came from another page');
  });

  test.each(['pay', 'code', 'resend', 'proof', 'again', 'carrier'])(
    'by Enter at the address of the step %s',
    async (step) => {
      const { url } = await host(world, merchant);
      const me = visitor(world);
      const opened = await me.open(url);
      expect(titleOf(opened)).toBe('How would you like to pay?');
      const { pathname } = new URL(stepOf(opened, 'pay'), world.url);
      const back = await me.open(pathname.replace(/pay$/, step));
      expect([back.status, titleOf(back)]).toEqual([200, 'How would you like to pay?']);
      expect(titleOf(await visitor(world).open(pathname))).toBe('This page is not open in this browser');
    },
  );

  test('that keeps no cookies, with what to do about that', async () => {
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const opened = await me.open(url);
    me.cookies.clear();
    const address = stepOf(opened, 'pay');
    // Whether there is such a page or not.
    for (const asked of [address, address.replace(/chk_.{20}/, 'chk_00000000000000000000')]) {
      const shown = await me.send(asked, { method: 'wallet' });
      expect([shown.status, titleOf(shown)]).toEqual([404, 'This page is not open in this browser']);
      expect(textOf(shown)).toContain('this browser keeps no cookies: allow them');
      expect(textOf(shown)).not.toContain(transaction_id);
      const french = elementsOf(shown).find(({ attributes }) => attributes.get('hreflang') === 'fr');
      expect(titleOf(await visitor(world).open(french?.attributes.get('href') ?? ''))).toBe(
        'Cette page n’est pas ouverte dans ce navigateur',
      );
    }
  });

  test('at the address of its ticket, if the request is refused early', async () => {
    const { url } = await host(world, merchant);
    const { pathname, search } = new URL(url);
    const lines = ['Host: gateway', 'Host: elsewhere', 'Accept: text/html', 'Accept-Language: en', 'Connection: close'];
    const answer = await sendRaw(world, `GET ${pathname + search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(titleOf(await visitor(world).open(url))).toBe('How would you like to pay?');
  });

  test('while a script gets the envelope, and always from what it polls', async () => {
    const ask = async (path: string, accept: string) => {
      const response = await fetch(`${world.url}${path}`, { headers: { accept, 'accept-language': 'en' } });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
    };
    const hosted = await host(world, merchant);
    const used = new URL(hosted.url);
    expect(titleOf(await visitor(world).open(hosted.url))).toBe('How would you like to pay?');
    for (const accept of ['*/*', 'application/json']) {
      expectRefusal(await ask('/checkout/chk_x/state', accept), 404, '1204');
    }
    expectRefusal(await ask('/checkout/chk_x', 'application/json'), 404, '1204');
    expectRefusal(await ask('/checkout/chk_x/card', 'application/json'), 404, '1204');
    expectRefusal(await ask('/checkout/closed/used', 'application/json'), 401, '1005');
    const door = '/api/v1/payments/collect-redirect';
    for (const accept of ['*/*', '', 'application/json']) {
      expectRefusal(await ask(`${door}?ticket=x`, accept), 404, '1204');
      expectRefusal(await ask(door, accept), 404, '1204');
      expectRefusal(await ask(`${used.pathname}${used.search}`, accept), 401, '1005');
    }
    const bare = await sendRaw(world, `GET ${door}?ticket=x HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n`);
    expectRefusal(bare, 404, '1204');
    expect(titleOf(await visitor(world).open(`${door}?ticket=x`))).toBe('This payment page does not exist');
  });

  test('at the addresses of the language menu, which never fail and cannot be made to cause an error of ours', async () => {
    for (const kind of ['trouble', 'busy']) {
      const shown = await visitor(world).open(`/checkout/closed/${kind}`);
      expect([shown.status, titleOf(shown)]).toEqual([200, 'Something went wrong on our side']);
      const headers = { accept: 'application/json' };
      expect((await fetch(`${world.url}/checkout/closed/${kind}`, { headers })).status).toBe(404);
    }
    const odd = await visitor(world).open('/checkout/closed/limited?seconds=-1e9');
    expect(textOf(odd)).toMatch(/Wait 1 s/);
  });

  test('while a program gets the envelope', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const answer = await world.call('GET', '/health/nothing', { headers: { accept } });
      expect(answer.status).toBe(404);
      expectEnvelope(answer);
    }
    expectRefusal(
      await world.call('POST', '/payments/collect-redirect', { headers: { accept: 'text/html' } }),
      401,
      '1002',
    );
  });
});

test('the script of a suspended merchant’s page is answered in JSON, its reader in words', async () => {
  const gone = await world.merchant('Boutique Fermée');
  const { url } = await host(world, gone);
  const me = visitor(world);
  const page = await me.open(url);
  const state = stepOf(page, 'pay').replace(/pay$/, 'state');
  const { shard, id } = gone.merchant;
  const version = (await world.gateway.store.merchant.get(shard, id))?.version ?? 0;
  await world.gateway.store.commit({
    updates: [{ table: 'merchant', shard, id, version, row: { status: 'SUSPENDED' } }],
  });
  const asked = await me.open(state, { accept: 'application/json' });
  expect([asked.status, asked.headers.get('content-type')]).toEqual([403, 'application/json; charset=utf-8']);
  expect(JSON.parse(asked.html).error_code).toBe('1004');
  expect(titleOf(await me.open(page.url))).toBe('This cannot be paid now');
});

test('a form is read however its media type is spelled', async () => {
  const { url } = await host(world, merchant);
  const me = visitor(world);
  const page = await me.open(url);
  const wallet = await world.wallet();
  const type = { 'content-type': 'Application/X-WWW-Form-Urlencoded; Charset=UTF-8' };
  expect(titleOf(await me.send(stepOf(page, 'pay'), { method: 'wallet', ...wallet }, type))).toBe('Paid');
});

describe('a browser that opens many pages', () => {
  test('can pay on the newest, and keeps the keys of sixty', async () => {
    const me = visitor(world);
    for (let n = 0; n < 120; n += 1) me.cookies.set(`mbongo_checkout_${String(n).padStart(12, '0')}`, 'x'.repeat(43));
    for (let n = 0; n < 50; n += 1) me.cookies.set(`of_a_shop_${n}`, 'y');
    const { url } = await host(world, merchant);
    const page = await me.open(url);
    const kept = [...me.cookies.keys()].filter((name) => name.startsWith('mbongo_checkout_'));
    expect([kept.length, kept[0]]).toEqual([60, 'mbongo_checkout_000000000061']);
    const wallet = await world.wallet();
    expect(titleOf(await me.send(stepOf(page, 'pay'), { method: 'wallet', ...wallet }))).toBe('Paid');
    expect(me.cookies.has('of_a_shop_49')).toBe(true);
  });
});

describe('a page that cannot know what has been charged invites nobody to pay twice', () => {
  test.each([
    ['used', 'It knows whether you have already paid'],
    ['unknown', 'do not pay a second time'],
    ['keyless', 'do not pay a second time'],
    ['over', 'It knows whether you have already paid'],
    ['refused', 'do not pay a second time'],
    ['trouble', 'Do not pay a second time'],
  ])('if it is closed as %s', async (kind, warning) => {
    expect(textOf(await visitor(world).open(`/checkout/closed/${kind}`))).toContain(warning);
  });

  test('if the shop has since been suspended', async () => {
    const closing = await world.merchant('Boutique Fermée');
    const { url } = await host(world, closing);
    const wallet = await world.wallet();
    const me = visitor(world);
    const paid = await me.send(stepOf(await me.open(url), 'pay'), { method: 'wallet', ...wallet });
    expect(titleOf(paid)).toBe('Paid');
    const { shard, id } = closing.merchant;
    const version = (await world.gateway.store.merchant.get(shard, id))?.version ?? 0;
    await world.gateway.store.commit({
      updates: [{ table: 'merchant', shard, id, version, row: { status: 'SUSPENDED' } }],
    });
    const shown = textOf(await me.open(paid.url));
    expect(shown).toContain('do not pay a second time');
    expect(shown).not.toContain('Nothing has been charged');
  });

  test('if the app has paid, and the link is opened after its expiry', async () => {
    const hosted = await host(world, merchant, { minted: { ttl_seconds: 60 } });
    const { number, pin } = await world.wallet();
    const { payment_id } = hosted;
    const body = { payment_id, payment_method_id: 'wallet', ewallet_number: number, ewallet_pin: pin };
    const paid = await world.call('POST', '/payments/submit', { bearer: hosted.token, body });
    expect(paid.json.status).toBe('approved');
    await world.pass(61_000);
    const shown = textOf(await visitor(world).open(hosted.url));
    expect(shown).toContain('It knows whether you have already paid');
    expect(shown).not.toContain('Nothing has been charged');
  });

  test('if a transfer may have been made, and no proof of it has come', async () => {
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const account = /name="account" value="(bka_[0-9a-z]+)"/.exec(page.html)?.[1] ?? '';
    const promised = await me.send(stepOf(page, 'pay'), { method: 'bank_transfer', account });
    await world.clock.advance(7 * 24 * 60 * 60_000 + 1_000);
    const shown = await me.open(promised.url);
    expect(titleOf(shown)).toBe('The time to pay is over');
    expect(textOf(shown)).toContain('If you have made the transfer, do not make it again');
    expect(textOf(shown)).not.toContain('Nothing has been charged');
  });

  test('if another payment of the order is in progress or has been paid', async () => {
    const hosted = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(hosted.url);
    const wallet = await world.wallet();
    const body = collectBody(world, 'wallet', { wallet_number: wallet.number, wallet_pin: wallet.pin });
    const other = await world.call('POST', '/payments/collect', { bearer: hosted.token, body });
    const { payment_id } = other.json;
    const submitted = {
      payment_id,
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    };
    await world.call('POST', '/payments/submit', { bearer: hosted.token, body: submitted });
    const shown = await me.open(page.url);
    expect(titleOf(shown)).toBe('The payment was cancelled');
    expect(textOf(shown)).toContain('Look there before you pay again.');
    expect(textOf(shown)).not.toContain('to start again');
  });
});

describe('the remedy is given', () => {
  test.each([
    ['card', {}, 'Fill in the card form first.'],
    ['bank_transfer', { account: 'bka_unknown' }, 'Choose an account.'],
    ['bank_transfer', {}, 'Choose an account.'],
  ])('for %s with %j', async (method, fields, sentence) => {
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const refused = await me.send(stepOf(page, 'pay'), { method, ...fields });
    expect(refused.status).toBe(400);
    expect(textOf(refused)).toContain(sentence);
    expect(textOf(refused)).not.toContain('shortly');
  });
});

describe('a card number in another notation is refused', () => {
  const card = '4508750015741019';
  test.each([
    ['4508  7500  1574  1019'],
    ['4508\u00a07500\u00a01574\u00a01019'],
    ['4508\u20117500\u20111574\u20111019'],
    ['4508.7500.1574.1019'],
    [card.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))],
    ['+378282246310005'],
  ])('at mint: %j', async (spelt) => {
    const bearer = `${merchant.key_id}:${merchant.secret}`;
    const body = { amount: '12.50', currency: 'usd', customer_reference: `card ${spelt}` };
    expectRefusal(await world.call('POST', '/internal/sessions/create', { bearer, body }), 400, '1110', 'CARD_DATA');
  });

  test.each(['45 08 75 00 15 74 10 19', '4508.7500.1574.1019', '4 508-7500 1574-1019'])(
    'and on the page, where one field holds one number: %s',
    async (number) => {
      const { url } = await host(world, merchant);
      const me = visitor(world);
      const page = await me.open(url);
      const refused = await me.send(stepOf(page, 'pay'), { method: 'wallet', number, pin: '1234' });
      expect(textOf(refused)).toContain('Do not type a card number here.');
      expect(refused.html).not.toContain(number);
    },
  );

  test('and an order number, an amount and a time do not count as one', async () => {
    for (const customer_reference of ['2026-11-20 12:00:00.123456', 'order 1 000 000 000.00', '+62812345678901']) {
      expect((await mint(world, merchant, { customer_reference })).token).toMatch(/^sess_/);
    }
  });
});

describe('a page of trouble', () => {
  const linkIn = (shown: Shown) => /<a class="button" href="([^"]*)">/.exec(shown.html)?.[1];

  test('that answers a form leads back to the payment, in other languages too: to load it again would send the form again', async () => {
    const me = visitor(world);
    const page = await me.open((await host(world, merchant)).url);
    const address = stepOf(page, 'pay');
    const large = await me.send(address, { method: 'wallet', number: '9'.repeat(20_000) });
    const foreign = await me.send(address, { method: 'wallet' }, { origin: 'https://evil.example' });
    for (const [shown, status] of [
      [large, 413],
      [foreign, 403],
    ] as const) {
      expect(shown.status).toBe(status);
      expect(linkIn(shown)).toBe(address.replace(/\/pay$/, ''));
      const french = elementsOf(shown).find(({ attributes }) => attributes.get('hreflang') === 'fr');
      const same = await me.open(french?.attributes.get('href') ?? '');
      expect(linkIn(same)).toBe(linkIn(shown));
      expect(titleOf(await me.open(linkIn(same) ?? ''))).toBe('Comment voulez‑vous payer ?');
    }
  });

  test('leads nowhere if no page is known, or none can be opened', async () => {
    const me = visitor(world);
    expect(linkIn(await me.open('/checkout/closed/limited?seconds=5&of=chk_x'))).toBe('/checkout/chk_x');
    for (const path of [
      'trouble',
      'trouble?of=//evil.example',
      'trouble?of=..',
      'unknown?of=chk_x',
      'refused?of=chk_x',
    ]) {
      expect(linkIn(await me.open(`/checkout/closed/${path}`)), path).toBeUndefined();
    }
  });
});
