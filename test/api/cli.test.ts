/**
 * The command line against a fresh database: every command with `--json` prints exactly one JSON document.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type CommandLine, type Document, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';

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

const run: CommandLine['run'] = (words, over) => cli.run(words, over);
const json: CommandLine['json'] = (words) => cli.json(words);

async function makeMerchant(): Promise<{ id: string; key: string }> {
  const made = await json('merchant create --name Boutique');
  return { id: String(made.merchant_id), key: String(made.key_id) };
}

describe('mbongo', () => {
  it('creates, lists, suspends, reactivates and configures merchants', async () => {
    const made = await json('merchant create --name Boutique');
    expect(Object.keys(made)).toEqual(['merchant_id', 'key_id', 'secret', 'webhook_secret']);
    const merchant = `--merchant ${String(made.merchant_id)}`;
    expect(await json(`merchant suspend ${merchant}`)).toMatchObject({ status: 'SUSPENDED' });
    expect(await json(`merchant allow ${merchant}`)).toMatchObject({ status: 'ALLOWED' });
    const set = await json(
      `merchant set ${merchant} --limit usd:1-5000 --code-threshold usd:20 --currencies usd,cdf --scope-required on ` +
        '--url-hosts shop.example --rate-limit payments:500',
    );
    expect(set.settings).toEqual({
      limits: { usd: { min: '1.00', max: '5000.00' } },
      code_thresholds: { usd: '20.00' },
      currencies: ['usd', 'cdf'],
      scope_required: true,
      url_hosts: ['shop.example'],
      rate_limits: { payments: 500 },
    });
    expect(await json('merchant list')).toMatchObject({
      merchants: [{ merchant_id: made.merchant_id, name: 'Boutique' }],
    });
  });

  it('accepts only the names of limits, and lists them to an operator who types another', async () => {
    const { id } = await makeMerchant();
    const set = await json(
      `merchant set --merchant ${id} --rate-limit sessions_create:9,payments:8,mobile_money_status:7,card_callbacks:6,codes:5,resends:4`,
    );
    const limits = {
      sessions_create: 9,
      payments: 8,
      mobile_money_status: 7,
      card_callbacks: 6,
      codes: 5,
      resends: 4,
    };
    expect(set.settings).toMatchObject({ rate_limits: limits });
    // Wrong credentials do not belong to a merchant; and a name that every object has is not a limit either.
    for (const name of ['bogus', 'failed_authentications', 'constructor']) {
      for (const count of ['3', '0', 'many', 'default']) {
        const refused = await run(`merchant set --merchant ${id} --rate-limit payments:5,${name}:${count}`);
        expect([refused.status, refused.err]).toEqual([2, expect.stringContaining(`"${name}"`)]);
        expect(refused.err).toContain(Object.keys(limits).join(', '));
      }
    }
    // Five in five minutes is the specification's: a merchant may have fewer.
    for (const rule of ['codes:6', 'resends:6', 'codes:0']) {
      const refused = await run(`merchant set --merchant ${id} --rate-limit ${rule}`);
      expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('from 1 to 5')]);
    }
    const { merchants } = (await json('merchant list')) as { merchants: Document[] };
    expect(merchants.find(({ merchant_id }) => merchant_id === id)?.settings).toMatchObject({ rate_limits: limits });
  });

  it('refuses an option that is given twice, and does nothing', async () => {
    const { id } = await makeMerchant();
    const poor = String((await json('merchant create --name Poor --no-float')).merchant_id);
    const twice = [
      `balance credit --merchant ${id} --merchant ${poor} --currency usd --amount 100.00`,
      `balance credit --merchant ${poor} --currency usd --amount 100.00 --amount=10.00`,
    ];
    for (const words of twice) {
      const { status, out, err } = await run(words);
      expect([status, out]).toEqual([2, '']);
      expect(err).toMatch(/^mbongo: option '--(merchant <id>|amount <amount>)' is given twice\n$/);
    }
    expect((await json(`balance show --merchant ${poor}`)).balances).toEqual([]);
  });

  it('issues, rotates, revokes and lists credentials, and lists no secret', async () => {
    const merchant = await makeMerchant();
    const issued = await json(`credential issue --merchant ${merchant.id} --addresses 10.0.0.0/8`);
    const rotated = await json(`credential rotate --key ${merchant.key} --grace 1h`);
    expect(rotated).toMatchObject({ old_key_id: merchant.key, merchant_id: merchant.id });
    expect(Date.parse(String(rotated.old_retires_at)) - Date.now()).toBeGreaterThan(3_500_000);
    expect(await json(`credential revoke --key ${String(issued.key_id)}`)).toMatchObject({ status: 'REVOKED' });
    const { out } = await run(`credential list --merchant ${merchant.id} --json`);
    const { credentials } = JSON.parse(out) as { credentials: Document[] };
    expect(credentials.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', 'RETIRING', 'REVOKED']);
    for (const secret of [issued.secret, rotated.secret]) expect(out).not.toContain(String(secret));
  });

  it('opens and credits wallets and flash accounts', async () => {
    const opened = await json(
      'wallet open --number auto --pin 1234 --currency usd --balance 100.00 --phone +243810000042',
    );
    expect(opened).toEqual({
      wallet_number: expect.stringMatching(/^5707\d{12}$/),
      currency: 'usd',
      balance: '100.00',
    });
    const credited = await json(`wallet credit --number ${String(opened.wallet_number)} --amount 0.50`);
    expect(credited).toEqual({ ...opened, balance: '100.50' });
    const flash = await json('wallet open --pin 123456 --currency xof --phone +2250700000000 --kind flash');
    expect(flash).toMatchObject({ currency: 'xof', balance: '0' });
  });

  it('credits and shows balances', async () => {
    const { id } = await makeMerchant();
    const poor = String((await json('merchant create --name Poor --no-float')).merchant_id);
    const credited = await json(`balance credit --merchant ${poor} --currency usd --amount 100.00`);
    expect(credited).toEqual({ merchant_id: poor, currency: 'usd', available: '100.00' });
    expect(await json(`balance show --merchant ${poor}`)).toEqual({
      merchant_id: poor,
      balances: [{ currency: 'usd', available: '100.00', reserved: '0.00', held: '0.00' }],
    });
    const { balances } = (await json(`balance show --merchant ${id}`)) as { balances: Document[] };
    expect(balances.find(({ currency }) => currency === 'ugx')).toMatchObject({ available: '10000000' });
  });

  it('sets and lists fees', async () => {
    const { id } = await makeMerchant();
    await json(`fee set --merchant ${id} --method wallet --currency usd --rate 2.5 --fixed 0.10 --min 0.50 --max 10`);
    await json(`fee set --merchant ${id} --currency xof --rate 1`);
    expect(await json(`fee list --merchant ${id}`)).toEqual({
      merchant_id: id,
      fees: [
        { method: 'wallet', currency: 'usd', rate: '2.5', fixed: '0.10', min: '0.50', max: '10.00' },
        { method: 'all', currency: 'xof', rate: '1', fixed: '0', min: null, max: null },
      ],
    });
    const free = await json(`fee set --merchant ${id} --method wallet --currency usd --rate 0`);
    expect(free.fees).toContainEqual(expect.objectContaining({ method: 'wallet', rate: '0', fixed: '0.00' }));
    const paid = await json(`fee set --merchant ${id} --method payout_wallet --currency xof --rate 0 --fixed 5`);
    expect(paid.fees).toContainEqual(expect.objectContaining({ method: 'payout_wallet', fixed: '5' }));
    await json(`fee set --merchant ${id} --method payout_wallet --currency xof --remove`);
    const removed = await json(`fee set --merchant ${id} --method wallet --currency usd --remove`);
    const again = await run(`fee set --merchant ${id} --method wallet --currency usd --remove`);
    expect([again.status, again.err]).toEqual([1, expect.stringContaining('there is no fee for wallet in usd')]);
    expect(removed.fees).toEqual([expect.objectContaining({ method: 'all', currency: 'xof' })]);
    for (const words of ['', '--remove --rate 1']) {
      const refused = await run(`fee set --merchant ${id} --currency usd ${words}`.trim());
      expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('--remove')]);
    }
    const capped = await run(`fee set --merchant ${id} --currency usd --rate 2 --max 0`);
    const wayOut = 'it must be above zero (leave out --max for no maximum, or set --rate 0 for no fee), like 100.00';
    expect([capped.status, capped.err]).toEqual([2, `mbongo: "0" is not a valid maximum in usd: ${wayOut}\n`]);
  });

  it('lists and replays webhooks, and rotates their secret', async () => {
    const { id } = await makeMerchant();
    expect(await json('webhook list')).toEqual({ events: [], next: null });
    expect(await json(`webhook replay --merchant ${id} --from 2026-01-01`)).toEqual({ replayed: 0 });
    const said = await run(`webhook secret rotate --merchant ${id}`);
    expect(said.out).toContain('paste the new one on the page of its inbox.');
    const rotated = await json(`webhook secret rotate --merchant ${id} --grace 0`);
    expect(rotated).toMatchObject({ merchant_id: id, old_retires_at: null });
    expect(rotated.webhook_secret).toMatch(/^whsec_/);
    expect(await json('journal list')).toMatchObject({
      entries: expect.arrayContaining([expect.objectContaining({ command: 'webhook secret rotate' })]),
    });
  });

  it('migrates, and checks what the gateway needs', async () => {
    expect((await run('migrate --json', { GATEWAY_MODE: 'production', MASTER_KEY: '' })).out).toBe('{"applied":[]}\n');
    const { out, status } = await run('doctor --json', { PORT: '0' });
    const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: { name: string; ok: boolean; detail: string }[] };
    expect(status).toBe(ok ? 0 : 1);
    const found = Object.fromEntries(checks.map((check) => [check.name, check.ok]));
    expect(found).toMatchObject({ texts: true, carriers: true, 'public URL': true });
    expect(found).toMatchObject({ 'Node.js': true, configuration: true, database: true, clock: true, port: true });
  });

  it('starts in production with a master key alone, and doctor warns of what is missing', async () => {
    const { out, status } = await run('doctor --json', { PORT: '0', GATEWAY_MODE: 'production' });
    const { ok, checks } = JSON.parse(out) as {
      ok: boolean;
      checks: { name: string; status: string; detail: string }[];
    };
    expect([ok, status]).toEqual([true, 0]);
    const warned = checks.filter(({ status }) => status === 'warn');
    expect(warned.map(({ name }) => name)).toEqual(['public URL', 'texts', 'carriers']);
    expect(warned.map(({ detail }) => detail).join()).toContain('wallet payments above the threshold');
  });

  it.each(['merchant list', 'doctor'])('%s stops at a database of another key or mode', async (words) => {
    await json('merchant list');
    const said = async (over: { [name: string]: string }) => {
      const { status, out, err } = await run(words, over);
      expect(status).toBe(1);
      return out + err;
    };
    expect(await said({ MASTER_KEY: Buffer.alloc(32, 5).toString('base64') })).toMatch(
      /MASTER_KEY does not contain the key/,
    );
    // A sandbox that has lost its data folder makes itself another key.
    expect(await said({ MASTER_KEY: '' })).toMatch(/MASTER_KEY does not contain the key/);
    expect(await said({ GATEWAY_MODE: 'production' })).toMatch(/GATEWAY_MODE is production[^\n]+use another database/);
  });

  it('prints text for people without --json', async () => {
    const { out, status } = await run('merchant create --name Boutique');
    expect(status).toBe(0);
    expect(out).toMatch(/^merchant {8}mch_\w+ {2}Boutique\ncredential {6}key_\w+:sk_test_/);
    expect((await run('merchant list')).out).toMatch(/^merchant +status +name\nmch_\w+ +ALLOWED +Boutique\n$/);
  });

  it.each([
    ['balance credit --merchant mch_x --currency usd --amount 1.00', 2, 'the merchant id is not valid'],
    ['wallet open --pin 12 --currency usd --phone +243810000042', 2, 'four to eight digits'],
    ['wallet open --pin 1234 --currency usd --phone 0810000042', 2, 'the phone number is not valid'],
    ['wallet open --pin 1234 --currency gbp --phone +243810000042', 2, 'not a currency'],
    ['webhook replay', 2, 'name the events'],
    ['webhook replay --event evt_1 --to 2026-03-02', 2, 'leave them out with --event'],
    ['webhook replay --event evt_1 --status dead', 2, 'leave them out with --event'],
    ['webhook replay --event evt_1', 2, 'the event id is not valid'],
    ['webhook replay --from 2026-03-02 --to 2026-03-01', 2, '--from must be before --to'],
    ['webhook replay --from 2026-03-01 --to 2026-03-01', 2, '--from must be before --to'],
    ['webhook replay --from 2999-12-31', 2, '--from must be before --to, or before now if --to is left out'],
    ['webhook list --limit many', 2, 'the limit must be a whole number'],
    ['webhook list --status lost', 2, 'not a status of an event'],
    ['webhook listen --port 70000', 2, 'the port must be a whole number'],
    ['credential rotate --key key_x --grace soon', 2, 'not a duration'],
    [`merchant suspend --merchant mch_${'0'.repeat(26)}`, 1, 'there is no merchant'],
    ['merchant create', 2, '--name'],
    ['listen', 2, 'unknown command'],
    ['wallet open --pin 1234 --currency usd --phone +243810000042 --kind gold', 2, 'gold'],
  ])('%s ends with %i and one line that says why', async (words, status, reason) => {
    const plain = await run(words);
    expect(plain).toMatchObject({ status, out: '' });
    expect(plain.err).toMatch(/^mbongo: [^\n]+\n$/);
    expect(plain.err).toContain(reason);
    const machine = await run(`${words} --json`);
    expect(machine).toMatchObject({ status, out: '' });
    expect(JSON.parse(machine.err)).toEqual({ error: true, message: expect.stringContaining(reason) });
  });

  it('asks for a verb if only a noun is given', async () => {
    expect(await run('merchant')).toEqual({
      status: 2,
      out: '',
      err: 'mbongo: incomplete command: see `mbongo merchant --help`\n',
    });
    const help = (await run('wallet open --help')).out.replaceAll(/\s+/g, ' ');
    expect(help).toContain('(choices: "wallet", "flash", default: "wallet")');
    expect(help).toMatch(/--phone <number> [^(]*\(required\)/);
    expect((await run('help wallet open')).out.replaceAll(/\s+/g, ' ')).toBe(help);
    expect((await run('help')).out).toBe((await run('--help')).out);
  });

  it('says in one line what is wrong with the configuration, or that the database is unreachable', async () => {
    const bad = await run('merchant list', { PORT: 'abc' });
    expect([bad.status, bad.err]).toEqual([1, expect.stringMatching(/^mbongo: PORT [^\n]+\n$/)]);
  });

  it.each([
    ['postgresql://nobody:hunter2@127.0.0.1:9/none', '127.0.0.1:9: nothing listens there: start PostgreSQL'],
    ['postgresql://nobody:hunter2@hunter3@127.0.0.1:9/none', '127.0.0.1:9: nothing listens there: start PostgreSQL'],
    ['postgresql://nobody:9?hunter@127.0.0.1:9/none', 'its host '],
    ['postgresql://nobody:hunter#2@127.0.0.1:5432/none', 'it is malformed'],
    ['postgresql://nobody:hunter%ff@127.0.0.1:5432/none', 'its percent-encoding is broken'],
    ['postgresql://nobody:p@hunter/2@127.0.0.1:5432/none', 'its host '],
    ['mysql://nobody:hunter2@127.0.0.1/none', 'it must begin with postgresql://'],
  ])('says of the DATABASE_URL %s that it cannot be used: %s', async (url, reason) => {
    for (const words of ['merchant list', 'migrate']) {
      const { status, err } = await run(words, { DATABASE_URL: url });
      expect([status, err]).toEqual([1, expect.stringMatching(/^mbongo: DATABASE_URL cannot be used: [^\n]+\n$/)]);
      expect(err).toContain(reason);
      // Where the address is whole, nothing in it was mistaken for something else.
      expect(err.includes('percent-encoded')).toBe(!/127\.0\.0\.1:9:|must begin/.test(err));
      expect(err).not.toMatch(/hunter|nobody/);
    }
  });

  it('reports that the server of a DATABASE_URL is a standby, and not that the address is wrong', async () => {
    const url = `${database.url}?options=-c%20default_transaction_read_only%3Don`;
    for (const words of ['merchant list', 'migrate']) {
      const { status, err } = await run(words, { DATABASE_URL: url });
      expect([status, err]).toEqual([
        1,
        'mbongo: DATABASE_URL cannot be used: the server accepts no changes: it is a standby or read-only; name the primary\n',
      ]);
    }
  });

  it('says in one line that the DATA_DIR cannot be used, whether for the database or for the key', async () => {
    const file = fileURLToPath(import.meta.url);
    for (const DATABASE_URL of ['', database.url]) {
      const { status, err } = await run('clock advance 1h', { DATABASE_URL, DATA_DIR: file, MASTER_KEY: '' });
      expect([status, err]).toEqual([1, expect.stringMatching(/^mbongo: DATA_DIR cannot be used: ENOTDIR[^\n]+\n$/)]);
    }
  });

  it('says so as well if the system creates no folder at all, instead of trying for ever', async () => {
    for (const DATABASE_URL of ['', database.url]) {
      const over = { DATABASE_URL, DATA_DIR: '/proc/mbongo/data', MASTER_KEY: '' };
      const { status, err } = await run('clock advance 1h', over);
      expect([status, err]).toEqual([1, expect.stringMatching(/^mbongo: DATA_DIR cannot be used: [^\n]+\n$/)]);
    }
  });

  it('says that a DATABASE_URL names no database of its server', async () => {
    const { err } = await run('merchant list', { DATABASE_URL: database.url.replace(/\/[^/]*$/, '/mbongo_none') });
    const { host } = new URL(database.url);
    expect(err).toBe(`mbongo: DATABASE_URL cannot be used: ${host}: the server has no such database\n`);
  });
});

describe('mbongo, as a program', () => {
  // Linux has this file, to which nothing can be written; other systems have no equivalent.
  it.runIf(existsSync('/dev/full'))('says in one line that its result could not be written', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [builtProgram('src/main.js'), '--version'], {
      stdio: ['ignore', full, 'pipe'],
    });
    const err: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    const status = await new Promise((resolve) => child.once('close', resolve));
    closeSync(full);
    const said = Buffer.concat(err).toString();
    expect([status, said]).toEqual([
      1,
      expect.stringMatching(/^mbongo: the result could not be written \(ENOSPC.*\n$/),
    ]);
  });
});

describe('mbongo, as a program whose output is no longer read', () => {
  /** Runs it with its output in a pipe that is no longer read. */
  async function unread(words: string) {
    const child = spawn(process.execPath, [builtProgram('src/main.js'), ...words.split(' ')], {
      env: { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: cli.dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.destroy();
    const err: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
    const status = await new Promise((resolve) => child.once('close', resolve));
    return { status, err: Buffer.concat(err).toString() };
  }

  it('says that a secret is lost, and nothing about a list', async () => {
    expect(await unread('merchant list')).toEqual({ status: 0, err: '' });
    expect(await unread('merchant create --name Unread')).toEqual({
      status: 1,
      err: expect.stringMatching(/_entry"\}\nmbongo: the result could not be .*the secret that it made is lost\n$/),
    });
  });
});

describe('mbongo, as a program on an embedded database of its own', () => {
  it('starts the database, does its work and leaves nothing running', async () => {
    const words = ['merchant', 'create', '--name', 'Chez Amani', '--json'];
    const child = spawn(process.execPath, [builtProgram('src/main.js'), ...words], {
      env: { PATH: process.env.PATH, DATA_DIR: cli.dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    const status = await new Promise((resolve) => child.once('close', resolve));
    // A user in the wrong folder learns that there was no database here.
    expect([status, Buffer.concat(err).toString()]).toEqual([
      0,
      expect.stringMatching(/^\{"level":"warn",.*making an embedded database in [^\n]*\}\n\{.*"journal_entry"\}\n$/),
    ]);
    expect(Object.keys(JSON.parse(Buffer.concat(out).toString()) as object)).toEqual([
      'merchant_id',
      'key_id',
      'secret',
      'webhook_secret',
    ]);
  });
});
