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
import type { OperatorDeps } from '../../src/usecases/operator.ts';
import { openSecond, type Second } from '../api/second-gateway.ts';
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
  operate<T>(command: (deps: OperatorDeps) => Promise<T>): Promise<T | undefined>;
  /** At which step it has died, in words; undefined: it lives. */
  end(): string | undefined;
  /** Ends it, if it lives. Resolves when nothing of it is left, for which time may have to pass. */
  close(): Promise<void>;
}

/** The first byte of a pipeline that runs something, and the name of what takes leases (PostgreSQL's protocol: Bind). */
const BIND = 'B'.charCodeAt(0);
const TAKES_LEASES = 'claim_due_';

export async function openMortal(world: World, death: Death): Promise<Mortal> {
  const wire = await openWire(world.databaseUrl);
  let gateway: Second | undefined;
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
    gateway?.gateway.app.server.closeAllConnections();
    closing = gateway?.close();
    tellEnd();
  };

  /** Counts a step, and says whether it is the last. */
  const isLast = (): boolean => {
    steps += 1;
    return end === undefined && steps === death.step;
  };

  const judge = (line: string, bytes: Buffer): Fate => {
    if (death.when === 'before' || bytes[0] !== BIND) return 'carried';
    if ((line !== 'commit' && !bytes.includes(TAKES_LEASES)) || !isLast()) return 'carried';
    return () => die(`${line === 'commit' ? 'a commit' : 'a lease'} (${statementsOf(bytes)})`);
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

  const second = await openSecond(world, manualClock(0), wire.url, { through: mortal, role: 'all' });
  gateway = second;
  wire.judge = judge;
  return {
    call: (method, path, options) =>
      Promise.race([ended, callAt(second.url, method, path, options).catch(() => undefined)]),
    async operate(command) {
      return end === undefined ? Promise.race([ended, command(second.gateway.deps).catch(dead)]) : undefined;
    },
    end: () => end,
    async close() {
      await (closing ?? second.close());
      await wire.close();
    },
  };
}

/** The names of a pipeline's statements, as far as they can be read in it. */
function statementsOf(bytes: Buffer): string {
  const names = bytes.toString('latin1').matchAll(/B....\0([a-z_0-9]+)\0/gs);
  return [...names].map(([, name]) => name).join(', ');
}
