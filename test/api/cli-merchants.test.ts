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
