/**
 * Makes a database belong to one mode and one master key, and refuses to work on it with others.
 *
 * Invariant: who passes here opens everything that the database holds sealed, and the money in it is of this mode's
 * kind. With another key every right PIN would count as wrong and lock its owner out; in the other mode sandbox money
 * would be paid out, or real money played with.
 */

import type { Claim, Update } from '../domain/change.ts';
import type { Setting } from '../domain/records.ts';
import { commitDecisionKnown, type OperatorDeps, OperatorError } from './operator.ts';

const SHARD = 0;
const MODE = 'gateway_mode';
const KEY_CHECK = 'master_key_check';

type Needs = Pick<OperatorDeps, 'store' | 'clock' | 'secrets' | 'mode'>;

/**
 * Writes the mode and a sealed check value at the first open, and compares them ever after. A value that only an older
 * key of the ring opens is sealed with the active one.
 *
 * @throws OperatorError that names GATEWAY_MODE or MASTER_KEY, when the database belongs to another one.
 */
export async function claimDatabase(deps: Needs): Promise<void> {
  const { setting } = deps.store;
  await commitDecisionKnown(
    deps,
    () => Promise.all([setting.get(SHARD, MODE), setting.get(SHARD, KEY_CHECK)]),
    ([mode, check]) => {
      requireMode(deps, mode);
      const claims = [...claimMode(deps, mode), ...claimKey(deps, check)];
      const updates = sealAnew(deps, check);
      return { answer: undefined, ...(claims.length + updates.length === 0 ? {} : { change: { claims, updates } }) };
    },
    'start again',
  );
}

function requireMode({ mode }: Needs, found: Setting | undefined): void {
  if (found === undefined || found.value === mode) return;
  throw new OperatorError(
    `GATEWAY_MODE is ${mode}, and this database belongs to ${found.value} mode: use another database`,
  );
}

function claimMode({ mode }: Needs, found: Setting | undefined): Claim[] {
  return found === undefined ? [claimOf(MODE, mode)] : [];
}

function claimKey(deps: Needs, found: Setting | undefined): Claim[] {
  return found === undefined ? [claimOf(KEY_CHECK, checkValue(deps))] : [];
}

function claimOf(id: string, value: string): Claim {
  return { table: 'setting', row: { shard: SHARD, id, version: 1, value } };
}

/** Refuses a ring that does not open the check value, and takes the value over to the ring's active key. */
function sealAnew(deps: Needs, found: Setting | undefined): Update[] {
  if (found === undefined) return [];
  const opened = deps.secrets.open(KEY_CHECK, found.value, KEY_CHECK);
  if (opened === undefined) {
    throw new OperatorError(
      'MASTER_KEY is not the one that this database was made with: set that one (behind a comma after a newer one; in a ' +
        'sandbox it lies in DATA_DIR/master.key), or use another database',
    );
  }
  if (opened === markOf(deps)) return [];
  const { shard, id, version } = found;
  return [{ table: 'setting', shard, id, version, row: { value: checkValue(deps) } }];
}

function checkValue(deps: Needs): string {
  return deps.secrets.seal(KEY_CHECK, markOf(deps), KEY_CHECK);
}

/** What is sealed: it tells which key was the active one then, because only that one makes it. */
function markOf({ secrets }: Needs): string {
  return secrets.mac(KEY_CHECK, KEY_CHECK);
}
