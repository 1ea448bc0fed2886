import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usingDatabaseUrl } from './database-url.ts';

/** What is said of an address when its first use fails with that code. */
async function saidOf(url: string, code: string): Promise<string> {
  const failing = (): Promise<never> => Promise.reject(Object.assign(new Error('no'), { code }));
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
  ['postgresql:///mbongo?host=/run/postgresql', 'ENOENT', /: a file or socket that it names does not exist$/],
])(
  '%s that fails with %s names what is certain, and hints at the encoding where that may be the cause',
  async (url, code, line) => {
    expect(await saidOf(url, code)).toMatch(line);
  },
);
