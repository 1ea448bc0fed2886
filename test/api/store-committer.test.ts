/**
 * The committer on a connection of its own: what it tells of what has won, what it knows to be outdated, and whom it keeps waiting.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { type Committer, openCommitter } from '../../src/store/commit.ts';
import { type Connection, openConnection } from '../../src/store/connection.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, aSession, numbered } from '../support/store-records.ts';

let database: TestDatabase;
let connection: Connection;
/** A connection that has been closed, which is to its caller as a database that cannot be reached. */
let away: Connection;
/** Over which connection each batch is sent, by its number; those beyond the list are sent over the good one. */
let route: Connection[];
/** The changes that arrive while each batch is under way, by its number. */
let arriving: Change[][];
/** The answers to these changes. */
let answers: Promise<string>[];
/** The batches that were sent, whatever became of them. */
let batches: number;
/** What happened, in order. */
let events: string[];
let committer: Committer;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'no error');
const idOf = ({ claims = [], updates = [] }: Change): string | undefined => claims[0]?.row.id ?? updates[0]?.id;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (): Connection => openConnection({ url: database.url, name: 'commit', onError: () => undefined });
  [connection, away] = [open(), open()];
  await away.close();
});

beforeEach(() => {
  [route, arriving, answers, batches, events] = [[], [], [], 0, []];
  const routed: Connection = {
    run: (executions) => {
      const to = route[batches] ?? connection;
      answers.push(...(arriving[batches] ?? []).map(told));
      batches += 1;
      return to.run(executions);
    },
    close: () => connection.close(),
  };
  committer = openCommitter(routed, (change) => events.push(`noted ${idOf(change)}`));
});

afterEach(async () => {
  await committer.close();
  await connection.run([{ statement: { name: 'clear', text: 'delete from session' }, values: () => [] }]);
  await connection.run([{ statement: { name: 'forget', text: 'delete from idempotency' }, values: () => [] }]);
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

const claim = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
const session = (n: number): Change => ({ claims: [{ table: 'session', row: aSession(n) }] });
const bad: Change = { claims: [{ table: 'session', row: { ...aSession(9), amount_minor: -5n } }] };
const raised = (n: number, version: number): Change => ({
  updates: [{ table: 'session', shard: 0, id: numbered('ses', n), version, row: { payments: version } }],
});
/** Commits, and records the answer. */
async function told(change: Change): Promise<string> {
  const answer = await committer.commit(change).catch(nameOf);
  events.push(`${answer} ${idOf(change)}`);
  return answer;
}
const lost = () => ({ inBatch: committer.stats.lostInBatch, atDatabase: committer.stats.lostAtDatabase });

test('each change that has won is noted, in the order of the batch, before any of their callers is answered', async () => {
  await told(claim('taken'));
  events = [];
  const ids = ['a', 'taken', 'b', 'c'];
  await Promise.all([...ids.map((id) => told(claim(id))), told(bad)]);
  for (const id of ['a', 'b', 'c']) expect(events.indexOf(`won ${id}`)).toBeGreaterThan(events.indexOf(`noted ${id}`));
  expect(events.filter((event) => event.startsWith('noted'))).toEqual(['noted a', 'noted b', 'noted c']);
});

test('nothing is noted of a change that was not written', async () => {
  route = [away];
  expect(await told(claim('a'))).toBe('StoreUnavailable');
  expect(await told(bad)).toBe('StoreRefused');
  expect(events.filter((event) => event.startsWith('noted'))).toEqual([]);
});

test('what a batch has written is known to the ones after it: what relied on the version before is not sent', async () => {
  await Promise.all([1, 2, 3].map((n) => told(session(n))));
  const before = lost();
  arriving = [[], [claim('between')], [raised(1, 1), raised(2, 2), raised(3, 1)]];
  expect(await Promise.all([1, 2].map((n) => told(raised(n, 1))))).toEqual(['won', 'won']);
  await answers[0];
  expect(await Promise.all(answers)).toEqual(['won', 'lost', 'won', 'won']);
  expect(lost()).toEqual({ ...before, inBatch: before.inBatch + 1 });
});

test('so is what one half of a batch has written to the changes that wait', async () => {
  await told(session(1));
  const before = lost();
  arriving = [[], [raised(1, 1)]];
  const halves = [raised(1, 1), bad];
  expect(await Promise.all(halves.map(told))).toEqual(['won', 'StoreRefused']);
  expect(await Promise.all(answers)).toEqual(['lost']);
  expect(lost()).toEqual({ ...before, inBatch: before.inBatch + 1 });
});

test('a database that cannot be reached is not tried again for those that wait', async () => {
  route = [away];
  arriving = [[claim('b'), claim('c')]];
  expect(await told(claim('a'))).toBe('StoreUnavailable');
  expect(await Promise.all(answers)).toEqual(['StoreUnavailable', 'StoreUnavailable']);
  expect(batches).toBe(1);
});

test.each([0, 1])('nor if it went away while half %i of a batch was sent', async (half) => {
  const halves = [connection, connection];
  halves[half] = away;
  route = [connection, ...halves];
  arriving = [[claim('c')]];
  const sent = [claim('a'), bad, claim('b')].map(told);
  expect(await Promise.all(sent)).toContain('won');
  expect(await Promise.all(answers)).toEqual(['StoreUnavailable']);
});

test('closing resolves once every waiting change has been answered', async () => {
  // More than fit into a batch.
  const commits = Array.from({ length: 300 }, (_, n) => told(claim(`k${n}`)));
  await committer.close();
  expect(events.filter((event) => event.startsWith('won')).length).toBe(300);
  await Promise.all(commits);
  expect(await told(claim('late'))).toBe('StoreUnavailable');
});
