// The integration that merchants copy: signatures made by the public Standard Webhooks library, and an unreachable gateway.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../testing/start-sandbox.ts';
import { mintSession, verifyWebhook } from './merchant.ts';
import { anOrder } from './testing/order.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const now = Date.UTC(2026, 10, 20, 14, 2, 0);
const told = {
  transaction_id: 'txn_1',
  customer_reference: 'BK-1',
  status: 'approved',
  amount: '45.90',
  currency: 'usd',
  completed_at: '2026-11-20T14:02:00.000Z',
};
const body = JSON.stringify(told);

type Headers = Record<string, string>;

function signed(key = secret, offset = 0, text = body): Headers {
  const at = new Date(now + offset);
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(key).sign('evt_1', at, text),
    'webhook-sequence': '3',
  };
}

const verify = (headers: Headers, text = body) => verifyWebhook(secret, headers, Buffer.from(text), now);

describe('a webhook', () => {
  test('that is signed with the secret is read', () => {
    expect(verify(signed())).toMatchObject({ id: 'evt_1', sequence: 3, ...told });
  });

  test('with two signatures, as during a rotation, verifies by one of them', () => {
    const both = `${signed(otherSecret)['webhook-signature']} ${signed()['webhook-signature']}`;
    expect(verify({ ...signed(), 'webhook-signature': both })?.id).toBe('evt_1');
  });

  test('may be up to five minutes old or early', () => {
    for (const offset of [-300_000, 300_000]) expect(verify(signed(secret, offset))?.id).toBe('evt_1');
  });

  test.each<[string, () => Headers, string?]>([
    ['with another secret', () => signed(otherSecret)],
    ['under another id', () => ({ ...signed(), 'webhook-id': 'evt_2' })],
    ['with another timestamp', () => ({ ...signed(), 'webhook-timestamp': String(now / 1_000 + 1) })],
    ['too long ago', () => signed(secret, -301_000)],
    ['in the future', () => signed(secret, 301_000)],
    ['at no time', () => ({ ...signed(), 'webhook-timestamp': 'now' })],
    ['in another scheme', () => ({ ...signed(), 'webhook-signature': signed()['webhook-signature']?.slice(3) ?? '' })],
    ['without headers', () => ({})],
    ['over other bytes', () => signed(), `${body} `],
    ['without a sequence', () => ({ ...signed(), 'webhook-sequence': 'x' })],
    ['but is no event', () => signed(secret, 0, '{"status":"approved"}'), '{"status":"approved"}'],
  ])('that was signed %s is rejected', (_name, headers, text = body) => {
    expect(verify(headers(), text)).toBeUndefined();
  });
});

describe('a call', () => {
  const account = (api: string) => ({ api, credential: 'key_1:sk_test_1', webhook_secret: secret });

  test('to a gateway that is down, or to a server that is not one, is unreachable', async () => {
    const sandbox = await startSandbox();
    expect(await mintSession(account(sandbox.url), anOrder())).toEqual({ kind: 'unreachable' });
    await sandbox.close();
    expect(await mintSession(account(sandbox.url), anOrder())).toEqual({ kind: 'unreachable' });
  });

  test('never follows a redirect to where the credential does not belong', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    expect(await mintSession(account(`http://127.0.0.1:${port}`), anOrder())).toEqual({ kind: 'unreachable' });
    expect(asked).toEqual(['/internal/sessions/create']);
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
});
