/**
 * Attempts by time, for comparison with audits and with upstreams' statements.
 *
 * Invariant: a page begins after the last attempt of the page before, so that reading on sees every attempt once.
 */

import { firstIdAt, ID_SLACK_MS } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import { listOf } from './columns.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import type { Readers } from './read.ts';
import { columnsOf } from './tables.ts';
import { instantParameter } from './wire.ts';

/** Attempts of these connectors made in a span (milliseconds): `from` inclusive, `to` exclusive. */
export interface AttemptSpan {
  readonly connectors: readonly string[];
  readonly from: number;
  readonly to: number;
}

export interface AttemptPage extends AttemptSpan {
  /** The id of the last attempt of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Approved attempts, in the order in which they were settled. */
export interface ApprovedSince {
  readonly connectors: readonly string[];
  readonly madeFrom: number;
  readonly settledFrom: number;
  readonly limit: number;
}

export interface AttemptReads {
  made(page: AttemptPage): Promise<Attempt[]>;
  approved(since: ApprovedSince): Promise<Attempt[]>;
}

/** Reads of attempts by their connectors and times: `made` live and archived, `approved` live only. */
export function openAttemptReads(readers: Readers): AttemptReads {
  const ask = (statement: Statement, values: readonly string[]) => readers.query(statement, COLUMNS, values);
  return {
    made: (page) => {
      const [first, last] = idsAround(page);
      return ask(MADE, [...spanOf(page), page.after ?? first, String(page.limit), last]);
    },
    approved: ({ connectors, madeFrom, settledFrom, limit }) =>
      ask(APPROVED, [
        JSON.stringify(connectors),
        instantParameter(madeFrom),
        instantParameter(settledFrom),
        String(limit),
      ]),
  };
}

/** Ids that enclose all attempts made in the span: they limit which months of the archive are read. */
function idsAround({ from, to }: AttemptSpan): readonly [string, string] {
  return [firstIdAt('att', from - ID_SLACK_MS), firstIdAt('att', to + ID_SLACK_MS)];
}

const COLUMNS = columnsOf('attempt');

function spanOf({ connectors, from, to }: AttemptSpan): string[] {
  return [JSON.stringify(connectors), instantParameter(from), instantParameter(to)];
}

/** Live and archived. */
const ATTEMPT = `${inEither('attempt')} t`;

const IN_SPAN = '$1::jsonb ? connector and created_at >= $2::timestamptz and created_at < $3::timestamptz';

/** In the order of their ids, which is nearly that of their creation. */
const MADE: Statement = {
  name: 'attempts_made',
  text: `select ${listOf(COLUMNS)} from ${ATTEMPT}
where ${IN_SPAN} and id > $4 and id < $6 order by id limit $5::int8`,
};

const APPROVED: Statement = {
  name: 'attempts_approved',
  text: `select ${listOf(COLUMNS)} from attempt
where $1::jsonb ? connector and created_at >= $2::timestamptz and settled_at >= $3::timestamptz and status = 'approved'
order by settled_at, id limit $4::int8`,
};
