/**
 * The store: everything that is kept, read by noun and written by commit.
 *
 * Invariant: reads are fresh: one that starts after a commit was acknowledged sees it. Only `merchant.at` remembers,
 * and it is told the version to be at least.
 */

import type { Change, Outcome } from '../domain/change.ts';
import { type AuditFinding, auditLedger } from './audit.ts';
import { openCommitter } from './commit.ts';
import { type Line, openLine } from './line.ts';
import { openNouns } from './noun-reads.ts';
import type { Nouns } from './nouns.ts';
import { openReaders } from './read.ts';
import { columnList } from './tables.ts';

export interface Store extends Nouns {
  /** Commits a change whole or not at all; see `Committer.commit` for what it throws. */
  commit(change: Change): Promise<Outcome>;
  /** Makes the plans of all reads; for whoever is about to serve (see `Readers.plan`). */
  plan(): Promise<void>;
  /** Resolves when the database answers. @throws StoreUnavailable when it does not */
  ping(): Promise<void>;
  /** The database's own time in milliseconds, to compare clocks with; nothing that is stored comes from it. */
  time(): Promise<number>;
  /** What does not add up in the ledger; nothing, as long as all is well. Reads every transfer. */
  audit(): Promise<AuditFinding[]>;
  /** Finishes what was asked and closes the connections. */
  close(): Promise<void>;
}

export interface StoreOptions {
  /** Connection string of a migrated database. */
  readonly url: string;
  /** Told of lost connections; the errors hold no values. */
  readonly onError?: (error: Error) => void;
}

/** Opens the store. @throws StoreUnavailable when the database cannot be reached within about two seconds. */
export async function openStore({ url, onError = () => undefined }: StoreOptions): Promise<Store> {
  const commitLine = openLine({ url, onError, name: 'commit' });
  const readLines = [openLine({ url, onError, name: 'read' }), openLine({ url, onError, name: 'read' })];
  const lines = [commitLine, ...readLines];
  const committer = openCommitter(commitLine);
  const readers = openReaders(readLines);
  const close = async (): Promise<void> => {
    await committer.close();
    await readers.close();
    await Promise.all(lines.map((line) => line.close()));
  };
  try {
    await Promise.all(lines.map(ping));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...openNouns(readers),
    commit: (change) => committer.commit(change),
    plan: () => readers.plan(),
    ping: async () => {
      await readers.query(PING, [], []);
    },
    time: async () => {
      const [row] = await readers.query(TIME, columnList({ at: 'timestamptz' }), []);
      return Number(row?.at);
    },
    audit: () => auditLedger({ url, onError, name: 'audit', patient: true }),
    close,
  };
}

const PING = { name: 'ping', text: 'select' };
const TIME = { name: 'time', text: 'select clock_timestamp()' };

function ping(line: Line): Promise<void> {
  return line.run([{ statement: PING, values: () => [] }]);
}
