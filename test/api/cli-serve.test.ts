/**
 * `mbongo serve` as a process: it reports when it answers, seeds a demo once, and stops when told to.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../../sandbox/app.ts';
import { builtProgram } from '../support/built.ts';
import { openCommandLine } from '../support/command-line.ts';
import { ended, openServeDesk, type Ready, ready, type ServeDesk, said } from '../support/serve-desk.ts';

let desk: ServeDesk;

beforeEach(async () => {
  desk = await openServeDesk();
});

afterEach(async () => {
  await desk.close();
});

function credentialOf({ notes }: Ready): string {
  return notes.find((note) => note.trim().startsWith('key_'))?.trim() ?? '';
}

/** Ends what is left of a process group of ours. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left.
  }
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
    const first = desk.start();
    const announced = await ready(first);
    const credential = credentialOf(announced);
    expect(await mint(announced.url ?? '', credential)).toBe(201);
    expect((await stat(join(desk.dataDir, 'demo.json'))).mode & 0o777).toBe(0o600);
    first.kill('SIGTERM');
    expect(await ended(first)).toBe(0);

    const second = desk.start();
    const again = await ready(second);
    expect(credentialOf(again)).toBe(credential);
    expect(await mint(again.url ?? '', credential)).toBe(201);
    second.kill('SIGINT');
    expect(await ended(second)).toBe(0);
  });

  it.each(["'mbongo'", 'mbongo serve'])(
    'stops when npx (%s), which started it by a shell, is ended: npx hands no signal on',
    async (script) => {
      const words = [process.execPath, builtProgram('src/main.js'), 'serve', '--json'].map((word) => `'${word}'`);
      const env = { DATABASE_URL: desk.databaseUrl, DATA_DIR: desk.dataDir, PORT: '0', LOG_LEVEL: 'silent' };
      const shell = spawn('sh', ['-c', `${words.join(' ')}; true`], {
        env: { PATH: process.env.PATH, npm_command: 'exec', npm_lifecycle_script: script, ...env },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      try {
        await once(shell.stdout, 'data');
        shell.kill('SIGTERM');
        // The pipe is open for as long as the gateway lives.
        await once(shell.stdout, 'close');
      } finally {
        endGroup(shell.pid ?? 0);
      }
    },
  );

  it.each([[], ['--processes', '2']])('stops in order when its terminal is closed (%s)', async (...words) => {
    const child = desk.startAlone({ LOG_LEVEL: 'info' }, '--json', ...words);
    const err = said(child.stderr);
    if (child.stdout !== null) await once(child.stdout, 'data');
    child.kill('SIGHUP');
    await once(child, 'exit');
    // By the signal itself: an exit would reset a terminal that is there no longer, at which Node.js aborts.
    expect([child.exitCode, child.signalCode]).toEqual([null, 'SIGHUP']);
    expect(await err).toContain('"reason":"SIGHUP","event":"stopping"');
  });

  it.each([[], ['--processes', '2']])(
    'prints one JSON document on request (%s), and its log beside that',
    async (...words) => {
      const child = desk.startAlone({ LOG_LEVEL: 'info' }, '--json', ...words);
      const [out, err] = [said(child.stdout), said(child.stderr)];
      if (child.stdout !== null) await once(child.stdout, 'data');
      child.kill('SIGTERM');
      expect(await ended(child)).toBe(0);
      expect(JSON.parse(await out)).toEqual({ type: 'ready', url: expect.stringMatching(/^http:/) });
      expect(await err).toContain('"event":"stopping"');
    },
  );

  it('does not show the demo credential as valid once it has been rotated', async () => {
    const first = desk.start();
    const credential = credentialOf(await ready(first));
    const [keyId = ''] = credential.split(':');
    first.kill('SIGTERM');
    await ended(first);
    const cli = await openCommandLine(desk.databaseUrl, '');
    const rotated = await cli.run(`credential rotate --key ${keyId} --grace 0 --json`, { DATA_DIR: desk.dataDir });
    await cli.close();
    const { merchant_id } = JSON.parse(rotated.out) as { merchant_id: string };

    const second = desk.start();
    const { notes } = await ready(second);
    expect(notes.join('\n')).not.toContain(credential);
    expect(notes.slice(0, 2)).toEqual([
      `Demo merchant Boutique Kivu: its credential ${keyId} has been replaced or revoked.`,
      `Issue a new one: npx mbongo credential issue --merchant ${merchant_id}`,
    ]);
  });

  it('tells the sandbox the present webhook secret of the demo, though it has been rotated', async () => {
    const first = desk.start();
    await ready(first);
    first.kill('SIGTERM');
    await ended(first);
    const { merchant_id } = JSON.parse(await readFile(join(desk.dataDir, 'demo.json'), 'utf8')) as {
      merchant_id: string;
    };
    const cli = await openCommandLine(desk.databaseUrl, '');
    const command = `webhook secret rotate --merchant ${merchant_id} --grace 0 --json`;
    const { webhook_secret } = JSON.parse((await cli.run(command, { DATA_DIR: desk.dataDir })).out);
    await cli.close();

    const { app } = await createSandbox({ seed: 'test' });
    const told = new Promise<void>((done) => {
      app.addHook('onResponse', async ({ url }) => url === '/inbox/demo/secret' && done());
    });
    const sandboxUrl = await app.listen({ port: 0, host: '127.0.0.1' });
    const second = desk.startWith({ SANDBOX_PORT: new URL(sandboxUrl).port }, 'inherit');
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

  // By means of a file that only Linux has.
  it.runIf(process.platform === 'linux')('serves and stops although its log cannot be written', async () => {
    const full = await open('/dev/full', 'w');
    const child = desk.startWith({ LOG_LEVEL: 'debug' }, full.fd);
    const complaints = said(child.stderr);
    const { url } = await ready(child);
    for (let calls = 0; calls < 5; calls += 1) expect((await fetch(`${url}/nothing`)).status).toBe(404);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    expect(await complaints).toMatch(
      /^mbongo: the log cannot be written \(ENOSPC[^\n]*\): its lines wait in memory, and are lost when too many wait\nmbongo: \d+ lines of the log could not be written before the process ended\n$/,
    );
    await full.close();
  });

  it('starts in production with a master key alone, warns, and its database stays in production mode', async () => {
    const MASTER_KEY = Buffer.alloc(32, 3).toString('base64');
    const child = desk.startWith({ GATEWAY_MODE: 'production', MASTER_KEY, LOG_LEVEL: 'warn' }, 'pipe');
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

    for (const [over, name, ...words] of [
      [{ MASTER_KEY }, 'GATEWAY_MODE'],
      [{ GATEWAY_MODE: 'production', MASTER_KEY: Buffer.alloc(32, 4).toString('base64') }, 'MASTER_KEY'],
      // Each role would have a database of its own, and neither would do the other's work.
      [{ GATEWAY_MODE: 'production', MASTER_KEY, DATABASE_URL: '' }, 'DATABASE_URL', '--role', 'api'],
      [
        { GATEWAY_MODE: 'production', MASTER_KEY, DATABASE_URL: '' },
        'DATABASE_URL',
        '--role',
        'worker',
        '--processes',
        '2',
      ],
    ] as const) {
      const refused = desk.startWith(over, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^mbongo: ${name} (is|does not) [^\\n]+\\n$`)),
      ]);
    }
  });

  it('names in one line the variable of an address at which it cannot listen', async () => {
    // An address reserved for documentation belongs to no machine.
    const HOST = '192.0.2.1';
    for (const words of [[], ['--processes', '2']]) {
      const refused = desk.startWith({ HOST }, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([
        1,
        expect.stringMatching(/^mbongo: [^\n]*192\.0\.2\.1[^\n]*: set HOST to one of its addresses\n$/),
      ]);
    }
  });

  it('says that it is Mbongo which has the port, and the way out', async () => {
    const first = desk.start();
    const { url } = await ready(first);
    const { port } = new URL(url ?? '');
    for (const words of [[], ['--processes', '2']]) {
      const refused = desk.startWith({ PORT: port }, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      const another = 'set PORT to a free port, and DATA_DIR or DATABASE_URL for data of its own';
      expect([status, errors]).toEqual([1, `mbongo: Mbongo already answers at port ${port}: stop it, or ${another}\n`]);
    }
  });

  it.each([[[]], [['--processes', '2']]])(
    'ends with the reason if no route leads to a carrier, with %j',
    async (words) => {
      const CARRIER_ROUTES = join(desk.dataDir, 'routes.json');
      await writeFile(CARRIER_ROUTES, '[{}]');
      const refused = desk.startWith({ CARRIER_ROUTES }, 'pipe', ...words);
      const [errors, status] = await Promise.all([said(refused.stderr), ended(refused)]);
      expect([status, errors]).toEqual([1, expect.stringMatching(/^mbongo: [^\n]*routes\.json[^\n]*\n$/)]);
    },
  );

  it('stops when its parent process is gone', async () => {
    const child = desk.start();
    await ready(child);
    child.disconnect();
    expect(await ended(child)).toBe(0);
  });

  it('outlives SIGUSR2, which a supervisor alone can carry out, and says so', async () => {
    const child = desk.startWith({ LOG_LEVEL: 'warn' }, 'pipe');
    const logged = said(child.stdout);
    const { url } = await ready(child);
    child.kill('SIGUSR2');
    expect((await fetch(`${url}/health`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
    expect(await logged).toContain('"event":"not_replaced"');
  });

  it('works as a worker without answering requests, and seeds nothing', async () => {
    const child = desk.start('--role', 'worker');
    expect(await ready(child)).toEqual({ type: 'ready', notes: [] });
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
  });
});
