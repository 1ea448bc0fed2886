/**
 * The settings that a database connection begins with.
 *
 * Invariant: what is read on a connection is written as the store expects it: instants in ISO 8601 and UTC. A connection on
 * which they are not, because a pooler has dropped our settings, is not used. Planner settings are pinned on every connection: on
 * fresh tables the planner takes sequential scans for set-based statements, and together the settings made the commit path 1.6 to
 * 1.8 times faster (one alone made it slower).
 */

import type pg from 'pg';
import { SettingsDropped } from './errors.ts';

/** Pinned, so that tables without statistics are read by their indexes from the first row on. */
export const PLAN_SETTINGS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
  'jit=off',
];

/** In place of `PLAN_SETTINGS`: a fresh plan for each execution. */
const FRESH_PLANS = ['plan_cache_mode=force_custom_plan'];

/** Of every connection, whatever the server's own defaults. */
const COMMON_SETTINGS = [
  // How instants are written.
  'TimeZone=UTC',
  'DateStyle=ISO',
  // A statement sees everything that was committed before it.
  'default_transaction_isolation=read committed',
  // With this off, a pattern like `mch\_%` would mean another one, which no index is made for.
  'standard_conforming_strings=on',
  // Connections that wait for work are kept.
  'idle_session_timeout=0',
];

/** All settings of a connection. The server ends its statements after `statementMs`; `plans` tells whether they are kept. */
export function settingsOf(plans: 'pinned' | 'fresh', statementMs: number): readonly string[] {
  return [
    ...COMMON_SETTINGS,
    `statement_timeout=${Math.ceil(statementMs)}`,
    ...(plans === 'fresh' ? FRESH_PLANS : PLAN_SETTINGS),
  ];
}

/** The options of a connection string. It is not parsed: the driver takes addresses that are no URLs, without a host for example. */
const OPTIONS = /[?&]options=[^&#]*/g;

/**
 * The part of a client's configuration that makes PostgreSQL begin with these settings, each like `jit=off`. The driver would let
 * the options of a connection string replace ours; here they come first, and ours after them.
 */
export function beginningWith(url: string, settings: readonly string[]): pg.ClientConfig {
  const options = settings.map((setting) => `-c ${setting.replaceAll(' ', '\\ ')}`).join(' ');
  const ours = options.replaceAll(' ', '+');
  return { connectionString: url.replace(OPTIONS, (theirs) => `${theirs}+${ours}`), options };
}

/** What the server reports to every new connection, and what it must say. The zones are those that are UTC all year. */
const REQUIRED: { readonly [parameter: string]: RegExp } = {
  TimeZone: /^(Etc\/)?(UTC|UCT|GMT|Zulu)$/i,
  DateStyle: /^ISO\b/,
};

/** Follows what the server reports while it accepts a connection. Returns a function that throws SettingsDropped if it will not do. */
export function followSettings(connection: pg.Connection): () => void {
  const wrong = new Set<string>();
  connection.on(
    'parameterStatus',
    ({ parameterName, parameterValue }: { parameterName: string; parameterValue: string }) => {
      const required = REQUIRED[parameterName];
      if (required === undefined) return;
      if (required.test(parameterValue)) wrong.delete(parameterName);
      else wrong.add(parameterName);
    },
  );
  return () => {
    if (wrong.size > 0) throw new SettingsDropped([...wrong].join(', '));
  };
}
