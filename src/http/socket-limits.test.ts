/** When room is made for new connections: soon, but not for each of thousands that are dropped. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { openMetrics } from '../platform/metrics.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { limitConnections } from './socket-limits.ts';
import { smallWorld } from './testing/small-world.ts';

test('room is made once in a tenth of a second, however many are dropped, and also after the clock was set back', async () => {
  const [server, clock] = [createServer(), manualClock(0)];
  const shares: number[] = [];
  const makeRoom = (share: number) => {
    shares.push(share);
    return { idle: 1, over_share: 0 };
  };
  limitConnections(server, 10, { makeRoom }, { clock, metrics: openMetrics({ ofProcess: false }) });
  const drop = (count: number) => {
    for (let dropped = 0; dropped < count; dropped += 1) server.emit('drop');
    return shares;
  };
  expect(drop(1_000)).toEqual([5]);
  await clock.advance(99);
  expect(drop(1_000)).toEqual([5]);
  await clock.advance(1);
  expect(drop(1_000)).toEqual([5, 5]);
  clock.setBack(3_600_000);
  expect(drop(1_000)).toEqual([5, 5, 5]);
});

test('a call under way is not cut to make room: of its address’s connections, one that has yet to ask is', async () => {
  let go: ((right: boolean) => void) | undefined;
  const right = new Promise<boolean>((resolve) => {
    go = resolve;
  });
  const isClockRight = vi.fn(() => right);
  const { app, merchantAuth } = smallWorld({ isClockRight, sockets: { connections: 4 } });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const accepted: Socket[] = [];
  app.server.on('connection', (socket) => accepted.push(socket));
  const send = async (bytes: string, localAddress: string): Promise<Socket> => {
    const client = connect({ port: portOf(app.server), host: '127.0.0.1', localAddress });
    client.on('error', () => undefined).write(bytes);
    await vi.waitUntil(() => accepted.at(-1)?.remotePort === client.localPort && accepted.at(-1)?.bytesRead, 60_000);
    return client;
  };
  const order = `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${merchantAuth}\r\nContent-Length: 0\r\n\r\n`;
  const calling = await send(order, '127.0.0.1');
  await vi.waitUntil(() => isClockRight.mock.calls.length > 0, 60_000);
  const half = 'GET /health HTTP/1.1\r\nHost:';
  const others = [await send(half, '127.0.0.1'), await send(half, '127.0.0.1'), await send(half, '127.0.0.2')];
  const dropped = once(app.server, 'drop');
  const late = connect(portOf(app.server), '127.0.0.1').on('error', () => undefined);
  await Promise.all([dropped, once(late.resume(), 'close')]);
  expect(accepted.map(({ destroyed }) => !destroyed)).toEqual([true, false, true, true]);
  go?.(true);
  const [told] = (await once(calling, 'data')) as [Buffer];
  expect(told.toString()).toMatch(/^HTTP\/1\.1 400 /);
  for (const client of [calling, ...others]) client.destroy();
  await app.close();
});
