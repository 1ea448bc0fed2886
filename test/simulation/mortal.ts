/**
 * A gateway that dies at its n-th external step: a commit, a lease that it takes, a call to an upstream or to a webhook receiver.
 * It dies after the step has taken effect, but before its result arrives; or, for a call, also before it, when the last commit
 * has been answered. Before a commit, the world is the same as after the previous step.
 *
 * Invariant: after its death nothing from it reaches anybody, as after `kill -9`: only the database and the upstreams know
 * what it had begun.
 */

import type { Clock, Outbound } from '../../src/platform/platform.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import type { Round } from '../../src/rounds/round.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import { type Otherwise, openSecond, type Second } from '../support/second-gateway.ts';
import { type Fate, openWire } from '../support/wire.ts';
import { type Answer, type CallOptions, callAt, type World } from '../support/world.ts';

export interface Death {
  /** The first step is 1. */
  readonly step: number;
  readonly when: 'before' | 'after';
}

export interface Mortal {
  /** The gateway's answer; undefined if it has died before answering. */
  call(method: string, path: string, options: CallOptions): Promise<Answer | undefined>;
  /** The result of an operator's command in that process; undefined if it has died before returning. */
  operate<T>(command: (deps: Deps) => Promise<T>): Promise<T | undefined>;
  /** The step at which it died, in words; undefined while it lives. */
  end(): string | undefined;
  /** Moves the clock, then runs every round once: its own or, after its death, its heir's. */
  pass(milliseconds: number): Promise<void>;
  /** Ends it, or puts its heir to sleep. What is left of the dead gateway is not awaited. */
  rest(): Promise<void>;
  /** Resolves when nothing of it is left, for which time may have to pass. */
  close(): Promise<void>;
}

/** The worker that takes a dead gateway's place. It sleeps while a mortal lives: then none of its rounds runs. */
export interface Heir {
  readonly rounds: readonly Round[];
  /** What has fallen due while it slept runs when it wakes. */
  wake(): void;
  sleep(): void;
  close(): Promise<void>;
}

/** The first byte of a pipeline that executes something (PostgreSQL's protocol: Bind). */
const BIND = 'B'.charCodeAt(0);
/** The prefix of the statements that take leases, and the command tag if they took any. */
const TAKES_LEASES = 'lease_due_';
const TOOK_LEASES = /UPDATE [1-9]/;
/** Rounds that take no part in any flow. */
export const ONLOOKERS = ['audit', 'close_days', 'reap'];

/** One for all mortals of a world, one after the other: opening one for each took a fifth of the time. */
export async function openHeir(world: World): Promise<Heir> {
  const { clock } = world.gateway.deps;
  const due = new Set<() => void>();
  let isAwake = false;
  const sleepy: Clock = {
    ...clock,
    after(milliseconds, task) {
      const cancel = clock.after(milliseconds, () => (isAwake ? task() : due.add(task)));
      return () => {
        due.delete(task);
        cancel();
      };
    },
  };
  const { gateway, close } = await openWorking(world, world.databaseUrl, { role: 'worker', clock: sleepy });
  return {
    rounds: gateway.rounds,
    wake() {
      isAwake = true;
      for (const task of due) task();
      due.clear();
    },
    sleep() {
      isAwake = false;
    },
    close,
  };
}

/** The world itself must have the role `api`, or it would run the rounds too. */
export async function openMortal(world: World, heir: Heir, death: Death): Promise<Mortal> {
  const wire = await openWire(world.databaseUrl);
  let isAsked = false;
  let closing: Promise<void> | undefined;
  let steps = 0;
  let end: string | undefined;
  let tellEnd = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    tellEnd = () => resolve(undefined);
  });

  const die = (what: string): void => {
    if (end !== undefined) return;
    end = `${death.when} step ${death.step}, ${what}`;
    wire.refuse = true;
    wire.cut();
    second.gateway.app.server.closeAllConnections();
    closing = second.close();
    heir.wake();
    tellEnd();
  };

  /** Counts a step, and says whether the gateway dies at it. */
  const isLast = (): boolean => {
    if (isAsked) steps += 1;
    return end === undefined && steps === death.step;
  };

  const judge = (line: string, bytes: Buffer): Fate => {
    if (death.when === 'before' || bytes[0] !== BIND) return 'carried';
    const isCommit = line === 'commit';
    if (isCommit ? !isLast() : !bytes.includes(TAKES_LEASES)) return 'carried';
    return (answer) => {
      if (!isCommit && !(TOOK_LEASES.test(answer.toString('latin1')) && isLast())) return false;
      die(`${isCommit ? 'a commit' : 'a lease'} (${statementsOf(bytes)})`);
      return true;
    };
  };

  const mortal = (outbound: Outbound): Outbound => ({
    ...outbound,
    async request(request) {
      const what = `${request.method} ${new URL(request.url).pathname}`;
      const last = isLast();
      if (last && death.when === 'before') die(what);
      if (end !== undefined) return { kind: 'lost', reason: 'dead' };
      const answer = await outbound.request(request);
      if (last) die(what);
      return end === undefined ? answer : { kind: 'lost', reason: 'dead' };
    },
  });

  /** An error after the process's death is ignored; any other is a fault. */
  const dead = (error: unknown): undefined => {
    if (end === undefined) throw error;
  };

  const second = await openWorking(world, wire.url, { through: mortal, role: 'all' });
  wire.judge = judge;

  return {
    call(method, path, options) {
      isAsked = true;
      return Promise.race([ended, callAt(second.url, method, path, options).catch(() => undefined)]);
    },
    async operate(command) {
      isAsked = true;
      return end === undefined ? Promise.race([ended, command(second.gateway.deps).catch(dead)]) : undefined;
    },
    end: () => end,
    async pass(milliseconds) {
      await world.clock.advance(milliseconds);
      const { rounds } = end === undefined ? second.gateway : heir;
      const over = Promise.all(rounds.map((round) => round.runNow()));
      await (end === undefined ? Promise.race([ended, over]) : over);
    },
    async rest() {
      heir.sleep();
      if (end !== undefined) return;
      closing = second.close();
      await closing;
    },
    async close() {
      await closing;
      await wire.close();
    },
  };
}

/** Another gateway that runs rounds, except the onlookers: those take no part in any flow. */
async function openWorking(world: World, databaseUrl: string, otherwise: Otherwise): Promise<Second> {
  const second = await openSecond(world, manualClock(0), databaseUrl, otherwise);
  const onlookers = second.gateway.rounds.filter(({ name }) => ONLOOKERS.includes(name));
  await Promise.all(onlookers.map((round) => round.stop()));
  return second;
}

/** The names of a pipeline's statements, as far as they can be read from its bytes. */
function statementsOf(bytes: Buffer): string {
  const names = bytes.toString('latin1').matchAll(/B....\0([a-z_0-9]+)\0/gs);
  return [...names].map(([, name]) => name).join(', ');
}
