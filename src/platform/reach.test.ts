import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { whyUnreachable } from './reach.ts';

const AT_HOME = { allowLoopback: true, requireHttps: false };
const ABROAD = { allowLoopback: false, requireHttps: true };

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

/** A port whose server accepts connections and records what is sent. */
async function listening(): Promise<{ readonly port: number; readonly heard: string[] }> {
  const heard: string[] = [];
  server = createServer((socket) => {
    socket.on('data', (data) => heard.push(data.toString()));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: portOf(server), heard };
}

test('an open port can be reached, and is sent nothing', async () => {
  const { port, heard } = await listening();
  expect(await whyUnreachable(`http://127.0.0.1:${port}`)).toBeUndefined();
  expect(await whyUnreachable(`http://localhost:${port}/hook?x=1`, AT_HOME)).toBeUndefined();
  expect(heard).toEqual([]);
});

test('a port at which nothing listens', async () => {
  const { port } = await listening();
  server?.close();
  expect(await whyUnreachable(`http://127.0.0.1:${port}`)).toBe('the connection was refused');
});

test.each([
  ['http://shop.example', ABROAD, 'it does not begin with https://'],
  ['https://127.0.0.1', ABROAD, 'its address is not public'],
  ['https://10.1.2.3', AT_HOME, 'its address is not public'],
  ['https://user:pass@shop.example', ABROAD, 'it holds credentials'],
  ['nonsense', undefined, 'it is not an http(s) address'],
])('%s is not dialled', async (address, rules, reason) => {
  expect(await whyUnreachable(address, rules)).toBe(reason);
});
