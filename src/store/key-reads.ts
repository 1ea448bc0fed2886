/**
 * Counts the sealed records that are kept, and PINs' hashes, by the master key that each needs.
 *
 * Invariant: nothing is unsealed. Each value begins with the id of its key, and only that is read. The archive is left out,
 * because nothing there is ever unsealed again.
 */

import { columnList } from './columns.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { askApart } from './read.ts';
import { instantParameter } from './wire.ts';

export interface KeyNeed {
  readonly what: 'wallet' | 'proof' | 'signing secret';
  /** The key's id, as in `Secrets.keyIds`. Two keys may share one. */
  readonly key: string;
  readonly count: number;
}

/** SQL: the second byte of a sealed value, its key's id: four characters of base64url hold the first three bytes. */
const SEALED_WITH = "encode(substr(decode(translate(left(sealed, 4), '-_', '+/'), 'base64'), 2, 1), 'hex')";

const NEEDS: Statement = {
  name: 'key_needs',
  text: `select what, key, count(*)::int4 from (
select 'wallet', split_part(pin_hash, '$', 1) from wallet where pin_hash <> ''
union all select 'proof', ${SEALED_WITH} from proof_file
union all select 'signing secret', ${SEALED_WITH} from webhook_secret
  where status = 'ALLOWED' or (status = 'RETIRING' and retires_at > $1::timestamptz)) needs (what, key)
group by what, key order by what desc, key`,
};

const COLUMNS = columnList<KeyNeed>({ what: 'text', key: 'text', count: 'int4' });

/** Reads every wallet, which takes a while: on a connection of its own. `now` decides which retiring secrets still count. */
export async function readKeyNeeds(lender: Lender, now: number): Promise<KeyNeed[]> {
  return askApart(lender, { statement: NEEDS, values: [instantParameter(now)] }, COLUMNS);
}
