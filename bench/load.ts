/**
 * The load: complete mobile-money payments over real HTTP, from as many connections as asked for.
 *
 * Each caller mints a session, collects, submits, and goes on with the next payment. A payment counts as complete when
 * its webhook has been acknowledged by the receiver in this process, so that nothing is counted that a merchant has
 * not heard of. Runs as a process of its own: `load.js` reads one JSON order from its arguments, prints one JSON line.
 */

import { type Latency, latencyOf } from './stats.ts';
import { type Answer, type Caller, openCaller, openReceiver } from './wire.ts';

export interface LoadOrder {
  readonly gateway: string;
  /** `key_id:secret`, one a merchant. */
  readonly credentials: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly receiverPort: number;
  /** Distinguishes phone numbers of several runs. */
  readonly run: number;
}

export interface LoadReport {
  /** Complete payments a second: settled, and their webhook acknowledged. */
  readonly paymentsPerSecond: number;
  readonly started: number;
  readonly completed: number;
  /** All that this process brought to its end, before, while and after it measured. */
  readonly total: number;
  readonly errors: { readonly [what: string]: number };
  readonly latency: { readonly [endpoint: string]: Latency };
  /** From the submit's answer to the acknowledged webhook. */
  readonly toWebhook: Latency;
  readonly cpuSeconds: number;
}

const samples: Record<string, number[]> = { mint: [], collect: [], submit: [] };
const toWebhook: number[] = [];
const errors: Record<string, number> = {};
const submittedAt = new Map<string, number>();
const heard = new Map<string, number>();
let measuring = false;
let completed = 0;
let total = 0;
let started = 0;

function note(what: string): void {
  errors[what] = (errors[what] ?? 0) + 1;
}

/** Counts each transaction's final state once. */
function hear(webhook: string): void {
  const { transaction_id: id, status } = JSON.parse(webhook) as { transaction_id: string; status: string };
  if (heard.has(id)) return;
  heard.set(id, performance.now());
  if (status !== 'approved') note(`webhook ${status}`);
  complete(id);
}

/** A payment is complete once both its submit has been answered and its webhook acknowledged. */
function complete(id: string): void {
  const submitted = submittedAt.get(id);
  const told = heard.get(id);
  if (submitted === undefined || told === undefined) return;
  submittedAt.delete(id);
  total += 1;
  if (!measuring) return;
  completed += 1;
  toWebhook.push(Math.max(0, told - submitted));
}

async function post(caller: Caller, path: string, bearer: string, body: object, what: string) {
  const from = performance.now();
  let answer: Answer;
  try {
    answer = await caller.post(`/api/v1${path}`, bearer, body);
  } catch (error) {
    note(`${what} ${(error as Error).message}`);
    // A broken connection fails at once, again and again.
    await wait(0.1);
    return undefined;
  }
  if (measuring) samples[what]?.push(performance.now() - from);
  if (answer.status < 300) return answer;
  note(`${what} ${answer.status} ${String(answer.body.error_code)}`);
  return undefined;
}

let count = 0;

async function payOnce(caller: Caller, order: LoadOrder): Promise<void> {
  count += 1;
  const mine = count;
  const credential = order.credentials[mine % order.credentials.length] ?? '';
  // Numbers that end in 01 approve by themselves.
  const phone = `+24381${String((order.run * 1_000_000 + mine) % 100_000).padStart(5, '0')}01`;
  const minted = await post(
    caller,
    '/internal/sessions/create',
    credential,
    { amount: '5.00', currency: 'usd', customer_reference: `bench-${order.run}-${mine}` },
    'mint',
  );
  if (minted === undefined) return;
  const token = String(minted.body.session_token);
  const collected = await post(
    caller,
    '/payments/collect',
    token,
    {
      payment_method: 'mobile_money',
      user_info: 'full',
      payment_method_info: 'full',
      fee_covered_by: 'buyer',
      delivery_behaviour: 'direct_delivery',
      phone_number: phone,
      notify_url: `http://127.0.0.1:${order.receiverPort}/hook`,
    },
    'collect',
  );
  if (collected === undefined) return;
  const submitted = await post(
    caller,
    '/payments/submit',
    token,
    {
      payment_id: collected.body.payment_id,
      payment_method_id: 'mobile_money',
      mobile_money_phone_number: phone,
    },
    'submit',
  );
  if (submitted === undefined) return;
  const id = String(submitted.body.transaction_id);
  submittedAt.set(id, performance.now());
  if (measuring) started += 1;
  complete(id);
}

const wait = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

async function run(order: LoadOrder): Promise<LoadReport> {
  const close = await openReceiver(order.receiverPort, hear);
  let running = true;
  const callers = Array.from({ length: order.connections }, async () => {
    const caller = openCaller(order.gateway);
    while (running) await payOnce(caller, order);
    caller.close();
  });
  await wait(order.warmupSeconds);
  measuring = true;
  const cpu = process.cpuUsage();
  const from = performance.now();
  await wait(order.seconds);
  const took = (performance.now() - from) / 1000;
  const used = process.cpuUsage(cpu);
  const inTime = completed;
  running = false;
  await Promise.all(callers);
  // What was submitted in time still has to be told, or the run has lost something.
  for (let i = 0; i < 100 && submittedAt.size > 0; i += 1) await wait(0.1);
  if (submittedAt.size > 0) note(`${submittedAt.size} payments without a webhook`);
  const latency = Object.fromEntries(Object.entries(samples).map(([name, list]) => [name, latencyOf(list)]));
  close();
  return {
    paymentsPerSecond: inTime / took,
    started,
    completed: inTime,
    total,
    errors,
    latency,
    toWebhook: latencyOf(toWebhook),
    cpuSeconds: (used.user + used.system) / 1e6,
  };
}

const report = await run(JSON.parse(process.argv[2] ?? '{}') as LoadOrder);
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
