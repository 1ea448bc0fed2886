/**
 * `mbongo serve`: runs the gateway until it is told to stop.
 *
 * Invariant: it announces itself only when it answers; told to stop, it accepts nothing more, finishes what is in
 * flight within ten seconds and ends with 0. When whoever started it dies, it stops too.
 */

import { warningsOf } from '../config.ts';
import { calendar } from '../platform/calendar.ts';
import type { Outbound } from '../platform/platform.ts';
import { followClock } from './clock.ts';
import { type Demo, demoNotes, openDemo } from './demo.ts';
import { printError, type Surroundings } from './output.ts';
import { openWorld, type World } from './world.ts';

export type Role = 'all' | 'api' | 'worker';

const STOP_LIMIT_MS = 10_000;
/** The sandbox starts beside us: how often, and how long apart, it is told what it needs of the demo. */
const TELL_TRIES = 20;
const TELL_EVERY_MS = 500;

/** Returns the exit status, once the gateway has stopped. */
export async function serve(around: Surroundings, role: Role, json: boolean): Promise<number> {
  const stopping = whenToldToStop();
  try {
    const world = await openWorld(around, 'output');
    try {
      await runGateway(world, role, around, json, stopping);
    } finally {
      await world.close();
    }
    return 0;
  } catch (error) {
    printError(around, error, json);
    return 1;
  } finally {
    if (process.connected === true) process.disconnect();
  }
}

async function runGateway(
  world: World,
  role: Role,
  around: Surroundings,
  json: boolean,
  stopping: Promise<string>,
): Promise<void> {
  const { config, clock, random, secrets, log } = world;
  const [{ createOutbound }, { openMetrics }, { assembleGateway }] = await Promise.all([
    import('../platform/outbound.ts'),
    import('../platform/metrics.ts'),
    import('../assemble.ts'),
  ]);
  const sandbox = config.mode === 'sandbox';
  for (const { about, detail } of warningsOf(config)) log.warn('configuration', { about, detail });
  const outbound = createOutbound({ allowLoopback: sandbox, requireHttps: !sandbox });
  const metrics = openMetrics({ ofProcess: true });
  const platform = { clock, calendar, random, secrets, outbound, log, metrics };
  const gateway = await assembleGateway(config, platform, { databaseUrl: world.databaseUrl, role });
  const following = world.testClock && followClock(world.testClock, gateway.deps);
  try {
    const url = role === 'worker' ? undefined : await listen(gateway, config.port);
    const deps = { store: gateway.store, clock, random, secrets, mode: config.mode };
    const demo = sandbox && url !== undefined ? await openDemo(deps, config.dataDir) : undefined;
    const sandboxUrl = `http://127.0.0.1:${config.sandboxPort}`;
    announce(around, json, url, demo === undefined || url === undefined ? [] : demoNotes(demo, url, sandboxUrl));
    const telling = demo === undefined || url === undefined ? [] : tellSandbox(world, outbound, url, demo);
    const reason = await stopping;
    for (const giveUp of telling) giveUp();
    log.info('stopping', { reason });
  } finally {
    const overdue = setTimeout(() => process.exit(0), STOP_LIMIT_MS);
    await Promise.all([following?.stop(), gateway.stop()]);
    await outbound.close();
    clearTimeout(overdue);
  }
}

/** Starts to listen; a port that is taken is named with the variable that chooses another. */
async function listen(gateway: { listen(): Promise<string> }, port: number): Promise<string> {
  try {
    return await gateway.listen();
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw taken ? new Error(`port ${port} is taken by another program: set PORT`, { cause: error }) : error;
  }
}

/** Resolves with the reason: a signal, or the end of the process that started this one. */
function whenToldToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
    process.on('disconnect', () => resolve('the parent process has ended'));
  });
}

/** Tells the supervisor, or whoever reads standard output, that the gateway answers. */
function announce(around: Surroundings, json: boolean, url: string | undefined, notes: readonly string[]): void {
  if (process.send !== undefined) {
    process.send({ type: 'ready', url, notes });
    return;
  }
  if (json) around.write(`${JSON.stringify({ type: 'ready', url: url ?? null })}\n`);
  else around.write([url === undefined ? 'working' : `listening on ${url}`, ...notes, ''].join('\n'));
}

/**
 * Hands the demo's webhook secret to the sandbox's inbox, which then can say whether signatures verify, and its
 * credential to the sandbox's shop, which then can sell. Returns what gives them up.
 */
function tellSandbox(world: World, outbound: Outbound, url: string, demo: Demo): (() => void)[] {
  const { webhook_secret } = demo;
  const credential = `${demo.key_id}:${demo.secret}`;
  const shop = { gateway_url: world.config.publicUrl, api: `${url}/api/v1`, credential, webhook_secret };
  return [
    tell(world, outbound, '/inbox/demo/secret', { secret: webhook_secret }),
    tell(world, outbound, '/shop/credential', shop),
  ];
}

/** Best effort: the sandbox may start later than we do, or not at all. Returns what gives it up. */
function tell(world: World, outbound: Outbound, path: string, body: object): () => void {
  let cancel: () => void = () => undefined;
  let given = false;
  const send = async (triesLeft: number): Promise<void> => {
    const answer = await outbound.request({
      method: 'PUT',
      url: `http://127.0.0.1:${world.config.sandboxPort}${path}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeout: 2_000,
      trust: 'upstream',
      answerLimit: 1_024,
    });
    const known = answer.kind === 'answered' && answer.status < 300;
    if (known || given || triesLeft <= 1) return;
    cancel = world.clock.after(TELL_EVERY_MS, () => void send(triesLeft - 1));
  };
  void send(TELL_TRIES);
  return () => {
    given = true;
    cancel();
  };
}
