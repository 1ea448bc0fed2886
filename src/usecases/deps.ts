/**
 * What every verb is handed: the store, the doors to the world and the upstreams.
 *
 * Invariant: a use case gets time, ids and chance from here only, so that it can be run in any world.
 */

import type { Books, Connectors } from '../connectors/connector.ts';
import { makeId, type NewId, type Prefix } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import type { Words } from '../domain/refusal.ts';
import type { Calendar, Clock, Log, Outbound, Random, Secrets } from '../platform/platform.ts';
import type { Store } from '../store/store.ts';
import type { Acceptances } from './acceptances.ts';
import type { AlarmWatch } from './alarm-metrics.ts';
import type { Recordings } from './attempt-record.ts';

/** The sentence that tells of a payout line, for its webhook and for answers; the words are those of `messages/`. */
export type PayoutText = (
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at' | 'next_start_at'>,
  approval?: PayoutBatch['approval'],
) => string;

/** The sentence of the text, in the customer's language; `assemble` hands in the words of `messages/`. */
export type CodeText = (language: string, words: Words) => string;

export interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly outbound: Outbound;
  readonly log: Log;
  /** Counts what a person must look at; the command line, whose caller is told, counts nothing. */
  readonly alarmed: AlarmWatch;
  readonly connectors: Connectors;
  /** What the auditor may look into; absent where the upstreams keep their books to themselves. */
  readonly books?: Books | undefined;
  readonly mode: 'sandbox' | 'production';
  /** The gateway's own address, without a trailing slash. */
  readonly publicUrl: string;
  /** Shared with whoever signs the card network's callbacks; undefined: none of theirs is believed. */
  readonly cardCallbackSecret: string | undefined;
  /** The sentence of a one-time code's text, in the customer's language. */
  readonly codeText: CodeText;
  readonly payoutText: PayoutText;
  /** Submits of this process whose upstream is asked, and looks at their challenges, by session id. */
  readonly underWay: Map<string, Promise<unknown>>;
  /** Carriers' answers to this process's own calls that are being written, by attempt id (`attempt-record.ts`). */
  readonly recording: Recordings;
  /** Carriers' acceptances that the caller was told of and that are not yet written (`acceptances.ts`). */
  readonly acceptances: Acceptances;
  /** Keeps track of work that nobody waits for, so that a graceful stop can. */
  readonly background: (work: Promise<unknown>) => void;
}

/** How many identifiers this process has made in the last millisecond that it made one in. */
const numbering = { at: 0, made: 0 };

/**
 * A fresh identifier of that kind, in that shard; `at` is the time that it carries (milliseconds). Those that one process makes
 * in one millisecond sort as they were made, and so do the lines of a statement.
 */
export function newId(
  { clock, random }: Pick<Deps, 'clock' | 'random'>,
  prefix: Prefix,
  shard: number,
  at = clock.now(),
): string {
  numbering.made = at === numbering.at ? numbering.made + 1 : 0;
  numbering.at = at;
  return makeId(prefix, at, random.bytes(16), shard, numbering.made);
}

/** The source of fresh identifiers that a decision is handed. */
export function idsOf(deps: Pick<Deps, 'clock' | 'random'>): NewId {
  return (prefix, shard) => newId(deps, prefix, shard);
}

/** A read that gives the rows already at hand the first time, and fresh ones from then on. */
export function atHandFirst<R>(rows: R, read: () => Promise<R>): () => Promise<R> {
  let first = true;
  return () => {
    if (!first) return read();
    first = false;
    return Promise.resolve(rows);
  };
}
