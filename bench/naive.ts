/**
 * The yardstick: the same work done naively, by a server of its own on the same PostgreSQL.
 *
 * Mint, collect, submit, the carrier's callback and the webhook, each step as BEGIN, statements, COMMIT on a pooled
 * connection, with `select … for update` on what it changes. Tables of the same shape, the same HTTP server, the same
 * carrier, the same signed webhook; but none of the gateway's cheap checks. What differs is the commit path.
 */

import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import fastify from 'fastify';
import pg from 'pg';
import { Agent, request as dial } from 'undici';

const port = Number(process.env.NAIVE_PORT);
const carrier = String(process.env.CARRIER_URL);
const pool = new pg.Pool({ connectionString: String(process.env.DATABASE_URL), max: 16 });
const agent = new Agent({ connections: 64, pipelining: 1 });

const SCHEMA = `
  create table if not exists n_session (id text primary key, token_hash text unique, amount bigint, currency text,
    reference text, status text, version int, expires_at timestamptz);
  create table if not exists n_payment (id text primary key, session_id text, status text, amount bigint, currency text,
    notify_url text, msisdn text, created_at timestamptz, completed_at timestamptz);
  create index if not exists n_payment_session on n_payment (session_id);
  create table if not exists n_history (payment_id text, status text, at timestamptz);
  create table if not exists n_attempt (reference text primary key, payment_id text, status text);
  create table if not exists n_account (id text primary key, balance bigint);
  create table if not exists n_entry (id bigserial primary key, account text, payment_id text, delta bigint);
  create table if not exists n_event (id text primary key, payment_id text, url text, body text, status text, attempts int);
  insert into n_account values ('merchant', 0), ('fees', 0), ('transit', 0) on conflict do nothing;`;

/** Runs a statement, which the server prepares once for each connection. */
type Run = (name: string, text: string, ...values: unknown[]) => Promise<pg.QueryResult>;

/** One step: BEGIN, statements, COMMIT. */
async function step<T>(work: (run: Run) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work((name, text, ...values) => client.query({ name, text, values }));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

const sha = (text: string): string => createHash('sha256').update(text).digest('base64url');
const bearer = (header: string | undefined): string => String(header).slice('Bearer '.length);

let carrierToken: Promise<string> | undefined;
function token(): Promise<string> {
  carrierToken ??= dial(`${carrier}/collection/token/`, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      authorization: `Basic ${Buffer.from(`${process.env.CARRIER_USER}:${process.env.CARRIER_KEY}`).toString('base64')}`,
      'ocp-apim-subscription-key': String(process.env.CARRIER_SUBSCRIPTION),
    },
  }).then(async (answer) => ((await answer.body.json()) as { access_token: string }).access_token);
  return carrierToken;
}

async function carrierHeaders(): Promise<Record<string, string>> {
  return {
    authorization: `Bearer ${await token()}`,
    'ocp-apim-subscription-key': String(process.env.CARRIER_SUBSCRIPTION),
    'x-target-environment': 'sandbox',
    'content-type': 'application/json',
  };
}

const app = fastify({ logger: false });

app.post('/api/v1/internal/sessions/create', async (request, reply) => {
  const body = request.body as Record<string, string>;
  const id = randomUUID();
  const secret = `sess_${randomBytes(32).toString('base64url')}`;
  await step((run) =>
    run(
      'mint',
      `insert into n_session values ($1, $2, $3, $4, $5, 'ACTIVE', 1, now() + interval '30 min')`,
      id,
      sha(secret),
      500,
      body.currency,
      body.customer_reference,
    ),
  );
  return reply.status(201).send({ session_id: id, session_token: secret });
});

async function lockedSession(run: Run, header: string | undefined) {
  const { rows } = await run(
    'session',
    'select * from n_session where token_hash = $1 for update',
    sha(bearer(header)),
  );
  const [session] = rows;
  if (session === undefined || session.status !== 'ACTIVE') throw new Error('no session');
  return session as { id: string; amount: string; currency: string; reference: string };
}

app.post('/api/v1/payments/collect', async (request) => {
  const body = request.body as Record<string, string>;
  const id = `txn_${randomUUID()}`;
  await step(async (run) => {
    const session = await lockedSession(run, request.headers.authorization);
    await run(
      'collect',
      `insert into n_payment values ($1, $2, 'pending', $3, $4, $5, null, now(), null)`,
      id,
      session.id,
      session.amount,
      session.currency,
      body.notify_url,
    );
    await run('seen', 'update n_session set version = version + 1 where id = $1', session.id);
    await run('history', 'insert into n_history values ($1, $2, now())', id, 'pending');
  });
  return { transaction_id: id, payment_id: id, status: 'pending' };
});

app.post('/api/v1/payments/submit', async (request) => {
  const body = request.body as Record<string, string>;
  const id = String(body.payment_id);
  const reference = randomUUID();
  const msisdn = String(body.mobile_money_phone_number).slice(1);
  const session = await step(async (run) => {
    const held = await lockedSession(run, request.headers.authorization);
    await run(
      'intend',
      `update n_payment set status = 'processing', msisdn = $2 where id = $1 and status = 'pending'`,
      id,
      msisdn,
    );
    await run('attempt', `insert into n_attempt values ($1, $2, 'intended')`, reference, id);
    await run('history', 'insert into n_history values ($1, $2, now())', id, 'processing');
    return held;
  });
  const answer = await dial(`${carrier}/collection/v1_0/requesttopay`, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      ...(await carrierHeaders()),
      'x-reference-id': reference,
      'x-callback-url': `http://127.0.0.1:${port}/upstream/${reference}`,
    },
    body: JSON.stringify({
      amount: '5.00',
      currency: 'USD',
      externalId: id,
      payer: { partyIdType: 'MSISDN', partyId: msisdn },
      payerMessage: session.reference,
      payeeNote: 'naive',
    }),
  });
  await answer.body.dump();
  await step(async (run) => {
    await run(
      'waiting',
      `update n_payment set status = 'pending_mobile_money_verification' where id = $1 and status = 'processing'`,
      id,
    );
    await run('accepted', `update n_attempt set status = 'waiting' where reference = $1`, reference);
    await run('consume', `update n_session set status = 'CONSUMED' where id = $1`, session.id);
    await run('history', 'insert into n_history values ($1, $2, now())', id, 'waiting');
  });
  return { transaction_id: id, payment_id: id, status: 'pending_mobile_money_verification' };
});

async function settle(reference: string): Promise<void> {
  const answer = await dial(`${carrier}/collection/v1_0/requesttopay/${reference}`, {
    dispatcher: agent,
    headers: await carrierHeaders(),
  });
  if (((await answer.body.json()) as { status: string }).status !== 'SUCCESSFUL') return;
  const event = await step(async (run) => {
    const { rows } = await run(
      'lock',
      `select p.* from n_attempt a join n_payment p on p.id = a.payment_id where a.reference = $1 for update of p`,
      reference,
    );
    const payment = rows[0] as { id: string; status: string; amount: string; notify_url: string; currency: string };
    if (payment.status === 'approved') return undefined;
    const id = `evt_${randomUUID()}`;
    const body = JSON.stringify({
      transaction_id: payment.id,
      customer_reference: 'naive',
      status: 'approved',
      amount: '5.00',
      currency: payment.currency,
      completed_at: new Date().toISOString(),
    });
    await run('approve', `update n_payment set status = 'approved', completed_at = now() where id = $1`, payment.id);
    await run('settled', `update n_attempt set status = 'approved' where reference = $1`, reference);
    await run(
      'entry',
      'insert into n_entry (account, payment_id, delta) values ($1, $2, $3)',
      'transit',
      payment.id,
      -500,
    );
    await run(
      'entry',
      'insert into n_entry (account, payment_id, delta) values ($1, $2, $3)',
      'merchant',
      payment.id,
      500,
    );
    await run('balance', 'update n_account set balance = balance + $2 where id = $1', 'merchant', 500);
    await run('balance', 'update n_account set balance = balance + $2 where id = $1', 'transit', -500);
    await run('history', 'insert into n_history values ($1, $2, now())', payment.id, 'approved');
    await run(
      'event',
      `insert into n_event values ($1, $2, $3, $4, 'waiting', 0)`,
      id,
      payment.id,
      payment.notify_url,
      body,
    );
    return { id, url: payment.notify_url, body };
  });
  if (event !== undefined) await deliver(event);
}

const key = randomBytes(32);

async function deliver(event: { id: string; url: string; body: string }): Promise<void> {
  const at = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', key).update(`${event.id}.${at}.${event.body}`).digest('base64');
  const answer = await dial(event.url, {
    method: 'POST',
    dispatcher: agent,
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${mac}`,
    },
    body: event.body,
  });
  await answer.body.dump();
  await step((run) =>
    run('delivered', `update n_event set status = 'delivered', attempts = 1 where id = $1`, event.id),
  );
}

for (const method of ['PUT', 'POST'] as const) {
  app.route({
    method,
    url: '/upstream/:reference',
    handler: async (request, reply) => {
      await settle((request.params as { reference: string }).reference);
      return reply.status(200).send();
    },
  });
}

await pool.query(SCHEMA);
await app.listen({ port, host: '127.0.0.1' });
process.send?.({ type: 'ready' });
process.on('disconnect', () => process.exit(0));
