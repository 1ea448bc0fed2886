/**
 * What befalls the gateways of a race, whoever takes part in it: time passes, clocks are set, answers of the database are late or
 * lost, a database is gone, a process is killed.
 *
 * Invariant: nothing here ends a race; whatever is out of order can be healed.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { stillness } from '../support/stillness.ts';
import type { Chance } from './chance.ts';
import type { Member } from './gateway-pair.ts';
import { stepByChance } from './pair-clocks.ts';
import type { Place } from './race-calls.ts';
import { MAX_STEP_MS } from './unruly-way.ts';

/** Steps that chance may take, each with how often it does. */
export interface Acts {
  readonly [name: string]: readonly [weight: number, act: () => unknown];
}

/** How disturbed the way to the upstream may be. */
export const TROUBLES = [0.1, 0.2, 0.4] as const;
/** How often each time passes, by its milliseconds. */
const WAITS = { 1000: 6, 3000: 6, 6000: 6, 20000: 3, 300000: 0.3, 610000: 0.3 };
const STEP_MS = 5_000;
/** 40 turns of the event loop: the longest for which the database's answers to commits are held up. */
const HELD_TURNS = 40;

/** Takes one of the steps, and gives what it has begun some time. */
export async function takeOne(acts: Acts, chance: Chance): Promise<void> {
  const weights = Object.fromEntries(Object.entries(acts).map(([name, [weight]]) => [name, weight]));
  const [, act] = acts[chance.weighed(weights)] ?? [];
  await act?.();
  if (chance.isOn(0.6)) await stillness();
  else for (let turns = 5 * chance.roll(); turns > 0; turns -= 1) await turn();
}

export function troublesOf({ pair, way, chance, note, pass }: Place): Acts {
  const anyMember = (): Member => chance.pick(pair.members());

  async function wait(): Promise<void> {
    const milliseconds = Number(chance.weighed(WAITS));
    note(`${milliseconds} ms pass`);
    await pass(milliseconds, milliseconds > MAX_STEP_MS ? MAX_STEP_MS : Math.min(milliseconds, STEP_MS));
  }

  /**
   * A gateway hears of its commits late. The clock stands still meanwhile: a gateway that connects anew gives up the silent
   * connection after seconds of the real clock, and each step of the test's clock would wait for that.
   */
  async function holdCommits(): Promise<void> {
    const { wire, name } = anyMember();
    note(`${name} hears of its commits late`);
    wire.hold('commit');
    for (let turns = HELD_TURNS * chance.roll(); turns > 0; turns -= 1) await turn();
    wire.release();
  }

  function setClock(): void {
    const skews = stepByChance(pair.clocks, chance);
    note(`the clocks are set: ${skews.join(' and ')} ms off`);
    pair.clocks.set(skews);
  }

  function harm(name: string, doing: (member: Member) => void): void {
    const member = anyMember();
    note(`${member.name} ${name}`);
    doing(member);
  }

  const disturb = (): void => {
    way.trouble = chance.pick(TROUBLES);
  };
  const loseCommit = (): void =>
    harm('will not hear of its next commit', (one) => {
      one.loseCommit = true;
    });
  const cutOff = (): void =>
    harm('loses its database', ({ wire }) => {
      wire.refuse = true;
      wire.cut();
    });

  return {
    wait: [20, wait],
    setClock: [2, setClock],
    arrive: [3, () => way.arrive()],
    disturb: [2, disturb],
    loseCommit: [5, loseCommit],
    holdCommits: [4, holdCommits],
    cutOff: [1, cutOff],
    heal: [6, () => pair.heal()],
    kill: [2, () => pair.kill(chance.pick([0, 1])).then(() => note('a gateway is killed'))],
  };
}
