/**
 * Binds a database to one mode and its master keys, and refuses to work on it with others.
 *
 * Invariant: a process that passes this check can open every lasting sealed value in the database, and its mode matches the
 * money in it. Without a key that a wallet needs, the right PIN would count as wrong and lock its owner out; in the other mode,
 * sandbox money would be paid out, or real money used for testing. So each key of a ring is remembered until a ring comes
 * without it and nothing needs it.
 */

import type { Claim, Update } from '../domain/change.ts';
import type { Setting } from '../domain/records.ts';
import { needsInWords } from './key-needs.ts';
import { commitDecisionKnown, type OperatorDeps, OperatorError } from './operator.ts';

const SHARD = 0;
const MODE = 'gateway_mode';
const KEY_CHECK = 'master_key_check';
const OLDER_KEYS = 'master_keys_older';

type Needs = Pick<OperatorDeps, 'store' | 'clock' | 'secrets' | 'mode'>;

/** A key of a ring: its id, a byte that stands before what it has sealed, and its mark, which only the key itself makes. */
interface Key {
  readonly id: string;
  readonly mark: string;
}

interface Rows {
  readonly mode: Setting | undefined;
  readonly check: Setting | undefined;
  readonly older: Setting | undefined;
  /** What needs a key that is remembered, and is not in the ring; undefined: nothing does. */
  readonly lacking: string | undefined;
}

/**
 * Writes the mode and a sealed check value at the first open, and compares them ever after. A value that only an older
 * key of the ring opens is sealed with the active one.
 *
 * @throws OperatorError that names GATEWAY_MODE or MASTER_KEY, when the database belongs to another one.
 */
export async function claimDatabase(deps: Needs): Promise<void> {
  await commitDecisionKnown(
    deps,
    () => readRows(deps),
    (rows) => {
      requireMode(deps, rows.mode);
      requireKeys(deps, rows);
      const written = [
        settingWritten(MODE, rows.mode, deps.mode),
        settingWritten(KEY_CHECK, rows.check, checkValue(deps, rows.check)),
        settingWritten(OLDER_KEYS, rows.older, olderKeys(deps)),
      ];
      const claims = written.flatMap(({ claim }) => claim ?? []);
      const updates = written.flatMap(({ update }) => update ?? []);
      return { answer: undefined, ...(claims.length + updates.length === 0 ? {} : { change: { claims, updates } }) };
    },
    'start again',
  );
}

async function readRows({ store, clock, secrets }: Needs): Promise<Rows> {
  const [mode, check, older] = await Promise.all(
    [MODE, KEY_CHECK, OLDER_KEYS].map((id) => store.setting.get(SHARD, id)),
  );
  const ring = ringOf(secrets);
  const gone = keysOf(older).filter(({ mark }) => !ring.some((key) => key.mark === mark));
  // Every wallet is read for it: only when a key has been taken away.
  const needs = gone.length === 0 ? [] : await store.keyNeeds(clock.now());
  const lacking = needsInWords(needs, (needed) => gone.some(({ id }) => id === needed));
  return { mode, check, older, lacking };
}

function requireMode({ mode }: Needs, found: Setting | undefined): void {
  if (found === undefined || found.value === mode) return;
  throw new OperatorError(
    `GATEWAY_MODE is ${mode}, and this database belongs to ${found.value} mode: use another database`,
  );
}

/**
 * Refuses a ring that does not open the check value, or lacks a key that something still needs. Also refuses a new key whose
 * one-byte id collides with another key's: by id alone, nobody could tell which of the two is needed.
 */
function requireKeys({ secrets }: Needs, { check, older, lacking }: Rows): void {
  const opened = check && secrets.open(KEY_CHECK, check.value, KEY_CHECK);
  if (check !== undefined && opened === undefined) {
    throw new OperatorError(
      'MASTER_KEY is not the one that this database was made with, or another one has been put in front of it since: set that ' +
        'one (behind a comma after a newer one; in a sandbox it lies in DATA_DIR/master.key), or use another database',
    );
  }
  if (lacking !== undefined) {
    throw new OperatorError(
      `MASTER_KEY lacks an older key, and the database holds what needs it (${lacking}): put it back behind a comma`,
    );
  }
  const known = new Set([opened, ...keysOf(older).map(({ mark }) => mark)]);
  const ring = ringOf(secrets);
  const isTwin = (key: Key): boolean => ring.some(({ id, mark }) => id === key.id && mark !== key.mark);
  if (ring.some((key) => !known.has(key.mark) && isTwin(key))) {
    throw new OperatorError(
      'MASTER_KEY holds a new key that has the same id as another one (one key in 256 does): draw another one',
    );
  }
}

/** What is sealed is the mark of the key that was the active one then. */
function checkValue({ secrets }: Needs, found: Setting | undefined): string {
  const [active] = ringOf(secrets);
  const opened = found && secrets.open(KEY_CHECK, found.value, KEY_CHECK);
  return found !== undefined && opened === active?.mark
    ? found.value
    : secrets.seal(KEY_CHECK, active?.mark ?? '', KEY_CHECK);
}

/** All of the ring but the active one, whatever they have sealed: what the ring lacks is needed by nothing any more. */
function olderKeys({ secrets }: Needs): string {
  const [, ...older] = ringOf(secrets);
  return older.map(({ id, mark }) => `${id}:${mark}`).join(' ');
}

function keysOf(found: Setting | undefined): Key[] {
  return (found?.value ?? '')
    .split(' ')
    .filter((text) => text !== '')
    .map((text) => {
      const [id = '', mark = ''] = text.split(':');
      return { id, mark };
    });
}

/** The active key first. */
function ringOf({ macs, keyIds }: Needs['secrets']): Key[] {
  return macs(KEY_CHECK, KEY_CHECK).map((mark, at) => ({ id: keyIds[at] ?? '', mark }));
}

/** What it takes for a setting to have that value; one that is not there has none. */
function settingWritten(id: string, found: Setting | undefined, value: string): { claim?: Claim; update?: Update } {
  if ((found?.value ?? '') === value) return {};
  if (found === undefined) return { claim: { table: 'setting', row: { shard: SHARD, id, version: 1, value } } };
  const { shard, version } = found;
  return { update: { table: 'setting', shard, id, version, row: { value } } };
}
