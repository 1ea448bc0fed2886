import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { closeTooMany } from './serve-supervised.ts';

it('closes connections above the limit, and accepts others when there is room again', async () => {
  const server = createServer((_request, response) => response.end('ok'));
  server.maxConnections = 2;
  closeTooMany(server);
  let dropped = 0;
  server.on('drop', () => {
    dropped += 1;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = portOf(server);
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
  await once(server.close(), 'close');
});
