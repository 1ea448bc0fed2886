import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { StoreUnavailable } from '../store/errors.ts';
import { migrate } from '../store/migrate.ts';
import { stillUsingDatabaseUrl, usingDatabaseUrl } from './database-url.ts';

/** What is said of an address when its first use fails with that code. */
async function saidOf(url: string, code: string, message = 'no'): Promise<string> {
  const failing = (): Promise<never> => Promise.reject(Object.assign(new Error(message), { code }));
  return usingDatabaseUrl(url, failing).catch((error: unknown) => (error instanceof Error ? error.message : ''));
}

test('no part of a user or a password is ever shown, whatever they hold', async () => {
  const secret = fc
    .array(fc.constantFrom('hunter', '@', '/', '?', '#', '%', ':', '@9', ':9', '/9', '[', '%40'), { minLength: 1 })
    .map((parts) => `hunter${parts.join('')}hunter`);
  const code = fc.constantFrom('ECONNREFUSED', 'ENOTFOUND', '28P01', '3D000', 'ERR_INVALID_URL');
  const law = fc.asyncProperty(secret, secret, code, async (user, password, failure) => {
    expect(await saidOf(`postgresql://${user}:${password}@db.example:5432/mbongo`, failure)).not.toContain('hunter');
  });
  await fc.assert(law);
});

test.each([
  ['postgresql://u:p@db.example/mbongo', 'ENOTFOUND', /: db\.example: its host is not known$/],
  ['postgresql://u:p@[::1]:5999/mbongo', 'ECONNREFUSED', /: \[::1\]:5999: nothing listens there: start PostgreSQL/],
  ['postgresql://u:p@db.example:5432/mbongo', '28P01', /: db\.example:5432: the server rejects .* the password$/],
  // Meant as it stands, %25 is not the character that the server is told.
  ['postgresql://u:50%25@db.example:5432/mbongo', '28P01', /: the server rejects .*percent-encoded/],
  ['postgresql://u:a/b@db.example:5432/mbongo', '28P01', /: the server rejects .*percent-encoded/],
  ['postgresql://u:p@db.example/mbongo?host=10.0.0.7', 'ETIMEDOUT', /: nothing answers there$/],
  ['postgresql://u:p@db.example/mbongo', 'DEPTH_ZERO_SELF_SIGNED_CERT', /: db\.example: .*certificate.*sslrootcert=/],
  ['postgresql://u:p@db.example/mbongo', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', /: db\.example: .*sslrootcert=/],
  [
    'postgresql://u:p@10.0.0.7/mbongo',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    /: 10\.0\.0\.7: .*certificate names other hosts/,
  ],
  ['postgresql://u:p@db.example/mbongo', 'CERT_HAS_EXPIRED', /: db\.example: .*certificate has expired/],
  ['postgresql:///mbongo?host=/run/postgresql', 'ENOENT', /: a file or socket that it names does not exist$/],
])(
  '%s that fails with %s names what is certain, and hints at the encoding where that may be the cause',
  async (url, code, line) => {
    expect(await saidOf(url, code)).toMatch(line);
  },
);

test.each([
  ['53100', 'No space left on device', /: the server's disk is full: free some space there$/],
  ['53200', 'out of memory', /: the server is out of memory: /],
  [
    'XX000',
    'could not write init file\nmore',
    /: .* \(SQLSTATE XX000, could not write init file\): its own log says why/,
  ],
  [
    '58030',
    'could not read block 7',
    /: .* \(SQLSTATE 58030, could not read block 7\): .*its disk is full.*runbook\.md/,
  ],
])('a server in trouble, with %s, is told apart from a wrong address', async (code, message, line) => {
  expect(await saidOf('postgresql://u:p@db.example/mbongo', code, message)).toMatch(line);
  const later = (): Promise<never> => Promise.reject(new StoreUnavailable(message, code));
  await expect(stillUsingDatabaseUrl('postgresql://u:p@db.example/mbongo', later)).rejects.toThrow(line);
});

test('a server that may let users in by TLS alone is said to, with the setting that asks for it', async () => {
  const url = 'postgresql://u:p@db.example/mbongo';
  const refusal = 'no pg_hba.conf entry for host "10.0.0.9", user "u", database "mbongo"';
  expect(await saidOf(url, '28000', `${refusal}, no encryption`)).toMatch(
    /: db\.example: the server does not let this user connect from here, at least not without TLS: add \?sslmode=verify-full, or/,
  );
  expect(await saidOf(url, '28000', `${refusal}, SSL encryption`)).toMatch(/connect from here$/);
});

test('a role that owns only a schema learns that it needs the database as well', async () => {
  const database = await createTestDatabase();
  const role = `schema_owner_${Date.now()}`;
  const url = Object.assign(new URL(database.url), {
    username: role,
    password: role,
    search: `options=-csearch_path%3D${role}`,
  });
  try {
    await database.pool.query(
      `create role ${role} login password '${role}'; create schema ${role} authorization ${role}; drop schema archive cascade`,
    );
    const said = await usingDatabaseUrl(url.href, () => migrate(url.href)).catch(String);
    expect(said).toMatch(/DATABASE_URL cannot be used: its role lacks a privilege: it must own the database/);
  } finally {
    await database.pool.query(`drop owned by ${role}; drop role ${role}`);
    await database.drop();
  }
});
