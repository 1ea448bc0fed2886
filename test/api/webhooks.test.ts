/**
 * Webhooks over real HTTP and a real database: delivered, signed, retried, and never held up by a neighbour.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LEASE_MS, RETRY_WAITS_MS } from '../../src/domain/webhook.ts';
import type { WebhookEvent } from '../../src/domain/webhook-records.ts';
import { VERSION } from '../../src/platform/version.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { offerDue } from '../../src/usecases/webhook-claim.ts';
import { type Courier, createCourier } from '../../src/usecases/webhook-deliver.ts';
import { type OperatorWorld, TEST_MASTER_KEY } from '../support/operator-world.ts';
import { freePort } from '../support/ports.ts';
import type { Hook } from '../support/receiver.ts';
import { HOUR, openWebhookDesk, verify, type WebhookDesk } from '../support/webhook-desk.ts';

let desk: WebhookDesk;
let world: OperatorWorld;
let courier: Courier;
let merchant: MerchantCreated;

beforeEach(async () => {
  desk = await openWebhookDesk();
  ({ world, courier, merchant } = desk);
});
afterEach(() => desk.close());

describe('delivery', () => {
  it('posts the event’s bytes, signed as Standard Webhooks requires, and records the delivery', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    const after = await desk.post(event);
    const [hook] = receiver.hooks;
    expect(hook).toMatchObject({
      method: 'POST',
      raw: event.body,
      headers: {
        'webhook-id': event.id,
        'webhook-event': 'payment.approved',
        'webhook-sequence': '1',
        'content-type': 'application/json',
        'user-agent': `Mbongo/${VERSION}`,
        'webhook-timestamp': String(Math.floor(world.clock.now() / 1000)),
      },
    });
    expect(verify(hook, merchant.webhook_secret)).toEqual(JSON.parse(event.body));
    expect(() => verify({ ...hook, raw: `${event.body} ` } as Hook, merchant.webhook_secret)).toThrow('signature');
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
    const event = await desk.commitEvent(null);
    expect(courier.offer(event)).toBe(false);
    await world.clock.advance(LEASE_MS);
    expect(await offerDue(world.deps, courier)).toBe(0);
  });

  it('leaves an event whose lease has almost expired to the round', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    await world.clock.advance(LEASE_MS - 5_000);
    expect(await desk.post(event)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(receiver.hooks).toHaveLength(0);
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('leaves an event to the round whose lease has almost expired by the time it is signed', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    const { store } = world.deps;
    const ofMerchant: typeof store.webhookSecret.ofMerchant = async (...key) => {
      await world.clock.advance(LEASE_MS - 5_000);
      return store.webhookSecret.ofMerchant(...key);
    };
    const slow = createCourier({
      ...world.deps,
      store: { ...store, webhookSecret: { ...store.webhookSecret, ofMerchant } },
    });
    expect(slow.offer(event)).toBe(true);
    await slow.close();
    expect(receiver.hooks).toHaveLength(0);
    expect(await desk.readEvent(event)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('gives back what it has no room for: that is due again in a moment, not when a lease has expired', async () => {
    const receiver = await desk.receiverOf();
    const events = [];
    for (let n = 0; n < 5; n += 1) events.push(await desk.commitEvent(receiver.url));
    const small = createCourier(world.deps, { atReceiver: 1, inAll: 4, waitingAtReceiver: 1, waitingInAll: 4 });
    await world.clock.advance(LEASE_MS);
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await offerDue(world.deps, small);
      await small.idle();
      await world.clock.advance(3_000);
    }
    await small.close();
    for (const event of events) expect(await desk.readEvent(event)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(receiver.hooks).toHaveLength(5);
  });

  it('gives back at once what came up while it was closing, for another process', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    const closed = createCourier(world.deps);
    await closed.close();
    await world.clock.advance(LEASE_MS);
    expect(await offerDue(world.deps, closed)).toBe(1);
    expect((await desk.readEvent(event)).next_at - world.clock.now()).toBeLessThan(LEASE_MS);
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('looks up what is due until little of it is left, or enough has found no room', async () => {
    const event = await desk.commitEvent('https://shop.example/hooks');
    await world.database.query(
      `insert into webhook_event select (jsonb_populate_record(null::webhook_event, to_jsonb(e) || jsonb_build_object('id', e.id || n))).*
       from webhook_event e, generate_series(2, 2600) n where e.id = $1`,
      [event.id],
    );
    const closed = createCourier(world.deps);
    await closed.close();
    await world.clock.advance(LEASE_MS);
    expect([await offerDue(world.deps, closed), await offerDue(world.deps, closed)]).toEqual([2_048, 552]);
  });

  it('counts a 2xx as acknowledged whether or not its body comes to an end', async () => {
    const endless = await desk.receiverOf((response) => void response.writeHead(200).write('more follows'));
    const cut = await desk.receiverOf((response) => {
      response.writeHead(200, { 'content-length': '99' }).write('half', () => response.destroy());
    });
    for (const { url, hooks } of [endless, cut]) {
      const event = await desk.commitEvent(url);
      expect(await desk.post(event)).toMatchObject({ status: 'delivered', attempts: 1, last_error: null });
      expect(hooks).toHaveLength(1);
    }
  });

  it('posts one event after the other over the same connection', async () => {
    const receiver = await desk.receiverOf((response) => response.writeHead(200).end('ok'));
    for (let i = 0; i < 12; i += 1) await desk.post(await desk.commitEvent(receiver.url));
    expect(receiver.hooks).toHaveLength(12);
    expect(receiver.connections()).toBe(1);
  });

  it('follows no redirect', async () => {
    const elsewhere = await desk.receiverOf();
    const receiver = await desk.receiverOf((response) => response.writeHead(301, { location: elsewhere.url }).end());
    const after = await desk.post(await desk.commitEvent(receiver.url));
    expect(after).toMatchObject({ status: 'waiting', attempts: 1, last_error: 'http_301' });
    expect([receiver.hooks.length, elsewhere.hooks.length]).toEqual([1, 0]);
  });
});

describe('retries', () => {
  it('come on schedule, never sooner, under the same id and signed again, until the event is dead', async () => {
    const receiver = await desk.receiverOf((response) => response.writeHead(500).end('no'));
    const event = await desk.commitEvent(receiver.url);
    let after = await desk.post(event);
    for (const wait of RETRY_WAITS_MS) {
      const waits = after.next_at - world.clock.now();
      expect(waits).toBeGreaterThanOrEqual(wait);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);
      await world.clock.advance(waits - 1);
      expect(await offerDue(world.deps, courier)).toBe(0);
      after = await desk.deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'dead', attempts: 12, last_error: 'http_500' });
    await world.clock.advance(1_000 * HOUR);
    expect(await offerDue(world.deps, courier)).toBe(0);
    expect(receiver.hooks).toHaveLength(12);
    expect(new Set(receiver.hooks.map((hook) => hook.headers['webhook-id']))).toEqual(new Set([event.id]));
    expect(new Set(receiver.hooks.map((hook) => hook.raw))).toEqual(new Set([event.body]));
    expect(new Set(receiver.hooks.map((hook) => hook.headers['webhook-signature'])).size).toBe(12);
  });

  it('reach a receiver that was down for three days', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(`http://127.0.0.1:${await freePort()}/hook`);
    const start = world.clock.now();
    let after = await desk.post(event);
    while (world.clock.now() - start < 72 * HOUR && after.next_at - start < 72 * HOUR)
      after = await desk.deliverWhenDue(event);
    expect(after.status).toBe('waiting');
    const { shard, id, version } = after;
    await world.store.commit({ updates: [{ table: 'webhook_event', shard, id, version, row: { url: receiver.url } }] });
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered' });
    expect(receiver.hooks).toHaveLength(1);
  });

  it('stop at once at 410', async () => {
    const receiver = await desk.receiverOf((response) => response.writeHead(410).end());
    const event = await desk.commitEvent(receiver.url);
    expect(await desk.post(event)).toMatchObject({ status: 'gone', attempts: 1 });
    await world.clock.advance(100 * HOUR);
    expect(await offerDue(world.deps, courier)).toBe(0);
  });

  it('honour Retry-After', async () => {
    const receiver = await desk.receiverOf((response) => response.writeHead(503, { 'retry-after': '600' }).end());
    const after = await desk.post(await desk.commitEvent(receiver.url));
    expect(after.next_at - world.clock.now()).toBe(600_000);
  });

  it('post every due event once, however many processes look for them', async () => {
    const receiver = await desk.receiverOf();
    for (let i = 0; i < 60; i += 1) await desk.commitEvent(receiver.url);
    await world.clock.advance(LEASE_MS);
    const others = [courier, createCourier(world.deps), createCourier(world.deps)];
    const found = await Promise.all(others.map((other) => offerDue(world.deps, other)));
    await Promise.all(others.map((other) => other.idle()));
    expect(found.reduce((sum, count) => sum + count)).toBe(60);
    expect(new Set(receiver.hooks.map((hook) => hook.headers['webhook-id'])).size).toBe(60);
    expect(receiver.hooks).toHaveLength(60);
  });
});

describe('a receiver that hangs', () => {
  it('delays no other receiver, nor another merchant at the same receiver', async () => {
    const hanging = await desk.receiverOf((response, hook) => {
      if (hook.headers['webhook-event'] === 'payment.approved' && hook.raw.includes('"slow"')) return;
      response.writeHead(200).end();
    });
    const living = await desk.receiverOf();
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    for (let i = 0; i < 80; i += 1) {
      const event = await desk.commitEvent(hanging.url);
      courier.offer({ ...event, body: '{"slow":1}', transaction_id: 'slow', attempts: 0 });
    }
    await hanging.reached(20);
    courier.offer(await desk.commitEvent(living.url));
    courier.offer(await desk.commitEvent(living.url, other));
    courier.offer(await desk.commitEvent(hanging.url, other));
    await living.reached(2);
    // One merchant alone may hold four fifths of a receiver's share: the rest is the other's.
    await hanging.reached(53);
    expect(hanging.hooks.at(-1)?.raw).not.toContain('slow');
  });

  it('is called less often for the merchant that it does not answer, and no less for another at the same host', async () => {
    const held: ServerResponse[] = [];
    let isOver = false;
    const host = await desk.receiverOf((response, hook, number) => {
      if (hook.path !== '/hooks/hang' || isOver) response.writeHead(200).end();
      else if (number <= 60) response.destroy();
      else held.push(response);
    });
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    const hanging = [];
    for (let i = 0; i < 70; i += 1) hanging.push(await desk.commitEvent(`${host.url}/hang`));
    for (const event of hanging) courier.offer(event);
    await host.reached(61);
    const event = await desk.commitEvent(`${host.url}/ok`, other);
    courier.offer(event);
    await host.reached(62);
    expect(host.hooks.map((hook) => hook.path).slice(60)).toEqual(['/hooks/hang', '/hooks/ok']);
    expect(held).toHaveLength(1);
    isOver = true;
    for (const response of held) response.writeHead(200).end();
    await courier.idle();
    expect(await desk.readEvent(event)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});

describe('what finds no room at a receiver that has been silent', () => {
  it.each([
    ['a second', 1_000, 3_000],
    ['two minutes', 120_000, 120_000],
    ['an hour', HOUR, 300_000],
  ])('for %s (%i ms) is due again after %i ms, and is delivered once it answers', async (_, silence, pause) => {
    const held: ServerResponse[] = [];
    let answer = (response: ServerResponse): void => void response.destroy();
    const receiver = await desk.receiverOf((response) => answer(response));
    const small = createCourier(world.deps, { atReceiver: 1, inAll: 4, waitingAtReceiver: 1, waitingInAll: 4 });
    const events: WebhookEvent[] = [];
    const commit = async () => {
      const event = await desk.commitEvent(receiver.url);
      events.push(event);
      return event;
    };
    const post = async (event: WebhookEvent) => {
      small.offer(event);
      await small.idle();
    };
    await post(await commit());
    await world.clock.advance(silence);
    await post(await commit());
    while (events.length < 5) await commit();
    await world.clock.advance(LEASE_MS);

    answer = (response) => void held.push(response);
    const posted = receiver.hooks.length;
    expect(await offerDue(world.deps, small)).toBe(5);
    await receiver.reached(posted + 1);
    const waits = await Promise.all(
      events.map(async (event) => (await desk.readEvent(event)).next_at - world.clock.now()),
    );
    expect(waits.toSorted((a, b) => a - b)).toEqual(
      [LEASE_MS, LEASE_MS, pause, pause, pause].toSorted((a, b) => a - b),
    );

    answer = (response) => void response.writeHead(200).end();
    for (const response of held) answer(response);
    await small.idle();
    await world.clock.advance(pause);
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await offerDue(world.deps, small);
      await small.idle();
      await world.clock.advance(3_000);
    }
    await small.close();
    const after = await Promise.all(events.map(desk.readEvent));
    expect(after.map(({ status }) => status)).toEqual(events.map(() => 'delivered'));
    expect(after.map(({ attempts }) => attempts)).toEqual([2, 2, 1, 1, 1]);
  });
});

it('what finds no room at a receiver that lags is due again at its pace, and so does not hold up others', async () => {
  const held: ServerResponse[] = [];
  let isOver = false;
  const receiver = await desk.receiverOf(
    (response) => void (isOver ? response.writeHead(200).end() : held.push(response)),
  );
  const small = createCourier(world.deps, { atReceiver: 1, inAll: 4, waitingAtReceiver: 2, waitingInAll: 4 });
  const many: WebhookEvent[] = [];
  while (many.length < 10) many.push(await desk.commitEvent(receiver.url));
  await world.clock.advance(LEASE_MS);
  const few: WebhookEvent[] = [];
  while (few.length < 6) few.push(await desk.commitEvent(receiver.url));
  for (const [at, event] of few.entries()) {
    if (at > 2) {
      await receiver.reached(at - 2);
      await world.clock.advance(1_000);
      held.shift()?.writeHead(200).end();
      await receiver.reached(at - 1);
    }
    expect(small.offer(event)).toBe(true);
  }

  expect(await offerDue(world.deps, small)).toBe(10);
  const waits = await Promise.all(many.map(async (event) => (await desk.readEvent(event)).next_at - world.clock.now()));
  expect(waits.toSorted((a, b) => a - b)).toEqual([3, 3, 3, 3, 3, 3, 3.5, 4, 4.5, 5].map((seconds) => seconds * 1_000));

  isOver = true;
  for (const response of held) response.writeHead(200).end();
  await small.idle();
  for (let rounds = 0; rounds < 8; rounds += 1) {
    await world.clock.advance(1_000);
    await offerDue(world.deps, small);
    await small.idle();
  }
  const after = await Promise.all(many.map(desk.readEvent));
  expect(after.map(({ status, attempts }) => [status, attempts])).toEqual(many.map(() => ['delivered', 1]));
  await small.close();
});

describe('a courier that is killed between the post and its record', () => {
  let child: ChildProcess | undefined;

  afterEach(() => {
    child?.kill('SIGKILL');
  });

  it('leaves the event to another, which delivers it again under the same id', async () => {
    const receiver = await desk.receiverOf((response, _, number) => {
      if (number === 1) child?.kill('SIGKILL');
      else response.writeHead(200).end();
    });
    const event = await desk.commitEvent(receiver.url);
    const script = fileURLToPath(new URL('../../test/support/courier-process.ts', import.meta.url));
    const args = ['--import', 'tsx', script, world.databaseUrl, TEST_MASTER_KEY, event.id];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'exit');
    expect(receiver.hooks).toHaveLength(1);
    expect(await desk.readEvent(event)).toMatchObject({ status: 'waiting', attempts: 0 });
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(receiver.hooks.map((hook) => hook.headers['webhook-id'])).toEqual([event.id, event.id]);
    expect(receiver.hooks[0]?.raw).toBe(receiver.hooks[1]?.raw);
  });
});
