/**
 * Limits of a database that some of our work must not heed: what is in force at the moment when that work asks for its lock.
 *
 * Invariant: each limit is an hour, so that no pause of the machine reaches it.
 */
import type { TestDatabase } from './database.ts';

/** Sets these limits for new connections. The result lists what they were whenever a lock was asked for; 0 stands for none. */
export async function limitConnections(
  { pool }: Pick<TestDatabase, 'pool'>,
  limits: readonly string[],
): Promise<() => Promise<readonly string[]>> {
  const { rows } = await pool.query<{ name: string }>('select current_database() as name');
  const database = rows[0]?.name;
  for (const limit of limits) await pool.query(`alter database ${database} set ${limit} = '1h'`);
  // In place of PostgreSQL's own function, which would wait for the lock.
  await pool.query(`create table in_force (name text, setting text);
    create function public.pg_advisory_xact_lock(bigint) returns void language sql as $$
      insert into in_force select name, setting from pg_settings where name in ('${limits.join("', '")}') $$;
    alter database ${database} set search_path = public, pg_catalog`);
  return async () => {
    const found = await pool.query<{ limit: string }>(
      `select distinct name || ' ' || setting as limit from in_force order by 1`,
    );
    return found.rows.map(({ limit }) => limit);
  };
}
