/**
 * Two gateways on one database, each behind a wire of its own, that can be killed, cut off, or left waiting at any moment.
 *
 * Invariant: one that was killed reaches nobody any more, and another one has taken its place. They work as in production, where
 * clocks are compared with the database's. Their clocks differ, and so do their rings of keys, as while a new master key is rolled
 * out.
 */
import { fileURLToPath } from 'node:url';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import type { Outbound, OutboundAnswer, OutboundRequest, Secrets } from '../../src/platform/platform.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { openWire, type Wire } from '../support/wire.ts';
import { WORLD_MASTER_KEY, type World } from '../support/world.ts';
import { ONLOOKERS } from './mortal.ts';
import { type Clocks, openClocks, type Which } from './pair-clocks.ts';

export interface Member {
  readonly url: string;
  readonly name: string;
  readonly wire: Wire;
  /** The answer to its next commit is lost, and its connections break. */
  loseCommit: boolean;
  isDead: boolean;
}

export interface Pair {
  readonly clocks: Clocks;
  /** Those that live: always two. */
  members(): readonly [Member, Member];
  kill(which: Which): Promise<void>;
  /** Starts every round of both once; does not wait for them. */
  runRounds(): void;
  /** Ends the wires' faults. */
  heal(): void;
  /** Resolves when nothing of them is left, for which time has to pass. */
  close(): Promise<void>;
}

/** The sender of what a member calls. */
export type Through = (outbound: Outbound, request: OutboundRequest) => Promise<OutboundAnswer>;

/** The sandbox's numbers, of which production knows none. */
const ROUTES = fileURLToPath(new URL('../../src/connectors/routes/sandbox.json', import.meta.url));
const NEW_KEY = Buffer.alloc(32, 8).toString('base64');
const DEAD: OutboundAnswer = { kind: 'lost', reason: 'dead' };
/** The first byte of a pipeline that executes something (PostgreSQL's protocol: Bind). */
const BIND = 'B'.charCodeAt(0);

type Running = Member & { readonly second: Second };

export async function openPair(world: World, through: Through): Promise<Pair> {
  const { deps } = world.gateway;
  const transactionIds = { bytesOf: bytesOfId, idOf: (bytes: Uint8Array) => idOfBytes('txn', bytes) };
  const ring = (...masterKeys: string[]): Secrets => openSecrets({ masterKeys, random: deps.random, transactionIds });
  const rings = [ring(WORLD_MASTER_KEY, NEW_KEY), ring(NEW_KEY, WORLD_MASTER_KEY)] as const;
  const clocks = await openClocks(world);
  const ends: Promise<unknown>[] = [];
  let born = 0;

  async function start(which: Which): Promise<Running> {
    const wire = await openWire(world.databaseUrl);
    const fate = { loseCommit: false, isDead: false };
    const second = await openSecond(world, manualClock(0), wire.url, {
      role: 'all',
      mode: 'production',
      env: { CARRIER_ROUTES: ROUTES },
      clock: clocks.of(which),
      secrets: rings[which],
      through: (outbound) => ({
        ...outbound,
        async request(request) {
          if (fate.isDead) return DEAD;
          const answer = await through(outbound, request);
          return fate.isDead ? DEAD : answer;
        },
      }),
    });
    const onlookers = second.gateway.rounds.filter(({ name }) => ONLOOKERS.includes(name));
    await Promise.all(onlookers.map((round) => round.stop()));
    wire.judge = (line, bytes) => {
      if (!fate.loseCommit || line !== 'commit' || bytes[0] !== BIND) return 'carried';
      fate.loseCommit = false;
      return () => {
        setImmediate(() => wire.cut());
        return true;
      };
    };
    born += 1;
    return Object.assign(fate, { url: second.url, name: `gateway ${born}`, wire, second });
  }

  const running: [Running, Running] = [await start(0), await start(1)];

  return {
    clocks,
    members: () => running,
    async kill(which) {
      const one = running[which];
      one.isDead = true;
      one.wire.refuse = true;
      one.wire.release();
      one.wire.cut();
      one.second.gateway.app.server.closeAllConnections();
      ends.push(one.second.close().then(() => one.wire.close()));
      running[which] = await start(which);
    },
    runRounds() {
      for (const { second } of running) {
        for (const round of second.gateway.rounds) if (!ONLOOKERS.includes(round.name)) void round.runNow();
      }
    },
    heal() {
      for (const one of running) {
        one.loseCommit = false;
        one.wire.refuse = false;
        one.wire.release();
      }
    },
    async close() {
      await Promise.all([...ends, ...running.map(({ second, wire }) => second.close().then(() => wire.close()))]);
    },
  };
}
