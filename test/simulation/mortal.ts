/**
 * A gateway that dies at its n-th step outward: a commit, a lease that it takes, a call to an upstream or to a webhook's receiver.
 * It dies after the step has had its effect, with the answer unheard; or, of a call, before that: what was committed last
 * has been answered then. Before a commit the world is as it was after the step before.
 *
 * Invariant: after its death nothing of it reaches anybody, as after `kill -9`: what it had begun, only the database and the
 * upstreams know.
 */
import { manualClock } from '../../src/platform/clock.ts';
import type { Outbound } from '../../src/platform/platform.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import { type Otherwise, openSecond, type Second } from '../api/second-gateway.ts';
import { type Fate, openWire } from '../support/wire.ts';
import { type Answer, type CallOptions, callAt, type World } from '../support/world.ts';

export interface Death {
  /** The first step is 1. */
  readonly step: number;
  readonly when: 'before' | 'after';
}

export interface Mortal {
  /** What it answers; undefined: it has died before. */
  call(method: string, path: string, options: CallOptions): Promise<Answer | undefined>;
  /** What an operator's command of that process comes to; undefined: it has died before it said so. */
  operate<T>(command: (deps: Deps) => Promise<T>): Promise<T | undefined>;
  /** At which step it has died, in words; undefined: it lives. */
  end(): string | undefined;
  /** Moves the clock, then runs every round once: its own, or, from its death on, those of the worker that is started then. */
  pass(milliseconds: number): Promise<void>;
  /** Ends whoever does the rounds. What is left of the dead is not waited for. */
  rest(): Promise<void>;
  /** Resolves when nothing of it is left, for which time may have to pass. */
  close(): Promise<void>;
}

/** The first byte of a pipeline that runs something (PostgreSQL's protocol: Bind). */
const BIND = 'B'.charCodeAt(0);
/** The name of what takes leases, and the tag of its end where there were any. */
const TAKES_LEASES = 'lease_due_';
const TOOK_LEASES = /UPDATE [1-9]/;
const ONLOOKERS = ['audit', 'close_days', 'reap'];

/** A world of its own must have the role `api`, or it would do the rounds. */
export async function openMortal(world: World, death: Death): Promise<Mortal> {
  const wire = await openWire(world.databaseUrl);
  let isAsked = false;
  let heir: Promise<Second> | undefined;
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
    tellEnd();
  };

  /** Counts a step, and says whether it is the last. */
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

  /** What fails because the process has died says nothing; anything else is a fault. */
  const dead = (error: unknown): undefined => {
    if (end === undefined) throw error;
  };

  const second = await openWorking(world, wire.url, { through: mortal, role: 'all' });
  wire.judge = judge;

  /** Who does the rounds. */
  const working = (): Promise<Second> => {
    if (end === undefined) return Promise.resolve(second);
    heir ??= openWorking(world, world.databaseUrl, { role: 'worker' });
    return heir;
  };

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
      const { gateway } = await working();
      const over = Promise.all(gateway.rounds.map((round) => round.runNow()));
      await (end === undefined ? Promise.race([ended, over]) : over);
    },
    async rest() {
      if (end === undefined) closing = second.close();
      await (end === undefined ? closing : (await heir)?.close());
    },
    async close() {
      await closing;
      await wire.close();
    },
  };
}

/** Another gateway that does rounds, those of onlookers left out: they have no part in any flow. */
async function openWorking(world: World, databaseUrl: string, otherwise: Otherwise): Promise<Second> {
  const second = await openSecond(world, manualClock(0), databaseUrl, otherwise);
  const onlookers = second.gateway.rounds.filter(({ name }) => ONLOOKERS.includes(name));
  await Promise.all(onlookers.map((round) => round.stop()));
  return second;
}

/** The names of a pipeline's statements, as far as they can be read in it. */
function statementsOf(bytes: Buffer): string {
  const names = bytes.toString('latin1').matchAll(/B....\0([a-z_0-9]+)\0/gs);
  return [...names].map(([, name]) => name).join(', ');
}
