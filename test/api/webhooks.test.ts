/**
 * Webhooks over real HTTP and a real database: delivered, signed, retried, replayed, and never held up by a neighbour.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { WebhookEvent } from '../../src/domain/records.ts';
import { LEASE_MS, RETRY_WAITS_MS } from '../../src/domain/webhook.ts';
import { newId } from '../../src/usecases/deps.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { offerDue } from '../../src/usecases/webhook-claim.ts';
import { type Courier, createCourier } from '../../src/usecases/webhook-deliver.ts';
import { replayEvent, replayRange } from '../../src/usecases/webhook-replay.ts';
import { rotateWebhookSecret } from '../../src/usecases/webhook-secret-rotate.ts';
import { type OperatorWorld, openOperatorWorld, TEST_MASTER_KEY } from '../support/operator-world.ts';
import { type Hit, openReceiver, type Receiver } from '../support/receiver.ts';

const HOUR = 3_600_000;

let world: OperatorWorld;
let courier: Courier;
let merchant: MerchantCreated;
let receivers: Receiver[];

beforeEach(async () => {
  world = await openOperatorWorld();
  courier = createCourier(world.deps);
  merchant = await createMerchant(world.deps, { name: 'Boutique Kivu', noFloat: true });
  receivers = [];
});

afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
  await courier.close();
  await world.close();
});

async function receiverOf(...args: Parameters<typeof openReceiver>): Promise<Receiver> {
  const receiver = await openReceiver(...args);
  receivers.push(receiver);
  return receiver;
}

/** An event as it is committed with a payment's final state: leased to the process that commits it. */
async function commitEvent(url: string | null, of: MerchantCreated = merchant): Promise<WebhookEvent> {
  const { shard, id } = of.merchant;
  const transaction_id = newId(world.deps, 'txn', shard);
  const now = world.clock.now();
  const event: WebhookEvent = {
    shard,
    id: newId(world.deps, 'evt', shard),
    version: 1,
    merchant_id: id,
    transaction_id,
    sequence: 1,
    type: 'payment.approved',
    url,
    body: JSON.stringify({ transaction_id, customer_reference: 'commande №7', status: 'approved' }),
    status: url === null ? 'no_target' : 'waiting',
    attempts: 0,
    replayed_after: 0,
    next_at: now + LEASE_MS,
    created_at: now,
    delivered_at: null,
    last_error: null,
  };
  expect(await world.store.commit({ claims: [{ table: 'webhook_event', row: event }] })).toBe('won');
  return event;
}

async function readEvent(event: WebhookEvent): Promise<WebhookEvent> {
  const found = await world.store.event.get(event.shard, event.id);
  if (found === undefined) throw new Error('the event is gone');
  return found;
}

async function post(event: WebhookEvent): Promise<WebhookEvent> {
  expect(courier.offer(event)).toBe(true);
  await courier.idle();
  return readEvent(event);
}

/** Moves the clock to when the event is due and lets the round deliver it. */
async function deliverWhenDue(event: WebhookEvent): Promise<WebhookEvent> {
  await world.clock.advance(Math.max(0, (await readEvent(event)).next_at - world.clock.now()));
  await offerDue(world.deps, courier);
  await courier.idle();
  return readEvent(event);
}

function verify(hit: Hit | undefined, secret: string): unknown {
  const headers = Object.fromEntries(Object.entries(hit?.headers ?? {}).map(([name, value]) => [name, String(value)]));
  return new Webhook(secret).verify(hit?.body ?? '', headers);
}

describe('delivery', () => {
  it('posts the event’s bytes, signed as Standard Webhooks asks, and writes down that they arrived', async () => {
    const receiver = await receiverOf();
    const event = await commitEvent(receiver.url);
    const after = await post(event);
    const [hit] = receiver.hits;
    expect(hit).toMatchObject({
      method: 'POST',
      body: event.body,
      headers: {
        'webhook-id': event.id,
        'webhook-event': 'payment.approved',
        'webhook-sequence': '1',
        'content-type': 'application/json',
        'user-agent': 'Mbongo/0.1',
        'webhook-timestamp': String(Math.floor(world.clock.now() / 1000)),
      },
    });
    expect(verify(hit, merchant.webhook_secret)).toEqual(JSON.parse(event.body));
    expect(() => verify({ ...hit, body: `${event.body} ` } as Hit, merchant.webhook_secret)).toThrow('signature');
    expect(after).toMatchObject({
      status: 'delivered',
      attempts: 1,
      last_error: null,
      delivered_at: world.clock.now(),
    });
    expect(await world.store.webhookAttempts.ofEvent(event.shard, event.id)).toMatchObject([
      { number: 1, status_code: 204, error: null },
    ]);
    const logged = world.log.lines.join('\n');
    expect(logged).toContain('webhook_delivered');
    for (const word of ['whsec_', receiver.url, 'commande']) expect(logged).not.toContain(word);
  });

  it('leaves an event without a target alone', async () => {
    const event = await commitEvent(null);
    expect(courier.offer(event)).toBe(false);
    await world.clock.advance(LEASE_MS);
    expect(await offerDue(world.deps, courier)).toBe(0);
  });

  it('leaves an event whose lease has almost run out to the round', async () => {
    const receiver = await receiverOf();
    const event = await commitEvent(receiver.url);
    await world.clock.advance(LEASE_MS - 5_000);
    expect(await post(event)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(receiver.hits).toHaveLength(0);
    expect(await deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('gives back what it has no room for: that comes up again in a moment, and not when a lease has run out', async () => {
    const receiver = await receiverOf();
    const events = [];
    for (let n = 0; n < 5; n += 1) events.push(await commitEvent(receiver.url));
    const small = createCourier(world.deps, { atReceiver: 1, inAll: 4, waitingAtReceiver: 1, waitingInAll: 4 });
    await world.clock.advance(LEASE_MS);
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await offerDue(world.deps, small);
      await small.idle();
      await world.clock.advance(3_000);
    }
    await small.close();
    for (const event of events) expect(await readEvent(event)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(receiver.hits).toHaveLength(5);
  });

  it('gives back at once what came up while it was closing, for another process', async () => {
    const receiver = await receiverOf();
    const event = await commitEvent(receiver.url);
    const closed = createCourier(world.deps);
    await closed.close();
    await world.clock.advance(LEASE_MS);
    expect(await offerDue(world.deps, closed)).toBe(1);
    expect((await readEvent(event)).next_at - world.clock.now()).toBeLessThan(LEASE_MS);
    expect(await deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('follows no redirect', async () => {
    const elsewhere = await receiverOf();
    const receiver = await receiverOf((response) => response.writeHead(301, { location: elsewhere.url }).end());
    const after = await post(await commitEvent(receiver.url));
    expect(after).toMatchObject({ status: 'waiting', attempts: 1, last_error: 'http_301' });
    expect([receiver.hits.length, elsewhere.hits.length]).toEqual([1, 0]);
  });
});

describe('retries', () => {
  it('come on schedule, never sooner, under the same id and signed anew, until the event is dead', async () => {
    const receiver = await receiverOf((response) => response.writeHead(500).end('no'));
    const event = await commitEvent(receiver.url);
    let after = await post(event);
    for (const wait of RETRY_WAITS_MS) {
      const waits = after.next_at - world.clock.now();
      expect(waits).toBeGreaterThanOrEqual(wait);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);
      await world.clock.advance(waits - 1);
      expect(await offerDue(world.deps, courier)).toBe(0);
      after = await deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'dead', attempts: 12, last_error: 'http_500' });
    await world.clock.advance(1_000 * HOUR);
    expect(await offerDue(world.deps, courier)).toBe(0);
    expect(receiver.hits).toHaveLength(12);
    expect(new Set(receiver.hits.map((hit) => hit.headers['webhook-id']))).toEqual(new Set([event.id]));
    expect(new Set(receiver.hits.map((hit) => hit.body))).toEqual(new Set([event.body]));
    expect(new Set(receiver.hits.map((hit) => hit.headers['webhook-signature'])).size).toBe(12);
  });

  it('reach a receiver that was away for three days', async () => {
    const receiver = await receiverOf();
    const away = await receiverOf();
    await away.close();
    const event = await commitEvent(away.url);
    const start = world.clock.now();
    let after = await post(event);
    while (world.clock.now() - start < 72 * HOUR && after.next_at - start < 72 * HOUR)
      after = await deliverWhenDue(event);
    expect(after.status).toBe('waiting');
    const { shard, id, version } = after;
    await world.store.commit({ updates: [{ table: 'webhook_event', shard, id, version, row: { url: receiver.url } }] });
    expect(await deliverWhenDue(event)).toMatchObject({ status: 'delivered' });
    expect(receiver.hits).toHaveLength(1);
  });

  it('stop at once at 410', async () => {
    const receiver = await receiverOf((response) => response.writeHead(410).end());
    const event = await commitEvent(receiver.url);
    expect(await post(event)).toMatchObject({ status: 'gone', attempts: 1 });
    await world.clock.advance(100 * HOUR);
    expect(await offerDue(world.deps, courier)).toBe(0);
  });

  it('honour Retry-After', async () => {
    const receiver = await receiverOf((response) => response.writeHead(503, { 'retry-after': '600' }).end());
    const after = await post(await commitEvent(receiver.url));
    expect(after.next_at - world.clock.now()).toBe(600_000);
  });

  it('post every due event once, however many processes look for them', async () => {
    const receiver = await receiverOf();
    for (let i = 0; i < 60; i += 1) await commitEvent(receiver.url);
    await world.clock.advance(LEASE_MS);
    const others = [courier, createCourier(world.deps), createCourier(world.deps)];
    const found = await Promise.all(others.map((other) => offerDue(world.deps, other)));
    await Promise.all(others.map((other) => other.idle()));
    expect(found.reduce((sum, count) => sum + count)).toBe(60);
    expect(new Set(receiver.hits.map((hit) => hit.headers['webhook-id'])).size).toBe(60);
    expect(receiver.hits).toHaveLength(60);
  });
});

describe('a receiver that hangs', () => {
  it('delays nobody else, nor another merchant at the same receiver', async () => {
    const hanging = await receiverOf((response, hit) => {
      if (hit.headers['webhook-event'] === 'payment.approved' && hit.body.includes('"slow"')) return;
      response.writeHead(200).end();
    });
    const living = await receiverOf();
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    for (let i = 0; i < 80; i += 1) {
      const event = await commitEvent(hanging.url);
      courier.offer({ ...event, body: '{"slow":1}', transaction_id: 'slow', attempts: 0 });
    }
    await hanging.reached(20);
    courier.offer(await commitEvent(living.url));
    courier.offer(await commitEvent(living.url, other));
    courier.offer(await commitEvent(hanging.url, other));
    await living.reached(2);
    // One merchant alone holds four fifths of a receiver's share: what comes behind them is the other's.
    await hanging.reached(53);
    expect(hanging.hits.at(-1)?.body).not.toContain('slow');
  });
});

describe('a courier that is killed between the post and the record', () => {
  let child: ChildProcess | undefined;

  afterEach(() => {
    child?.kill('SIGKILL');
  });

  it('leaves the event to another, which delivers it again under the same id', async () => {
    const receiver = await receiverOf((response, _, number) => {
      if (number === 1) child?.kill('SIGKILL');
      else response.writeHead(200).end();
    });
    const event = await commitEvent(receiver.url);
    const script = fileURLToPath(new URL('../../test/support/courier-process.ts', import.meta.url));
    const args = ['--import', 'tsx', script, world.databaseUrl, TEST_MASTER_KEY, event.id];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'exit');
    expect(receiver.hits).toHaveLength(1);
    expect(await readEvent(event)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(await deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(receiver.hits.map((hit) => hit.headers['webhook-id'])).toEqual([event.id, event.id]);
    expect(receiver.hits[0]?.body).toBe(receiver.hits[1]?.body);
  });
});

describe('rotation of the signing secret', () => {
  it('signs with both until the grace is over, and with the new one alone from then on', async () => {
    const receiver = await receiverOf();
    await post(await commitEvent(receiver.url));
    const rotated = await rotateWebhookSecret(world.deps, merchant.merchant.id, 24 * HOUR);
    await world.clock.advance(1_000);
    await post(await commitEvent(receiver.url));
    const both = receiver.hits[1];
    expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    for (const secret of [merchant.webhook_secret, rotated.webhook_secret]) {
      expect(verify(both, secret)).toEqual(JSON.parse(both?.body ?? ''));
    }
    await world.clock.advance(24 * HOUR);
    await post(await commitEvent(receiver.url));
    const hit = receiver.hits[2];
    const at = new Date(Number(hit?.headers['webhook-timestamp']) * 1000);
    const wanted = new Webhook(rotated.webhook_secret).sign(String(hit?.headers['webhook-id']), at, hit?.body ?? '');
    expect(hit?.headers['webhook-signature']).toBe(wanted);
  });

  it('counts within a second in a courier that has just used the old secret', async () => {
    const receiver = await receiverOf();
    await post(await commitEvent(receiver.url));
    const { webhook_secret } = await rotateWebhookSecret(world.deps, merchant.merchant.id, 0);
    await world.clock.advance(1_000);
    await post(await commitEvent(receiver.url));
    expect(() => verify(receiver.hits[1], merchant.webhook_secret)).toThrow('signature');
    expect(verify(receiver.hits[1], webhook_secret)).toBeDefined();
  });

  it('never leaves a merchant with two current secrets, however many rotate at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => rotateWebhookSecret(world.deps, merchant.merchant.id, HOUR)));
    const secrets = await world.store.webhookSecret.ofMerchant(merchant.merchant.shard, merchant.merchant.id);
    expect(secrets.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', ...Array(8).fill('RETIRING')]);
  });
});

describe('replay', () => {
  it('sends a delivered event again, with the same id and bytes', async () => {
    const receiver = await receiverOf();
    const event = await commitEvent(receiver.url);
    await post(event);
    expect(await replayEvent(world.deps, merchant.merchant.id, event.id)).toMatchObject({ status: 'waiting' });
    expect(await deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(receiver.hits.map((hit) => [hit.headers['webhook-id'], hit.body])).toEqual([
      [event.id, event.body],
      [event.id, event.body],
    ]);
  });

  it('gives a dead event the whole schedule again, and a living one too', async () => {
    const receiver = await receiverOf((response) => response.writeHead(500).end());
    const event = await commitEvent(receiver.url);
    let after = await post(event);
    while (after.status === 'waiting') after = await deliverWhenDue(event);
    expect(after).toMatchObject({ status: 'dead', attempts: 12 });
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    after = await deliverWhenDue(event);
    for (const wait of RETRY_WAITS_MS.slice(0, 2)) {
      const waits = after.next_at - world.clock.now();
      expect(waits).toBeGreaterThanOrEqual(wait);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);
      after = await deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'waiting', attempts: 15 });
    // Once more, in the middle of its series: twelve tries from here.
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    for (let tries = 1; tries <= 12; tries += 1) {
      expect(after.status).toBe('waiting');
      after = await deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'dead', attempts: 27 });
    expect(receiver.hits).toHaveLength(27);
    const tries = await world.store.webhookAttempts.ofEvent(event.shard, event.id);
    expect(tries.map(({ number }) => number)).toEqual(Array.from({ length: 27 }, (_, at) => at + 1));
  });

  it('is refused for another merchant’s event, an unknown one, and one without a target', async () => {
    const event = await commitEvent('http://127.0.0.1:9/');
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    const unknown = newId(world.deps, 'evt', shardOf(event.id));
    await expect(replayEvent(world.deps, other.merchant.id, event.id)).rejects.toThrow('there is no event');
    await expect(replayEvent(world.deps, undefined, unknown)).rejects.toThrow('there is no event');
    await expect(replayEvent(world.deps, undefined, 'evt_x')).rejects.toThrow('no event id');
    const targetless = await commitEvent(null);
    await expect(replayEvent(world.deps, undefined, targetless.id)).rejects.toThrow('without a notify_url');
  });

  it('sends those of a time range again, and of one merchant only', async () => {
    const receiver = await receiverOf();
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    const made: WebhookEvent[] = [];
    for (let i = 0; i < 6; i += 1) {
      made.push(await commitEvent(receiver.url, i % 2 === 0 ? merchant : other));
      await post(made[i] as WebhookEvent);
      await world.clock.advance(60_000);
    }
    const range = { from: made[1]?.created_at ?? 0, to: made[5]?.created_at ?? 0, status: undefined };
    expect(await replayRange(world.deps, { ...range, merchantId: merchant.merchant.id })).toBe(2);
    await offerDue(world.deps, courier);
    await courier.idle();
    expect(receiver.hits.slice(6).map((hit) => hit.headers['webhook-id'])).toEqual([made[2]?.id, made[4]?.id]);
    expect(await replayRange(world.deps, { ...range, merchantId: undefined, status: 'dead' })).toBe(0);
    expect(await replayRange(world.deps, { ...range, merchantId: undefined })).toBe(4);
  });
});
