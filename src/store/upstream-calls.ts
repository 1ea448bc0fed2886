/**
 * How the newest upstream calls went, by the attempts that all processes have written.
 *
 * Invariant: however many attempts there are, only a bounded number of each shard's newest are read, by the primary key.
 */

import type { UpstreamCall } from '../domain/availability.ts';
import { firstIdAt } from '../domain/ids.ts';
import { columnList } from './columns.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';

/** A call by a connector, for a phone number of that carrier or a card of that network. */
export interface CallMade extends UpstreamCall {
  readonly upstream: string;
  readonly carrier: string;
}

/** How many attempts of each shard are read. */
const NEWEST = 50;

/** An `intended` or `authenticated` attempt is in flight: it says nothing yet. A carrier that knows no such payer has answered. */
const CALLS: Statement = {
  name: 'upstream_calls',
  text: `select a.connector, a.carrier, a.created_at,
  a.status in ('challenged', 'waiting', 'approved', 'declined') or a.reason is not distinct from 'payer_unknown',
  a.status = 'unknown' and a.inquiries > 0 and a.not_found_at is null
${IN_EACH_SHARD} (
  select connector, carrier, created_at, status, reason, inquiries, not_found_at from attempt
  where shard = s.shard::int2 and id >= $1 order by id desc limit ${NEWEST}) a
where a.status not in ('intended', 'authenticated')`,
};

const COLUMNS = columnList<CallMade>({
  upstream: 'text',
  carrier: 'text',
  at: 'timestamptz',
  answered: 'bool',
  silent: 'bool',
});

/** Calls made from this instant (ms) on. */
export async function readUpstreamCalls(readers: Readers, from: number): Promise<CallMade[]> {
  return readers.query(CALLS, COLUMNS, [firstIdAt('att', from)]);
}
