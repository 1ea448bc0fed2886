/**
 * Settings that only ever grow, in SQL: the last closed day, and the first day whose ledger lines are kept.
 *
 * Invariant: such a setting is never set back, whichever of several processes writes it last.
 */

/** SQL that gives a setting a value unless it has a later one already. Both are SQL, a parameter for example. */
export function raiseSetting(id: string, value: string): string {
  return `insert into setting as s (shard, id, version, value) values (0, ${id}, 1, ${value})
on conflict (shard, id) do update set value = excluded.value, version = s.version + 1 where s.value < excluded.value`;
}
