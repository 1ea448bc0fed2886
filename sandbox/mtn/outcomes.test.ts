// What each number does, over real HTTP, with the clock in the test's hand (contract §11).
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import {
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
  momo = await momoClient(running);
  receiver = await startReceiver();
});
afterEach(async () => {
  await running.close();
  await receiver.close();
});

const books = async () => (await running.call('GET', '/control/books')).json;
const pay = (ending: string, last = '0') =>
  momo.pay(`2438100001${ending}`, { reference: newReference(last), callbackUrl: receiver.url });

test('01 stays pending for a second, then pays, calls back and is recorded in the book', async () => {
  const { status, text, reference } = await pay('01');
  expect([status, text]).toEqual([202, '']);
  running.world.advance(999);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'PENDING' });
  expect(await books()).toEqual([]);
  running.world.advance(1);
  const final = await momo.status(reference);
  expect(final.json).toMatchObject({
    status: 'SUCCESSFUL',
    amount: '45.90',
    currency: 'USD',
    externalId: 'txn_1',
    payer: { partyIdType: 'MSISDN', partyId: '243810000101' },
    financialTransactionId: expect.stringMatching(/^\d+$/),
  });
  expect(await receiver.came(1)).toEqual([{ method: 'PUT', body: final.json }]);
  expect(await books()).toEqual([
    {
      carrier: 'mtn',
      reference,
      kind: 'debit',
      msisdn: '243810000101',
      amount: '45.90',
      currency: 'usd',
      external_id: 'txn_1',
      at: '2026-11-20T14:02:01.000Z',
      times: 1,
    },
  ]);
});

test.each([
  ['02', 'NOT_ENOUGH_FUNDS'],
  ['03', 'APPROVAL_REJECTED'],
])(
  '%s fails after 300 ms with %s and debits nothing; the callback for an odd reference is a POST',
  async (ending, reason) => {
    const { status, reference } = await pay(ending, '7');
    expect(status).toBe(202);
    running.world.advance(300);
    expect((await momo.status(reference)).json).toMatchObject({ status: 'FAILED', reason });
    expect(await receiver.came(1)).toMatchObject([{ method: 'POST', body: { status: 'FAILED', reason } }]);
    expect(await books()).toEqual([]);
  },
);

test.each(['04', '42'])('%s without an answer expires after five minutes', async (ending) => {
  const { reference } = await pay(ending);
  running.world.advance(299_999);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'PENDING' });
  running.world.advance(1);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'FAILED', reason: 'EXPIRED' });
  expect(await receiver.came(1)).toHaveLength(1);
  expect(await books()).toEqual([]);
});

test('05 takes the request, never answers it, and yet pays', async () => {
  const reference = newReference();
  const gaveUp = new AbortController();
  const body = {
    amount: '5',
    currency: 'USD',
    externalId: 'x',
    payer: { partyIdType: 'MSISDN', partyId: '243810000105' },
  };
  const hanging = fetch(`${running.url}/mtn/collection/v1_0/requesttopay`, {
    method: 'POST',
    headers: { ...momo.headers, 'content-type': 'application/json', 'x-reference-id': reference },
    body: JSON.stringify(body),
    signal: gaveUp.signal,
  }).catch((error: Error) => error.name);
  await expect.poll(async () => (await momo.status(reference)).status).toBe(200);
  running.world.advance(1_000);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  gaveUp.abort();
  expect(await hanging).toBe('AbortError');
  expect(await books()).toMatchObject([{ reference, times: 1 }]);
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
  // The next payment's callback is the first to arrive, so nothing was sent before it.
  const next = await pay('01');
  running.world.advance(1_000);
  const [first] = await receiver.came(1);
  expect(first?.body).toEqual((await momo.status(next.reference)).json);
  expect(receiver.seen).toHaveLength(1);
});

test('any other number waits for the person at its phone, whatever the decision', async () => {
  const yes = await pay('42');
  const no = await pay('42');
  const answer = (id: string, body: unknown) => running.call('POST', `/phone/+243810000142/prompts/${id}`, body);
  expect((await answer(yes.reference, { answer: 'approve', pin: '0000' })).status).toBe(200);
  expect((await answer(no.reference, { answer: 'reject' })).status).toBe(200);
  expect((await momo.status(yes.reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  expect((await momo.status(no.reference)).json).toMatchObject({ status: 'FAILED', reason: 'APPROVAL_REJECTED' });
  running.world.advance(600_000);
  expect((await momo.status(yes.reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  expect(await books()).toMatchObject([{ reference: yes.reference, times: 1 }]);
  expect(await receiver.came(2)).toHaveLength(2);
});

test('the self-decision delay can be set to zero', async () => {
  expect((await running.call('POST', '/control/settings', { auto_approve_ms: 0 })).status).toBe(200);
  const { reference } = await pay('01');
  running.world.advance(0);
  expect((await momo.status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
});
