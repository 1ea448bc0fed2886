/**
 * The schema of a migrated database as SQL, for people: one place to read what the migrations have made together.
 *
 * Invariant: the same schema gives the same bytes on every version of PostgreSQL that is supported. Row types are left out:
 * their names say which columns they have (src/store/row-types.ts).
 */

import type pg from 'pg';

const NOTICE = `-- What the migrations make together: generated from them, and compared with them by a test. Do not edit.
-- After a new migration: npx vitest run --project api test/api/store-schema.test.ts -u
`;

interface Table {
  readonly oid: number;
  readonly name: string;
  readonly partition_key: string | null;
  readonly options: string | null;
}

/** Statements that make the same schema in an empty database: functions, tables and indexes, in the order of their names. */
export async function schemaText(database: Pick<pg.Pool, 'query'>): Promise<string> {
  const functions = await textsOf(
    database,
    `select pg_get_functiondef(p.oid) as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname in ('public', 'archive') order by p.proname`,
  );
  const { rows: tables } = await database.query<Table>(
    `select c.oid::int8::int as oid, case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
       pg_get_partkeydef(c.oid) as partition_key, array_to_string(c.reloptions, ', ') as options
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('public', 'archive') and c.relkind in ('r', 'p') and not c.relispartition
     order by n.nspname = 'archive', c.relname`,
  );
  const texts: string[] = [];
  for (const table of tables) texts.push(await tableText(database, table));
  return [NOTICE, 'create schema archive;\n', ...functions.map((text) => `${text.trim()};\n`), ...texts].join('\n');
}

async function tableText(database: Pick<pg.Pool, 'query'>, table: Table): Promise<string> {
  const columns = await textsOf(
    database,
    `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attcollation <> t.typcollation then ' collate ' || quote_ident(o.collname) else '' end
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || case when a.attnotnull then ' not null' else '' end as text
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     left join pg_collation o on o.oid = a.attcollation
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    table.oid,
  );
  // The newest versions list "not null" as constraints, too.
  const constraints = await textsOf(
    database,
    `select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as text from pg_constraint
     where conrelid = $1 and contype <> 'n' order by contype <> 'p', conname`,
    table.oid,
  );
  const indexes = await textsOf(
    database,
    `select pg_get_indexdef(i.indexrelid) as text from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1 and not exists (select from pg_constraint k where k.conindid = i.indexrelid) order by c.relname`,
    table.oid,
  );
  const partitioned = table.partition_key === null ? '' : ` partition by ${table.partition_key.toLowerCase()}`;
  const options = table.options === null ? '' : ` with (${table.options})`;
  const body = [...columns, ...constraints].map((line) => `  ${line}`).join(',\n');
  return `create table ${table.name} (\n${body}\n)${partitioned}${options};\n${indexes.map((text) => `${text};\n`).join('')}`;
}

async function textsOf(database: Pick<pg.Pool, 'query'>, sql: string, oid?: number): Promise<string[]> {
  const { rows } = await database.query<{ text: string }>(sql, oid === undefined ? [] : [oid]);
  return rows.map(({ text }) => text);
}
