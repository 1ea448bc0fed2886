/**
 * Reads that look at every shard: for each, the rows of a query that an index answers.
 *
 * Invariant: the query names its shard, so that its index is used: `shard = s.shard::int2`.
 */

import { SHARDS } from '../domain/ids.ts';

/** SQL: `from` every shard `s`, joined with the query in parentheses that comes next. */
export const IN_EACH_SHARD = `from generate_series(0, ${SHARDS - 1}) s(shard) cross join lateral`;
