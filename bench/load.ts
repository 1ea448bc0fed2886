/**
 * The load: journeys over real HTTP, from a number of connections that each wait for their answers, or at a fixed rate.
 *
 * A payment counts as complete when its webhook has been acknowledged by the receiver, a separate process, so that
 * nothing is counted that a merchant has not heard of. Runs as a process of its own: `load.js` reads one JSON order from
 * its arguments, prints one JSON line. Invariant: at a fixed rate, latency is measured from when a journey was due.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { evenArrivals } from './arrivals.ts';
import { type Calls, JOURNEYS, type JourneyName, type JourneyOrder, type Said, type Travel } from './journeys.ts';
import type { Heard, HeardMessage } from './receiver.ts';
import { cpuSeconds, type Latency, latencyOf } from './stats.ts';
import { type Answer, type Caller, openCaller } from './wire.ts';

export interface LoadOrder extends JourneyOrder {
  readonly gateway: string;
  readonly journey: JourneyName;
  /** Connections of a closed loop; at a fixed rate there are as many as needed. */
  readonly connections: number;
  /** Journeys per second, whatever becomes of earlier ones; if absent, as fast as they are answered. */
  readonly perSecond?: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
}

export interface LoadReport {
  /** Complete journeys per second. */
  readonly perSecond: number;
  readonly completed: number;
  /** All journeys that this process completed, before, while and after it measured. */
  readonly total: number;
  readonly errors: { readonly [what: string]: number };
  /** By endpoint; `whole` is a payment from its start to its acknowledged webhook. */
  readonly latency: { readonly [what: string]: Latency };
  /** From the submit's answer to the acknowledged webhook. */
  readonly toWebhook: Latency;
  /** From the final state to the acknowledged webhook. */
  readonly toldAfterFinal: Latency;
  /** At a fixed rate: how long after its due time a journey began. It is part of the latency of the journey's first call. */
  readonly lateness: Latency;
  readonly cpuSeconds: number;
  readonly receiverCpuSeconds: number;
}

/** A payment in flight, until it has been answered and told. */
interface UnderWay {
  readonly begunAt: number;
  readonly submittedAt: number;
  /** Whether its completion counts. */
  isMeasured(): boolean;
}

const samples: Record<string, number[]> = {};
const errors: Record<string, number> = {};
const underWay = new Map<string, UnderWay>();
/** Kept for ever, so that a repeated webhook counts once; the value is undefined once it has counted. */
const heard = new Map<string, Heard | undefined>();
let measuring = false;
let completed = 0;
let total = 0;
let count = 0;

const now = (): number => performance.timeOrigin + performance.now();
const wait = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

function note(what: string): void {
  errors[what] = (errors[what] ?? 0) + 1;
}

function sample(what: string, ms: number): void {
  const list = samples[what];
  if (list === undefined) samples[what] = [ms];
  else list.push(ms);
}

/** A connection that is reopened when it has broken. */
interface Connection {
  caller: Caller;
  readonly origin: string;
}

/** Times the calls of a journey. The first call is timed from `dueAt`, if given. */
function callsOver(connection: Connection, isMeasured: () => boolean, dueAt?: number): Calls {
  let from = dueAt;
  const time = async (what: string, send: (caller: Caller) => Promise<Answer>): Promise<Said | undefined> => {
    const begun = from ?? now();
    from = undefined;
    let answer: Answer;
    try {
      answer = await send(connection.caller);
    } catch (error) {
      note(`${what} ${(error as Error).message}`);
      connection.caller.close();
      connection.caller = openCaller(connection.origin);
      // With no server listening, connections would break at once, again and again.
      await wait(0.1);
      return undefined;
    }
    if (isMeasured()) sample(what, now() - begun);
    if (answer.status < 300) return answer.body;
    note(`${what} ${answer.status} ${String(answer.body.error_code)}`);
    return undefined;
  };
  return {
    post: (what, path, bearer, body) => time(what, (caller) => caller.post(`/api/v1${path}`, bearer, body)),
    get: (what, path, bearer) => time(what, (caller) => caller.get(`/api/v1${path}`, bearer)),
  };
}

/** Makes one journey, and records what is still to be told. */
async function goOnce(
  travel: Travel,
  isTold: boolean,
  connection: Connection,
  isMeasured: () => boolean,
  dueAt?: number,
): Promise<void> {
  count += 1;
  const begunAt = dueAt ?? now();
  const end = await travel(callsOver(connection, isMeasured, dueAt), count);
  if (end === undefined) return;
  if (isTold) {
    underWay.set(end, { begunAt, submittedAt: now(), isMeasured });
    complete(end);
    return;
  }
  total += 1;
  if (isMeasured()) completed += 1;
}

function hear({ webhooks }: HeardMessage): void {
  for (const webhook of webhooks) {
    if (heard.has(webhook.id)) continue;
    heard.set(webhook.id, webhook);
    if (webhook.status !== 'approved') note(`webhook ${webhook.status}`);
    complete(webhook.id);
  }
}

/** A payment is complete once both its submit has been answered and its webhook acknowledged. */
function complete(id: string): void {
  const payment = underWay.get(id);
  const told = heard.get(id);
  if (payment === undefined || told === undefined) return;
  underWay.delete(id);
  heard.set(id, undefined);
  total += 1;
  if (!payment.isMeasured()) return;
  completed += 1;
  sample('whole', Math.max(told.acknowledgedAt, payment.submittedAt) - payment.begunAt);
  sample('toWebhook', Math.max(0, told.acknowledgedAt - payment.submittedAt));
  sample('toldAfterFinal', Math.max(0, told.acknowledgedAt - told.finalAt));
}

/** Runs as `order` says; resolves with the number of seconds measured, once everything begun has been answered. */
async function runClosed(order: LoadOrder, travel: Travel, isTold: boolean): Promise<number> {
  let running = true;
  const isMeasured = (): boolean => measuring;
  const callers = Array.from({ length: order.connections }, async () => {
    const connection = { caller: openCaller(order.gateway), origin: order.gateway };
    while (running) await goOnce(travel, isTold, connection, isMeasured);
    connection.caller.close();
  });
  await wait(order.warmupSeconds);
  measuring = true;
  const from = now();
  await wait(order.seconds);
  measuring = false;
  const took = (now() - from) / 1000;
  running = false;
  await Promise.all(callers);
  return took;
}

async function runOpen(order: LoadOrder, perSecond: number, travel: Travel, isTold: boolean): Promise<number> {
  const arrivals = evenArrivals(perSecond);
  const idle: Connection[] = [];
  const going = new Set<Promise<void>>();
  const start = now();
  const measuredFrom = order.warmupSeconds * 1000;
  const end = measuredFrom + order.seconds * 1000;
  const begin = (dueAt: number): void => {
    const counts = dueAt >= measuredFrom;
    if (counts) sample('lateness', now() - start - dueAt);
    const connection = idle.pop() ?? { caller: openCaller(order.gateway), origin: order.gateway };
    const gone = goOnce(travel, isTold, connection, () => counts, start + dueAt).then(() => {
      idle.push(connection);
      going.delete(gone);
    });
    going.add(gone);
  };
  for (let elapsed = 0; elapsed < end; elapsed = now() - start) {
    for (const dueAt of arrivals.dueBy(Math.min(elapsed, end))) begin(dueAt);
    await wait(0.001);
  }
  await Promise.all(going);
  for (const { caller } of idle) caller.close();
  return order.seconds;
}

/** Starts the receiver; resolves when it is listening. */
function startReceiver(port: number): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./receiver.js', import.meta.url)), [String(port)]);
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`the receiver ended with ${code}`)));
    child.on('message', (message: HeardMessage | { readonly type: 'ready' }) => {
      if (message.type === 'heard') hear(message);
      else done(child);
    });
  });
}

async function run(order: LoadOrder): Promise<LoadReport> {
  const { isTold, prepare } = JOURNEYS[order.journey];
  const receiver = isTold ? await startReceiver(order.receiverPort) : undefined;
  const first = { caller: openCaller(order.gateway), origin: order.gateway };
  const travel = await prepare(
    order,
    callsOver(first, () => false),
  );
  first.caller.close();
  const took =
    order.perSecond === undefined
      ? await runClosed(order, travel, isTold)
      : await runOpen(order, order.perSecond, travel, isTold);
  // What was submitted in time must still be told, or it counts as lost.
  for (let i = 0; i < 100 && underWay.size > 0; i += 1) await wait(0.1);
  if (underWay.size > 0) note(`${underWay.size} payments without a webhook`);
  const latencies = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, latencyOf(samples[name] ?? [])]));
  const { toWebhook, toldAfterFinal, lateness, ...endpoints } = samples;
  const receiverCpuSeconds = receiver?.pid === undefined ? 0 : cpuSeconds(receiver.pid);
  receiver?.kill('SIGTERM');
  const { user, system } = process.cpuUsage();
  return {
    perSecond: completed / took,
    completed,
    total,
    errors,
    latency: latencies(Object.keys(endpoints)),
    toWebhook: latencyOf(toWebhook ?? []),
    toldAfterFinal: latencyOf(toldAfterFinal ?? []),
    lateness: latencyOf(lateness ?? []),
    cpuSeconds: (user + system) / 1e6,
    receiverCpuSeconds,
  };
}

const report = await run(JSON.parse(process.argv[2] ?? '{}') as LoadOrder);
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
