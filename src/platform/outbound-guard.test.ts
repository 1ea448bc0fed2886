/** Nothing that a merchant writes, and no name server, makes the door dial a private address: canaries count no connection. */
import { once } from 'node:events';
import net, { type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import { BLOCKED, guardedConnector } from './outbound-dial.ts';
import type { Outbound, OutboundAnswer } from './platform.ts';

/** Production's rules except https: the canaries speak http, so that only the check of addresses protects them. */
const RULES = { allowLoopback: false, requireHttps: false };

let connections = 0;
let canaries: Server[] = [];
let port = 0;
let port6 = 0;

beforeAll(async () => {
  const open = async (host: string): Promise<Server> => {
    const server = net.createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'));
    });
    server.listen(0, host);
    await once(server, 'listening');
    return server;
  };
  // 0.0.0.0 accepts connections to every IPv4 address of this machine.
  const v4 = await open('0.0.0.0');
  const v6 = await open('::1').catch(() => undefined);
  canaries = v6 === undefined ? [v4] : [v4, v6];
  port = portOf(v4);
  port6 = portOf(v6 ?? v4);
});
afterAll(() => {
  for (const server of canaries) server.close();
});
beforeEach(() => {
  connections = 0;
});

async function post(outbound: Outbound, url: string): Promise<OutboundAnswer> {
  return outbound.request({
    method: 'POST',
    url,
    headers: {},
    body: 'x',
    timeout: 5000,
    trust: 'merchant',
    answerLimit: 100,
  });
}

test('a name in a network that is named is reached; one that also has an address beside it is not', async () => {
  const resolve = async (name: string) => (name === 'shop' ? ['127.0.0.2'] : ['127.0.0.2', '127.0.0.3']);
  const outbound = createOutbound({ ...RULES, networks: ['127.0.0.2'], resolve });
  try {
    expect(await post(outbound, `http://shop:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(connections).toBe(1);
    expect(await post(outbound, `http://other:${port}/`)).toMatchObject({ kind: 'not_sent' });
    expect(connections).toBe(1);
  } finally {
    await outbound.close();
  }
});

describe('every form of a private address is refused without a connection', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://0x7f.1:PORT/',
    'http://0x7f000001:PORT/',
    'http://2130706433:PORT/',
    'http://127.000.000.001:PORT/',
    'http://①②⑦.⓪.⓪.①:PORT/',
    'http://127。0。0。1:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http:127.0.0.1:PORT/',
    'http:///127.0.0.1:PORT/',
    'http:\\\\127.0.0.1:PORT/',
    'http://example.com@127.0.0.1:PORT/',
    'http://example.com:80@127.0.0.1:PORT/',
    'http://example.com\\@127.0.0.1:PORT/',
    'http://1.1.1.1 &@127.0.0.1:PORT# @3.3.3.3/',
    'http://127.0.0.1:PORT#@example.com/',
    'http://127.0.0.1:PORT\t/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://127.255.255.254:PORT/',
    'http://localhost:PORT/',
    'http://localhost.:PORT/',
    'http://LOCALHOST:PORT/',
    'http://foo.localhost:PORT/',
    'http://[::1]:PORT6/',
    'http://[::]:PORT6/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://[2002:7f00:1::]:PORT/',
    'http://169.254.169.254/latest/meta-data',
    'http://169.254.169.254./',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
    'http://metadata.google.internal/',
    'http://metadata/',
    'http://10.0.0.1/',
    'ftp://127.0.0.1:PORT/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:PORT/',
    'javascript:alert(1)',
  ])('%s', async (form) => {
    const asked: string[] = [];
    const resolve = async (name: string): Promise<string[]> => {
      asked.push(name);
      return ['127.0.0.1'];
    };
    const outbound = createOutbound({ ...RULES, resolve });
    const url = form.replace('PORT6', String(port6)).replace('PORT', String(port));
    expect(outbound.refuses(url)).toBeTypeOf('string');
    expect(await post(outbound, url)).toMatchObject({ kind: 'not_sent' });
    expect(asked).toEqual([]);
    expect(connections).toBe(0);
    await outbound.close();
  });
});

describe('a name that leads to a private address is refused without a connection', () => {
  test.each([
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['0.0.0.0'],
    ['169.254.169.254'],
    ['64:ff9b::7f00:1'],
    ['1.1.1.1', '127.0.0.1'],
    ['127.0.0.1', '1.1.1.1'],
    ['2606:4700::1111', '10.0.0.1'],
    ['1.1.1.1', '::1'],
    ['no address'],
  ])('%s %s', async (...addresses) => {
    const outbound = createOutbound({ ...RULES, resolve: async () => addresses });
    const url = `http://shop.example.com:${port}/`;
    expect(outbound.refuses(url)).toBeUndefined();
    expect(await post(outbound, url)).toEqual({ kind: 'not_sent', reason: 'the address is refused: it is not public' });
    expect(connections).toBe(0);
    await outbound.close();
  });

  test.each([
    ['no address', async () => []],
    ['an error', () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))],
  ])('%s: not sent', async (_, resolve) => {
    const outbound = createOutbound({ ...RULES, resolve });
    expect(await post(outbound, `http://shop.example.com:${port}/`)).toEqual({
      kind: 'not_sent',
      reason: 'the name has no address',
    });
    await outbound.close();
  });
});

test('rebinding: a name is resolved once per connection, and that answer is judged and dialled', async () => {
  // Here this machine plays the public address, and a private network the target of the attack.
  const answers = [['127.0.0.1'], ['10.255.255.1'], ['127.0.0.1'], ['127.0.0.1', '10.255.255.1']];
  let asked = 0;
  const outbound = createOutbound({
    allowLoopback: true,
    requireHttps: false,
    resolve: async () => answers[asked++ % answers.length] ?? [],
  });
  const kinds: string[] = [];
  for (let i = 0; i < 8; i += 1) kinds.push((await post(outbound, `http://rebind.example.com:${port}/`)).kind);
  expect(kinds).toEqual([
    'answered',
    'not_sent',
    'answered',
    'not_sent',
    'answered',
    'not_sent',
    'answered',
    'not_sent',
  ]);
  expect(asked).toBe(8);
  expect(connections).toBe(4);
  await outbound.close();
});

test('a connection that reached an address outside the rules is not used, however it came about', async () => {
  const dial = guardedConnector(RULES, async () => ['1.1.1.1']);
  // A literal address reaches the socket without a look-up.
  const target = { hostname: '127.0.0.1', host: `127.0.0.1:${port}`, protocol: 'http:', port: String(port) };
  const error = await new Promise((resolve) => dial(target, (...result) => resolve(result[0])));
  expect(error).toMatchObject({ code: BLOCKED });
});

test('an operator’s upstream may have a private address, and a merchant’s request never uses its connection', async () => {
  const outbound = createOutbound({ ...RULES, resolve: async () => ['127.0.0.1'] });
  const url = `http://127.0.0.1:${port}/`;
  const request = { method: 'POST', url, headers: {}, timeout: 5000, answerLimit: 100 } as const;
  expect(await outbound.request({ ...request, trust: 'upstream' })).toMatchObject({ kind: 'answered' });
  expect(await outbound.request({ ...request, trust: 'merchant' })).toMatchObject({ kind: 'not_sent' });
  expect(connections).toBe(1);
  await outbound.close();
});

test('an IPv4 address that a name server writes as IPv6 is refused, even one that may be dialled', async () => {
  const outbound = createOutbound({ ...RULES, networks: ['127.0.0.2'], resolve: async () => ['::ffff:127.0.0.2'] });
  expect(await post(outbound, `http://shop:${port}/`)).toMatchObject({ kind: 'not_sent' });
  expect(connections).toBe(0);
  await outbound.close();
});

test('localhost is this machine in sandbox mode, without a lookup', async () => {
  const outbound = createOutbound({
    allowLoopback: true,
    requireHttps: false,
    resolve: () => Promise.reject(new Error('nobody is to be asked')),
  });
  for (const name of ['localhost', 'localhost.', 'shop.localhost'])
    expect(await post(outbound, `http://${name}:${port}/`)).toMatchObject({ kind: 'answered', status: 200 });
  await outbound.close();
});
