/**
 * `mbongo doctor`: each finding, brought about in a real database, a real sandbox and real sockets, says what to do.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../sandbox/app.ts';
import type { Check } from '../../src/commands/doctor-check.ts';
import { checkPorts } from '../../src/commands/doctor-machine.ts';
import { readConfig } from '../../src/config.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { portOf } from '../support/listening.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';
import { freePort } from '../support/ports.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('ports', () => {
  const checkAt = async (host: string, port: number): Promise<Check | undefined> => {
    const found = await checkPorts(readConfig({ HOST: host, PORT: String(port) }));
    return found.find(({ name }) => name === 'port');
  };

  test('a gateway that listens at one address only is probed there', async () => {
    const server = createServer((_request, response) => response.end('{ "info": { "title": "Mbongo" } }'));
    await once(server.listen(0, '127.0.0.2'), 'listening');
    const port = portOf(server);
    try {
      expect(await checkAt('127.0.0.2', port)).toMatchObject({
        status: 'ok',
        detail: `${port} is already in use by Mbongo`,
      });
    } finally {
      await new Promise((done) => server.close(done));
    }
  });

  test('a program that only answers its health check is not taken for the gateway', async () => {
    const server = createServer((_request, response) => response.end('{"status":"ok"}'));
    await once(server.listen(0, '127.0.0.2'), 'listening');
    try {
      expect(await checkAt('127.0.0.2', portOf(server))).toMatchObject({ status: 'fail' });
    } finally {
      await new Promise((done) => server.close(done));
    }
  });

  test('programs at several ports are asked at the same time, so that slow ones are waited for once', async () => {
    const waiting: (() => void)[] = [];
    const says = (page: string) =>
      createServer((_request, response) => {
        waiting.push(() => response.end(page));
        // Neither answers before both have been asked.
        if (waiting.length === 2) for (const answer of waiting) answer();
      });
    const gateway = says('{ "info": { "title": "Mbongo" } }');
    const sandbox = says('<title>Mbongo sandbox</title>');
    await Promise.all([gateway, sandbox].map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
    const ports = { PORT: String(portOf(gateway)), SANDBOX_PORT: String(portOf(sandbox)) };
    try {
      const found = await checkPorts(readConfig({ HOST: '127.0.0.1', ...ports }));
      expect(found).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    } finally {
      await Promise.all([gateway, sandbox].map((server) => new Promise((done) => server.close(done))));
    }
  });

  test('a program that begins an answer and never ends it is not waited for', async () => {
    const server = createServer((_request, response) => void response.write('"title": "Mbongo"'));
    await once(server.listen(0, '127.0.0.2'), 'listening');
    expect(await checkAt('127.0.0.2', portOf(server))).toMatchObject({ status: 'fail' });
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  test('another machine’s address does not count as a port that is taken', async () => {
    expect(await checkAt('192.0.2.1', 8080)).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/192\.0\.2\.1.*set HOST to one of its addresses$/),
    });
  });
});

describe('in a database', () => {
  let database: TestDatabase;
  let cli: CommandLine;

  beforeEach(async () => {
    database = await createTestDatabase();
    cli = await openCommandLine(database.url, TEST_MASTER_KEY);
  });
  afterEach(async () => {
    await database.drop();
    await cli.close();
  });

  async function change(text: string, values: readonly unknown[] = []): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(text, [...values]);
    await client.end();
  }

  interface Told extends Check {
    readonly ok: boolean;
  }

  async function examined(env: Readonly<Record<string, string>> = {}) {
    const sandboxPort = String(await freePort());
    const { status, out } = await cli.run('doctor --json', { PORT: '0', SANDBOX_PORT: sandboxPort, ...env });
    const document = JSON.parse(out) as { ok: boolean; checks: Told[] };
    expect(document.ok).toBe(status === 0);
    for (const check of document.checks) expect(check.ok).toBe(check.status !== 'fail');
    return {
      status,
      checks: document.checks,
      of: (name: string) => document.checks.filter((one) => one.name === name),
    };
  }

  const event = (id: string, url: string) =>
    change(
      `insert into webhook_event (shard, id, version, merchant_id, transaction_id, sequence, type, url, body, status,
         attempts, next_at, created_at, last_error)
       values (7, $1, 3, 'mch_x', 'txn_x', 1, 'payment.approved', $2, '{}', 'waiting', 2, now() + interval '1 h',
         now() - interval '3 h', 'http_500')`,
      [id, url],
    );

  it('a database that may lose acknowledged commits when it crashes', async () => {
    const { pathname } = new URL(database.url);
    await change(`alter database ${pathname.slice(1)} set synchronous_commit = off`);
    const { of, status } = await examined();
    expect(status).not.toBe(0);
    expect(of('database')).toMatchObject([
      { status: 'fail', detail: expect.stringMatching(/synchronous_commit is off: .* set it to on$/) },
    ]);
  });

  it('all is well, except that the sandbox has not been started', async () => {
    const { status, checks } = await examined();
    expect(status).toBe(0);
    const names = checks.map(({ name }) => name);
    expect(names).toEqual([
      'books',
      'Node.js',
      'configuration',
      'database',
      'migrations',
      'clock',
      'keys',
      'auditor',
      'work',
      'holds',
      'open attempts',
      'late money',
      'waiting',
      'webhook reach',
      'dead webhooks',
      'session scope',
      'public URL',
      'texts',
      'carriers',
      'mtn-momo',
      'mtn-momo-disbursement',
      'mastercard',
      'port',
      'sandbox port',
    ]);
    const others = checks.filter(({ status: standing }) => standing !== 'ok');
    expect(others.map(({ name }) => name)).toEqual(['texts', 'mtn-momo', 'mtn-momo-disbursement', 'mastercard']);
    for (const { status: standing, detail } of others) {
      expect(standing).toBe('warn');
      expect(detail).toContain('cannot be reached (the connection was refused): start the sandbox (npm start)');
    }
  });

  it('a wrong address of the database', async () => {
    const { out, status } = await cli.run('doctor --json', { DATABASE_URL: 'postgresql://127.0.0.1:1/x', PORT: '0' });
    const [first] = (JSON.parse(out) as { checks: Told[] }).checks;
    expect(status).toBe(1);
    expect(first).toMatchObject({ name: 'database', status: 'fail' });
    expect(first?.detail).toContain('DATABASE_URL cannot be used: 127.0.0.1:1: nothing listens there');
  });

  it('a wrong variable', async () => {
    const { out, status } = await cli.run('doctor', { PORT: 'eighty' });
    expect(status).toBe(1);
    expect(out).toMatch(/^WRONG {2}configuration {2}PORT is "eighty"/m);
  });

  it('a signing secret that no key can open', async () => {
    const { merchant_id } = await cli.json('merchant create --name Kivu');
    expect((await examined()).of('keys')[0]).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('(1 checked); no older key is needed'),
    });
    await change("update webhook_secret set sealed = 'AAAAAAAA'");
    const { status, of } = await examined();
    expect(status).toBe(1);
    expect(of('keys')).toMatchObject([{ status: 'fail' }]);
    expect(of('keys')[0]?.detail).toContain(`1 of 1 signing secrets (first: ${merchant_id}): add the older key again`);
  });

  it('a signing secret that was moved to another merchant', async () => {
    const [from, to] = [await cli.json('merchant create --name Kivu'), await cli.json('merchant create --name Goma')];
    await change('update webhook_secret set merchant_id = $2 where merchant_id = $1', [
      from.merchant_id,
      to.merchant_id,
    ]);
    await change('update webhook_secret set shard = (select shard from merchant where id = merchant_id)');
    const { status, of } = await examined();
    expect(status).toBe(1);
    expect(of('keys')).toMatchObject([{ status: 'fail' }]);
    expect(of('keys')[0]?.detail).toContain(
      `1 of 2 signing secrets were altered, or moved from another merchant (first: ${to.merchant_id}), and do not sign`,
    );
  });

  it('what needs an older key of the ring, and what needs one that is not there', async () => {
    const newer = Buffer.alloc(32, 99).toString('base64');
    await cli.json('wallet open --pin 1234 --currency usd --phone +243810000042');
    const ring = { MASTER_KEY: `${newer},${TEST_MASTER_KEY}` };
    const { status, of } = await examined(ring);
    expect(status).toBe(0);
    expect(of('keys')[0]?.detail).toContain('an older key is still needed by 1 wallet: keep it');
    await change("update wallet set pin_hash = 'zz' || substr(pin_hash, 3)");
    const lacking = await examined(ring);
    expect(lacking.status).toBe(1);
    expect(lacking.of('keys')).toMatchObject([{ status: 'fail' }]);
    expect(lacking.of('keys')[0]?.detail).toContain('MASTER_KEY lacks a key that is needed by 1 wallet: add it again');
  });

  it('a migration of a newer version', async () => {
    await change("insert into schema_migration (name, checksum) values ('9999-later.sql', 'x')");
    const { of, status } = await examined();
    expect(status).toBe(0);
    expect(of('migrations')).toMatchObject([{ status: 'warn', detail: expect.stringContaining('9999-later.sql') }]);
  });

  it('an auditor that has not run for hours', async () => {
    const value = JSON.stringify({ at: Date.now() - 3 * HOUR, findings: {}, accounts: 0, transfers: 0, turn: 0 });
    await change("insert into setting (shard, id, version, value) values (0, 'audit', 1, $1)", [value]);
    expect((await examined()).of('auditor')).toMatchObject([
      {
        status: 'warn',
        detail: 'it ran 3 h ago: start a process that does the background work (mbongo serve, or serve --role worker)',
      },
    ]);
  });

  it('what the auditor of another process has found, a closed day too, which nobody else looks at', async () => {
    const value = JSON.stringify({ at: Date.now(), findings: { closed_day: 2 }, accounts: 9, transfers: 9, turn: 0 });
    await change("insert into setting (shard, id, version, value) values (0, 'audit', 1, $1)", [value]);
    const { of, status } = await examined();
    expect(status).toBe(1);
    expect(of('auditor')).toMatchObject([
      { status: 'fail', detail: expect.stringMatching(/and found closed_day 2: the log names each/) },
    ]);
  });

  it('work that no process does, and webhooks that no receiver accepts', async () => {
    const port = await freePort();
    const receiver = createServer((_request, response) => response.writeHead(500).end());
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const answering = `http://127.0.0.1:${portOf(receiver)}`;
    await event('evt_a', `http://127.0.0.1:${port}/hook?secret=x`);
    await event('evt_b', `http://127.0.0.1:${port}/other`);
    await event('evt_c', `${answering}/hook`);
    await event('evt_d', 'http://shop.invalid/hook');
    await change("update webhook_event set next_at = now() - interval '20 min' where id = 'evt_b'");
    const { of, status } = await examined();
    await new Promise((resolve) => receiver.close(resolve));
    expect(status).toBe(1);
    expect(of('work')).toMatchObject([
      { status: 'fail', detail: expect.stringMatching(/^overdue: webhooks for 20 min; start a process/) },
    ]);
    expect(of('waiting')).toMatchObject([
      {
        status: 'warn',
        detail: expect.stringMatching(/^webhooks that receivers do not accept: 4, the oldest for 3 h; see/),
      },
    ]);
    const reach = of('webhook reach').map(({ status: standing, detail }) => `${standing} ${detail}`);
    expect(reach).toHaveLength(3);
    expect(reach[0]).toMatch(
      new RegExp(
        `^warn http://127.0.0.1:${port} has not taken 2 webhooks; the connection was refused: tell its merchant`,
      ),
    );
    expect(reach.join('\n')).toContain(
      `${answering} has not taken 1 webhook; it can be reached, and the last error was http_500`,
    );
    expect(reach.join('\n')).toMatch(
      /http:\/\/shop\.invalid has not taken 1 webhook; (its name has no address|the name servers do not answer)/,
    );
    expect(reach.join('\n')).not.toContain('secret');
  });

  it('webhooks that were given up, but not those whose receiver has asked to stop, however many', async () => {
    await event('evt_a', 'http://127.0.0.1:9/hook');
    await change(`insert into webhook_event select (jsonb_populate_record(e, jsonb_build_object('id', 'evt_b' || n))).*
      from webhook_event e, generate_series(1, 300) n`);
    await change("update webhook_event set status = case id when 'evt_a' then 'dead' else 'gone' end");
    expect((await examined()).of('dead webhooks')).toMatchObject([
      { status: 'warn', detail: expect.stringMatching(/^1 webhook was given up, the newest made 3 h ago: see mbongo/) },
    ]);
  });

  it('a payment whose attempt is open since yesterday, but not one that is closed and still inquired about', async () => {
    const since = (id: string, status: string, settledAt: string) =>
      change(
        `insert into attempt (shard, id, version, merchant_id, payment_id, connector, status, reference, msisdn, carrier,
           amount_minor, fee_minor, currency, inquiries, next_inquiry_at, settled_at, created_at)
         values (7, $1, 3, 'mch_x', 'txn_x', 'mtn-momo', $2, $1, '+243810000001', 'MTN', 100, 0, 'usd', 9,
           now() + interval '1 h', ${settledAt}, now() - interval '26 h')`,
        [id, status],
      );
    await since('att_b', 'declined', "now() - interval '23 h'");
    expect((await examined()).of('open attempts')).toMatchObject([{ status: 'ok' }]);
    await since('att_a', 'unknown', 'null');
    const { of } = await examined();
    expect(of('open attempts')).toMatchObject([
      { status: 'fail', detail: expect.stringContaining('1 is open for more than a day: see mbongo attempt list') },
    ]);
  });

  it('a port that another program uses', async () => {
    const other = createSocketServer((socket) => socket.destroy());
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = String(portOf(other));
    const { of, status } = await examined({ PORT: taken, WORKER_PORT: taken });
    await new Promise((resolve) => other.close(resolve));
    expect(status).toBe(1);
    expect(of('port')).toMatchObject([{ status: 'fail', detail: expect.stringContaining('set PORT') }]);
    expect(of('worker port')).toMatchObject([{ status: 'fail', detail: expect.stringContaining('set WORKER_PORT') }]);
  });

  describe('and with upstreams', () => {
    let sandbox: Sandbox;
    let env: { readonly SANDBOX_PORT: string };

    beforeEach(async () => {
      sandbox = await createSandbox({ seed: 'test' });
      env = { SANDBOX_PORT: new URL(await sandbox.app.listen({ port: 0, host: '127.0.0.1' })).port };
    });
    afterEach(() => sandbox.app.close());

    it('they answer and accept the credentials', async () => {
      const { status, checks, of } = await examined(env);
      expect(status).toBe(0);
      expect(checks.filter(({ status: standing }) => standing !== 'ok')).toEqual([]);
      for (const name of ['mtn-momo', 'mtn-momo-disbursement', 'mastercard']) {
        expect(of(name)).toMatchObject([{ detail: 'it answers, and accepts our credentials' }]);
      }
      expect(of('texts')[0]?.detail).toContain('which can be reached');
    });

    it('one of them does not accept a key', async () => {
      const { status, of } = await examined({ ...env, MTN_MOMO_API_KEY: 'wrong', CARDNET_API_PASSWORD: 'wrong' });
      expect(status).toBe(1);
      for (const name of ['mtn-momo', 'mastercard']) {
        expect(of(name)).toMatchObject([
          { status: 'fail', detail: expect.stringContaining('it rejects our credentials (HTTP 401)') },
        ]);
      }
      expect(of('mtn-momo-disbursement')).toMatchObject([{ status: 'ok' }]);
    });
  });

  it('a carrier that cannot be reached from production', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const { status, of } = await examined({
      GATEWAY_MODE: 'production',
      PUBLIC_URL: 'https://pay.example.com',
      MTN_MOMO_BASE_URL: dead,
      MTN_MOMO_SUBSCRIPTION_KEY: 'a',
      MTN_MOMO_API_USER: 'b',
      MTN_MOMO_API_KEY: 'c',
      MTN_MOMO_TARGET_ENVIRONMENT: 'mtncongo',
      SMS_URL: `${dead}/sms`,
      SMS_TOKEN: 'd',
    });
    expect(status).toBe(1);
    expect(of('mtn-momo')).toMatchObject([
      {
        status: 'fail',
        detail: expect.stringContaining('it cannot be reached (the connection was refused): check its base URL'),
      },
    ]);
    expect(of('texts')).toMatchObject([{ status: 'fail', detail: expect.stringContaining('check SMS_URL') }]);
  });
});
