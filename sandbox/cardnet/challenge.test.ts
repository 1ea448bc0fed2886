// The issuer's challenge: its page, its controls, and the form that the browser posts to the gateway.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CardClient, callbackUrl, cardClient, type Json, transactionPath } from '../testing/cardnet-client.ts';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';

let running: RunningSandbox;
let cards: CardClient;

beforeAll(async () => {
  running = await startSandbox();
  cards = cardClient(running);
});
afterAll(() => running.close());

async function challenge() {
  const opened = await cards.open();
  await cards.fill(opened.session, { number: '4508750015741019' });
  await cards.initiate(opened);
  const pending = await cards.authenticate(opened);
  const [, action = ''] = / action="([^"]+)"/.exec(pending.json.authentication.redirect.html) ?? [];
  return { opened, pending, action, path: new URL(action).pathname };
}

/** Computed from the contract's text alone, independently of the sandbox's own code. */
function signatureOf(fields: Json): string {
  const signed = `${fields.timestamp}.${fields.nonce}.${fields.order_id}.${fields.transaction_id}.${fields.result}`;
  return createHmac('sha256', 'sandbox-cardnet-callback-secret').update(signed).digest('hex');
}

const statusOf = async (order: string) =>
  (await cards.ask('GET', transactionPath(order, 'auth-1'))).json.transaction.authenticationStatus;

describe('the challenge', () => {
  test('is a form that posts to the issuer on localhost, with a script that submits it', async () => {
    const { opened, pending, action } = await challenge();
    expect(pending).toMatchObject({
      status: 200,
      json: {
        result: 'PENDING',
        response: { gatewayCode: 'PENDING' },
        transaction: { authenticationStatus: 'AUTHENTICATION_PENDING', amount: 12.5 },
        authentication: { payerInteraction: 'REQUIRED' },
        order: { status: 'AUTHENTICATION_INITIATED' },
      },
    });
    const { html } = pending.json.authentication.redirect;
    expect(html).toMatch(/<form [^>]*method="POST"/);
    expect(html).toContain('<input type="hidden" name="creq" value="');
    expect(html).toContain('.submit()');
    expect(action).toMatch(new RegExp(`^http://localhost:${new URL(running.url).port}/cardnet/acs/[\\w-]+$`));
    expect((await cards.pay(opened)).json.error.field).toBe('authentication.transactionId');
  });

  test.each([
    ['pass', 'AUTHENTICATED', 'AUTHENTICATION_SUCCESSFUL', 'PROCEED'],
    ['fail', 'REJECTED', 'AUTHENTICATION_FAILED', 'DO_NOT_PROCEED'],
    ['cancel', 'REJECTED', 'AUTHENTICATION_FAILED', 'DO_NOT_PROCEED'],
  ])('%s is reported to the gateway as %s, signed', async (result, told, status, recommendation) => {
    const { opened } = await challenge();
    const answer = await cards.control(`/challenges/${opened.order}`, { result });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      'order.id': opened.order,
      'transaction.id': 'auth-1',
      'response.gatewayRecommendation': recommendation,
      order_id: opened.order,
      transaction_id: opened.order,
      result: told,
      timestamp: String(running.world.now() / 1_000),
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      signature: signatureOf(answer.json),
    });
    expect(await statusOf(opened.order)).toBe(status);
    const paid = await cards.pay(opened);
    expect(paid.status).toBe(result === 'pass' ? 201 : 400);
    if (result === 'pass') expect(paid.json.authentication['3ds'].acsEci).toBe('05');
    expect(await cards.book(opened.order)).toHaveLength(result === 'pass' ? 1 : 0);
  });

  test('when answered again the same way, gives the same fields; any other answer is refused', async () => {
    const { opened } = await challenge();
    const first = await cards.control(`/challenges/${opened.order}`, { result: 'fail' });
    running.world.advance(1_000);
    expect((await cards.control(`/challenges/${opened.order}`, { result: 'fail' })).json).toEqual(first.json);
    expect((await cards.control(`/challenges/${opened.order}`, { result: 'pass' })).status).toBe(409);
    expect(await statusOf(opened.order)).toBe('AUTHENTICATION_FAILED');
  });

  test("is also found by the network's own id; without one it is 404, and a wrong result is 400", async () => {
    const { pending } = await challenge();
    const id = pending.json.authentication['3ds2'].acsTransactionId;
    expect((await cards.control(`/challenges/${id}`, { result: 'maybe' })).status).toBe(400);
    expect((await cards.control(`/challenges/${id}`, { result: 'pass' })).status).toBe(200);
    const frictionless = await cards.payWith({ number: '5123450000000008' });
    for (const unknown of ['txn_unknown', frictionless.opened.order])
      expect((await cards.control(`/challenges/${unknown}`, { result: 'pass' })).status).toBe(404);
  });

  test('fails after ten minutes without an answer, and a late answer changes nothing', async () => {
    const { opened, path } = await challenge();
    running.world.advance(599_999);
    expect(await statusOf(opened.order)).toBe('AUTHENTICATION_PENDING');
    running.world.advance(1);
    expect(await statusOf(opened.order)).toBe('AUTHENTICATION_FAILED');
    expect((await cards.control(`/challenges/${opened.order}`, { result: 'pass' })).status).toBe(409);
    expect((await running.call('GET', path)).text).toContain('value="REJECTED"');
    expect(await statusOf(opened.order)).toBe('AUTHENTICATION_FAILED');
  });
});

describe("the issuer's page", () => {
  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    running.call('POST', path, new URLSearchParams(fields), headers);

  test.each([
    ['en', 'Is it you who is paying?', '12.50'],
    ['fr-CD, en;q=0.5', 'Est-ce bien vous qui payez', '12,50'],
    ['es', '¿Es usted quien paga?', '12,50'],
    ['ru', 'Это вы платите?', '12,50'],
    ['zh-CN', '是您本人在付款吗', '12.50'],
    ['ln', 'Ezali yo moto', '12,50'],
  ])('asks in the language of %s', async (language, title, amount) => {
    const { path } = await challenge();
    const page = await post(path, { creq: 'x' }, { 'accept-language': language });
    expect(page.status).toBe(200);
    expect(page.text).toContain(title);
    expect(page.text).toContain(amount);
    expect(page.text).toContain('•••• 1019');
    expect(page.text).not.toContain('450875');
    expect(page.text).not.toMatch(/<script>|<style|\sstyle=|\son\w+=/);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*form-action 'self'$/);
  });

  test("leads, once answered, to a form that posts the signed fields to the merchant's address", async () => {
    const { opened, path } = await challenge();
    const page = await post(`${path}/answer`, { answer: 'pass' });
    expect(page.text).toContain(`action="${callbackUrl.replaceAll('&', '&amp;')}"`);
    const inputs = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
    const fields: Json = Object.fromEntries(inputs.map(([, name, value]) => [name, value]));
    expect(fields).toMatchObject({ order_id: opened.order, transaction_id: opened.order, result: 'AUTHENTICATED' });
    expect(fields.signature).toBe(signatureOf(fields));
    expect((await cards.control(`/challenges/${opened.order}`, { result: 'pass' })).json).toEqual(fields);
    // Loading it again, or answering differently, changes nothing.
    expect((await running.call('GET', path)).text).toContain(fields.signature);
    expect((await post(`${path}/answer`, { answer: 'fail' })).text).toContain(fields.signature);
    // A form-action policy would also block the gateway's redirects.
    expect(page.headers.get('content-security-policy')).not.toContain('form-action');
  });

  test('a bank that falls silent sends nothing back, and its challenge stays open', async () => {
    const { opened, path } = await challenge();
    const page = await post(`${path}/answer?lang=en`, { answer: 'timeout' });
    expect(page.text).toContain('The bank does not answer');
    expect(page.text).not.toContain('<form');
    expect(await statusOf(opened.order)).toBe('AUTHENTICATION_PENDING');
    expect((await running.call('GET', path)).text).toContain('value="pass"');
  });

  test('an unknown challenge is 404, and still a page', async () => {
    const page = await running.call('GET', '/cardnet/acs/unknown?lang=en');
    expect([page.status, page.text]).toEqual([404, expect.stringContaining('There is no such question')]);
  });
});

describe('the hosted form', () => {
  const base = '/cardnet/form/version/100/merchant/TESTMBONGO';
  const query = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      field: 'cardNumber',
      session: 'SESSION0002A',
      form: '0'.repeat(32),
      origin: 'http://127.0.0.1:8080',
      label: 'Numéro <b>',
      lang: 'fr',
      ...more,
    });

  test('a frame holds one labelled field under a strict policy, and may be embedded', async () => {
    const frame = await running.call('GET', `${base}/field?${query()}`);
    expect(frame.status).toBe(200);
    expect(frame.text).toContain('<label for="value">Numéro &lt;b&gt;</label>');
    expect(frame.text).toContain('autocomplete="cc-number"');
    expect(frame.text).toContain('lang="fr"');
    const policy = frame.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|frame-ancestors/);
  });

  test.each([
    [{ field: 'pin' }],
    [{ session: '../x' }],
    [{ form: 'short' }],
    [{ origin: 'javascript:alert(1)' }],
    [{ origin: 'http://127.0.0.1:8080/path' }],
  ])('no frame is made for %j', async (more) => {
    expect((await running.call('GET', `${base}/field?${query(more)}`)).status).toBe(400);
  });

  test('the fields that frames send fill the session, and the answer is masked', async () => {
    const { session } = await cards.open();
    const card = { cardNumber: '5123 4500 0000 0008', expiryMonth: '01', expiryYear: '39', securityCode: '100' };
    const filled = await running.call('POST', `${base}/session/${session}`, card);
    expect(filled.json).toEqual({
      status: 'ok',
      session: { id: session, updateStatus: 'SUCCESS', version: expect.any(String) },
      sourceOfFunds: {
        type: 'CARD',
        provided: { card: { brand: 'MASTERCARD', number: '512345xxxxxx0008', scheme: 'MASTERCARD' } },
      },
    });
    const wrong = await running.call('POST', `${base}/session/${session}`, { ...card, cardNumber: '1' });
    expect(wrong.json).toEqual({
      status: 'fields_in_error',
      session: { id: session },
      errors: { cardNumber: 'invalid' },
    });
    const lost = await running.call('POST', `${base}/session/SESSION0002X`, card);
    expect(lost.json).toMatchObject({ status: 'system_error', errors: { message: 'The session is unknown.' } });
  });
});
