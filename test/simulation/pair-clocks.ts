/**
 * The clocks of two machines, which may be wrong, are set while work goes on, and are compared with the database's.
 *
 * Invariant: the database's clock is the world's, and right. What asks it and what it is compared with show the time of the latest
 * `strike`, so that time that passes in between is never mistaken for a difference.
 */
import type { Clock } from '../../src/platform/platform.ts';
import { rowsOf } from '../support/rows.ts';
import { stillness } from '../support/stillness.ts';
import type { World } from '../support/world.ts';
import type { Chance } from './chance.ts';

export type Which = 0 | 1;

/** How far each machine's clock is ahead of the database's, in milliseconds. */
export type Skews = readonly [number, number];

export interface Clocks {
  readonly skews: Skews;
  of(which: Which): Clock;
  set(skews: Skews): void;
  /** Tells the database what time it is. Resolves once that is known to all. */
  strike(): Promise<void>;
}

/**
 * How far the two are off as a race begins, in milliseconds: as NTP leaves them, at the limit from which "not found" is no evidence,
 * past it, at the limit from which a process changes nothing, and past that.
 */
const SKEWS_MS: readonly [Skews, ...Skews[]] = [
  [-1_500, 1_500],
  [-4_900, 4_900],
  [-30_000, 120_000],
  [290_000, 0],
  [-290_000, 290_000],
  [0, -400_000],
];

export function skewsByChance(chance: Chance): Skews {
  return chance.pick(SKEWS_MS);
}

/** One clock is set: a right one by one to four minutes, and a wrong one right. */
export function stepByChance({ skews }: Clocks, chance: Chance): Skews {
  const which = chance.pick<Which>([0, 1]);
  const off = chance.pick<number>([-1, 1]) * Math.round(60_000 + 180_000 * chance.roll());
  const next: [number, number] = [...skews];
  next[which] = Math.abs(skews[which]) < 5_000 ? off : 0;
  return next;
}

/** The connections that are open already keep asking the real clock: the world's own gateway must not need to know the time. */
export async function openClocks(world: World): Promise<Clocks> {
  const { clock } = world.gateway.deps;
  const database = new URL(world.databaseUrl).pathname.slice(1);
  await world.database.query(`create schema race;
    create table race.clock as select clock_timestamp() as at;
    create function race.clock_timestamp() returns timestamptz language sql as 'select at from race.clock';
    alter database ${database} set search_path = public, race, pg_catalog`);
  let struck = world.clock.wall();
  let skews: Skews = [0, 0];

  const clocks: Clocks = {
    get skews() {
      return skews;
    },
    of: (which) => ({
      ...clock,
      now: () => clock.now() + skews[which],
      wall: () => struck + skews[which],
      leaptAt: () => {
        const leapt = clock.leaptAt();
        return leapt === undefined ? undefined : leapt + skews[which];
      },
    }),
    set(next) {
      skews = next;
    },
    async strike() {
      await stillness();
      const at = world.clock.wall();
      await rowsOf(world, 'update race.clock set at = to_timestamp($1 / 1000.0)', [at]);
      struck = at;
    },
  };
  await clocks.strike();
  return clocks;
}
