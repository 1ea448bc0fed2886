/** Every refusal, success, text and page is said in six languages, and its code is the same in all of them. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/messages/messages.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectEnvelope } from '../support/envelope.ts';
import { bearerOf, openPaying, type Paying, payFromWallet, phoneState } from '../support/flows.ts';
import { until } from '../support/waiting.ts';
import { type Answer, collectBody, mint, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let paying: Paying;

beforeAll(async () => {
  ({ world, merchant, paying } = await openPaying());
});
afterAll(() => world.close());

/** The script in which a language's sentences are written. */
function scriptOf(text: string): string {
  if (/\p{Script=Han}/u.test(text)) return 'zh';
  return /\p{Script=Cyrillic}/u.test(text) ? 'ru' : 'latin';
}

type Ask = (headers: Readonly<Record<string, string>>) => Promise<Answer>;

const REFUSED: readonly (readonly [string, string, Ask])[] = [
  ['no credential', '1002', (headers) => world.call('GET', '/payments/status/txn_x', { headers })],
  [
    'an unknown payment',
    '1204',
    (headers) => world.call('GET', '/payments/status/txn_x', { headers, bearer: paying.token }),
  ],
  [
    'missing fields',
    '1109',
    (headers) => world.call('POST', '/payments/collect', { headers, bearer: paying.token, body: {} }),
  ],
  ['an unknown path', '1403', (headers) => world.call('GET', '/nothing', { headers })],
  [
    'broken JSON',
    '1110',
    (headers) => world.call('POST', '/payments/collect', { headers, bearer: paying.token, raw: '{' }),
  ],
  [
    'a bad amount',
    '1101',
    (headers) =>
      world.call('POST', '/internal/sessions/create', {
        headers,
        bearer: bearerOf(merchant),
        body: { amount: '0', currency: 'usd', customer_reference: 'x' },
      }),
  ],
  [
    'a number of no carrier',
    '1103',
    (headers) =>
      world.call('POST', '/payments/submit', {
        headers,
        bearer: paying.token,
        body: {
          payment_id: paying.payment_id,
          payment_method_id: 'mobile_money',
          mobile_money_phone_number: '+33612345678',
        },
      }),
  ],
];

describe.each(REFUSED)('%s (%s)', (_what, code, ask) => {
  test('is said in six languages; the code never changes', async () => {
    const messages = new Map<string, string>();
    for (const language of LANGUAGES) {
      const { json, ...answer } = await ask({ 'accept-language': language });
      expectEnvelope({ ...answer, json });
      expect(json.error_code).toBe(code);
      expect(scriptOf(json.message)).toBe(language === 'ru' || language === 'zh' ? language : 'latin');
      messages.set(language, json.message);
    }
    expect(new Set(messages.values()).size).toBe(LANGUAGES.length);
  });
});

describe('the language', () => {
  const messageFor = async (language: string): Promise<string> => {
    const headers: Record<string, string> = { 'accept-language': language };
    return (await world.call('GET', '/payments/status/txn_x', { headers })).json.message;
  };

  test.each([
    ['', 'fr'],
    ['*', 'fr'],
    ['de', 'fr'],
    ['de, sw;q=0.9', 'fr'],
    ['en-GB', 'en'],
    ['EN', 'en'],
    ['es-419, en;q=0.5', 'es'],
    ['en;q=0.2, ru;q=0.8', 'ru'],
    ['zh-Hans-CN', 'zh'],
    ['ln-CD, fr;q=0.9', 'ln'],
    ['en;q=0, zh', 'zh'],
    ['de, en;q=0.1', 'en'],
    ['%%%; q=x', 'fr'],
    ['en'.repeat(5_000), 'fr'],
  ])('%j is answered in %s', async (header, language) => {
    expect(await messageFor(header.slice(0, 10_000))).toBe(await messageFor(language));
  });

  test('without the header it is French', async () => {
    const response = await fetch(`${world.url}/api/v1/payments/status/txn_x`, { headers: { 'accept-language': '' } });
    const json = (await response.json()) as { message: string };
    expect(json.message).toBe(await messageFor('fr'));
  });
});

test('successes are in it too: mint, collect, submit, reads', async () => {
  const said = new Map<string, Set<string>>();
  const note = (what: string, message: string) => said.set(what, (said.get(what) ?? new Set()).add(message));
  for (const language of LANGUAGES) {
    const headers = { 'accept-language': language };
    const minted = await world.call('POST', '/internal/sessions/create', {
      bearer: bearerOf(merchant),
      body: { amount: '1.00', currency: 'usd', customer_reference: 'x' },
      headers,
    });
    note('mint', minted.json.message);
    const bearer = minted.json.session_token;
    const made = await world.call('POST', '/payments/collect', { bearer, body: collectBody(world, 'none'), headers });
    note('collect', made.json.message);
    const wallet = await world.wallet();
    const paid = await payFromWallet(world, { token: bearer, payment_id: made.json.payment_id }, wallet, headers);
    note('submit', paid.json.message);
    const read = await world.call('GET', `/payments/transaction/${made.json.transaction_id}`, { bearer, headers });
    note('read', read.json.message);
    note('method', read.json.payment_methods[0].display_name);
    const polled = await world.call('GET', `/payments/mobile-money/status/${paying.payment_id}`, {
      bearer: paying.token,
      headers,
    });
    note('poll', polled.json.message);
    expect(polled.json.data.message).toBe(polled.json.message);
  }
  for (const [what, messages] of said) {
    // Names of methods may be the same word in two languages; sentences may not.
    expect(messages.size, what).toBeGreaterThanOrEqual(what === 'method' ? 3 : LANGUAGES.length);
    for (const message of messages) expect(message, what).not.toContain('…');
  }
});

test('a code’s text is in the language of the collect', async () => {
  const texts = new Set<string>();
  for (const [at, language] of LANGUAGES.entries()) {
    const phone = `+24382000880${at}`;
    const wallet = await world.wallet({ balance: 500_00n, phone });
    const { token } = await mint(world, merchant, { amount: '150.00' });
    const headers = { 'accept-language': language };
    const made = await world.call('POST', '/payments/collect', {
      bearer: token,
      body: collectBody(world, 'none'),
      headers,
    });
    await payFromWallet(world, { token, payment_id: made.json.payment_id }, wallet);
    const [message] = await until(async () => {
      const { messages } = await phoneState(world, phone);
      return messages.length > 0 ? messages : undefined;
    });
    expect(message?.code).toMatch(/^\d{6}$/);
    texts.add((message?.text ?? '').replaceAll(/\d/g, '#'));
  }
  expect(texts.size).toBe(LANGUAGES.length);
});

test('the pages on errors come in all six, by header or by choice', async () => {
  const pages = new Set<string>();
  for (const language of LANGUAGES) {
    const chosen = await fetch(`${world.url}/docs/errors/1201?lang=${language}`);
    const asked = await fetch(`${world.url}/docs/errors/1201`, { headers: { 'accept-language': language } });
    const page = await chosen.text();
    expect(page).toContain(`lang="${language}"`);
    expect(await asked.text()).toBe(page);
    pages.add(page);
  }
  expect(pages.size).toBe(LANGUAGES.length);
});
