/**
 * The load of payouts: batches over real HTTP, as many at once as requested.
 *
 * Each caller mints a session, sends a batch, waits until every line in it is settled and told, and continues with the next.
 * A line counts once both of its webhooks have been acknowledged by the receiver in this process, so that nothing is
 * counted that a merchant has not heard of. Runs as a process of its own: reads one JSON order, prints one JSON line.
 */

import { type Latency, latencyOf } from './stats.ts';
import { type Answer, type Caller, openCaller, openReceiver } from './wire.ts';

export interface PayoutLoadOrder {
  readonly gateway: string;
  /** `key_id:secret`, one per merchant. */
  readonly credentials: readonly string[];
  /** Batches in flight at once. */
  readonly batches: number;
  readonly linesPerBatch: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly receiverPort: number;
  /** Keeps the references of several runs apart. */
  readonly run: number;
}

export interface PayoutLoadReport {
  /** Lines per second: settled, and both webhooks acknowledged. */
  readonly linesPerSecond: number;
  readonly completed: number;
  /** All lines that this process completed, before, while and after it measured. */
  readonly total: number;
  readonly errors: { readonly [what: string]: number };
  readonly send: Latency;
  /** From the answer to the send to the acknowledged final webhook of the batch's last line. */
  readonly toLastWebhook: Latency;
  readonly cpuSeconds: number;
}

interface Batch {
  readonly answeredAt: number;
  left: number;
  done(): void;
}

const send: number[] = [];
const toLastWebhook: number[] = [];
const errors: Record<string, number> = {};
/** The first webhook may overtake the answer: both are kept until they are matched. */
const heard = new Map<string, { first: boolean; final: boolean }>();
const batchOf = new Map<string, Batch>();
let measuring = false;
let completed = 0;
let total = 0;
let count = 0;

function note(what: string): void {
  errors[what] = (errors[what] ?? 0) + 1;
}

function hear(webhook: string): void {
  const { transaction_id: id, status } = JSON.parse(webhook) as { transaction_id: string; status: string };
  const known = heard.get(id) ?? { first: false, final: false };
  heard.set(id, known);
  if (status === 'completed') known.final = true;
  else if (status === 'pending' || status === 'processing') known.first = true;
  else note(`webhook ${status}`);
  complete(id);
}

/** A line is complete once its send has been answered and both of its webhooks have been acknowledged. */
function complete(id: string): void {
  const batch = batchOf.get(id);
  const told = heard.get(id);
  if (batch === undefined || told === undefined || !told.first || !told.final) return;
  batchOf.delete(id);
  heard.delete(id);
  total += 1;
  if (measuring) completed += 1;
  batch.left -= 1;
  if (batch.left > 0) return;
  if (measuring) toLastWebhook.push(performance.now() - batch.answeredAt);
  batch.done();
}

async function post(caller: Caller, path: string, bearer: string, body: object): Promise<Answer['body'] | undefined> {
  try {
    const answer = await caller.post(`/api/v1${path}`, bearer, body);
    if (answer.status < 300) return answer.body;
    note(`${path} ${answer.status} ${String(answer.body.error_code)}`);
  } catch (error) {
    note(`${path} ${(error as Error).message}`);
  }
  // An immediate failure would repeat itself again and again.
  await wait(0.1);
  return undefined;
}

async function payOnce(caller: Caller, order: PayoutLoadOrder): Promise<void> {
  count += 1;
  const mine = count;
  const reference = `payroll-${order.run}-${mine}`;
  const minted = await post(
    caller,
    '/internal/sessions/create',
    order.credentials[mine % order.credentials.length] ?? '',
    {
      amount: '1.00',
      currency: 'usd',
      customer_reference: reference,
      scope: 'payout',
    },
  );
  if (minted === undefined) return;
  const from = performance.now();
  const sent = await post(caller, '/payments/send', String(minted.session_token), {
    customer_reference: reference,
    currency: 'usd',
    receipt_mode: 'mobile_money',
    notify_url: `http://127.0.0.1:${order.receiverPort}/hook`,
    beneficiaries: Array.from({ length: order.linesPerBatch }, (_, line) => ({
      // Numbers that end in 01 are paid by themselves.
      phone_number: `+24381${String((mine * order.linesPerBatch + line) % 100_000).padStart(5, '0')}01`,
      amount: '1.00',
    })),
  });
  if (sent === undefined) return;
  const answeredAt = performance.now();
  if (measuring) send.push(answeredAt - from);
  const ids = (sent.beneficiaries as readonly { transaction_id: string }[]).map((line) => line.transaction_id);
  await new Promise<void>((done) => {
    const batch = { answeredAt, left: ids.length, done };
    for (const id of ids) batchOf.set(id, batch);
    for (const id of ids) complete(id);
  });
}

const wait = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

async function run(order: PayoutLoadOrder): Promise<PayoutLoadReport> {
  const close = await openReceiver(order.receiverPort, hear);
  let running = true;
  const callers = Array.from({ length: order.batches }, async () => {
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
  // What was sent in time must still be settled and told, or it counts as lost.
  await Promise.race([Promise.all(callers), wait(30)]);
  if (batchOf.size > 0) note(`${batchOf.size} lines without both webhooks`);
  close();
  return {
    linesPerSecond: inTime / took,
    completed: inTime,
    total,
    errors,
    send: latencyOf(send),
    toLastWebhook: latencyOf(toLastWebhook),
    cpuSeconds: (used.user + used.system) / 1e6,
  };
}

const report = await run(JSON.parse(process.argv[2] ?? '{}') as PayoutLoadOrder);
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
