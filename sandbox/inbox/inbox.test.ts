// Inboxes: what they catch, and how they judge signatures made by the public Standard Webhooks library.
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const body = '{"status":"approved","amount":"45.90"}';

let running: RunningSandbox;
beforeEach(async () => {
  running = await startSandbox();
});
afterEach(() => running.close());

const post = (headers: Record<string, string>, content: string | Buffer = body, name = 'demo') =>
  fetch(`${running.url}/inbox/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: content,
  });
const messages = async (name = 'demo') => {
  const { json } = await running.call('GET', `/inbox/${name}/messages`);
  return (json as { messages: Record<string, unknown>[] }).messages;
};
const signed = (key = secret, id = 'evt_1', offset = 0) => {
  const at = new Date(running.world.now() + offset);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, body),
  };
};

describe('verdicts', () => {
  beforeEach(async () => {
    expect((await running.call('PUT', '/inbox/demo/secret', { secret })).status).toBe(204);
  });
  const verdictOf = async (headers: Record<string, string>, content = body) => {
    expect((await post(headers, content)).status).toBe(200);
    return (await messages())[0];
  };

  test('signed with the secret: verified', async () => {
    expect(await verdictOf(signed())).toMatchObject({ verdict: 'verified', body, attempt: 1 });
  });
  test('one of two signatures during rotation: verified', async () => {
    const both = `${signed(otherSecret)['webhook-signature']} ${signed()['webhook-signature']}`;
    expect(await verdictOf({ ...signed(), 'webhook-signature': both })).toMatchObject({ verdict: 'verified' });
  });
  test.each<[string, () => Record<string, string>, string]>([
    ['another secret', () => signed(otherSecret), 'no signature matches'],
    ['another id', () => ({ ...signed(), 'webhook-id': 'evt_2' }), 'no signature matches'],
    ['a signature of another version', () => ({ ...signed(), 'webhook-signature': 'v2,AAAA' }), 'no v1 signature'],
    ['no headers', () => ({}), 'webhook-id, webhook-timestamp, webhook-signature is missing'],
    ['a time that is no number', () => ({ ...signed(), 'webhook-timestamp': 'now' }), 'not a number'],
    ['a time too old', () => signed(secret, 'evt_1', -301_000), '301 s away'],
    ['a time too new', () => signed(secret, 'evt_1', 301_000), '301 s away'],
  ])('%s: does not verify', async (_name, headers, why) => {
    expect(await verdictOf(headers())).toMatchObject({ verdict: 'wrong_signature', why: expect.stringContaining(why) });
  });
  test('a changed body does not verify; 300 s off still does', async () => {
    expect(await verdictOf(signed(), `${body} `)).toMatchObject({ verdict: 'wrong_signature' });
    expect(await verdictOf(signed(secret, 'evt_1', -300_000))).toMatchObject({ verdict: 'verified', attempt: 2 });
  });
  test('a message’s verdict does not change with age', async () => {
    await verdictOf(signed());
    running.world.advance(86_400_000);
    expect((await messages())[0]).toMatchObject({ verdict: 'verified' });
  });
});

test('without a secret the verdict says so; a secret set by the form also judges earlier messages', async () => {
  await post(signed());
  expect((await messages())[0]).toMatchObject({ verdict: 'no_secret', why: 'No secret known yet: paste it here.' });
  const refused = await running.call('POST', '/inbox/demo/secret', new URLSearchParams({ secret: 'hunter2' }));
  expect(refused.headers.get('location')).toBe('/inbox/demo?secret=refused');
  const taken = await running.call('POST', '/inbox/demo/secret', new URLSearchParams({ secret }));
  expect(taken.headers.get('location')).toBe('/inbox/demo');
  expect((await messages())[0]).toMatchObject({ verdict: 'verified' });
  const page = (await running.call('GET', '/inbox/demo')).text;
  expect(page).toContain('Verified.');
  expect(page).not.toContain(secret);
});

test('the demo merchant’s secret verifies in any inbox, and makes no other merchant’s webhook wrong', async () => {
  expect((await running.call('PUT', '/inbox/demo/secret', { secret })).status).toBe(204);
  const headers = { 'content-type': 'application/json' };
  for (const signature of [signed(), signed(otherSecret, 'evt_2')])
    await fetch(`${running.url}/inbox/mine`, { method: 'POST', headers: { ...signature, ...headers }, body });
  const caught = (await running.call('GET', '/inbox/mine/messages')).json;
  expect(caught).toMatchObject({ messages: [{ verdict: 'no_secret' }, { verdict: 'verified' }] });
});

test('a secret for all inboxes can be set from outside', async () => {
  const own = await startSandbox({ webhookSecret: secret });
  const headers = { ...signed(), 'content-type': 'application/json' };
  await fetch(`${own.url}/inbox/any`, { method: 'POST', headers, body });
  expect((await own.call('GET', '/inbox/any/messages')).json).toMatchObject({ messages: [{ verdict: 'verified' }] });
  await own.close();
});

test('an inbox catches any content type, a missing one, and binary bodies, but nothing that is too large or badly named', async () => {
  expect((await post({ 'content-type': 'text/plain' }, 'hello')).status).toBe(200);
  expect((await post({ 'content-type': 'application/json' }, '{broken')).status).toBe(200);
  expect((await fetch(`${running.url}/inbox/demo`, { method: 'POST' })).status).toBe(200);
  expect((await post({ 'content-type': 'image/png' }, Buffer.from([0x89, 0xff, 0x00]))).status).toBe(200);
  expect((await post({}, 'x'.repeat(256 * 1024))).status).toBe(200);
  expect((await post({}, 'x'.repeat(256 * 1024 + 1))).status).toBe(413);
  expect((await post({}, body, '%3Cscript%3E')).status).toBe(404);
  expect((await messages()).map(({ body: text }) => String(text).slice(0, 7))).toEqual([
    'xxxxxxx',
    expect.any(String),
    '',
    '{broken',
    'hello',
  ]);
});

test('only the newest 500 are kept', async () => {
  for (let n = 0; n < 510; n += 1) await post({ 'content-type': 'text/plain' }, `n${n}`);
  const kept = await messages();
  expect([kept.length, kept[0]?.body, kept[499]?.body]).toEqual([500, 'n509', 'n10']);
  expect((await running.call('DELETE', '/inbox/demo/messages')).status).toBe(204);
  expect(await messages()).toEqual([]);
});

test('a stranger’s body and headers are never markup', async () => {
  await post({ 'webhook-event': '<b>event</b>', 'x-evil': '"><script>' }, '{"a":"<script>alert(1)</script>"}');
  for (const path of ['/inbox/demo', '/inbox/demo/list']) {
    const { text, headers } = await running.call('GET', path);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('"><script>');
    expect(text).not.toContain('<b>event');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
  }
});

test('the list names the inboxes that have caught something, and gives instructions while there are none', async () => {
  expect((await running.call('GET', '/inbox')).text).toContain('No inbox has caught anything yet');
  await post({}, body, 'shop-1');
  expect((await running.call('GET', '/inbox')).text).toContain('href="/inbox/shop-1"');
});
