/**
 * The settings that a database connection begins with.
 *
 * Invariant: what is read on a connection is written as the store expects it: instants in ISO 8601 and UTC. A connection on
 * which they are not, because a pooler has dropped our settings, is not used.
 */

import type pg from 'pg';
import { SettingsDropped } from './errors.ts';

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

/** What the server reports to every new connection, and what it must say. London's winter is UTC as well, but not its summer. */
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
