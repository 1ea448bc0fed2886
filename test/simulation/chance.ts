/** Chance for a simulated race: the same seed draws the same choices. */
import { seededRandom } from '../../sandbox/control/faults.ts';

export interface Chance {
  /** From 0 to below 1. */
  roll(): number;
  /** True with that probability. */
  isOn(probability: number): boolean;
  /** One of them. */
  pick<T>(all: readonly [T, ...T[]]): T;
  /** One of the names, each as often as its weight says. */
  weighed<N extends string>(weights: Readonly<Record<N, number>>): N;
}

export function chanceOf(seed: string): Chance {
  const roll = seededRandom(seed);
  return {
    roll,
    isOn: (probability) => roll() < probability,
    pick: (all) => all[Math.floor(roll() * all.length)] ?? all[0],
    weighed(weights) {
      const names = Object.keys(weights) as (keyof typeof weights)[];
      let rest = roll() * names.reduce((sum, name) => sum + weights[name], 0);
      for (const name of names) {
        rest -= weights[name];
        if (rest < 0) return name;
      }
      throw new Error('no choice');
    },
  };
}
