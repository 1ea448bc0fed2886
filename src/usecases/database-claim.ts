/**
 * Binds a database to one mode and its master keys, and refuses to work on it with others.
 *
 * Invariant: a process that passes this check can open every lasting sealed value in the database, and its mode matches the
 * money in it. Without a key that a wallet needs, the right PIN would count as wrong and lock its owner out; in the other mode,
 * sandbox money would be paid out, or real money used for testing. So each key of a ring is remembered until a process starts
 * with a ring without it and nothing needs it.
 */

import type { Change } from '../domain/change.ts';
import type { Setting } from '../domain/records.ts';
import type { OperatorDeps } from './deps.ts';
import { needsInWords } from './key-needs.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { readSetting, settingChange } from './setting.ts';

const MODE = 'gateway_mode';
const KEY_CHECK = 'master_key_check';
const OLDER_KEYS = 'master_keys_older';

type Needs = Pick<OperatorDeps, 'store' | 'clock' | 'secrets' | 'mode'>;

/** A key of a ring: its id, a byte in front of everything it seals, and its mark, a MAC that only this key can make. */
interface Key {
  readonly id: string;
  readonly mark: string;
}

interface Rows {
  readonly mode: Setting | undefined;
  readonly check: Setting | undefined;
  readonly older: Setting | undefined;
  /** The rows, in words, that need a remembered key which the ring lacks; undefined: none do. */
  readonly lacking: string | undefined;
}

/**
 * Writes the mode and a sealed check value when the database is first opened, and compares them from then on. A check value that
 * an older key of the ring has sealed is sealed again with the active key.
 *
 * @throws OperatorError that names GATEWAY_MODE or MASTER_KEY, when the database belongs to another mode or key.
 */
export async function claimDatabase(deps: Needs): Promise<void> {
  await commitDecisionKnown(
    deps,
    () => readRows(deps),
    (rows) => {
      requireMode(deps, rows.mode);
      requireKeys(deps, rows);
      const written = [
        changeTo(MODE, rows.mode, deps.mode),
        changeTo(KEY_CHECK, rows.check, checkValue(deps, rows.check)),
        changeTo(OLDER_KEYS, rows.older, olderKeys(deps)),
      ];
      const claims = written.flatMap(({ claims = [] }) => claims);
      const updates = written.flatMap(({ updates = [] }) => updates);
      return { answer: undefined, ...(claims.length + updates.length === 0 ? {} : { change: { claims, updates } }) };
    },
    'start again',
  );
}

async function readRows(deps: Needs): Promise<Rows> {
  const { store, clock, secrets, mode } = deps;
  const [modeFound, check, older] = await Promise.all([MODE, KEY_CHECK, OLDER_KEYS].map((id) => readSetting(deps, id)));
  const ring = ringOf(secrets);
  const gone = keysOf(older).filter(({ mark }) => !ring.some((key) => key.mark === mark));
  // This reads every wallet, so it is done only when a key has been taken away. By a fast clock of ours, secrets that still sign would
  // need their key no more; and whatever is forgotten here stays so.
  const needs = gone.length === 0 ? [] : await store.keyNeeds(mode === 'production' ? await store.time() : clock.now());
  const lacking = needsInWords(needs, (needed) => gone.some(({ id }) => id === needed));
  return { mode: modeFound, check, older, lacking };
}

function requireMode({ mode }: Needs, found: Setting | undefined): void {
  if (found === undefined || found.value === mode) return;
  throw new OperatorError(
    `GATEWAY_MODE is ${mode}, but this database belongs to ${found.value} mode: use another database`,
  );
}

/**
 * Refuses a ring that does not open the check value, or lacks a key that some row still needs. Also refuses a new key whose
 * one-byte id collides with another key's: the id alone would not tell which of the two is needed.
 */
function requireKeys({ secrets }: Needs, { check, older, lacking }: Rows): void {
  const opened = check && secrets.open(KEY_CHECK, check.value, KEY_CHECK);
  if (check !== undefined && opened === undefined) {
    throw new OperatorError(
      'MASTER_KEY does not contain the key that this database uses: set the key that was active last (after a comma if a newer ' +
        'one comes first; in a sandbox it is in DATA_DIR/master.key), or use another database',
    );
  }
  if (lacking !== undefined) {
    throw new OperatorError(
      `MASTER_KEY lacks an older key that the database still needs (${lacking}): add it again after a comma`,
    );
  }
  const known = new Set([opened, ...keysOf(older).map(({ mark }) => mark)]);
  const ring = ringOf(secrets);
  const isTwin = (key: Key): boolean => ring.some(({ id, mark }) => id === key.id && mark !== key.mark);
  if (ring.some((key) => !known.has(key.mark) && isTwin(key))) {
    throw new OperatorError(
      'MASTER_KEY contains a new key with the same id as another key (this happens once in 256): generate another one',
    );
  }
}

/** The check value: the mark of the active key, sealed with that key. It is kept as it is while the active key stays the same. */
function checkValue({ secrets }: Needs, found: Setting | undefined): string {
  const [active] = ringOf(secrets);
  const opened = found && secrets.open(KEY_CHECK, found.value, KEY_CHECK);
  return found !== undefined && opened === active?.mark
    ? found.value
    : secrets.seal(KEY_CHECK, active?.mark ?? '', KEY_CHECK);
}

/** All keys of the ring but the active one, whatever they have sealed: keys that the ring lacks are no longer needed. */
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

/** The keys of the ring, the active one first. */
function ringOf({ macs, keyIds }: Needs['secrets']): Key[] {
  return macs(KEY_CHECK, KEY_CHECK).map((mark, at) => ({ id: keyIds[at] ?? '', mark }));
}

/** The change that gives a setting that value, if it has another; a missing setting counts as empty. */
function changeTo(id: string, found: Setting | undefined, value: string): Change {
  return (found?.value ?? '') === value ? {} : settingChange(id, found, value);
}
