// What each number does when money is sent to it, over real HTTP, with the clock in the test's hand (contract §11).
import { afterEach, beforeEach, expect, test } from 'vitest';
import { phoneWords } from '../phone/words.ts';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import {
  disbursementClient,
  type MomoClient,
  momoClient,
  newReference,
  type RunningSandbox,
  startSandbox,
} from '../testing/start-sandbox.ts';

let running: RunningSandbox;
let momo: MomoClient;
let receiver: Receiver;

beforeEach(async () => {
  running = await startSandbox();
  momo = await disbursementClient(running);
  receiver = await startReceiver();
});
afterEach(async () => {
  await running.close();
  await receiver.close();
});

const books = async () => (await running.call('GET', '/control/books')).json;
const state = async (msisdn: string) => (await running.call('GET', `/phone/${msisdn}/state`)).json;
const pay = (ending: string, last = '0') =>
  momo.pay(`2438100001${ending}`, { reference: newReference(last), callbackUrl: receiver.url });

test.each(['01', '42'])(
  '%s stays pending for a second, then is paid, calls back and is recorded in the book',
  async (ending) => {
    const { status, text, reference } = await pay(ending);
    expect([status, text]).toEqual([202, '']);
    running.world.advance(999);
    expect((await momo.status(reference)).json).toMatchObject({ status: 'PENDING' });
    expect(await books()).toEqual([]);
    running.world.advance(1);
    const final = await momo.status(reference);
    expect(final.json).toEqual({
      status: 'SUCCESSFUL',
      amount: '45.90',
      currency: 'USD',
      externalId: 'txn_1',
      payee: { partyIdType: 'MSISDN', partyId: `2438100001${ending}` },
      payerMessage: 'order-2041',
      payeeNote: 'Boutique Kivu',
      financialTransactionId: expect.stringMatching(/^\d+$/),
    });
    expect(await receiver.came(1)).toEqual([{ method: 'PUT', body: final.json }]);
    expect(await books()).toEqual([
      {
        carrier: 'mtn',
        reference,
        kind: 'credit',
        msisdn: `2438100001${ending}`,
        amount: '45.90',
        currency: 'usd',
        external_id: 'txn_1',
        at: '2026-11-20T14:02:01.000Z',
        times: 1,
      },
    ]);
  },
);

test.each([
  ['02', 'PAYEE_NOT_FOUND'],
  ['03', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'],
])(
  '%s fails after 300 ms with %s and pays nothing; the callback for an odd reference is a POST',
  async (ending, reason) => {
    const { status, reference } = await pay(ending, '7');
    expect(status).toBe(202);
    running.world.advance(300);
    expect((await momo.status(reference)).json).toMatchObject({ status: 'FAILED', reason });
    expect(await receiver.came(1)).toMatchObject([{ method: 'POST', body: { status: 'FAILED', reason } }]);
    expect(await books()).toEqual([]);
    expect(await state(`2438100001${ending}`)).toEqual({ prompts: [], messages: [] });
  },
);

test('04 stays pending for ever, and no callback comes', async () => {
  const { reference } = await pay('04');
  running.world.advance(30 * 86_400_000);
  momo = await disbursementClient(running);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'PENDING' });
  // The next payout's callback is the first to arrive, so nothing was sent before it.
  const next = await pay('01');
  running.world.advance(1_000);
  const [first] = await receiver.came(1);
  expect(first?.body).toEqual((await momo.status(next.reference)).json);
});

test('05 takes the request, never answers it, and yet pays', async () => {
  const reference = newReference();
  const gaveUp = new AbortController();
  const hanging = fetch(`${running.url}/mtn/disbursement/v1_0/transfer`, {
    method: 'POST',
    headers: { ...momo.headers, 'content-type': 'application/json', 'x-reference-id': reference },
    body: JSON.stringify({
      amount: '5',
      currency: 'USD',
      externalId: 'x',
      payee: { partyIdType: 'MSISDN', partyId: '243810000105' },
    }),
    signal: gaveUp.signal,
  }).catch((error: Error) => error.name);
  await expect.poll(async () => (await momo.status(reference)).status).toBe(200);
  running.world.advance(1_000);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  gaveUp.abort();
  expect(await hanging).toBe('AbortError');
  expect(await books()).toMatchObject([{ reference, kind: 'credit', times: 1 }]);
});

test('06 refuses with 503 before anything is taken', async () => {
  const { status, json, reference } = await pay('06');
  expect([status, json]).toMatchObject([503, { code: 'SERVICE_UNAVAILABLE' }]);
  running.world.advance(600_000);
  expect(await momo.status(reference)).toMatchObject({ status: 404, json: { code: 'RESOURCE_NOT_FOUND' } });
  expect(await books()).toEqual([]);
});

test('07 calls back three times, a stale pending among them, and pays once', async () => {
  await pay('07');
  running.world.advance(1_000);
  const seen = await receiver.came(3);
  expect(seen.map(({ body }) => body.status)).toEqual(['SUCCESSFUL', 'PENDING', 'SUCCESSFUL']);
  expect(await books()).toMatchObject([{ times: 1 }]);
});

test('08 pays and never calls back', async () => {
  const { reference } = await pay('08');
  running.world.advance(1_000);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  const next = await pay('01');
  running.world.advance(1_000);
  const [first] = await receiver.came(1);
  expect(first?.body).toEqual((await momo.status(next.reference)).json);
  expect(receiver.seen).toHaveLength(1);
});

test('a repeated reference is 409, even when it races, and pays once', async () => {
  const reference = newReference();
  const answers = await Promise.all([1, 2, 3, 4].map(() => momo.pay('243810000142', { reference })));
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
  running.world.advance(1_000);
  expect((await momo.pay('243810000142', { reference })).status).toBe(409);
  expect((await running.call('GET', `/control/books?reference=${reference}`)).json).toMatchObject([{ times: 1 }]);
});

test('each product has its own token, key and memory; a transfer names its payee', async () => {
  const collections = await momoClient(running);
  const { reference } = await pay('42');
  expect(await collections.status(reference)).toMatchObject({ status: 404, json: { code: 'RESOURCE_NOT_FOUND' } });
  const { authorization = '' } = collections.headers;
  expect((await momo.pay('243810000142', { headers: { authorization } })).status).toBe(401);
  const headers = { 'ocp-apim-subscription-key': 'sandbox-collection' };
  expect((await momo.pay('243810000142', { headers })).status).toBe(401);
  const body = { payee: undefined, payer: { partyIdType: 'MSISDN', partyId: '243810000142' } };
  expect(await momo.pay('243810000142', { body })).toMatchObject({ status: 400, json: { code: 'BAD_REQUEST' } });
});

test('the faults set at the control page apply: refused, and taken without an answer', async () => {
  const faults = (change: object) => running.call('POST', '/control/faults', { upstream: 'mtn', ...change });
  await faults({ refuse_rate: 1 });
  expect((await pay('42')).status).toBe(503);
  await faults({ refuse_rate: 0, answer_lost_rate: 1 });
  const reference = newReference();
  await expect(momo.pay('243810000142', { reference })).rejects.toThrow();
  await faults({ answer_lost_rate: 0, lose_callback_rate: 1 });
  running.world.advance(1_000);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  expect(await books()).toMatchObject([{ reference, times: 1 }]);
});

test.each([
  ['01', 200, { result: true }],
  ['02', 200, { result: false }],
  ['06', 503, { code: 'SERVICE_UNAVAILABLE' }],
])('account holder %s: %i', async (ending, status, json) => {
  const path = `/mtn/disbursement/v1_0/accountholder/msisdn/2438100001${ending}/active`;
  expect(await running.call('GET', path, undefined, momo.headers)).toMatchObject({ status, json });
});

test('the receiver’s phone shows the money once, in the reader’s language, and as text only', async () => {
  const note = '<img src=x> 123456';
  const { reference } = await momo.pay('243810000142', { body: { payeeNote: note, amount: '12500', currency: 'XAF' } });
  expect(await state('243810000142')).toEqual({ prompts: [], messages: [] });
  running.world.advance(1_000);
  await momo.pay('243810000142', { reference });
  running.world.advance(1_000);
  expect(await state('243810000142')).toMatchObject({
    prompts: [],
    messages: [{ text: `You have received 12500 XAF. ${note}`, code: null }],
  });
  for (const [language, { received }] of Object.entries(phoneWords)) {
    const { text } = await running.call('GET', `/phone/243810000142?lang=${language}`);
    const [before = ''] = received.split('{amount}');
    expect(text).toContain(`<p>${before}`);
    expect(text).toContain('&lt;img src=x&gt; 123456');
    expect(text).toContain('<strong>MTN MoMo</strong>');
    expect(text).not.toContain('data-copy=');
  }
});
