import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createWebServer } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const START = fileURLToPath(new URL('start.ts', import.meta.url));
const other = createServer((socket) => socket.destroy());
let taken: string;

beforeEach(async () => {
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  taken = typeof address === 'object' && address !== null ? String(address.port) : '';
});

afterEach(async () => {
  other.close();
  await once(other, 'close');
});

/** The error of a start that is refused before it has built anything. */
async function refused(env: { readonly [name: string]: string }): Promise<unknown> {
  const child = spawn(process.execPath, ['--import', 'tsx', START], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, complained] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return [child.exitCode, said, complained];
}

it('a start that cannot listen says in one line which variable to set, before anything is built', async () => {
  const inOneLine = (line: string) => [1, '', `mbongo: ${line}\n`];
  expect(await refused({ PORT: taken })).toEqual(
    inOneLine(`port ${taken} is taken by another program: set PORT to a free one`),
  );
  // The name stands for one address, and an empty variable counts as unset.
  expect(await refused({ PORT: '0', HOST: 'localhost', SANDBOX_HOST: '', SANDBOX_PORT: taken })).toEqual(
    inOneLine(`port ${taken} is taken by another program: set SANDBOX_PORT to a free one`),
  );
  // An address reserved for documentation belongs to no machine.
  expect(await refused({ PORT: '0', HOST: '192.0.2.1' })).toEqual(
    inOneLine('cannot listen on 192.0.2.1 on this machine (EADDRNOTAVAIL): set HOST to one of its addresses'),
  );
  expect(await refused({ PORT: 'eighty' })).toEqual(inOneLine('PORT is not a port number: set it to 0 to 65535'));
});

it('a start whose sandbox would listen where the gateway does not call it says so', async () => {
  const wrong = 'SANDBOX_HOST is 127.0.0.2, but the gateway calls the sandbox at 127.0.0.1';
  expect(await refused({ PORT: '0', SANDBOX_HOST: '127.0.0.2', SANDBOX_PORT: taken })).toEqual([
    1,
    '',
    `mbongo: ${wrong}: unset it, or set it to 0.0.0.0 for all addresses\n`,
  ]);
  for (const host of ['0.0.0.0', 'localhost']) {
    const [, , complained] = (await refused({ PORT: '0', SANDBOX_HOST: host, SANDBOX_PORT: taken })) as string[];
    expect(complained).toBe(`mbongo: port ${taken} is taken by another program: set SANDBOX_PORT to a free one\n`);
  }
});

it('a start at the ports of an Mbongo that runs already says so, and the way out', async () => {
  const running = createWebServer(({ url }, response) =>
    response.end(
      url === '/openapi.json' ? '{ "info": { "title": "Mbongo" } }' : '<title>Pages · Mbongo sandbox</title>',
    ),
  );
  running.listen(0, '127.0.0.1');
  await once(running, 'listening');
  const address = running.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const [gateway, sandbox] = await Promise.all([refused({ PORT: port }), refused({ PORT: '0', SANDBOX_PORT: port })]);
  running.close();
  const set = 'PORT and SANDBOX_PORT to free ports, and DATA_DIR or DATABASE_URL for data of its own';
  expect(gateway).toEqual([1, '', `mbongo: Mbongo already answers at port ${port}: stop it, or set ${set}\n`]);
  expect(sandbox).toEqual([
    1,
    '',
    `mbongo: Mbongo's sandbox already answers at port ${port}: stop it, or set SANDBOX_PORT to a free one\n`,
  ]);
});
