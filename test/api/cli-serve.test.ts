/**
 * `mbongo serve` as a process: it announces itself when it answers, seeds a demo once, and stops when it is told to.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../sandbox/app.ts';
import { openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

type Ready = { type: 'ready'; url?: string; notes: string[] };

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
let database: TestDatabase;
let dataDir: string;
let children: ChildProcess[];

beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'mbongo-serve-'));
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

function start(...words: string[]): ChildProcess {
  return startWith({}, 'inherit', ...words);
}

function startWith(
  over: { readonly [name: string]: string },
  output: 'inherit' | 'pipe',
  ...words: string[]
): ChildProcess {
  const given = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent', ...over };
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve', ...words], {
    env: { PATH: process.env.PATH, ...given },
    stdio: ['ignore', output, output, 'ipc'],
  });
  children.push(child);
  return child;
}

/** What a stream has said once it is closed. */
async function said(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

async function ready(child: ChildProcess): Promise<Ready> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('serve ended before it was ready')));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  return message;
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [status] = (await once(child, 'exit')) as [number | null];
  return status;
}

async function listening(server: Server): Promise<AddressInfo> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server.address() as AddressInfo;
}

function credentialOf({ notes }: Ready): string {
  return notes.find((note) => note.trim().startsWith('key_'))?.trim() ?? '';
}

async function mint(url: string, credential: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/internal/sessions/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '12.50', currency: 'usd', customer_reference: 'order-1' }),
  });
  return answer.status;
}

describe('mbongo serve', () => {
  it('seeds a demo merchant whose credential works, shows it again, and stops at SIGTERM with 0', async () => {
    const first = start();
    const announced = await ready(first);
    const credential = credentialOf(announced);
    expect(await mint(announced.url ?? '', credential)).toBe(201);
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).toBe(0o600);
    first.kill('SIGTERM');
    expect(await ended(first)).toBe(0);

    const second = start();
    const again = await ready(second);
    expect(credentialOf(again)).toBe(credential);
    expect(await mint(again.url ?? '', credential)).toBe(201);
    second.kill('SIGINT');
    expect(await ended(second)).toBe(0);
  });

  it('does not show the demo credential as the one to use once it has been rotated', async () => {
    const first = start();
    const credential = credentialOf(await ready(first));
    const [keyId = ''] = credential.split(':');
    first.kill('SIGTERM');
    await ended(first);
    const cli = await openCommandLine(database.url, '');
    const rotated = await cli.run(`credential rotate --key ${keyId} --grace 0 --json`, { DATA_DIR: dataDir });
    await cli.close();
    const { merchant_id } = JSON.parse(rotated.out) as { merchant_id: string };

    const second = start();
    const { notes } = await ready(second);
    expect(notes.join('\n')).not.toContain(credential);
    expect(notes.slice(0, 2)).toEqual([
      `Demo merchant Boutique Kivu: its credential ${keyId} has been replaced or revoked.`,
      `A further one: npx mbongo credential issue --merchant ${merchant_id}`,
    ]);
  });

  it('tells the sandbox by what the demo’s webhooks are verified now, though it has been rotated', async () => {
    const first = start();
    await ready(first);
    first.kill('SIGTERM');
    await ended(first);
    const { merchant_id } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')) as { merchant_id: string };
    const cli = await openCommandLine(database.url, '');
    const command = `webhook secret rotate --merchant ${merchant_id} --grace 0 --json`;
    const { webhook_secret } = JSON.parse((await cli.run(command, { DATA_DIR: dataDir })).out);
    await cli.close();

    const { app } = await createSandbox({ seed: 'test' });
    const told = new Promise<void>((done) => {
      app.addHook('onResponse', async ({ url }) => url === '/inbox/demo/secret' && done());
    });
    const sandboxUrl = await app.listen({ port: 0, host: '127.0.0.1' });
    const second = startWith({ SANDBOX_PORT: new URL(sandboxUrl).port }, 'inherit');
    await Promise.all([ready(second), told]);
    const [id, at, body] = ['evt_1', new Date(), '{"type":"payment.approved"}'];
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(webhook_secret).sign(id, at, body),
    };
    await fetch(`${sandboxUrl}/inbox/demo`, { method: 'POST', headers, body });
    const { messages } = (await (await fetch(`${sandboxUrl}/inbox/demo/messages`)).json()) as {
      messages: { verdict: string }[];
    };
    await app.close();
    expect(messages).toMatchObject([{ verdict: 'verified' }]);
  });

  it.runIf(process.platform === 'linux')('serves and stops although its log cannot be written', async () => {
    const full = await open('/dev/full', 'w');
    const given = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'debug' };
    const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve'], {
      env: { PATH: process.env.PATH, ...given },
      stdio: ['ignore', full.fd, 'pipe', 'ipc'],
    });
    children.push(child);
    const complaints = said(child.stderr);
    const { url } = await ready(child);
    for (let calls = 0; calls < 5; calls += 1) expect((await fetch(`${url}/nothing`)).status).toBe(404);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    expect(await complaints).toMatch(
      /^mbongo: the log cannot be written \(ENOSPC[^\n]*\): it waits, and lines are lost where too many wait\nmbongo: \d+ lines of the log could not be written before the end\n$/,
    );
    await full.close();
  });

  it('starts in production with a master key alone, warns, and its database stays one of production', async () => {
    const MASTER_KEY = Buffer.alloc(32, 3).toString('base64');
    const child = startWith({ GATEWAY_MODE: 'production', MASTER_KEY, LOG_LEVEL: 'warn' }, 'pipe');
    const logged = said(child.stdout);
    const { url } = await ready(child);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    const warned = (await logged).split('\n').filter((line) => line.includes('"configuration"'));
    expect(warned.map((line) => (JSON.parse(line) as { about: string }).about)).toEqual([
      'public_url',
      'texts',
      'carriers',
    ]);

    for (const [over, name] of [
      [{ MASTER_KEY }, 'GATEWAY_MODE'],
      [{ GATEWAY_MODE: 'production', MASTER_KEY: Buffer.alloc(32, 4).toString('base64') }, 'MASTER_KEY'],
    ] as const) {
      const refused = startWith(over, 'pipe');
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([1, expect.stringMatching(new RegExp(`^mbongo: ${name} is [^\\n]+\\n$`))]);
    }
  });

  it('names in one line the variable of an address at which nobody can listen', async () => {
    // An address of documentation is no machine's.
    const HOST = '192.0.2.1';
    for (const words of [[], ['--processes', '2']]) {
      const refused = startWith({ HOST }, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([1, expect.stringMatching(/^mbongo: [^\n]*192\.0\.2\.1[^\n]*: set HOST\n$/)]);
    }
  });

  it.each([[[]], [['--processes', '2']]])(
    'ends with its reason where no route leads anywhere, with %j',
    async (words) => {
      const CARRIER_ROUTES = join(dataDir, 'routes.json');
      await writeFile(CARRIER_ROUTES, '[{}]');
      const refused = startWith({ CARRIER_ROUTES }, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([1, expect.stringMatching(/^mbongo: [^\n]*routes\.json[^\n]*\n$/)]);
    },
  );

  it('is told to stop, or gives up, while the database does not answer', async () => {
    const silent = createServer();
    const { port } = await listening(silent);
    const begin = async (...words: string[]) => {
      const asked = once(silent, 'connection');
      const child = startWith({ DATABASE_URL: `postgres://mbongo@127.0.0.1:${port}/mbongo` }, 'pipe', ...words);
      const outcome = Promise.all([ended(child), said(child.stderr)]);
      await asked;
      return { child, outcome };
    };
    for (const words of [[], ['--processes', '2']]) {
      const told = await begin(...words);
      told.child.kill('SIGTERM');
      expect(await told.outcome).toEqual([0, '']);
    }
    const patient = await begin();
    const line = expect.stringMatching(/^mbongo: DATABASE_URL cannot be used: [^\n]+\n$/);
    expect(await patient.outcome).toEqual([1, line]);
    silent.close();
  });

  it('is told to stop while another one migrates', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('select pg_advisory_lock(7262646)');
    const child = start();
    const waits = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    while ((await other.query(waits)).rowCount === 0);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    await other.end();
  });

  it('tells why it could not start although a round keeps it from stopping in time', async () => {
    const taken = createServer();
    const { port } = await listening(taken);
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table archive.ledger_transfer in access exclusive mode');
    const child = startWith({ PORT: String(port) }, 'pipe');
    const [errors, status] = await Promise.all([said(child.stderr), ended(child)]);
    await holder.end();
    taken.close();
    expect([status, errors]).toEqual([1, expect.stringMatching(/^mbongo: port [^\n]+: set PORT to a free one\n$/)]);
  });

  it('stops when whoever started it is gone', async () => {
    const child = start();
    await ready(child);
    child.disconnect();
    expect(await ended(child)).toBe(0);
  });

  it('works without answering requests as a worker, and seeds nothing', async () => {
    const child = start('--role', 'worker');
    expect(await ready(child)).toEqual({ type: 'ready', notes: [] });
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
  });
});
