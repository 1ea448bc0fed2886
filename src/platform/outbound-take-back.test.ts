/** Given-up requests over real sockets: a peer learns by a reset (RST) that the rest of them will never come. */
import { once } from 'node:events';
import net, { type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { buildConnector, Client } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import { takingBack } from './outbound-take-back.ts';
import { manualClock } from './testing/manual-clock.ts';

/** How a connection ended: closed with a FIN, or reset. */
type End = 'closed' | 'reset';

const leftovers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clear of leftovers.splice(0)) await clear();
});

/** Listens; `connected` and `ended` are of the first connection. `onData` answers it, or does not. */
async function listen(server: Server, event: string, onData: (socket: Socket) => void) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  leftovers.push(async () => {
    server.close();
    await once(server, 'close');
  });
  const connected = once(server, event).then(([socket]: Socket[]) => socket as Socket);
  const ended = connected.then(
    (socket) =>
      new Promise<End>((resolve) => {
        socket.on('close', () => resolve('closed'));
        socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNRESET' ? 'reset' : 'closed'));
      }),
  );
  const asked = connected.then(async (socket) => {
    await once(socket, 'data');
    onData(socket);
  });
  return { port: portOf(server), ended, asked };
}

const silence = (): void => undefined;
const answer = (socket: Socket): void => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
};

describe('to an upstream', () => {
  async function ask(onData: (socket: Socket) => void, trust: 'upstream' | 'merchant' = 'upstream') {
    const clock = manualClock(0);
    const outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock });
    const { port, ended, asked } = await listen(net.createServer(), 'connection', onData);
    const url = `http://127.0.0.1:${port}/`;
    const said = outbound.request({ method: 'POST', url, headers: {}, body: 'x', timeout: 500, trust, answerLimit: 9 });
    await asked;
    return { clock, outbound, ended, said };
  }

  test('a request is taken back when its time is up', async () => {
    const { clock, outbound, ended, said } = await ask(silence);
    await clock.advance(500);
    expect(await said).toMatchObject({ kind: 'lost' });
    expect(await ended).toBe('reset');
    await outbound.close();
  });

  test('a request is taken back when the gateway stops', async () => {
    const { outbound, ended, said } = await ask(silence);
    await outbound.close();
    expect(await said).toMatchObject({ kind: 'lost' });
    expect(await ended).toBe('reset');
  });

  test('a connection whose requests are answered is closed in order', async () => {
    const { outbound, ended, said } = await ask(answer);
    expect(await said).toMatchObject({ kind: 'answered', body: 'ok' });
    await outbound.close();
    expect(await ended).toBe('closed');
  });

  test('a peer that cuts the connection makes the request lost, and nothing else', async () => {
    const { outbound, ended, said } = await ask((socket) => socket.resetAndDestroy());
    expect(await said).toMatchObject({ kind: 'lost', reason: 'the connection was cut' });
    await ended;
    await outbound.close();
  });
});

describe('under TLS', () => {
  /** A key that both sides know (RFC 4279) stands in for certificates. */
  const psk = Buffer.alloc(16, 7);
  const ciphers = 'PSK';
  const dial = takingBack(
    buildConnector({
      ciphers,
      maxVersion: 'TLSv1.2',
      pskCallback: () => ({ psk, identity: 'gateway' }),
      checkServerIdentity: () => undefined,
    }),
  );

  async function ask(onData: (socket: Socket) => void) {
    const server = tls.createServer({ ciphers, maxVersion: 'TLSv1.2', pskCallback: () => psk });
    const { port, ended, asked } = await listen(server, 'secureConnection', onData);
    const client = new Client(`https://127.0.0.1:${port}`, { connect: dial });
    leftovers.push(() => client.destroy());
    let told = (): void => undefined;
    const giveUp = new AbortController();
    const hinted = new Promise<void>((resolve) => {
      told = resolve;
    });
    const said = client
      .request({ method: 'POST', path: '/', body: 'x', signal: giveUp.signal, onInfo: () => told() })
      .then(async ({ body }) => body.text())
      .catch(() => 'given up');
    await asked;
    return { client, giveUp, said, ended, hinted };
  }

  test('a request that is given up is taken back', async () => {
    const { giveUp, said, ended } = await ask(silence);
    giveUp.abort();
    expect(await said).toBe('given up');
    expect(await ended).toBe('reset');
  });

  test('a connection whose requests are answered is closed in order', async () => {
    const { client, said, ended } = await ask(answer);
    expect(await said).toBe('ok');
    await client.destroy();
    expect(await ended).toBe('closed');
  });

  test('a request is taken back although a hint (103) came before its answer', async () => {
    const { giveUp, said, ended, hinted } = await ask((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    });
    await hinted;
    giveUp.abort();
    expect(await said).toBe('given up');
    expect(await ended).toBe('reset');
  });

  test('settings of TLS that this machine does not know fail the request, not the process', async () => {
    const { port } = await listen(net.createServer(), 'connection', silence);
    const connect = takingBack(buildConnector({ ciphers: 'NOPE' }));
    const client = new Client(`https://127.0.0.1:${port}`, { connect });
    leftovers.push(() => client.destroy());
    await expect(client.request({ method: 'GET', path: '/' })).rejects.toMatchObject({
      code: 'ERR_SSL_NO_CIPHER_MATCH',
    });
  });

  test('a port at which nothing listens is refused', async () => {
    const server = net.createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = portOf(server);
    server.close();
    await once(server, 'close');
    const client = new Client(`https://127.0.0.1:${port}`, { connect: dial });
    leftovers.push(() => client.destroy());
    await expect(client.request({ method: 'GET', path: '/' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
