/**
 * The conditions of a list: each only where somebody asks for it, so that the index that fits is used.
 *
 * Invariant: the letters of those that are asked for belong into the statement's name, because statements are prepared by name.
 */

import { shardOf } from '../domain/ids.ts';

/**
 * SQL, with a `?` where the value stands if it takes one; the value (undefined: nobody asks); and letters for the statement's
 * name.
 */
export type Condition = readonly [condition: string, value: string | undefined, letters: string];

/** Conditions that were asked for, each with a parameter of its own. */
export interface Asked {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
  readonly name: string;
}

/** Those that have a value; their parameters follow `before` others. */
export function asked(all: readonly Condition[], before = 0): Asked {
  const conditions: string[] = [];
  const values: string[] = [];
  let name = '';
  for (const [condition, value, letters] of all) {
    if (value === undefined) continue;
    conditions.push(condition.replace('?', () => `$${before + values.push(value)}`));
    name += letters;
  }
  return { conditions, values, name };
}

/** The clause that demands all of them; empty where there is none. */
export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

/** What belongs to a merchant. Its id carries its shard, which the indexes have, too. @throws RangeError if it is no id. */
export function ofMerchant(merchantId: string | undefined): readonly Condition[] {
  return [
    ['shard = ?::int2', merchantId === undefined ? undefined : String(shardOf(merchantId)), ''],
    ['merchant_id = ?', merchantId, 'm'],
  ];
}
