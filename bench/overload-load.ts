/**
 * The overload's load: payments begin at a fixed rate, whatever becomes of earlier ones, and each is read once.
 *
 * Runs as a process of its own: reads one JSON order from its arguments, prints one JSON line. First it finds the peak with
 * a closed loop of connections; then it offers a multiple of it; then half of it, until the gateway has recovered. A client
 * that is refused does not retry. Invariant: whatever a report counts as acknowledged and untold was lost.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { evenArrivals } from './arrivals.ts';
import { openPool, type Pool, type Spoken } from './overload-wire.ts';
import { type Latency, latencyOf } from './stats.ts';
import { openReceiver } from './wire.ts';

export interface OverloadOrder {
  readonly gateway: string;
  /** `key_id:secret`, one per merchant. */
  readonly credentials: readonly string[];
  readonly receiverPort: number;
  readonly warmupSeconds: number;
  readonly peakSeconds: number;
  /** The multiple of the peak that is offered. */
  readonly factor: number;
  /** The least payments per second to offer, in case the machine was disturbed while the peak was measured. */
  readonly leastPerSecond?: number;
  /** Seconds of overload that do not count, while earlier work ends and the queues fill. None if absent. */
  readonly leadSeconds?: number;
  readonly overloadSeconds: number;
  /** The overload continues until this many have been refused: a starved machine takes its time to read requests. */
  readonly leastRefused?: number;
  /** How long to wait, at half of the peak, for the gateway to recover. */
  readonly recoverySeconds: number;
}

export type Kind = 'begin' | 'collect' | 'finish' | 'read';

export interface KindReport {
  readonly offered: number;
  readonly admitted: Latency;
  readonly refused: Latency;
  /** Refusals other than 503 with code 1402 and a Retry-After of a few seconds. */
  readonly malformed: number;
  /** Calls whose connection broke. */
  readonly broken: number;
  /** Calls for which no connection was free. */
  readonly unsent: number;
  /** Other answers, by status. */
  readonly others: { readonly [status: string]: number };
}

export interface OverloadReport {
  /** Complete payments per second: settled, and their webhook acknowledged. */
  readonly peakPerSecond: number;
  readonly offeredPerSecond: number;
  readonly goodPerSecond: number;
  readonly kinds: { readonly [kind in Kind]: KindReport };
  /** From the end of the overload to the first second without refusals in which nearly as many completed as began (90 %). */
  readonly recoveredAfterSeconds: number | undefined;
  /** Acknowledged by an answer, and never told by a webhook. */
  readonly lost: number;
  readonly connections: number;
  /** CPU time of this process during the overload. */
  readonly cpuSeconds: number;
  /** How late this process's own timers were (99th percentile): what it adds to each latency, in milliseconds. */
  readonly ownLagMs: number;
}

interface Tally {
  offered: number;
  readonly admitted: number[];
  readonly refused: number[];
  malformed: number;
  broken: number;
  unsent: number;
  readonly others: Record<string, number>;
}

/** 1 500 connections, opened beforehand: clients keep theirs, and the speed of accepting new ones is not measured here. */
const CONNECTIONS = 1_500;
const PEAK_CALLERS = 64;
const LOOK_EVERY_MS = 250;
/** 480 checks at most whether enough have been refused, and whether all have been told. */
const LOOKS = 480;

const emptyTally = (): Tally => ({
  offered: 0,
  admitted: [],
  refused: [],
  malformed: 0,
  broken: 0,
  unsent: 0,
  others: {},
});
const emptyTallies = (): Record<Kind, Tally> => ({
  begin: emptyTally(),
  collect: emptyTally(),
  finish: emptyTally(),
  read: emptyTally(),
});

let tallies = emptyTallies();
let refusals = 0;
let completed = 0;
let begun = 0;
let number = 0;
const submitted = new Set<string>();
const told = new Set<string>();

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function hear(webhook: string): void {
  const id = /"transaction_id":"([^"]+)"/.exec(webhook)?.[1] ?? '';
  if (told.has(id)) return;
  told.add(id);
  if (submitted.has(id)) completed += 1;
}

function acknowledge(id: string): void {
  submitted.add(id);
  if (told.has(id)) completed += 1;
}

/** Records the outcome of a call; returns the body if it succeeded. */
function note(kind: Kind, said: Spoken): string | undefined {
  const tally = tallies[kind];
  if (typeof said === 'string') {
    if (said === 'broken') tally.broken += 1;
    else tally.unsent += 1;
    return undefined;
  }
  if (said.status < 300) {
    tally.admitted.push(said.ms);
    return said.body;
  }
  if (said.status !== 503) {
    tally.others[said.status] = (tally.others[said.status] ?? 0) + 1;
    return undefined;
  }
  refusals += 1;
  tally.refused.push(said.ms);
  const isWellFormed = said.body.includes('"error_code":"1402"') && (said.retryAfter ?? 0) > 0;
  if (!isWellFormed) tally.malformed += 1;
  return undefined;
}

function fieldOf(body: string, name: string): string {
  return new RegExp(`"${name}":"([^"]+)"`).exec(body)?.[1] ?? '';
}

/** The texts of requests to one gateway. */
function writerOf({ gateway }: OverloadOrder) {
  const { host } = new URL(gateway);
  const head = (method: string, path: string, bearer: string): string =>
    `${method} /api/v1${path} HTTP/1.1\r\nhost: ${host}\r\naccept-language: en\r\nauthorization: Bearer ${bearer}\r\n`;
  return {
    get: (path: string, bearer: string): string => `${head('GET', path, bearer)}\r\n`,
    post(path: string, bearer: string, body: object): string {
      const text = JSON.stringify(body);
      return `${head('POST', path, bearer)}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    },
  };
}

type Ask = (kind: Kind, request: string) => Promise<string | undefined>;

function askerOf(pool: Pool): Ask {
  return (kind, request) => {
    tallies[kind].offered += 1;
    return new Promise((done) => pool.call(request, (said) => done(note(kind, said))));
  };
}

/** One payment, up to the answer to its submit; returns the request that reads it. */
async function pay(order: OverloadOrder, ask: Ask): Promise<string | undefined> {
  const write = writerOf(order);
  number += 1;
  begun += 1;
  const mine = number;
  const credential = order.credentials[mine % order.credentials.length] ?? '';
  const phone = `+24381${String(mine % 100_000).padStart(5, '0')}01`;
  const session = { amount: '5.00', currency: 'usd', customer_reference: `overload-${mine}` };
  const minted = await ask('begin', write.post('/internal/sessions/create', credential, session));
  if (minted === undefined) return undefined;
  const token = fieldOf(minted, 'session_token');
  const wanted = {
    payment_method: 'mobile_money',
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    phone_number: phone,
    notify_url: `http://127.0.0.1:${order.receiverPort}/hook`,
  };
  const collected = await ask('collect', write.post('/payments/collect', token, wanted));
  if (collected === undefined) return undefined;
  const submit = {
    payment_id: fieldOf(collected, 'payment_id'),
    payment_method_id: 'mobile_money',
    mobile_money_phone_number: phone,
  };
  const answer = await ask('finish', write.post('/payments/submit', token, submit));
  if (answer === undefined) return undefined;
  const id = fieldOf(answer, 'transaction_id');
  acknowledge(id);
  return write.get(`/payments/status/${id}`, token);
}

/** Payments per second that a closed loop completes, each with a read. */
async function findPeak(
  order: OverloadOrder,
  ask: Ask,
): Promise<{ readonly perSecond: number; readonly read: string }> {
  let running = true;
  let read = '';
  const callers = Array.from({ length: PEAK_CALLERS }, async () => {
    while (running) {
      const made = await pay(order, ask);
      if (made !== undefined) await ask('read', made);
      read = made ?? read;
    }
  });
  await wait(order.warmupSeconds * 1000);
  const [from, before] = [performance.now(), completed];
  await wait(order.peakSeconds * 1000);
  const perSecond = ((completed - before) / (performance.now() - from)) * 1000;
  running = false;
  await Promise.all(callers);
  return { perSecond, read };
}

/** Begins `perSecond` payments per second, and as many reads, until told to stop. */
function offer(order: OverloadOrder, ask: Ask, perSecond: number, read: string): () => void {
  const arrivals = evenArrivals(perSecond);
  const from = performance.now();
  const timer = setInterval(() => {
    for (const _due of arrivals.dueBy(performance.now() - from)) {
      void pay(order, ask);
      void ask('read', read);
    }
  }, 2);
  return () => clearInterval(timer);
}

/** Seconds until a second begins in which nothing is refused and nearly as much completes as begins; undefined if none does. */
async function recovered(limitSeconds: number): Promise<number | undefined> {
  const from = performance.now();
  let good = 0;
  while (performance.now() - from < limitSeconds * 1000) {
    const before = { refusals, completed, begun };
    await wait(LOOK_EVERY_MS);
    const isGood = refusals === before.refusals && completed - before.completed >= (begun - before.begun) * 0.9;
    good = isGood ? good + LOOK_EVERY_MS : 0;
    if (good >= 1_000) return (performance.now() - from - good) / 1000;
  }
  return undefined;
}

function reportOf(tally: Tally): KindReport {
  return { ...tally, admitted: latencyOf(tally.admitted), refused: latencyOf(tally.refused) };
}

async function run(order: OverloadOrder): Promise<OverloadReport> {
  const close = await openReceiver(order.receiverPort, hear);
  const pool = openPool(order.gateway, CONNECTIONS);
  const ask = askerOf(pool);
  const peak = await findPeak(order, ask);
  await pool.open(CONNECTIONS, `GET /health HTTP/1.1\r\nhost: ${new URL(order.gateway).host}\r\n\r\n`);
  const offeredPerSecond = Math.max(peak.perSecond * order.factor, order.leastPerSecond ?? 0);
  const stopOverload = offer(order, ask, offeredPerSecond, peak.read);
  await wait((order.leadSeconds ?? 0) * 1000);
  tallies = emptyTallies();
  refusals = 0;
  const cpu = process.cpuUsage();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const [from, before] = [performance.now(), completed];
  await wait(order.overloadSeconds * 1000);
  const tooFew = (): boolean => refusals < (order.leastRefused ?? 0);
  for (let looks = 0; looks < LOOKS && tooFew(); looks += 1) await wait(LOOK_EVERY_MS);
  const goodPerSecond = ((completed - before) / (performance.now() - from)) * 1000;
  stopOverload();
  const overloaded = tallies;
  const used = process.cpuUsage(cpu);
  lag.disable();
  const connections = pool.size();
  const stopRest = offer(order, ask, Math.max(1, peak.perSecond / 2), peak.read);
  const recoveredAfterSeconds = await recovered(order.recoverySeconds);
  stopRest();
  const isLost = (id: string): boolean => !told.has(id);
  for (let looks = 0; looks < LOOKS && [...submitted].some(isLost); looks += 1) await wait(LOOK_EVERY_MS);
  pool.close();
  close();
  return {
    peakPerSecond: peak.perSecond,
    offeredPerSecond,
    goodPerSecond,
    kinds: {
      begin: reportOf(overloaded.begin),
      collect: reportOf(overloaded.collect),
      finish: reportOf(overloaded.finish),
      read: reportOf(overloaded.read),
    },
    recoveredAfterSeconds,
    lost: [...submitted].filter(isLost).length,
    connections,
    cpuSeconds: (used.user + used.system) / 1e6,
    ownLagMs: lag.percentile(99) / 1e6,
  };
}

const report = await run(JSON.parse(process.argv[2] ?? '{}') as OverloadOrder);
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
