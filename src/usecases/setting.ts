/**
 * Settings: single values that every process shares, each under a name of its own.
 *
 * Invariant: a setting is written only over the value that was read, or where there was none.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import type { Setting } from '../domain/records.ts';
import type { Store } from '../store/store.ts';
import { readStored } from './stored-json.ts';

/** All settings live in one shard: there are few, and one change may write several. */
export const SETTINGS_SHARD = 0;

/** The setting of that name; undefined if it was never written. */
export function readSetting(
  { store }: { readonly store: Pick<Store, 'setting'> },
  id: string,
): Promise<Setting | undefined> {
  return store.setting.get(SETTINGS_SHARD, id);
}

/** What a setting holds as JSON; undefined: the row is damaged. `is` tells whether a value is what was written. */
export function keptIn<Kept>({ value }: Setting, is: (kept: unknown) => kept is Kept): Kept | undefined {
  return readStored(value, is);
}

/** The change that gives a setting that value. `found`: the row as it was read; undefined: there was none. */
export function settingChange(id: string, found: Setting | undefined, value: string): Change {
  return found === undefined
    ? { claims: [{ table: 'setting', row: { shard: SETTINGS_SHARD, id, version: 1, value } }] }
    : { updates: [guardedUpdate('setting', found, { value })] };
}
