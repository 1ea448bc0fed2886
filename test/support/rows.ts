/**
 * The rows of a world's database, for what no call shows.
 *
 * Invariant: what a test can learn by a call, it learns by the call. Only what the gateway never would is written here.
 */

import type pg from 'pg';
import { expect } from 'vitest';
import type { World } from './world.ts';

/** The rows of an SQL query on the world's database, for what no call shows. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  world: Pick<World, 'database'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await world.database.query<Row>(text, [...values])).rows;
}

/** The names of all tables. */
export async function tablesOf(world: World): Promise<string[]> {
  const text = `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
  return (await rowsOf<{ name: string }>(world, text)).map(({ name }) => name);
}

/**
 * How many rows each table holds, once everything on its way to a receiver or a carrier has been recorded: a refused request
 * must leave these numbers unchanged.
 */
export async function countRows(world: World): Promise<Readonly<Record<string, number>>> {
  await Promise.all([world.gateway.courier.idle(), world.gateway.dispatcher.idle()]);
  const counts = (await tablesOf(world)).map((name) => `select '${name}' as name, count(*)::int as rows from ${name}`);
  const found = await rowsOf<{ name: string; rows: number }>(world, counts.join(' union all '));
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]));
}

/** Expects that `work` leaves the number of rows in every table unchanged. */
export async function expectNothingWritten(world: World, work: () => Promise<unknown>): Promise<void> {
  const before = await countRows(world);
  await work();
  expect(await countRows(world)).toEqual(before);
}
