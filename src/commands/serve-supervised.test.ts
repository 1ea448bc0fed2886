import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { tendConnections } from './serve-supervised.ts';

it('closes the connections that are too many, and takes others when there is room again', async () => {
  const server = createServer((_request, response) => response.end('ok'));
  server.maxConnections = 2;
  const leavePort = tendConnections(server);
  let dropped = 0;
  server.on('drop', () => {
    dropped += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const client = connect(port, '127.0.0.1').resume();
    const [own] = (await once(server, 'connection')) as [Socket];
    return { client, own };
  };
  const [first, second, third] = [await open(), await open(), await open()];
  await once(third.client, 'close');
  expect([first.own.destroyed, second.own.destroyed, dropped]).toEqual([false, false, 1]);
  first.client.destroy();
  await once(first.own, 'close');
  const fourth = await open();
  expect([fourth.own.destroyed, dropped]).toEqual([false, 1]);
  for (const { client } of [second, fourth]) client.destroy();
  leavePort();
  await once(server, 'close');
});

it('waits on close for those that are open, and answers who comes until it gives up the port', async () => {
  const held: ServerResponse[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('ok');
  });
  const leavePort = tendConnections(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const first = fetch(`${url}/held`, { headers: { connection: 'close' } });
  await once(server, 'request');
  let isClosed = false;
  const closed = new Promise<void>((done) => {
    server.close(() => {
      isClosed = true;
      done();
    });
  });
  const next = await fetch(url, { headers: { connection: 'close' } });
  expect([await next.text(), isClosed]).toEqual(['ok', false]);
  // Whoever comes later is not waited for.
  const late = fetch(`${url}/held`);
  await once(server, 'request');
  held[0]?.end('done');
  expect(await (await first).text()).toBe('done');
  await closed;
  expect(await (await fetch(url)).text()).toBe('ok');
  leavePort();
  await once(server, 'close');
  await expect(late).rejects.toThrow();
  await expect(fetch(url)).rejects.toThrow();
});
