/**
 * What `mbongo merchant` and `mbongo credential` tell an operator about a merchant.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CommandLine, type Document, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';

let database: TestDatabase;
let cli: CommandLine;
let merchant: { readonly id: string; readonly key: string };

beforeEach(async () => {
  database = await createTestDatabase();
  cli = await openCommandLine(database.url, TEST_MASTER_KEY);
  const made = await cli.json('merchant create --name Boutique');
  merchant = { id: String(made.merchant_id), key: String(made.key_id) };
});

afterEach(async () => {
  await database.drop();
  await cli.close();
});

it('lists a credential as EXPIRED once its grace period is over, and where each may be used from', async () => {
  await cli.json(`credential issue --merchant ${merchant.id} --addresses 192.0.2.7,10.0.0.0/8`);
  await cli.json(`credential rotate --key ${merchant.key} --grace 1h`);
  const old = async (): Promise<unknown> => {
    const { credentials } = (await cli.json(`credential list --merchant ${merchant.id}`)) as {
      credentials: Document[];
    };
    return credentials.find(({ key_id }) => key_id === merchant.key)?.status;
  };
  expect(await old()).toBe('RETIRING');
  await cli.json('clock advance 1h');
  expect(await old()).toBe('EXPIRED');
  const { out } = await cli.run(`credential list --merchant ${merchant.id}`);
  expect(out).toMatch(/^credential +status +made +accepted until +from addresses\n/);
  expect(out).toMatch(new RegExp(`${merchant.key} +EXPIRED +\\S+Z +\\S+Z +any\n`));
  expect(out).toMatch(/ALLOWED +\S+Z +192\.0\.2\.7,10\.0\.0\.0\/8\n/);
});

it('shows a merchant’s settings in a fixed order, as their options write them, and none that is not set', async () => {
  const bare = await cli.run(`merchant show --merchant ${merchant.id}`);
  expect(bare.out).toMatch(/^merchant_id +mch_\w+\nname +Boutique\nstatus +ALLOWED\ncreated_at +\S+Z\n$/);
  const set = `--merchant ${merchant.id}`;
  await cli.json(`merchant brand ${set} --colour #0b6e4f`);
  await cli.json(`merchant payouts ${set} --hour 22 --approval-from 500 --currency usd`);
  await cli.json(`merchant set ${set} --url-hosts shop.example --scope-required on --rate-limit payments:500`);
  await cli.json(
    `merchant set ${set} --methods wallet,card --method-limit wallet:usd:1-500 --limit usd:1-5000,cdf:500-`,
  );
  await cli.json(`merchant set ${set} --currencies usd,cdf,usd --code-threshold usd:20`);
  await cli.json(`merchant set ${set} --fee-covered-by buyer --delivery-behaviour delayed_delivery`);
  const { out } = await cli.run(`merchant show ${set}`);
  const settings = out.split('\n').slice(4, -1);
  expect(settings.map((line) => line.split(/ +/))).toEqual([
    ['currencies', 'usd,cdf'],
    ['limits', expect.stringMatching(/^(usd:1\.00-5000\.00,cdf:500\.00-|cdf:500\.00-,usd:1\.00-5000\.00)$/)],
    ['methods', 'wallet,card'],
    ['method_limits', 'wallet:usd:1.00-500.00'],
    ['code_thresholds', 'usd:20.00'],
    ['rate_limits', 'payments:500'],
    ['scope_required', 'on'],
    ['fee_covered_by', 'buyer'],
    ['delivery_behaviour', 'delayed_delivery'],
    ['url_hosts', 'shop.example'],
    ['payout_hour', '22'],
    ['payout_approval_from', 'usd:500.00'],
    ['brand', 'colour:#0b6e4f'],
  ]);
  // What is shown may be given to the options as it is.
  const limits = String(settings.find((line) => line.startsWith('limits'))?.split(/ +/)[1]);
  await cli.json(`merchant set ${set} --limit ${limits} --method-limit wallet:usd:1.00-500.00`);
  expect((await cli.run(`merchant show ${set}`)).out).toBe(out);
  const { merchants } = (await cli.json('merchant list')) as { merchants: Document[] };
  expect(await cli.json(`merchant show ${set}`)).toEqual(
    merchants.find(({ merchant_id }) => merchant_id === merchant.id),
  );
  expect(await cli.run(`merchant show --merchant mch_${'0'.repeat(26)}`)).toMatchObject({
    status: 1,
    err: expect.stringContaining('there is no merchant'),
  });
});

it('lists merchants page by page, or all of them', async () => {
  const made: unknown[] = [merchant.id];
  for (const name of ['Second', 'Third']) made.push((await cli.json(`merchant create --name ${name}`)).merchant_id);
  const listed = async (words = '') => {
    const { merchants, next } = await cli.json(`merchant list ${words}`.trim());
    return { ids: (merchants as Document[]).map(({ merchant_id }) => merchant_id), next };
  };
  expect(await listed()).toEqual({ ids: made, next: null });
  expect(await listed('--limit 2')).toEqual({ ids: made.slice(0, 2), next: made[1] });
  expect(await listed(`--limit 2 --after ${made[1]}`)).toEqual({ ids: made.slice(2), next: null });
  expect(await listed(`--after ${made[0]}`)).toEqual({ ids: made.slice(1), next: null });
  expect((await cli.run('merchant list --limit 1')).out).toContain(
    `There may be more: list them with --after ${made[0]}\n`,
  );
  for (const wrong of ['--limit 0', '--after txn_1']) expect((await cli.run(`merchant list ${wrong}`)).status).toBe(2);
});

it.each<[string, RegExp]>([
  ['brand --logo shop.png --no-logo', /option '--logo <file>' cannot be used with option '--no-logo'$/],
  ['brand --no-logo --logo shop.png', /option '--no-logo' cannot be used with option '--logo <file>'$/],
  ['set --limit usd:1-5,usd:2-6', /usd is named twice: /],
  ['set --limit usd:1-5,usd:none', /usd is named twice: /],
  ['set --method-limit wallet:usd:1-5,card:usd:1-,wallet:usd:-9', /wallet:usd is named twice: /],
  ['set --code-threshold usd:100,cdf:5000,usd:1000', /usd is named twice: /],
  ['set --rate-limit payments:240,payments:24', /payments is named twice: /],
])('refuses what contradicts itself, and changes nothing: %s', async (words, why) => {
  const [verb = '', ...rest] = words.split(' ');
  const { status, out, err } = await cli.run(['merchant', verb, '--merchant', merchant.id, ...rest]);
  expect([status, out, err.trimEnd()]).toEqual([2, '', expect.stringMatching(why)]);
  expect((await cli.json(`merchant show --merchant ${merchant.id}`)).settings).toEqual({});
});

it('says that its role may open no more connections, also if only a change needs the one too many', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_user as name');
  const role = `mbongo_few_${Date.now()}`;
  await database.pool.query(`create role ${role} login password 'x' connection limit 1 in role ${rows[0]?.name}`);
  try {
    const { href } = Object.assign(new URL(database.url), { username: role, password: 'x' });
    expect(await cli.run('merchant list', { DATABASE_URL: href })).toMatchObject({ status: 0, err: '' });
    const { status, err } = await cli.run('merchant create --name Kivu', { DATABASE_URL: href });
    expect(status).toBe(1);
    expect(err).toMatch(
      /^mbongo: DATABASE_URL cannot be used: the server, or this role, has as many connections [^\n]+\n$/,
    );
  } finally {
    await database.pool.query(`drop role ${role}`);
  }
});

it('takes the one thing that a verb has to be told without the name of its option, directly behind the verb', async () => {
  expect(await cli.json(`merchant suspend ${merchant.id}`)).toMatchObject({ status: 'SUSPENDED' });
  expect(await cli.json(`merchant allow ${merchant.id} --by Amani`)).toMatchObject({ status: 'ALLOWED' });
  const { key_id } = await cli.json(`credential issue ${merchant.id}`);
  expect(await cli.json(`credential revoke ${key_id}`)).toMatchObject({ status: 'REVOKED' });
  const twice = await cli.run(`merchant suspend ${merchant.id} --merchant ${merchant.id}`);
  expect([twice.status, twice.err]).toEqual([2, expect.stringContaining('is given twice')]);
  const tooMany = await cli.run('merchant create Chez Amani');
  expect([tooMany.status, tooMany.err]).toEqual([2, expect.stringContaining('too many arguments')]);
  const several = await cli.run(`balance credit ${merchant.id}`);
  expect([several.status, several.err]).toEqual([2, expect.stringContaining('--merchant <id>')]);
});
