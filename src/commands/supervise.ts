/**
 * `mbongo serve --processes N`: several processes that answer at one port, and workers beside them, run as one.
 *
 * Invariant: it announces itself when all of them serve; what happens once a node happens here. Told to stop, it ends
 * with 0 when all have stopped. None outlives it, however it ends: the channel to it closes, and they stop.
 */
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import { readConfig, requireSharedDatabase, warningsOf } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { announce } from './announce.ts';
import { messageOf, printError, type Surroundings } from './output.ts';
import { openSandbox } from './serve-demo.ts';
import { type Place, placesOf, type Role } from './serve-processes.ts';
import { openUnlessTold, STOP_LIMIT_MS, STOP_MARGIN_MS, whenToldToStop } from './serve-told.ts';
import { collectNumbers } from './supervise-numbers.ts';
import { type Member, openPlaces, type Places } from './supervise-places.ts';
import { openWorld, type World } from './world.ts';

/** Returns the exit status, once all processes have ended. */
export async function supervise(around: Surroundings, role: Role, processes: number, json: boolean): Promise<number> {
  const stopping = whenToldToStop();
  const onReplace = whenToldToReplace();
  try {
    requireSharedDatabase(readConfig(around.env), role);
    const world = await openUnlessTold(openWorld(around, json ? 'beside' : 'output'), stopping);
    if (world === undefined) return 0;
    try {
      await runPlaces(world, placesOf(role, processes), { around, json, stopping, onReplace });
    } finally {
      await world.close();
    }
    return 0;
  } catch (error) {
    return printError(around, error, json);
  } finally {
    if (process.connected === true) process.disconnect();
  }
}

interface Told {
  readonly around: Surroundings;
  readonly json: boolean;
  readonly stopping: Promise<string>;
  readonly onReplace: (replace: () => void) => void;
}

async function runPlaces(world: World, list: readonly Place[], told: Told): Promise<void> {
  const { around, json, stopping, onReplace } = told;
  const { config, log } = world;
  for (const { about, detail } of warningsOf(config)) log.warn('configuration', { about, detail });
  // The processes have their own; a sandbox's demo is seeded when they serve.
  if (config.mode !== 'sandbox') await world.store.close();
  // Connections are shared out evenly. The port is this process's: while one that serves is replaced, nobody is refused.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Not the sandbox's clock: how long a process lives has nothing to do with it.
  const clock = systemClock();
  const numbers = collectNumbers(clock, () => places);
  const places = openPlaces(list, { clock, log, writeError: passError, heard: numbers.heard });
  try {
    const url = await Promise.race([allStarted(places), stopping.then(() => 'stopping' as const)]);
    if (url === 'stopping') return;
    const opening = url.url === undefined ? undefined : await openDemoOf(world, url.url);
    await world.store.close();
    announce(around, json, url.url, opening?.notes ?? []);
    onReplace(replacer(places, world));
    log.info('stopping', { reason: await stopping });
    await opening?.close();
  } finally {
    await places.stop(config.drainMs + STOP_LIMIT_MS + STOP_MARGIN_MS);
  }
}

/** What the others complain of is passed on at once or not at all: nothing of it may wait when this process is to end. */
function passError(text: string): void {
  try {
    // To have looked at the stream keeps a full pipe from blocking.
    writeSync(process.stderr.fd, text);
  } catch {
    // Nobody hears it just now.
  }
}

/** Where they listen, when all serve. @throws Error what the first one says that does not. */
async function allStarted(places: Places): Promise<{ readonly url: string | undefined }> {
  const urls = await Promise.all(places.members().map(urlOf));
  return { url: urls.find((url) => url !== undefined) };
}

async function urlOf({ started }: Member): Promise<string | undefined> {
  const outcome = await started;
  if ('failed' in outcome) throw new Error(outcome.failed);
  return outcome.url;
}

/**
 * SIGUSR2 asks for new processes. It is listened for from the first moment on, because it would end this one; what was asked
 * for before all serve is done then.
 */
function whenToldToReplace(): (replace: () => void) => void {
  let early = false;
  let onTold = (): void => {
    early = true;
  };
  process.on('SIGUSR2', () => onTold());
  return (replace) => {
    onTold = replace;
    if (early) replace();
  };
}

/** Puts new processes into all places, one after the other: a new build, without an end. */
function replacer(places: Places, { log }: World): () => void {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last
      .then(() => places.replaceAll())
      .catch((error: unknown) => log.error('replacing_failed', { reason: messageOf(error) }));
  };
}

/** Seeds the demo of a sandbox, and tells the networks of it. */
async function openDemoOf(world: World, url: string) {
  const sandbox = world.config.mode === 'sandbox';
  if (!sandbox) return undefined;
  const { createOutbound } = await import('../platform/outbound.ts');
  const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
  const { notes, giveUp } = await openSandbox(world, world.store, outbound, url);
  const close = async (): Promise<void> => {
    giveUp();
    await outbound.close();
  };
  return { notes, close };
}
