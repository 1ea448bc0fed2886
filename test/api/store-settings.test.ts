/**
 * The settings of the store's connections, where the server, the address or a pooler has others.
 */
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usingDatabaseUrl } from '../../src/commands/database-url.ts';
import { NO_COLUMNS } from '../../src/store/columns.ts';
import { openConnection } from '../../src/store/connection.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { openReaders } from '../../src/store/read.ts';
import { openStore } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { limitConnections } from '../support/limits-in-force.ts';
import { aMerchant, MADE_AT } from '../support/store-records.ts';

let database: TestDatabase;
const role = `mbongo_test_percent_${Date.now()}`;

beforeAll(async () => {
  database = await createTestDatabase();
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  await database.pool.query(`alter database ${rows[0]?.name} set TimeZone = 'Asia/Kolkata'`);
  await database.pool.query(`create role ${role} superuser login password '100%'`);
});
afterAll(async () => {
  await database.pool.query(`drop role ${role}`);
  await database.drop();
});

test('options of DATABASE_URL are in force beside the settings of the gateway, and do not replace them', async () => {
  const store = await openStore({
    url: `${database.url}?options=-c%20lock_timeout%3D7s%20-c%20TimeZone%3DAsia%2FTokyo`,
  });
  try {
    await store.commit({ claims: [{ table: 'merchant', row: aMerchant(1) }] });
    expect((await store.merchant.get(0, aMerchant(1).id))?.created_at).toBe(MADE_AT);
  } finally {
    await store.close();
  }
});

test.each([
  [
    'without a host in front',
    ({ protocol, username, password, hostname, port, pathname }: URL) =>
      `${protocol}//${username}:${password}@${pathname}?host=${hostname}&port=${port}&`,
    2,
  ],
  [
    'with a percent sign in the password',
    ({ protocol, host, pathname }: URL) => `${protocol}//${role}:100%@${host}${pathname}?`,
    3,
  ],
] as const)('so are those of an address %s', async (_name, addressOf, nth) => {
  const store = await openStore({ url: `${addressOf(new URL(database.url))}options=-clock_timeout=7s` });
  try {
    await store.commit({ claims: [{ table: 'merchant', row: aMerchant(nth) }] });
    expect((await store.merchant.get(0, aMerchant(nth).id))?.created_at).toBe(MADE_AT);
  } finally {
    await store.close();
  }
});

test('what a role or a database sets otherwise does not change what statements mean, nor end connections that wait', async () => {
  const odd = await createTestDatabase();
  try {
    const { rows } = await odd.pool.query<{ name: string }>('select current_database() as name');
    await odd.pool.query(`alter database ${rows[0]?.name} set standard_conforming_strings = off`);
    await odd.pool.query(`alter database ${rows[0]?.name} set idle_session_timeout = '1h'`);
    const connection = openConnection({ url: odd.url, name: 'odd', onError: () => undefined });
    const found: (string | null)[] = [];
    const text = `select 'mch\\_%', current_setting('idle_session_timeout')`;
    const onRow = (texts: readonly (string | null)[]) => found.push(...texts);
    await connection.run([{ statement: { name: 'odd', text }, values: () => [], onRow }]);
    await connection.close();
    expect(found).toEqual(['mch\\_%', '0']);
    const sql = `create index odd on merchant (id) where name like 'mch\\_%'`;
    await migrate(odd.url, [...readMigrations(), { name: '9001-odd.sql', sql, checksum: '' }]);
    const made = await odd.pool.query<{ text: string }>(`select pg_get_indexdef('odd'::regclass) as text`);
    expect(made.rows[0]?.text).toMatch(/mch\\+_%/);
  } finally {
    await odd.drop();
  }
});

test('a transaction_timeout that is too short for a read is named, and not taken for an absent database', async () => {
  const hurried = await createTestDatabase();
  const connection = openConnection({ url: hurried.url, name: 'hurried', onError: () => undefined });
  try {
    const { rows } = await hurried.pool.query<{ name: string; knows: boolean }>(
      `select current_database() as name, exists (select from pg_settings where name = 'transaction_timeout') as knows`,
    );
    if (rows[0]?.knows !== true) return;
    await hurried.pool.query(`alter database ${rows[0].name} set transaction_timeout = '100ms'`);
    const slow = { name: 'slow', text: 'select pg_sleep(60)' };
    await expect(openReaders([connection]).query(slow, NO_COLUMNS, [])).rejects.toThrow(/transaction_timeout/);
  } finally {
    await connection.close();
    await hurried.drop();
  }
});

test('a pooler that drops the settings is recognised, before an instant is misread', async () => {
  const pooler = await openPooler(database.url);
  try {
    const opening = usingDatabaseUrl(pooler.url, () => openStore({ url: pooler.url }));
    await expect(opening).rejects.toThrow(
      /^DATABASE_URL cannot be used: a pooler drops the settings .*docs\/deploying\.md$/,
    );
  } finally {
    pooler.server.close();
  }
});

test('one that drops the settings will do where the role has the same: GMT is UTC in summer, too', async () => {
  await database.pool.query(`alter role ${role} set TimeZone = 'GMT'`);
  const target = new URL(database.url);
  target.username = role;
  target.password = '100%25';
  const pooler = await openPooler(target.href);
  try {
    const store = await openStore({ url: pooler.url });
    await store.close();
  } finally {
    pooler.server.close();
    await database.pool.query(`alter role ${role} reset TimeZone`);
  }
});

test('one that refuses them is recognised as well', async () => {
  const pooler = await openPooler(database.url, 'refuses');
  try {
    const opening = usingDatabaseUrl(pooler.url, () => openStore({ url: pooler.url }));
    await expect(opening).rejects.toThrow(
      /^DATABASE_URL cannot be used: a pooler refuses the settings .*docs\/deploying\.md$/,
    );
  } finally {
    pooler.server.close();
  }
});

test('a migration heeds no limit of the database, where a pooler drops the settings as well', async () => {
  const limited = await createTestDatabase();
  const pooler = await openPooler(limited.url);
  try {
    const limits = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout'];
    const inForce = await limitConnections(limited, limits);
    const one = { name: '9001-one.sql', sql: 'select', checksum: '' };
    expect(await migrate(pooler.url, [...readMigrations(), one])).toEqual(['9001-one.sql']);
    expect(await inForce()).toEqual(limits.map((limit) => `${limit} 0`));
  } finally {
    pooler.server.close();
    await limited.drop();
  }
});

/** A pooler that passes on everything but the parameter `options` of a connection's first message; or refuses that, as PgBouncer does. */
async function openPooler(
  target: string,
  how: 'drops' | 'refuses' = 'drops',
): Promise<{ url: string; server: Server }> {
  const { hostname, port } = new URL(target);
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.once('data', (first) => {
      if (how === 'refuses') {
        const fields = 'SFATAL\0C08P01\0Munsupported startup parameter: options\0\0';
        const head = Buffer.from('E\0\0\0\0');
        head.writeInt32BE(fields.length + 4, 1);
        near.end(Buffer.concat([head, Buffer.from(fields)]));
        return;
      }
      const parts = first.subarray(8).toString('latin1').split('\0');
      if (parts.includes('options')) parts.splice(parts.indexOf('options'), 2);
      const rest = Buffer.from(parts.join('\0'), 'latin1');
      const head = Buffer.from(first.subarray(0, 8));
      head.writeInt32BE(rest.length + 8, 0);
      far.write(Buffer.concat([head, rest]));
      near.pipe(far);
    });
    far.pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
  return { url: url.href, server };
}
