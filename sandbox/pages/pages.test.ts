// What all pages have in common, and the template that builds them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issuerWords } from '../cardnet/words.ts';
import { endings } from '../carriers/endings.ts';
import { phoneWords } from '../phone/words.ts';
import { shopWords } from '../shop/words.ts';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';
import { html } from './html.ts';
import { formatAmount } from './languages.ts';

let running: RunningSandbox;
beforeAll(async () => {
  running = await startSandbox({ gatewayUrl: 'http://gateway.example:8080' });
});
afterAll(() => running.close());

describe.each(['/', '/phone', '/phone/243810000042', '/inbox', '/inbox/demo', '/control'])('%s', (path) => {
  test('has one h1, strict headers, and nothing inline or from elsewhere', async () => {
    const { status, text, headers } = await running.call('GET', path);
    expect(status).toBe(200);
    expect(text.match(/<h1/g)).toHaveLength(1);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<style|<script>|\sstyle=|\son\w+=/);
    expect(text).not.toMatch(/(src|action)="https?:/);
    for (const [, asset] of text.matchAll(/href="(\/assets\/[^"]+)"/g))
      expect((await running.call('GET', asset ?? '')).status).toBe(200);
  });
});

test('the start page explains every number and a payment through the gateway', async () => {
  const { text } = await running.call('GET', '/');
  for (const ending of endings)
    expect(text).toContain(`<a class="figure" href="/phone/2438100001${ending}">+243 810 000 1${ending}</a>`);
  expect(text).toContain('fails, no such account');
  expect(text).toContain('http://gateway.example:8080/api/v1/internal/sessions/create');
  expect(text).toContain('$CREDENTIAL');
  for (const link of ['/phone/243810000042', '/inbox/demo', '/control']) expect(text).toContain(`href="${link}"`);
});

test('unknown addresses are answered with JSON, and only known assets are served', async () => {
  expect(await running.call('GET', '/nothing')).toMatchObject({ status: 404, json: { error: 'not_found' } });
  expect((await running.call('GET', '/assets/..%2f..%2fpackage.json')).status).toBe(404);
});

test.each([
  ['/nothing', 'There is no such page', 'The start page'],
  ['/shop/nothing', 'There is no such page', 'the shop'],
  ['/phone/abc', 'Sandbox phone', 'Six to fifteen digits'],
  ['/inbox/a%20b', 'Inboxes', 'No inbox can have this name'],
  ['/inbox?name=a%20b', 'Inboxes', 'No inbox can have this name'],
])('a person who opens %s reads what is wrong, and finds a way on', async (path, title, sentence) => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  const { status, text } = await running.call('GET', path, undefined, { accept, 'accept-language': 'en' });
  expect(status).toBe(path.includes('?') ? 200 : 404);
  expect(text).toContain(`<h1>${title}</h1>`);
  expect(text).toContain(sentence);
});

test('a line of French never begins with its punctuation', () => {
  const french = JSON.stringify([shopWords.fr, phoneWords.fr, issuerWords.fr]);
  expect(french).toContain('coton imprimé\u00a0: une robe');
  expect(french).not.toMatch(/ [:;?!»]|« /);
});

describe('html', () => {
  test('escapes text, joins arrays, and renders null, undefined and false as nothing', () => {
    const evil = `<a href="x" title='y'>&`;
    expect(html`<p>${evil}${[html`<b>1</b>`, 2, null, undefined, false]}</p>`.text).toBe(
      '<p>&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;<b>1</b>2</p>',
    );
  });
  test('an object that only looks like safe HTML is not trusted', () => {
    expect(html`${{ text: '<script>' }}`.text).not.toContain('<script>');
  });
});

test.each([
  ['fr', '45.90', 'usd', '45,90 USD'],
  ['en', '1250000', 'xaf', '1,250,000 XAF'],
  ['es', '9007199254740993.01', 'usd', '9.007.199.254.740.993,01 USD'],
  ['ln', '12.5', 'cdf', '12,5 CDF'],
  ['en', '<b>', 'usd', '<b> USD'],
] as const)('%s writes %s %s as %s', (language, amount, currency, text) => {
  expect(formatAmount(language, amount, currency).replace(/\s/gu, ' ')).toBe(text);
});
