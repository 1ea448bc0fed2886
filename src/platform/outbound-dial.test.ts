/** Names are resolved by A and AAAA, both answers count, and concurrent callers share one query. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { nameServers } from './outbound-dial.ts';

const TYPES = { A: 1, AAAA: 28 } as const;
type Zone = { readonly [name: string]: { readonly A?: number[]; readonly AAAA?: number[] } };

let server: Socket | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

/** A name server of one zone; returns its address and the queries it received. */
async function serve(zone: Zone): Promise<{ address: string; questions: string[] }> {
  const socket = createSocket('udp4');
  server = socket;
  const questions: string[] = [];
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${name} ${type}`);
    const data = type === TYPES.A ? zone[name]?.A : type === TYPES.AAAA ? zone[name]?.AAAA : undefined;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(zone[name] === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(data === undefined ? 0 : 1, 6);
    head.writeUInt32BE(0, 8);
    const answer = data === undefined ? [] : [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data];
    socket.send(Buffer.concat([head, Buffer.from(answer)]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

test('addresses of both families are returned, and one family suffices', async () => {
  const v6 = [0x26, 0x06, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];
  const { address } = await serve({
    'both.example.com': { A: [1, 2, 3, 4], AAAA: v6 },
    'six.example.com': { AAAA: v6 },
  });
  const resolve = nameServers({ alsoSystem: false, servers: [address] });
  expect(await resolve('both.example.com')).toEqual(['1.2.3.4', '2606:4700::1111']);
  expect(await resolve('six.example.com')).toEqual(['2606:4700::1111']);
});

test('an unknown name, or one without an address, is an error', async () => {
  const { address } = await serve({ 'empty.example.com': {} });
  const resolve = nameServers({ alsoSystem: false, servers: [address] });
  await expect(resolve('empty.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(resolve('nobody.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('concurrent callers share a query, and later ones query again', async () => {
  const { address, questions } = await serve({ 'shop.example.com': { A: [1, 2, 3, 4] } });
  const resolve = nameServers({ alsoSystem: false, servers: [address] });
  const answers = await Promise.all(Array.from({ length: 64 }, () => resolve('shop.example.com')));
  expect(answers).toEqual(answers.map(() => ['1.2.3.4']));
  expect(questions.toSorted()).toEqual(['shop.example.com 1', 'shop.example.com 28']);
  await resolve('shop.example.com');
  expect(questions).toHaveLength(4);
});

test('the system’s resolver is asked if name servers know nothing and the caller wants that, and otherwise never', async () => {
  const { address } = await serve({});
  const resolve = nameServers({ alsoSystem: true, servers: [address] });
  // Every system knows this name by itself.
  const addresses = await resolve('localhost');
  expect(addresses.every((found) => found === '127.0.0.1' || found === '::1')).toBe(true);
  const alone = nameServers({ alsoSystem: false, servers: [address] });
  await expect(alone('localhost')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});
