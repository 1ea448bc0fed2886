/**
 * What a payment costs in PostgreSQL, counted by pg_stat_statements if the server has it.
 *
 * Invariant: it counts during a load of its own and is off for all others, so that they pay nothing for it.
 */

import { withClient } from './worlds.ts';

export interface Counted {
  /** Per payment: statements executed, rows that they returned or wrote, and microseconds inside PostgreSQL's executor. */
  readonly statements: number;
  readonly rows: number;
  readonly microseconds: number;
  /** The statements that took the most time, with the same figures. */
  readonly most: readonly CountedStatement[];
}

interface CountedStatement {
  /** The beginning of the statement's text. */
  readonly text: string;
  readonly calls: number;
  readonly rows: number;
  readonly microseconds: number;
}

/** The settings of a server that can count. */
export const COUNTING = { shared_preload_libraries: 'pg_stat_statements' } as const;
const MAX = 24;

/** Runs `work`, which returns how many payments it made. Undefined if the server cannot count. */
export async function countStatements(databaseUrl: string, work: () => Promise<number>): Promise<Counted | undefined> {
  if (!(await begin(databaseUrl))) return undefined;
  let payments: number;
  try {
    payments = Math.max(1, await work());
  } finally {
    await setCounting(databaseUrl, 'none');
  }
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<CountedStatement>(
      `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as text, calls::float8 / $1 as calls, rows::float8 / $1 as rows,
        total_exec_time * 1000 / $1 as microseconds
      from pg_stat_statements s join pg_database d on d.oid = s.dbid
      where d.datname = current_database() order by total_exec_time desc`,
      [payments],
    );
    const sum = (of: (row: CountedStatement) => number): number => rows.reduce((total, row) => total + of(row), 0);
    return {
      statements: sum(({ calls }) => calls),
      rows: sum(({ rows: count }) => count),
      microseconds: sum(({ microseconds }) => microseconds),
      most: rows.slice(0, MAX),
    };
  });
}

/** Stops counting, if this run configured the server to count. */
export async function stopCounting(databaseUrl: string): Promise<void> {
  if (await canCount(databaseUrl)) await setCounting(databaseUrl, 'none');
}

function canCount(databaseUrl: string): Promise<boolean> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ loaded: string }>(
      `select current_setting('shared_preload_libraries') as loaded`,
    );
    return rows[0]?.loaded.includes('pg_stat_statements') === true;
  });
}

async function begin(databaseUrl: string): Promise<boolean> {
  if (!(await canCount(databaseUrl))) return false;
  await withClient(databaseUrl, async (client) => {
    await client.query('create extension if not exists pg_stat_statements');
    await client.query('select pg_stat_statements_reset()');
  });
  await setCounting(databaseUrl, 'top');
  return true;
}

/** Takes effect on each connection at its next statement. */
function setCounting(databaseUrl: string, track: 'none' | 'top'): Promise<void> {
  return withClient(databaseUrl, async (client) => {
    await client.query(`alter system set pg_stat_statements.track = '${track}'`);
    await client.query('select pg_reload_conf()');
  });
}
