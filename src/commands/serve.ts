/**
 * `mbongo serve`: runs the gateway until it is told to stop.
 *
 * Invariant: it announces itself only when it answers. Told to stop, it gives load balancers DRAIN_MS to turn away, then accepts
 * nothing more, finishes what is in flight within ten seconds and exits with 0. If its parent process dies, it stops too.
 */

import { Server } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { Gateway, Role } from '../assemble.ts';
import { readConfig, requireSharedDatabase, warningsOf } from '../config.ts';
import { calendar } from '../platform/calendar.ts';
import type { Log, Outbound, Traces } from '../platform/platform.ts';
import { systemCodeOf } from '../platform/system-code.ts';
import { pause } from '../usecases/patience.ts';
import { announce } from './announce.ts';
import { followClock } from './clock.ts';
import { type Address, gatewayProblem } from './listen-problem.ts';
import { type Io, messageOf, printError } from './output.ts';
import { openSandbox } from './serve-demo.ts';
import { closeTooMany, openSupervised, type Supervised } from './serve-supervised.ts';
import { MAX_STOP_MS, openUnlessTold, outliveReplacing, REPLACED_MS, whenToldToStop } from './serve-told.ts';
import { openWorld, type World } from './world.ts';

/**
 * 60 %: by how much the heap may grow before the next full garbage collection. By default it grows to three times the live data,
 * all of which stays resident. The memory is worth more in the young generation (platform/node-flags.ts).
 */
const HEAP_GROWTH = '--heap-growing-percent=60';

/**
 * Detaches an array buffer, so that it happens before anything is compiled. As long as no buffer has ever been detached in a process,
 * V8 compiles code that reads buffers (timers, sockets, parsers) on that assumption, and discards all such code once one is. The
 * HTTP client's WebAssembly detaches one when its memory grows, which is under load: 130 functions were compiled anew, and turns of
 * the event loop took 150 ms for most of a second.
 */
function detachBufferEarly(): void {
  const buffer = new ArrayBuffer(1);
  structuredClone(buffer, { transfer: [buffer] });
}

/** Returns the exit status, once the gateway has stopped. */
export async function serve(io: Io, role: Role, json: boolean): Promise<number> {
  const stopping = whenToldToStop(io.env);
  outliveReplacing(() => undefined);
  setFlagsFromString(HEAP_GROWTH);
  detachBufferEarly();
  const supervised = openSupervised();
  const loading = loadParts();
  // If the world cannot be opened, that error is reported, not this one.
  loading.catch(() => undefined);
  const fail = (error: unknown): number => {
    if (supervised === undefined) printError(io, error, json);
    else supervised.failed(messageOf(error));
    return 1;
  };
  try {
    requireSharedDatabase(readConfig(io.env), role);
    const world = await openUnlessTold(openWorld(io, json ? 'beside' : 'output'), stopping);
    if (world === undefined) return 0;
    try {
      return await runGateway(world, { io, role, json, stopping, supervised, loading, fail });
    } finally {
      await world.close();
    }
  } catch (error) {
    return fail(error);
  } finally {
    if (process.connected === true) process.disconnect();
  }
}

/** Most of a start is spent on loading modules, so it begins before the database is opened, and runs at the same time. */
async function loadParts() {
  const [{ createOutbound }, { openMetrics }, { assembleGateway }] = await Promise.all([
    import('../platform/outbound.ts'),
    import('../platform/metrics.ts'),
    import('../assemble.ts'),
  ]);
  return { createOutbound, openMetrics, assembleGateway };
}

interface Serving {
  readonly io: Io;
  readonly role: Role;
  readonly json: boolean;
  readonly stopping: Promise<string>;
  readonly supervised: Supervised | undefined;
  readonly loading: ReturnType<typeof loadParts>;
  /** Reports why it does not serve. Returns the exit status. */
  readonly fail: (error: unknown) => number;
}

/** Returns the exit status. */
async function runGateway(world: World, serving: Serving): Promise<number> {
  const { supervised, fail } = serving;
  const { config, log } = world;
  if (supervised === undefined) {
    outliveReplacing(() => log.warn('not_replaced', { reason: 'only a supervisor replaces processes: --processes' }));
    for (const { about, detail } of warningsOf(config)) log.warn('configuration', { about, detail });
  }
  const opened = await openGateway(world, serving);
  const { gateway, outbound, traces } = opened;
  const following = world.testClock && followClock(world.testClock, gateway.deps);
  if (supervised !== undefined) closeTooMany(gateway.app.server);
  // An error is reported before the stop, which may take too long.
  const status = await serveUntilTold(world, serving, opened).then(() => 0, fail);
  return stopInTime(status, { log, fail }, async () => {
    if (gateway.app.server.listening) await supervised?.leave();
    await Promise.all([following?.stop(), gateway.stop()]);
    await Promise.all([outbound.close(), traces?.close()]);
  });
}

interface Opened {
  readonly gateway: Gateway;
  readonly outbound: Outbound;
  readonly traces: Traces | undefined;
}

/** The gateway, and what it reaches others by; it does not listen yet. */
async function openGateway(world: World, { role, supervised, loading }: Serving): Promise<Opened> {
  const { config, clock, random, secrets, log } = world;
  const { createOutbound, openMetrics, assembleGateway } = await loading;
  const sandbox = config.mode === 'sandbox';
  const outbound = createOutbound({
    allowLoopback: sandbox,
    requireHttps: !sandbox,
    networks: config.receiverNetworks,
  });
  const own = openMetrics({ ofProcess: true, role });
  const metrics = supervised?.joined(own) ?? own;
  const traces = config.traces && (await import('../platform/traces.ts')).openTraces(config.traces, world);
  const doors = { clock, calendar, random, secrets, outbound, log, metrics };
  const platform = traces === undefined ? doors : { ...doors, traces };
  const assembling = assembleGateway(config, platform, { databaseUrl: world.databaseUrl, role });
  // The gateway opens its own store, so the world's is closed.
  const [gateway] = await Promise.all([assembling, world.store.close()]);
  supervised?.answerWith(async () => {
    await gateway.refreshMetrics();
    return (await own.page()).body;
  });
  return { gateway, outbound, traces };
}

/** Listens, says so, and serves until told to stop; then drains. */
async function serveUntilTold(world: World, serving: Serving, { gateway, outbound }: Opened): Promise<void> {
  const { io, role, json, stopping, supervised } = serving;
  const { host, port, workerPort } = world.config;
  const url = role === 'worker' ? undefined : await listen(gateway, { host, port, variable: 'PORT' });
  if (role === 'worker' && workerPort !== undefined) {
    await listen(gateway, { host, port: workerPort, variable: 'WORKER_PORT' });
  }
  if (supervised !== undefined) {
    supervised.ready(url);
    return stopOrReplaced(world, gateway, stopping, supervised, url !== undefined);
  }
  const opening = url === undefined ? undefined : await openSandbox(world, gateway.store, outbound, url);
  announce(io, json, url, opening?.notes ?? []);
  const reason = await stopping;
  opening?.giveUp();
  return drain(world, gateway, reason, url !== undefined);
}

/** Stops, and returns the exit status; if stopping takes longer than `MAX_STOP_MS`, the process exits with that status. */
async function stopInTime(
  status: number,
  { log, fail }: { readonly log: Log; readonly fail: Serving['fail'] },
  stop: () => Promise<void>,
): Promise<number> {
  let last = status;
  const overdue = setTimeout(() => {
    log.warn('stop_overdue');
    process.exit(last);
  }, MAX_STOP_MS);
  try {
    await stop();
    clearTimeout(overdue);
  } catch (error) {
    last = fail(error);
    // Anything left open keeps the process alive until the limit at most.
    overdue.unref();
  }
  return last;
}

/** Waits until told to stop, which drains for load balancers, or replaced, which needs no drain: others serve the same port. */
async function stopOrReplaced(
  world: World,
  gateway: Gateway,
  stopping: Promise<string>,
  supervised: Supervised,
  listens: boolean,
): Promise<void> {
  const reason = await Promise.race([stopping, supervised.replaced]);
  if (reason !== undefined) return drain(world, gateway, reason, listens);
  world.log.info('stopping', { reason: 'replaced' });
  if (!listens) return;
  // New connections go to the other processes at once; keep-alive connections end with their next response.
  Server.prototype.close.call(gateway.app.server);
  gateway.app.server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  await pause(world.clock, REPLACED_MS);
}

async function drain({ log, config, clock }: World, gateway: Gateway, reason: string, listens: boolean): Promise<void> {
  log.info('stopping', { reason });
  // Ctrl+C, or a parent that has died, needs no drain for load balancers; a worker has none.
  if (reason !== 'SIGTERM' || !listens || config.drainMs === 0) return;
  gateway.drain();
  await pause(clock, config.drainMs);
}

/** Starts to listen. @throws Error that names the variable to change, if listening is not possible. */
async function listen(gateway: { listen(): Promise<string> }, address: Address): Promise<string> {
  try {
    return await gateway.listen();
  } catch (error) {
    const code = systemCodeOf(error);
    throw code !== undefined ? new Error(await gatewayProblem(code, address), { cause: error }) : error;
  }
}
