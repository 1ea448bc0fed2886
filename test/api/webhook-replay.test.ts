/**
 * Webhooks whose secret was rotated, and those that are sent again.
 */
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import { RETRY_WAITS_MS } from '../../src/domain/webhook.ts';
import type { WebhookEvent } from '../../src/domain/webhook-records.ts';
import { CommitUnknown, StoreUnavailable } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { newId } from '../../src/usecases/deps.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { offerDue } from '../../src/usecases/webhook-claim.ts';
import { type Courier, createCourier } from '../../src/usecases/webhook-deliver.ts';
import { countRange, replayEvent, replayRange } from '../../src/usecases/webhook-replay.ts';
import { rotateWebhookSecret } from '../../src/usecases/webhook-secret-rotate.ts';
import type { OperatorWorld } from '../support/operator-world.ts';
import { rowsOf } from '../support/rows.ts';
import { copyEvent, HOUR, openWebhookDesk, verify, type WebhookDesk } from '../support/webhook-desk.ts';

let desk: WebhookDesk;
let world: OperatorWorld;
let courier: Courier;
let merchant: MerchantCreated;

beforeEach(async () => {
  desk = await openWebhookDesk();
  ({ world, courier, merchant } = desk);
});
afterEach(() => desk.close());

describe('rotation of the signing secret', () => {
  it('without a grace period ends every older secret at once, also one whose own is not over', async () => {
    const receiver = await desk.receiverOf();
    await rotateWebhookSecret(world.deps, merchant.merchant.id, 24 * HOUR);
    const { webhook_secret } = await rotateWebhookSecret(world.deps, merchant.merchant.id, 0);
    await desk.post(await desk.commitEvent(receiver.url));
    const [hook] = receiver.hooks;
    expect(String(hook?.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verify(hook, webhook_secret)).toBeDefined();
    const secrets = await world.store.webhookSecret.ofMerchant(merchant.merchant.shard, merchant.merchant.id);
    expect(secrets.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', 'REVOKED', 'REVOKED']);
  });

  it('signs with both until the grace period is over, and with the new one alone from then on', async () => {
    const receiver = await desk.receiverOf();
    await desk.post(await desk.commitEvent(receiver.url));
    const rotated = await rotateWebhookSecret(world.deps, merchant.merchant.id, 24 * HOUR);
    await world.clock.advance(1_000);
    await desk.post(await desk.commitEvent(receiver.url));
    const both = receiver.hooks[1];
    expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    for (const secret of [merchant.webhook_secret, rotated.webhook_secret]) {
      expect(verify(both, secret)).toEqual(both?.body);
    }
    await world.clock.advance(24 * HOUR);
    await desk.post(await desk.commitEvent(receiver.url));
    const hook = receiver.hooks[2];
    const at = new Date(Number(hook?.headers['webhook-timestamp']) * 1000);
    const wanted = new Webhook(rotated.webhook_secret).sign(String(hook?.headers['webhook-id']), at, hook?.raw ?? '');
    expect(hook?.headers['webhook-signature']).toBe(wanted);
  });

  it('takes effect within a second in a courier that has just used the old secret', async () => {
    const receiver = await desk.receiverOf();
    await desk.post(await desk.commitEvent(receiver.url));
    const { webhook_secret } = await rotateWebhookSecret(world.deps, merchant.merchant.id, 0);
    await world.clock.advance(1_000);
    await desk.post(await desk.commitEvent(receiver.url));
    expect(() => verify(receiver.hooks[1], merchant.webhook_secret)).toThrow('signature');
    expect(verify(receiver.hooks[1], webhook_secret)).toBeDefined();
  });

  it('ends at its time, also while the secrets are read: the time that is signed is not an earlier one', async () => {
    const receiver = await desk.receiverOf();
    const { store } = world.deps;
    const { webhook_secret } = await rotateWebhookSecret(world.deps, merchant.merchant.id, 1_000);
    const ofMerchant: typeof store.webhookSecret.ofMerchant = async (...key) => {
      const found = await store.webhookSecret.ofMerchant(...key);
      await world.clock.advance(5_000);
      return found;
    };
    const webhookSecret = { ...store.webhookSecret, ofMerchant };
    const slow = createCourier({ ...world.deps, store: { ...store, webhookSecret } });
    slow.offer(await desk.commitEvent(receiver.url));
    await slow.close();
    const [hook] = receiver.hooks;
    expect(() => verify(hook, merchant.webhook_secret)).toThrow('signature');
    expect(verify(hook, webhook_secret)).toBeDefined();
    expect(hook?.headers['webhook-timestamp']).toBe(String(Math.floor(world.clock.wall() / 1_000)));
  });

  it('never leaves a merchant with two current secrets, however many rotate at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => rotateWebhookSecret(world.deps, merchant.merchant.id, HOUR)));
    const secrets = await world.store.webhookSecret.ofMerchant(merchant.merchant.shard, merchant.merchant.id);
    expect(secrets.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', ...Array(8).fill('RETIRING')]);
  });

  it('with a grace period leaves each older secret the one that was given with it', async () => {
    const { id, shard } = merchant.merchant;
    const graces = [HOUR, 24 * HOUR, 2 * HOUR];
    const given: (number | null)[] = [];
    for (const grace of graces) given.push((await rotateWebhookSecret(world.deps, id, grace)).old_retires_at);
    const secrets = await world.store.webhookSecret.ofMerchant(shard, id);
    const retiring = secrets.filter(({ status }) => status === 'RETIRING').map(({ retires_at }) => retires_at);
    expect(retiring.toSorted()).toEqual(given.toSorted());
    expect(new Set(given).size).toBe(graces.length);
  });

  it('happens once even if the database’s answer is lost: the secret that is shown is the one that signs', async () => {
    const { store } = world.deps;
    let isLost = false;
    const commit: Store['commit'] = async (change) => {
      const outcome = await store.commit(change);
      if (isLost) return outcome;
      isLost = true;
      throw new CommitUnknown();
    };
    const rotating = rotateWebhookSecret({ ...world.deps, store: { ...store, commit } }, merchant.merchant.id, HOUR);
    while (!isLost) await world.clock.advance(200);
    await world.clock.advance(200);
    const { webhook_secret } = await rotating;
    const secrets = await store.webhookSecret.ofMerchant(merchant.merchant.shard, merchant.merchant.id);
    expect(secrets.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', 'RETIRING']);
    const receiver = await desk.receiverOf();
    await desk.post(await desk.commitEvent(receiver.url));
    expect(verify(receiver.hooks[0], webhook_secret)).toBeDefined();
  });

  it('leaves a courier that could not read the secrets to read them again for the next event', async () => {
    const { store } = world.deps;
    let isAway = true;
    const ofMerchant: typeof store.webhookSecret.ofMerchant = async (...key) => {
      if (isAway) throw new StoreUnavailable();
      return store.webhookSecret.ofMerchant(...key);
    };
    const own = createCourier({
      ...world.deps,
      store: { ...store, webhookSecret: { ...store.webhookSecret, ofMerchant } },
    });
    const receiver = await desk.receiverOf();
    const [first, second] = [await desk.commitEvent(receiver.url), await desk.commitEvent(receiver.url)];
    own.offer(first);
    await own.idle();
    expect(await desk.readEvent(first)).toMatchObject({ status: 'waiting', attempts: 0 });
    isAway = false;
    own.offer(second);
    await own.idle();
    expect(await desk.readEvent(second)).toMatchObject({ status: 'delivered', attempts: 1 });
    await own.close();
  });
});

describe('replay', () => {
  it('sends a delivered event again, with the same id and bytes', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    await desk.post(event);
    expect(await replayEvent(world.deps, merchant.merchant.id, event.id)).toMatchObject({ status: 'waiting' });
    expect(await desk.deliverWhenDue(event)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(receiver.hooks.map((hook) => [hook.headers['webhook-id'], hook.raw])).toEqual([
      [event.id, event.body],
      [event.id, event.body],
    ]);
  });

  it('happens once even if the database’s answer is lost and a worker sends it meanwhile, and is reported', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    await desk.post(event);
    const { store } = world.deps;
    let losing = true;
    const commit: Store['commit'] = async (change) => {
      const outcome = await store.commit(change);
      if (!losing) return outcome;
      await desk.deliverWhenDue(event);
      losing = false;
      throw new CommitUnknown();
    };
    const deps = { ...world.deps, store: { ...store, commit } };
    const replaying = replayEvent(deps, merchant.merchant.id, event.id);
    while (losing) await world.clock.advance(1_000);
    await world.clock.advance(1_000);
    expect(await replaying).toMatchObject({ id: event.id });
    expect(await world.store.event.get(event.shard, event.id)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(receiver.hooks).toHaveLength(2);
  });

  it('gives a dead event the whole schedule again, and a waiting one too', async () => {
    const receiver = await desk.receiverOf((response) => response.writeHead(500).end());
    const event = await desk.commitEvent(receiver.url);
    let after = await desk.post(event);
    while (after.status === 'waiting') after = await desk.deliverWhenDue(event);
    expect(after).toMatchObject({ status: 'dead', attempts: 12 });
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    after = await desk.deliverWhenDue(event);
    for (const wait of RETRY_WAITS_MS.slice(0, 2)) {
      const waits = after.next_at - world.clock.now();
      expect(waits).toBeGreaterThanOrEqual(wait);
      expect(waits).toBeLessThanOrEqual(wait * 1.2);
      after = await desk.deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'waiting', attempts: 15 });
    // Once more, in the middle of its series: twelve tries from here.
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    for (let tries = 1; tries <= 12; tries += 1) {
      expect(after.status).toBe('waiting');
      after = await desk.deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'dead', attempts: 27 });
    expect(receiver.hooks).toHaveLength(27);
    const tries = await world.store.webhookAttempts.ofEvent(event.shard, event.id);
    expect(tries.map(({ number }) => number)).toEqual(Array.from({ length: 27 }, (_, at) => at + 1));
  });

  it('keeps the history of a try that was in flight, and takes nothing from the new schedule for it', async () => {
    let answer: (() => void) | undefined;
    const receiver = await desk.receiverOf((response, _hook, number) => {
      if (number === 1) answer = () => void response.writeHead(200).end();
      else response.writeHead(503).end();
    });
    const event = await desk.commitEvent(receiver.url);
    await world.clock.advance(1_000);
    expect(courier.offer(event)).toBe(true);
    await receiver.reached(1);
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    answer?.();
    await courier.idle();
    expect(await desk.readEvent(event)).toMatchObject({ status: 'waiting', attempts: 1, delivered_at: null });
    let after = await desk.deliverWhenDue(event);
    for (let tries = 2; after.status === 'waiting'; tries += 1) {
      expect(tries).toBeLessThanOrEqual(12);
      after = await desk.deliverWhenDue(event);
    }
    expect(after).toMatchObject({ status: 'dead', attempts: 13 });
    const tries = await world.store.webhookAttempts.ofEvent(event.shard, event.id);
    expect(tries.map(({ number, status_code }) => [number, status_code])).toEqual([
      [1, 200],
      ...Array.from({ length: 12 }, (_, at) => [at + 2, 503]),
    ]);
  });

  it('lets a try count although one of an earlier series has ended meanwhile', async () => {
    const held: ServerResponse[] = [];
    const receiver = await desk.receiverOf((response) => void held.push(response));
    const event = await desk.commitEvent(receiver.url);
    await world.clock.advance(1_000);
    expect(courier.offer(event)).toBe(true);
    await receiver.reached(1);
    await replayEvent(world.deps, merchant.merchant.id, event.id);
    const second = createCourier(world.deps);
    await offerDue(world.deps, second);
    await receiver.reached(2);
    held[0]?.writeHead(500).end();
    await courier.idle();
    held[1]?.writeHead(200).end();
    await second.idle();
    await second.close();
    expect(await desk.readEvent(event)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('leaves an event delivered that is posted twice under one lease, and keeps both tries', async () => {
    const receiver = await desk.receiverOf();
    const event = await desk.commitEvent(receiver.url);
    expect(await desk.post(event)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(await desk.post(event)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('is refused for another merchant’s event, an unknown one, and one without a target', async () => {
    const event = await desk.commitEvent('http://127.0.0.1:9/');
    const other = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
    const unknown = newId(world.deps, 'evt', shardOf(event.id));
    await expect(replayEvent(world.deps, other.merchant.id, event.id)).rejects.toThrow('there is no event');
    await expect(replayEvent(world.deps, undefined, unknown)).rejects.toThrow('there is no event');
    await expect(replayEvent(world.deps, undefined, 'evt_x')).rejects.toThrow('the event id is not valid');
    const targetless = await desk.commitEvent(null);
    await expect(replayEvent(world.deps, undefined, targetless.id)).rejects.toThrow('without a notify_url');
  });

  /** Another merchant in the same shard. */
  async function neighbour(): Promise<MerchantCreated> {
    for (;;) {
      const made = await createMerchant(world.deps, { name: 'Chez Amani', noFloat: true });
      if (made.merchant.shard === merchant.merchant.shard) return made;
    }
  }

  it('sends the events of a time range again, and of one merchant only', async () => {
    const receiver = await desk.receiverOf();
    const other = await neighbour();
    const made: WebhookEvent[] = [];
    for (let i = 0; i < 6; i += 1) {
      made.push(await desk.commitEvent(receiver.url, i % 2 === 0 ? merchant : other));
      await desk.post(made[i] as WebhookEvent);
      await world.clock.advance(60_000);
    }
    const range = { from: made[1]?.created_at ?? 0, to: made[5]?.created_at ?? 0, status: undefined };
    expect(await replayRange(world.deps, { ...range, merchantId: merchant.merchant.id })).toBe(2);
    await offerDue(world.deps, courier);
    await courier.idle();
    expect(receiver.hooks.slice(6).map((hook) => hook.headers['webhook-id'])).toEqual([made[2]?.id, made[4]?.id]);
    expect(await replayRange(world.deps, { ...range, merchantId: undefined, status: 'dead' })).toBe(0);
    expect(await replayRange(world.deps, { ...range, merchantId: undefined })).toBe(4);
  });

  it('counts and sends all of a time range, however many pages it has', async () => {
    const { url } = await desk.receiverOf();
    const { id, created_at: from } = await desk.commitEvent(url);
    await copyEvent(world, id, 1_100);
    const range = { merchantId: merchant.merchant.id, from, to: from + 1, status: undefined };
    expect(await countRange(world.deps, range)).toEqual([
      { merchantId: range.merchantId, events: 1_101, delivered: 0 },
    ]);
    expect(await replayRange(world.deps, range)).toBe(1_101);
  });

  it('leaves out what is archived at that moment', async () => {
    const receiver = await desk.receiverOf();
    const [gone, left] = [await desk.commitEvent(receiver.url), await desk.commitEvent(receiver.url)];
    const pageOfEvents: Store['pageOfEvents'] = async (filter) => {
      const page = await world.store.pageOfEvents(filter);
      if (page.rows.length > 0) await rowsOf(world, 'delete from webhook_event where id = $1', [gone.id]);
      return page;
    };
    const deps = { ...world.deps, store: { ...world.store, pageOfEvents } };
    const range = { from: gone.created_at, to: left.created_at + 1, merchantId: undefined, status: undefined };
    expect(await replayRange(deps, range)).toBe(1);
    await offerDue(world.deps, courier);
    await courier.idle();
    expect(receiver.hooks.map((hook) => hook.headers['webhook-id'])).toEqual([left.id]);
  });

  it('says how many are due again if the database goes away before the others are', async () => {
    const receiver = await desk.receiverOf();
    const made = await Promise.all([1, 2, 3].map(() => desk.commitEvent(receiver.url)));
    const { store } = world;
    let left = 2;
    const commit: Store['commit'] = async (change) => {
      left -= 1;
      if (left < 0) throw new StoreUnavailable();
      return store.commit(change);
    };
    const deps = { ...world.deps, store: { ...store, commit } };
    const from = Math.min(...made.map(({ created_at }) => created_at));
    const range = { from, to: from + HOUR, merchantId: undefined, status: undefined };
    const replaying = replayRange(deps, range);
    await expect(replaying).rejects.toBeInstanceOf(OperatorError);
    await expect(replaying).rejects.toThrow(
      /^only 2 of the webhooks could be made due again: the database .*: give it/,
    );
    left = 0;
    await expect(replayRange(deps, range)).rejects.toBeInstanceOf(StoreUnavailable);
  });
});
