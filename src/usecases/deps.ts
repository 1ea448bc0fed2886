/**
 * What every use case is handed: the store, the ways to the outside world and the upstreams.
 *
 * Invariant: a use case gets time, ids and randomness from here only, so that it can be run in any world.
 */

import type { Books, Connectors } from '../connectors/connector.ts';
import type { Alarm } from '../domain/attempt-settlement.ts';
import { makeId, type NewId, type Prefix } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import type { AttemptPurpose } from '../domain/records.ts';
import type { Words } from '../domain/refusal.ts';
import type { Calendar, Clock, Log, Outbound, Random, Secrets } from '../platform/platform.ts';
import type { Store } from '../store/store.ts';
import type { Acceptances } from './acceptances.ts';
import type { Recordings } from './attempt-record.ts';
import type { FormCalls } from './form-calls.ts';
import type { Holds } from './holds.ts';
import type { SessionTurns } from './session-turns.ts';

/** The sentence about a payout line's state, for its webhook and for replies; its words come from `messages/`. */
export type PayoutText = (
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at' | 'next_start_at' | 'late_attempt_id'>,
  approval?: PayoutBatch['approval'],
) => string;

/** The text message with a one-time code, in the customer's language; `assemble` hands in the words of `messages/`. */
export type CodeText = (language: string, words: Words) => string;

/** Called with every alarm, and with what its attempt is for. */
export type AlarmWatch = (alarm: Alarm, purpose: AttemptPurpose) => void;

/** Everything that a use case may need; most ask for a part of it. */
export interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly outbound: Outbound;
  readonly log: Log;
  /** Counts alarms, which a person must look at; on the command line it counts nothing, because the caller is told. */
  readonly alarmed: AlarmWatch;
  readonly connectors: Connectors;
  /** The connectors through which an operator lets no payout and no refund be sent. */
  readonly holds: Holds;
  /** Upstreams' books for the auditor; absent if the upstreams do not open theirs. */
  readonly books?: Books | undefined;
  readonly mode: 'sandbox' | 'production';
  /** The gateway's own address, without a trailing slash. */
  readonly publicUrl: string;
  /** Shared with the card network, which signs its callbacks with it; undefined: no signed callback is accepted. */
  readonly cardCallbackSecret: string | undefined;
  /** The sentence of a one-time code's text, in the customer's language. */
  readonly codeText: CodeText;
  readonly payoutText: PayoutText;
  /** How many one-time codes are sent for one account in an hour; 0: any number. */
  readonly codesPerHour: number;
  /** Whose turn it is on a session, among this process's submits and looks at challenges. */
  readonly sessionTurns: SessionTurns;
  /** Carriers' answers to this process's own calls that are being written, by attempt id (`attempt-record.ts`). */
  readonly recording: Recordings;
  /** Carriers' acceptances that the caller was told of and that are not yet written (`acceptances.ts`). */
  readonly acceptances: Acceptances;
  /** How this process's newest calls for the card network's form went. */
  readonly formCalls: FormCalls;
  /** Keeps track of work that no caller awaits, so that a graceful stop can. */
  readonly background: (work: Promise<unknown>) => void;
}

/** What an operator's command is handed, the same from the command line and `serve`. */
export type OperatorDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'secrets' | 'mode'>;

/** The last millisecond in which this process made an identifier, and how many it had already made in it. */
const numbering = { at: 0, made: 0 };

/**
 * A fresh identifier of that kind, in that shard; `at` is the time that it carries (milliseconds). Identifiers that one process
 * makes in the same millisecond sort in order of creation, and with them the lines of a statement.
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

/** The source of fresh identifiers to hand to a decision. */
export function idsOf(deps: Pick<Deps, 'clock' | 'random'>): NewId {
  return (prefix, shard) => newId(deps, prefix, shard);
}

/** A read that gives the rows already at hand the first time, and fresh ones from then on. */
export function cachedFirst<R>(rows: R, read: () => Promise<R>): () => Promise<R> {
  let first = true;
  return () => {
    if (!first) return read();
    first = false;
    return Promise.resolve(rows);
  };
}
