/**
 * `mbongo doctor` and the books: its first line says whether they balance, or what does not.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
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

async function change(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(text);
  await client.end();
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly status: string;
  readonly detail: string;
  readonly findings?: readonly unknown[];
}

async function firstOf(): Promise<{ status: number; check: Check | undefined }> {
  const { status, out } = await cli.run('doctor --json', { PORT: '0' });
  const { checks } = JSON.parse(out) as { checks: Check[] };
  return { status, check: checks[0] };
}

it('says first that the books balance, and how much was checked', async () => {
  await cli.json('wallet open --pin 1234 --currency usd --phone +243810000042 --balance 5.00');
  await cli.json('wallet open --pin 1234 --currency usd --phone +243810000043 --balance 5.00');
  const { check } = await firstOf();
  expect(check).toEqual({
    name: 'books',
    ok: true,
    status: 'ok',
    detail: expect.stringMatching(/^they balance: \d accounts, 2 transfers$/),
  });
  expect((await cli.run('doctor', { PORT: '0' })).out).toMatch(/^ok {5}books {18}they balance: /);
});

it('begins every finding in the same column, whatever the connectors are called', async () => {
  const text = (await cli.run('doctor', { PORT: '0' })).out.trimEnd().split('\n');
  const { checks } = JSON.parse((await cli.run('doctor --json', { PORT: '0' })).out) as { checks: Check[] };
  const width = 'mtn-momo-disbursement'.length;
  expect(checks.map(({ name }) => name)).toContain('mtn-momo-disbursement');
  expect(text.map((line) => line.slice('WRONG  '.length, 'WRONG  '.length + width + 2))).toEqual(
    checks.map(({ name }) => `${name.padEnd(width)}  `),
  );
});

it('recommends that sessions state their scope, until the setting demands it', async () => {
  const scopes = async () => {
    const { out } = await cli.run('doctor --json', { PORT: '0' });
    const { checks } = JSON.parse(out) as { checks: Check[] };
    return checks.filter(({ name }) => name === 'session scope');
  };
  const well = { name: 'session scope', ok: true, status: 'ok', detail: expect.stringMatching(/^every/) };
  expect(await scopes()).toEqual([well]);
  const warned = (detail: RegExp) => [
    { name: 'session scope', ok: true, status: 'warn', detail: expect.stringMatching(detail) },
  ];
  const { merchant_id } = await cli.json('merchant create --name Kivu');
  const id = String(merchant_id);
  expect(await scopes()).toEqual(
    warned(new RegExp(`scope: 1 \\(${id}\\); run mbongo merchant set --merchant ${id} --scope-required on$`)),
  );
  await cli.json('merchant create --name Goma');
  expect(await scopes()).toEqual(
    warned(
      /scope: 2 \(mch_\w{26}, mch_\w{26}\); run mbongo merchant set --merchant <id> --scope-required on for each$/,
    ),
  );
  for (const name of ['Beni', 'Butembo', 'Uvira', 'Bukavu', 'Kindu']) await cli.json(`merchant create --name ${name}`);
  expect(await scopes()).toEqual(
    warned(/scope: 7 \((mch_\w{26}, ){4}mch_\w{26}, and 2 more, see mbongo merchant list --json\); run .* for each$/),
  );
  const { merchants } = (await cli.json('merchant list')) as { merchants: { merchant_id: string }[] };
  for (const one of merchants) await cli.json(`merchant set --merchant ${one.merchant_id} --scope-required on`);
  expect(merchants.map((one) => one.merchant_id)).toContain(merchant_id);
  expect(await scopes()).toEqual([well]);
});

it('says first what does not balance, even after a clock was set forward', async () => {
  const opened = await cli.json('wallet open --pin 1234 --currency usd --phone +243810000042 --balance 5.00');
  await cli.json('clock advance 30d');
  await change('update account set balance = 501 where balance = 500');
  const { status, check } = await firstOf();
  expect(status).toBe(1);
  expect(check).toEqual({
    name: 'books',
    ok: false,
    status: 'fail',
    detail: expect.stringMatching(
      /^they do not balance: kind sum, currency usd, balance 1; and 1 more, see --json; docs/,
    ),
    findings: [
      { kind: 'sum', currency: 'usd', balance: '1' },
      { kind: 'balance', account: opened.wallet_number, currency: 'usd', balance: '501', transfers: '500' },
    ],
  });
  const { out } = await cli.run('doctor', { PORT: '0' });
  expect(out).toMatch(/^WRONG {2}books {18}they do not balance: /);
  expect(out).toMatch(/\nok {5}clock /);
});
