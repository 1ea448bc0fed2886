/** The receiver for developers, over real HTTP: what it prints for each webhook, and that it ends when it is told to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtProgram } from '../../test/support/built.ts';
import { webhookListen } from './webhook-listen.ts';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const BODY = '{"transaction_id":"txn_1","status":"approved"}';

let out = '';
let err = '';
let stop: () => void;
let ended: Promise<number>;

/** Starts the receiver, and resolves with its address. */
function listen(options: { secret?: string; json?: boolean; port?: string }, input?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const told = new Promise<void>((give) => {
      stop = give;
    });
    const write = (text: string): void => {
      out += text;
      const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(out)?.[0];
      if (url !== undefined) resolve(url);
    };
    const writeError = (text: string): void => {
      err += text;
      reject(new Error(text));
    };
    const io = { env: {}, write, writeError, input: () => Readable.from([input ?? '']) };
    ended = webhookListen(io, { port: '0', ...options }, () => told);
  });
}

function post(url: string, body: string, change: Record<string, string> = {}, at = new Date()): Promise<Response> {
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('evt_1', at, body),
    'webhook-event': 'payment.approved',
    'webhook-sequence': '2',
    ...change,
  };
  return fetch(url, { method: 'POST', headers, body });
}

beforeEach(() => {
  out = '';
  err = '';
});
afterEach(async () => {
  stop();
  expect(await ended).toBe(out === '' ? 2 : 0);
  expect(out + err).not.toContain(SECRET);
});

test('each webhook is shown and acknowledged, as verified or with the reason why not', async () => {
  const url = await listen({ secret: SECRET });
  out = '\n';
  expect((await post(`${url}any/path`, BODY)).status).toBe(200);
  expect(out).toMatch(/^\n\S+Z {2}payment\.approved {2}2 {2}evt_1 {2}verified\n\{"transaction_id/);
  const wrong: [Record<string, string>, Date, string][] = [
    [{ 'webhook-signature': 'v1,AAAA' }, new Date(), 'NOT verified: no signature'],
    [{}, new Date(Date.now() - 400_000), 'NOT verified: it was signed for a time OFF s away'],
    [{}, new Date(Date.now() + 400_000), 'NOT verified: it was signed for a time OFF s away'],
    [{ 'webhook-timestamp': 'now' }, new Date(), 'NOT verified: webhook-timestamp is no number'],
  ];
  for (const [change, at, reason] of wrong) {
    out = '\n';
    expect((await post(url, BODY, change, at)).status).toBe(200);
    // Some time passes between the signature and the arrival, which is shown.
    const [arrived = ''] = out.trim().split(' ');
    const off = Math.abs(Math.floor(Date.parse(arrived) / 1_000) - Math.floor(at.getTime() / 1_000));
    expect(out).toContain(reason.replace('OFF', String(off)));
  }
  out = '\n';
  expect((await fetch(url, { method: 'POST', body: '\u001b[31mred' })).status).toBe(200);
  expect(out).toContain('is missing\n\\u{1b}[31mred\n');
});

test('the secret is read from the input, where no other user of the machine sees it', async () => {
  const url = await listen({ secret: '-' }, `${SECRET}\nand what follows it`);
  out = '\n';
  await post(url, BODY);
  expect(out).toContain('evt_1  verified\n');
});

test('with --json every line is one JSON document', async () => {
  const url = await listen({ secret: SECRET, json: true });
  await post(url, BODY);
  await post(url, `${BODY} `, { 'webhook-signature': 'v1,AAAA v1,BBBB' });
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  const hook = { type: 'webhook', id: 'evt_1', event: 'payment.approved', sequence: '2' };
  expect(lines).toMatchObject([
    { type: 'ready', url },
    { ...hook, verified: true, reason: null, body: BODY },
    { ...hook, verified: false, reason: 'no signature is that of this secret over this body', body: `${BODY} ` },
  ]);
});

test('without a secret it says that it has not verified, and what is not a webhook or too long is not shown', async () => {
  const url = await listen({});
  out = '\n';
  await post(url, BODY);
  expect(out).toContain('not checked: no --secret was given');
  out = '\n';
  expect((await fetch(url)).status).toBe(405);
  expect((await post(url, 'x'.repeat(300_000))).status).toBe(413);
  expect(out).toBe('\n');
});

test.each([
  [{ secret: 'hunter2' }, 'the secret must be whsec_'],
  [{ port: '70000' }, 'the port must be a whole number'],
])('%j is refused, and not repeated', async (options, message) => {
  await expect(listen(options)).rejects.toThrow(message);
  expect(err).not.toContain('hunter2');
});

test('a port that is taken is reported, with the option to choose another', async () => {
  const taken = new URL(await listen({})).port;
  const [first, stopFirst] = [ended, stop];
  await expect(listen({ port: taken })).rejects.toThrow(`port ${taken} is taken by another program: set --port`);
  expect(await ended).toBe(1);
  [ended, stop] = [first, stopFirst];
});

test.each(['SIGINT', 'SIGTERM'] as const)('a real process ends cleanly on %s', async (signal) => {
  stop = () => undefined;
  ended = Promise.resolve(2);
  const args = [builtProgram('src/main.js'), 'webhook', 'listen', '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  expect((await post(url, BODY)).status).toBe(200);
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
});
