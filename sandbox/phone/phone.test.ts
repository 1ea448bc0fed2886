// The virtual phone: its JSON for programs, its page for people, its live stream.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MomoClient, momoClient, type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';
import { codeIn, digitsOf } from './phones.ts';
import { phoneWords } from './words.ts';

let running: RunningSandbox;
let momo: MomoClient;
const number = '243810000042';

beforeEach(async () => {
  running = await startSandbox();
  momo = await momoClient(running);
});
afterEach(() => running.close());

const state = async () => (await running.call('GET', `/phone/%2B${number}/state`)).json;
const answer = (id: string, body: unknown) => running.call('POST', `/phone/${number}/prompts/${id}`, body);
const sms = (to: string, text: string, secret = 'sandbox-sms') =>
  running.call('POST', '/sms', { to, text }, { authorization: `Bearer ${secret}` });

describe('for programs', () => {
  test('a prompt shows what the carrier asks, and the carrier gets the approval', async () => {
    const { reference } = await momo.pay(number);
    const prompt = { id: reference, carrier: 'mtn', amount: '45.90', currency: 'usd', merchant: 'Boutique Kivu' };
    expect(await state()).toMatchObject({ prompts: [{ ...prompt, status: 'pending' }], messages: [] });
    const approved = await answer(reference, { answer: 'approve', pin: '0000' });
    expect(approved).toMatchObject({ status: 200, json: { ...prompt, status: 'approved' } });
    expect(await state()).toMatchObject({ prompts: [{ ...prompt, status: 'approved' }] });
  });

  test('a prompt that is unknown or answered, and a malformed answer, are refused', async () => {
    expect(await answer('nothing', { answer: 'reject' })).toMatchObject({ status: 404, json: { error: 'unknown' } });
    const { reference } = await momo.pay(number);
    expect((await answer(reference, { answer: 'maybe' })).status).toBe(400);
    expect((await answer(reference, { answer: 'reject' })).status).toBe(200);
    expect(await answer(reference, { answer: 'approve', pin: '0000' })).toMatchObject({
      status: 409,
      json: { error: 'already_answered' },
    });
    expect((await running.call('GET', '/phone/abc/state')).status).toBe(404);
  });

  test('after three wrong PINs the carrier fails the request', async () => {
    const { reference } = await momo.pay(number);
    for (const left of [2, 1, 0])
      expect(await answer(reference, { answer: 'approve', pin: '1234' })).toMatchObject({
        status: 400,
        json: { error: 'wrong_pin', attempts_left: left },
      });
    expect((await answer(reference, { answer: 'approve', pin: '0000' })).status).toBe(409);
    expect((await momo.status(reference)).json).toMatchObject({ status: 'FAILED', reason: 'PAYMENT_NOT_APPROVED' });
    expect(await state()).toMatchObject({ prompts: [{ status: 'failed' }] });
    expect((await running.call('GET', '/control/books')).json).toEqual([]);
  });

  test('a prompt that nobody answers expires', async () => {
    await momo.pay(number);
    running.world.advance(300_000);
    expect(await state()).toMatchObject({ prompts: [{ status: 'expired' }] });
  });

  test('a number that decides by itself accepts no answer', async () => {
    const { reference } = await momo.pay('243810000104');
    const refused = await running.call('POST', `/phone/243810000104/prompts/${reference}`, {
      answer: 'approve',
      pin: '0000',
    });
    expect(refused).toMatchObject({ status: 409, json: { error: 'decides_by_itself' } });
  });

  test('a text message arrives with its code; sending one requires the secret', async () => {
    expect(await sms(`+${number}`, 'Votre code est 482913.')).toMatchObject({
      status: 202,
      json: { id: expect.stringMatching(/^sms_/) },
    });
    await sms(number, 'Bonjour');
    expect(await state()).toMatchObject({
      messages: [
        { text: 'Bonjour', code: null },
        { text: 'Votre code est 482913.', code: '482913' },
      ],
    });
    expect((await sms(number, 'x', 'wrong')).status).toBe(401);
    expect((await sms('nobody', 'x')).status).toBe(404);
    expect((await running.call('POST', '/sms', { to: 5 }, { authorization: 'Bearer sandbox-sms' })).status).toBe(400);
  });
});

test.each([
  ['code 482913.', '482913'],
  ['482 913 est votre code', '482913'],
  ['appelez le +243 810 000 042', null],
  ['1234567', null],
  ['12345', null],
])('the code in %j is %s', (text, code) => {
  expect(codeIn(text)).toBe(code);
});

test.each([
  ['+243 810-000-042', '243810000042'],
  ['243810000042', '243810000042'],
  ['+', undefined],
  ['12 345', undefined],
  ['24381000004x', undefined],
])('the digits of %j are %s', (text, digits) => {
  expect(digitsOf(text)).toBe(digits);
});

describe('for people', () => {
  const page = (query = '', headers = {}) => running.call('GET', `/phone/${number}${query}`, undefined, headers);

  test.each(Object.entries(phoneWords))('in %s it shows its words and a PIN form', async (language, words) => {
    await momo.pay(number);
    const { text, headers } = await page('', { 'accept-language': `xx,${language};q=0.9,en;q=0.1` });
    expect(text).toContain(`<html lang="${language}">`);
    for (const word of [words.title, words.approve, words.reject]) expect(text).toContain(word);
    expect(text.match(/name="pin"/g)).toHaveLength(4);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; /);
  });

  test('it is in French by default, with amounts in French notation', async () => {
    await momo.pay(number, { body: { amount: '12500.50', currency: 'CDF' } });
    const { text } = await page();
    expect(text).toContain('<html lang="fr">');
    expect(text.replace(/\s/gu, ' ')).toContain('12 500,50 CDF');
    expect((await page('?lang=en')).text.replace(/\s/gu, ' ')).toContain('12,500.50 CDF');
  });

  test('without script, a wrong PIN is reported and the right one approves, both by plain forms', async () => {
    const { reference } = await momo.pay(number);
    const post = (pin: string) => {
      const form = new URLSearchParams({ answer: 'approve' });
      for (const digit of pin) form.append('pin', digit);
      return running.call('POST', `/phone/${number}/prompts/${reference}?lang=en`, form);
    };
    const wrong = await post('1111');
    expect([wrong.status, wrong.headers.get('location')]).toEqual([303, `/phone/${number}?lang=en`]);
    expect((await page('?lang=en')).text).toContain('Attempts left: 2.');
    expect((await post('0000')).status).toBe(303);
    expect((await page('?lang=en')).text).toContain('approved');
    expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  });

  test('Enter in a PIN box approves, because that is the form’s first button', async () => {
    await momo.pay(number);
    const buttons = [...(await page()).text.matchAll(/<button[^>]*name="answer" value="(\w+)"/g)].map(
      ([, value]) => value,
    );
    expect(buttons).toEqual(['approve', 'reject', 'approve']);
  });

  test('an ignored prompt leaves the screen but can still be answered', async () => {
    const { reference } = await momo.pay(number);
    const { text } = await page(`?lang=en&hide=${reference}`);
    expect(text).not.toContain('name="pin"');
    expect(text).toContain(phoneWords.en.showAgain);
  });

  test('a stranger’s text is never markup', async () => {
    const evil = '<img src=x onerror=alert(1)>"\'&';
    await momo.pay(number, { body: { payeeNote: evil, payerMessage: evil } });
    await sms(number, evil);
    const { text } = await page('?hide=%22%3E%3Cscript%3E');
    expect(text).not.toContain('<img src=x');
    expect(text).not.toContain('"><script>');
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  });

  test('the list leads to a number’s phone', async () => {
    const led = await running.call('GET', '/phone?number=%2B243%20810%20000%20042&lang=ru');
    expect([led.status, led.headers.get('location')]).toEqual([303, `/phone/${number}?lang=ru`]);
    expect((await running.call('GET', '/phone')).text).toContain(phoneWords.fr.title);
  });

  test('an impossible number stays in its field, with the error beside it', async () => {
    const { text } = await running.call('GET', '/phone?number=12%22x&lang=en');
    expect(text).toContain('value="12&quot;x"');
    expect(text).toContain(phoneWords.en.badNumber);
    expect((await running.call('GET', '/phone?lang=en')).text).not.toContain(phoneWords.en.badNumber);
  });
});

test('an open phone is notified of a change at once, and an open stream does not hold up stopping', async () => {
  const stream = await fetch(`${running.url}/phone/${number}/events`);
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('the stream has no body');
  expect((await reader.read()).value).toContain('retry:');
  await momo.pay(number);
  expect((await reader.read()).value).toContain('event: changed');
  await running.close();
  await expect(reader.read()).rejects.toThrow();
});
