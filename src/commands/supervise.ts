/**
 * `mbongo serve --processes N`: runs several processes that answer at one port, and workers beside them.
 *
 * Invariant: it announces itself when all of them serve; work that is done once per node is done here. Told to stop, it exits
 * with 0 when all have stopped. No process outlives it, however it ends: the channel to it closes, and they stop.
 */
import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import type { Role } from '../assemble.ts';
import { readConfig, requireSharedDatabase, warningsOf } from '../config.ts';
import { systemClock } from '../platform/clock.ts';
import { announce } from './announce.ts';
import { type Io, messageOf, printError } from './output.ts';
import { openSandbox } from './serve-demo.ts';
import { type Slot, slotsOf } from './serve-processes.ts';
import { MAX_STOP_MS, openUnlessTold, STOP_MARGIN_MS, whenToldToStop } from './serve-told.ts';
import type { Member } from './supervise-member.ts';
import { collectMetrics } from './supervise-metrics.ts';
import { openSlots, type Slots } from './supervise-slots.ts';
import { openWorld, type World } from './world.ts';

/** Returns the exit status, once all processes have ended. */
export async function supervise(io: Io, role: Role, processes: number, json: boolean): Promise<number> {
  const stopping = whenToldToStop(io.env);
  const onReplace = whenToldToReplace();
  try {
    requireSharedDatabase(readConfig(io.env), role);
    const world = await openUnlessTold(openWorld(io, json ? 'beside' : 'output'), stopping);
    if (world === undefined) return 0;
    try {
      await runSlots(world, slotsOf(role, processes), { io, json, stopping, onReplace });
    } finally {
      await world.close();
    }
    return 0;
  } catch (error) {
    return printError(io, error, json);
  } finally {
    if (process.connected === true) process.disconnect();
  }
}

interface RunOptions {
  readonly io: Io;
  readonly json: boolean;
  readonly stopping: Promise<string>;
  readonly onReplace: (replace: () => void) => void;
}

async function runSlots(world: World, list: readonly Slot[], options: RunOptions): Promise<void> {
  const { io, json, stopping, onReplace } = options;
  const { config, log } = world;
  for (const { about, detail } of warningsOf(config)) log.warn('configuration', { about, detail });
  // The processes open their own stores; only a sandbox needs this one, to seed the demo once they serve.
  if (config.mode !== 'sandbox') await world.store.close();
  // Connections are shared evenly. This process owns the port, so that no client is refused while a process is replaced.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // The machine's clock, not the test clock, which has nothing to do with how long a process lives.
  const clock = systemClock();
  const metricsOfAll = collectMetrics(clock, () => slots);
  const slots = openSlots(list, { clock, log, writeError: passError, heard: metricsOfAll.heard });
  try {
    const url = await Promise.race([allStarted(slots), stopping.then(() => 'stopping' as const)]);
    if (url === 'stopping') return;
    const opening = url.url === undefined ? undefined : await openDemoOf(world, url.url);
    await world.store.close();
    announce(io, json, url.url, opening?.notes ?? []);
    onReplace(replacer(slots, world));
    log.info('stopping', { reason: await stopping });
    await opening?.close();
  } finally {
    await slots.stop(config.drainMs + MAX_STOP_MS + STOP_MARGIN_MS);
  }
}

/** Passes on the processes' error output at once or not at all: nothing may be left waiting when this process is to end. */
function passError(text: string): void {
  try {
    // Accessing `process.stderr` makes the stream non-blocking, so that a full pipe does not block.
    writeSync(process.stderr.fd, text);
  } catch {
    // Nothing reads the stream just now.
  }
}

/** Where the processes listen, once all serve. @throws Error with the message of the first that could not start. */
async function allStarted(slots: Slots): Promise<{ readonly url: string | undefined }> {
  const urls = await Promise.all(slots.members().map(urlOf));
  return { url: urls.find((url) => url !== undefined) };
}

async function urlOf({ started }: Member): Promise<string | undefined> {
  const outcome = await started;
  if ('failed' in outcome) throw new Error(outcome.failed);
  return outcome.url;
}

/**
 * SIGUSR2 asks for new processes. It is handled from the start, because unhandled it would end this process; a request that comes
 * before all processes serve is carried out once they do.
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

/** Returns a function that puts new processes into all slots, one after the other: a new build without downtime. */
function replacer(slots: Slots, { log }: World): () => void {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last
      .then(() => slots.replaceAll())
      .catch((error: unknown) => log.error('replacing_failed', { reason: messageOf(error) }));
  };
}

/** Seeds the demo of a sandbox, and tells the sandbox networks about it. */
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
