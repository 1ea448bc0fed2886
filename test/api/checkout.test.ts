/**
 * Paying on the hosted page as a browser without scripts does it, by every method that the gateway itself decides.
 */

import { afterAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/messages/messages.ts';
import { closeBankAccount } from '../../src/usecases/bank-close.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { listProofs } from '../../src/usecases/proof-read.ts';
import {
  elementsOf,
  host,
  type Shown,
  setSettings,
  stepOf,
  textOf,
  titleOf,
  visitor,
} from '../support/checkout-flows.ts';
import { answerPrompt, codeOn, debitsOf, numberEnding } from '../support/flows.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { addAccount, jpegFile } from '../support/transfer-flows.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
afterAll(() => world.close());

const statusOf = async (id: string): Promise<string> =>
  (await world.gateway.store.payment.get(merchant.merchant.shard, id))?.status ?? '';

describe('a wallet', () => {
  test('pays, and the receipt leads back to the shop', async () => {
    const wallet = await world.wallet();
    const shop = 'https://shop.example/thanks?cart=7#top';
    const { url, transaction_id } = await host(world, merchant, { body: { success_redirect_url: shop } });
    const me = visitor(world);
    const page = await me.open(url);
    expect(titleOf(page)).toBe('How would you like to pay?');
    expect(textOf(page)).toContain('$12.50');
    const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(titleOf(paid)).toBe('Paid');
    expect(await statusOf(transaction_id)).toBe('approved');
    const back = `https://shop.example/thanks?cart=7&transaction_id=${transaction_id}&status=approved#top`;
    expect(elementsOf(paid).some(({ attributes }) => attributes.get('href') === back)).toBe(true);
    expect(paid.headers.get('refresh')).toBe(`20;url=${back}`);
    const stays = await me.open(`${paid.url}?stay=1`);
    expect(stays.headers.get('refresh')).toBeNull();
    const french = elementsOf(stays).find(({ attributes }) => attributes.get('hreflang') === 'fr');
    const translated = await me.open(french?.attributes.get('href') ?? '');
    expect(titleOf(translated)).toBe('Payé');
    expect(translated.headers.get('refresh')).toBeNull();
  });

  test('accepts the number in groups, as people write it', async () => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const number = wallet.number.replaceAll(/(.{4})/g, '$1 ');
    const page = await me.open(url);
    expect(titleOf(await me.send(stepOf(page, 'pay'), { method: 'wallet', number, pin: wallet.pin }))).toBe('Paid');
  });

  test('keeps its number, and never its PIN, after a wrong PIN', async () => {
    const wallet = await world.wallet();
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const wrong = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: '7391' });
    expect(wrong.status).toBe(400);
    expect(textOf(wrong)).toContain('The number or the PIN is not right. Tries left: 4.');
    expect(wrong.html).toContain(wallet.number);
    expect(wrong.html).not.toMatch(/\b7391\b/);
    const pin = elementsOf(wrong).find(({ attributes }) => attributes.get('id') === 'wallet-pin');
    expect(pin?.attributes.get('aria-invalid')).toBe('true');
    expect(pin?.attributes.get('aria-describedby')).toContain('wallet-pin-fault');
    expect(pin?.attributes.get('value')).toBe('');
    expect(await statusOf(transaction_id)).toBe('pending');
    const paid = await me.send(stepOf(wrong, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(titleOf(paid)).toBe('Paid');
  });

  test('that was tried too often says for how long it is locked', async () => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const me = visitor(world);
    let page = await me.open(url);
    for (let tries = 0; tries < 5; tries += 1) {
      page = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: '7391' });
    }
    expect(page.status).toBe(400);
    expect(textOf(page)).toContain('Too many wrong PINs. Try again in 15 min, or pay another way.');
  });

  test('names every field that is missing or malformed, each beside the field', async () => {
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    // A browser that checks forms itself would show its message first, in its own language.
    const forms = elementsOf(page).filter(({ name }) => name === 'form');
    expect(forms.map(({ attributes }) => attributes.has('novalidate'))).toEqual(forms.map(() => true));
    const empty = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: ' ', pin: '' });
    expect(textOf(empty)).toContain('Enter the number.');
    expect(textOf(empty)).toContain('Enter the PIN.');
    const short = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: '5', pin: '12' });
    expect(textOf(short)).toContain('A PIN has four to eight digits.');
  });

  test('without enough money says what to do', async () => {
    const wallet = await world.wallet({ balance: 1_00n });
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const poor = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(poor.status).toBe(402);
    expect(textOf(poor)).toContain('There is not enough money on this account.');
  });

  test('pays once, however often the button is pressed', async () => {
    const wallet = await world.wallet();
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => me.send(stepOf(page, 'pay'), fields)));
    expect(all.map(titleOf)).toEqual(['Paid', 'Paid', 'Paid', 'Paid', 'Paid']);
    expect(await statusOf(transaction_id)).toBe('approved');
    const account = await world.gateway.store.account.get(Number(wallet.number.slice(4, 6)), wallet.number);
    expect(account?.balance).toBe(50_00n - 12_50n);
  });
});

/** A visitor who pays so much that a code is required, sent to that phone. */
async function askedForCode(payee: MerchantCreated, phone: string, kind: 'wallet' | 'flash' = 'wallet') {
  const wallet = await world.wallet({ kind, balance: 500_00n, phone });
  const { url, transaction_id } = await host(world, payee, { minted: { amount: '150.00' } });
  const me = visitor(world);
  const asked = await me.send(stepOf(await me.open(url), 'pay'), {
    method: kind,
    number: wallet.number,
    pin: wallet.pin,
  });
  return { me, url, transaction_id, asked };
}

test('a customer who has tried too many codes is told how long to wait', async () => {
  const phone = numberEnding('78');
  const { me, asked } = await askedForCode(merchant, phone);
  let page = asked;
  const wrong = (await codeOn(world, phone)) === '000000' ? '111111' : '000000';
  for (let tries = 0; tries < 5; tries += 1) page = await me.send(stepOf(page, 'code'), { code: wrong });
  expect(textOf(page)).toContain('Too many tries. Wait 5 min, then try again.');
});

test('flash pays with a code: a wrong one is counted, another can be sent, the right one pays', async () => {
  const phone = numberEnding('77');
  const { me, transaction_id, asked } = await askedForCode(merchant, phone, 'flash');
  expect(titleOf(asked)).toBe('Enter the code that we sent you');
  expect(asked.html).not.toContain(phone.slice(4));
  const first = await codeOn(world, phone);
  const short = await me.send(stepOf(asked, 'code'), { code: '12345' });
  expect(textOf(short)).toContain('Enter the six digits of the code.');
  const wrong = await me.send(stepOf(asked, 'code'), { code: first === '000000' ? '111111' : '000000' });
  expect(textOf(wrong)).toContain('This code is not right. Tries left: 4.');
  expect(wrong.html).not.toContain('value="000000"');
  const again = await me.send(stepOf(wrong, 'resend'), {});
  expect(textOf(again)).toContain('A new code is on its way.');
  expect(textOf(again)).toContain('New codes left: 2');
  const code = await codeOn(world, phone, 2);
  const paid = await me.send(stepOf(again, 'code'), { code: `${code.slice(0, 3)} ${code.slice(3)}` });
  expect(titleOf(paid)).toBe('Paid');
  expect(await statusOf(transaction_id)).toBe('approved');
});

test('a merchant may allow fewer tries and codes, and the page says how many are left', async () => {
  const phone = numberEnding('76');
  const careful = await world.merchant('Librairie Goma');
  await setSettings(world, careful, { rate_limits: { codes: 2, resends: 1 } });
  const { me, asked } = await askedForCode(careful, phone);
  let page = asked;
  expect(textOf(page)).toContain('New codes left: 1');
  page = await me.send(stepOf(page, 'resend'), {});
  expect(textOf(page)).toContain('No further code can be sent.');
  const wrong = (await codeOn(world, phone, 2)) === '000000' ? '111111' : '000000';
  page = await me.send(stepOf(page, 'code'), { code: wrong });
  expect(textOf(page)).toContain('This code is not right. Tries left: 1.');
  page = await me.send(stepOf(page, 'code'), { code: wrong });
  expect(textOf(page)).toContain('Too many tries. Wait 5 min, then try again.');
});

test('a customer who has let the last code expire is sent back to the shop, not told to ask for another', async () => {
  const phone = numberEnding('75');
  const careful = await world.merchant('Librairie Boma');
  await setSettings(world, careful, { rate_limits: { resends: 1 } });
  const { me, url, asked } = await askedForCode(careful, phone);
  let page = asked;
  expect(textOf(page)).toContain('Valid for another 10 min');
  page = await me.send(stepOf(page, 'resend'), {});
  const code = await codeOn(world, phone, 2);
  const stale = stepOf(page, 'resend');
  await world.clock.advance(10 * 60_000 + 1);
  page = await me.send(stepOf(page, 'code'), { code });
  for (const dead of [page, await me.open(url), await me.send(stale, {})]) {
    expect(titleOf(dead)).toBe('This code has expired.');
    expect(textOf(dead)).toContain('No further code can be sent. Nothing has been charged. Go back to the shop');
    expect(textOf(dead)).not.toMatch(/Ask for|Valid for|on its way|Enter/);
    expect(textOf(dead)).toContain('150.00');
    expect(dead.html).not.toContain('<form');
  }
});

describe('mobile money', () => {
  test('takes the number as people of the country write it, waits for the phone, and says when it is paid', async () => {
    const phone = numberEnding('42');
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const national = phone.slice('+243'.length);
    const waits = await me.send(stepOf(page, 'pay'), { method: 'mobile_money', phone: national, country: 'CD' });
    expect(titleOf(waits)).toBe('Confirm on your phone');
    expect(textOf(waits)).toContain(`+243 ${national.slice(0, 2)} ••• •• 42 · Vodacom M-Pesa`);
    expect(textOf(waits)).toContain('*1122#');
    expect(waits.html).not.toContain(national);
    // A session of half an hour does not give half an hour to confirm.
    expect(waits.html).toContain('data-whole="300000"');
    expect(waits.html).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
    const before = (await me.open(`${waits.url}/state`)).html;
    expect((await me.open(`${waits.url}/state`)).html).toBe(before);
    // The carrier is inquired at, and has nothing new to say: the page stays as it is.
    const { version } = await attemptOf(world, { transaction_id });
    await world.pass(10_000);
    expect((await attemptOf(world, { transaction_id })).version).toBeGreaterThan(version);
    expect((await me.open(`${waits.url}/state`)).html).toBe(before);
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    expect((await me.open(`${waits.url}/state`)).html).not.toBe(before);
    expect(titleOf(await me.open(waits.url))).toBe('Paid');
    expect(await statusOf(transaction_id)).toBe('approved');
    expect(debitsOf(world, phone)).toHaveLength(1);
  });

  test('that the customer rejects ends with what to do now', async () => {
    const phone = numberEnding('03');
    const shop = 'https://shop.example/basket';
    const asked = 'https://shop.example/thanks';
    const { url } = await host(world, merchant, { body: { fail_redirect_url: shop, success_redirect_url: asked } });
    const me = visitor(world);
    const page = await me.open(url);
    const waits = await me.send(stepOf(page, 'pay'), { method: 'mobile_money', phone, country: 'CD' });
    // A customer who leaves may still pay: the shop has to ask, and learns that from the state.
    expect(waits.html).toMatch(
      /href="https:\/\/shop\.example\/thanks\?transaction_id=txn_\w+&amp;status=pending_mobile_money_verification"/,
    );
    const ended = await untilLater(world, async () => {
      const now = await me.open(waits.url);
      return titleOf(now) === titleOf(waits) ? undefined : now;
    });
    expect(titleOf(ended)).toBe('The payment was cancelled');
    expect(ended.html).toContain('<title>The payment was cancelled · ');
    expect(textOf(ended)).toMatch(/ Total \$12\.50 Order \S+ Transaction txn_/);
    expect(textOf(ended)).toContain(
      'The request on your phone was rejected. Nothing has been charged. Go back to the shop to start again.',
    );
    expect(ended.html).toContain(`href="${shop}?transaction_id=`);
  });

  test.each([
    ['12', 'This is not a phone number of that country.'],
    ['+33612345678', 'Mobile money is not available for this number.'],
    ['+256772000042', 'does not take this currency. It takes: UGX.'],
    ['', 'Enter the phone number that you are paying with.'],
  ])('with the number %j says what would work', async (phone, sentence) => {
    const { url, transaction_id } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const refused = await me.send(stepOf(page, 'pay'), { method: 'mobile_money', phone, country: 'CD' });
    expect(refused.status).toBe(400);
    expect(textOf(refused)).toContain(sentence);
    expect(/<span class="before"/.test(refused.html), 'no code of a country before another one').toBe(
      !phone.startsWith('+'),
    );
    expect(await statusOf(transaction_id)).toBe('pending');
  });

  test('of a carrier that is down leaves everything as it was, and another method can be chosen', async () => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const me = visitor(world);
    const page = await me.open(url);
    const fields = { method: 'mobile_money', phone: numberEnding('06'), country: 'CD' };
    const down = await me.send(stepOf(page, 'pay'), fields);
    expect(down.status).toBe(502);
    // It may have accepted the request all the same.
    expect(textOf(down)).toContain('cannot be reached now. Try again shortly, or pay another way.');
    expect(textOf(down)).not.toContain('Nothing has been charged');
    const paid = await me.send(stepOf(down, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(titleOf(paid)).toBe('Paid');
  });
});

test('a bank transfer: the account, the proof, and waiting for the operator’s decision', async () => {
  const other = await world.merchant('Librairie Goma');
  const { account_number } = await addAccount(world, other);
  const { url, transaction_id } = await host(world, other);
  const me = visitor(world);
  const page = await me.open(url);
  const account = /name="account" value="(bka_[0-9a-z]+)"/.exec(page.html)?.[1] ?? '';
  const promised = await me.send(stepOf(page, 'pay'), { method: 'bank_transfer', account });
  expect(titleOf(promised)).toBe('Transfer $12.50');
  expect(promised.html, 'the deadline is shown in the reader’s own time').toMatch(
    /until <time datetime="[^"]+" data-moment>/,
  );
  // Closed for others: this customer may be about to transfer the money there.
  await closeBankAccount(world.gateway.deps, account);
  expect(textOf(await me.open(url))).toContain(account_number);
  const send = async (bytes: Uint8Array): Promise<Shown> => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(bytes)], 'receipt.pdf'));
    const cookie = [...me.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(stepOf(promised, 'proof'), world.url), {
      method: 'POST',
      body: form,
      headers: { cookie, 'accept-language': 'en' },
    });
    return { status: response.status, headers: response.headers, html: await response.text(), url: response.url };
  };
  const refused = await send(Buffer.from('MZ this is no receipt'));
  expect(refused.status).toBe(400);
  expect(textOf(refused)).toContain('Only a photo (JPEG, PNG) or a PDF can be sent.');
  const large = await send(Buffer.alloc(5 * 1024 * 1024 + 1));
  expect(large.status).toBe(413);
  expect(textOf(large)).toContain('The file is too large');
  const picture = jpegFile();
  const taken = await send(Buffer.concat([picture, Buffer.from('<script>alert(1)</script>')]));
  expect(titleOf(taken)).toBe('We have your proof');
  expect(textOf(taken)).toContain(transaction_id);
  const [proof] = await listProofs(world.gateway.deps, { merchantId: other.merchant.id, status: 'waiting', limit: 2 });
  expect(proof?.proof.size).toBe(picture.length);
  expect((await world.gateway.store.payment.get(other.merchant.shard, transaction_id))?.status).toBe('processing');
});

test('a method whose limits the amount exceeds is not shown', async () => {
  const careful = await world.merchant('Marché Virunga');
  await setSettings(world, careful, { method_limits: { wallet: { usd: { max: '500' } } } });
  const { url } = await host(world, careful);
  const page = await visitor(world).open(url);
  expect(textOf(page)).toContain('Mobile money');
  expect(textOf(page)).toContain('Flash');
  expect(textOf(page)).not.toContain('Wallet');
});

describe('languages', () => {
  test.each(LANGUAGES)('%s is spoken from the first page to the receipt, and kept once chosen', async (language) => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const me = visitor(world, 'pt');
    const first = await me.open(url);
    const address = stepOf(first, 'pay').replace(/\/pay$/, '');
    const page = await me.open(`${address}?lang=${language}`);
    expect(elementsOf(page)[0]?.attributes.get('lang')).toBe(language);
    const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
    expect(elementsOf(paid)[0]?.attributes.get('lang')).toBe(language);
    expect({ page: titleOf(page), paid: titleOf(paid) }).toMatchSnapshot();
  });

  test('amounts are written as the reader’s language writes them, with the currency’s own fraction digits', async () => {
    const seen: Record<string, string> = {};
    for (const [currency, amount] of [
      ['usd', '1234.50'],
      ['cdf', '125000.00'],
      ['ugx', '45000'],
      ['xof', '15000'],
    ] as const) {
      for (const language of LANGUAGES) {
        const { url } = await host(world, merchant, { minted: { currency, amount } });
        const page = await visitor(world, language).open(url);
        seen[`${currency} ${language}`] = /<p class="amount[a-z ]*">(.*?)<\/p>/.exec(page.html)?.[1] ?? '';
      }
    }
    expect(seen).toMatchSnapshot();
  });
});

test('the first load is small: page, stylesheet and script together are below 50 KB compressed', async () => {
  const { url } = await host(world, merchant);
  const accept = { accept: 'text/html', 'accept-encoding': 'gzip', 'accept-language': 'fr' };
  const page = await fetch(url, { headers: accept });
  const html = await page.text();
  let bytes = Number(page.headers.get('content-length'));
  const files = [...html.matchAll(/(?:href|src)="(\/checkout\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(files.length).toBeGreaterThan(1);
  for (const path of files) {
    const file = await fetch(new URL(path, world.url), { headers: accept });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    bytes += Number(file.headers.get('content-length'));
  }
  expect(bytes).toBeLessThan(50 * 1024);
});
