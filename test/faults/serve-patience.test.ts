/**
 * `mbongo serve` when something keeps it waiting: it gives up in time, says why, and can be told to stop meanwhile.
 *
 * The limits are real, ten seconds and more, so all the tests wait concurrently.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import pg from 'pg';
import { describe, it, type TestContext } from 'vitest';
import { portOf } from '../support/listening.ts';
import { ended, openServeDesk, type ServeDesk, said } from '../support/serve-desk.ts';

async function openDesk({ onTestFinished }: TestContext): Promise<ServeDesk> {
  const desk = await openServeDesk();
  onTestFinished(() => desk.close());
  return desk;
}

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return portOf(server);
}

/** A gateway that has begun to wait for a database that does not answer, and how it will end. */
async function startUnanswered(context: TestContext, ...words: readonly string[]) {
  const silent = createServer();
  context.onTestFinished(() => void silent.close());
  const port = await listening(silent);
  const asked = once(silent, 'connection');
  const desk = await openDesk(context);
  const child = desk.startWith({ DATABASE_URL: `postgres://mbongo@127.0.0.1:${port}/mbongo` }, 'pipe', ...words);
  const outcome = Promise.all([ended(child), said(child.stderr)]);
  await asked;
  return { child, outcome };
}

describe.concurrent('mbongo serve', () => {
  it.for([{ words: [] }, { words: ['--processes', '2'] }])(
    'can be told to stop while the database does not answer, with $words',
    async ({ words }, context) => {
      const told = await startUnanswered(context, ...words);
      told.child.kill('SIGTERM');
      context.expect(await told.outcome).toEqual([0, '']);
    },
  );

  it('gives up while the database does not answer', async (context) => {
    const line = context.expect.stringMatching(/^mbongo: DATABASE_URL cannot be used: [^\n]+\n$/);
    const patient = await startUnanswered(context);
    context.expect(await patient.outcome).toEqual([1, line]);
  });

  it('can be told to stop while another process migrates', async (context) => {
    const desk = await openDesk(context);
    const other = new pg.Client({ connectionString: desk.databaseUrl });
    await other.connect();
    await other.query('select pg_advisory_lock(7262646)');
    // As if this version's last migration were still to be applied.
    await other.query('delete from schema_migration where name = (select max(name) from schema_migration)');
    const child = desk.start();
    const waits = `select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`;
    while ((await other.query(waits)).rowCount === 0);
    child.kill('SIGTERM');
    context.expect(await ended(child)).toBe(0);
    await other.end();
  });

  it('says why it could not start although a round keeps it from stopping in time', async (context) => {
    const taken = createServer();
    const port = await listening(taken);
    const desk = await openDesk(context);
    const holder = new pg.Client({ connectionString: desk.databaseUrl });
    await holder.connect();
    await holder.query('begin');
    await holder.query('lock table archive.ledger_transfer in access exclusive mode');
    const child = desk.startWith({ PORT: String(port) }, 'pipe');
    const [errors, status] = await Promise.all([said(child.stderr), ended(child)]);
    await holder.end();
    taken.close();
    const line = context.expect.stringMatching(/^mbongo: port [^\n]+: set PORT to a free one\n$/);
    context.expect([status, errors]).toEqual([1, line]);
  });
});
