/**
 * A server whose messages are in another language: it names the severity of an error in that language, and the driver passes on no
 * other name of it.
 */
import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { Transform } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { openStore } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer } from '../support/store-records.ts';
import { until } from '../support/waiting.ts';

let database: TestDatabase;
let german: { readonly url: string; readonly server: Server };

beforeAll(async () => {
  database = await createTestDatabase();
  german = await translate(database.url);
});
afterAll(async () => {
  german.server.close();
  await database.drop();
});

const claim = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
const OURS = "application_name = 'mbongo commit' and datname = current_database()";

test('a commit during which it ends for lack of disk is in doubt', async () => {
  const store = await openStore({ url: german.url });
  const other = await database.pool.connect();
  try {
    await store.commit(claim('before'));
    // Keeps the commit under way until its server ends.
    await other.query('begin');
    await other.query('lock table idempotency in exclusive mode');
    const doubtful = store.commit(claim('doubtful')).then(String, (error: unknown) => error);
    await until(async () => {
      const { rows } = await other.query(`select from pg_stat_activity where ${OURS} and wait_event_type = 'Lock'`);
      return rows.length > 0 ? true : undefined;
    });
    await other.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${OURS}`);
    expect(await doubtful).toMatchObject({ name: 'CommitUnknown' });
  } finally {
    await other.query('rollback');
    other.release();
    await store.close();
  }
});

test('a change that has lost is told so, and the connection stays', async () => {
  const errors: Error[] = [];
  const store = await openStore({ url: german.url, onError: (error) => errors.push(error) });
  try {
    await store.commit(claim('taken'));
    expect(await store.commit(claim('taken'))).toBe('lost');
    expect(errors).toEqual([]);
  } finally {
    await store.close();
  }
});

/** What the server says as it ends a connection, and what a German one says whose disk is full; both are of the same length. */
const ENDED = Buffer.from('SFATAL\0VFATAL\0C57P01\0');
const DISK_FULL = Buffer.from('SPANIK\0VPANIC\0C53100\0');

/** Passes everything on, but translates that. */
async function translate(target: string): Promise<{ url: string; server: Server }> {
  const { hostname, port } = new URL(target);
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far);
    far
      .pipe(
        new Transform({
          transform(bytes: Buffer, _encoding, done) {
            const at = bytes.indexOf(ENDED);
            if (at >= 0) DISK_FULL.copy(bytes, at);
            done(null, bytes);
          },
        }),
      )
      .pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => other.end());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.port = String(address !== null && typeof address === 'object' ? address.port : 0);
  return { url: url.href, server };
}
