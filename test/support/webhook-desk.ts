/**
 * What tests of webhooks begin with: a merchant with events to send, a courier that sends them and receivers.
 */

import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { LEASE_MS } from '../../src/domain/webhook.ts';
import type { WebhookEvent } from '../../src/domain/webhook-records.ts';
import { newId } from '../../src/usecases/deps.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { offerDue } from '../../src/usecases/webhook-claim.ts';
import { type Courier, createCourier } from '../../src/usecases/webhook-deliver.ts';
import { type OperatorWorld, openOperatorWorld } from './operator-world.ts';
import { type Hook, openReceiver, type Receiver } from './receiver.ts';
import { rowsOf } from './rows.ts';

export const HOUR = 3_600_000;

/** Adds copies of an event that were tried in vain. `status` is SQL, in which `n` is the copy's number, from 1 on. */
export async function copyEvent(
  world: Parameters<typeof rowsOf>[0],
  id: string,
  copies: number,
  status = "'dead'",
): Promise<void> {
  await rowsOf(
    world,
    `insert into webhook_event (shard, id, version, merchant_id, transaction_id, sequence, type, url, body, status, attempts,
       next_at, created_at)
     select shard, left(id, 16) || lpad(n::text, 6, '0') || right(id, 8), 1, merchant_id, transaction_id, 1, type, url, body,
       ${status}, 12, next_at, created_at
     from webhook_event, generate_series(1, $2::int) n where id = $1`,
    [id, copies],
  );
}

export interface WebhookDesk {
  readonly world: OperatorWorld;
  readonly courier: Courier;
  readonly merchant: MerchantCreated;
  receiverOf(...args: Parameters<typeof openReceiver>): Promise<Receiver>;
  /** An event as it is committed with a payment's final state: leased to the process that commits it. */
  commitEvent(url: string | null, of?: MerchantCreated): Promise<WebhookEvent>;
  readEvent(event: WebhookEvent): Promise<WebhookEvent>;
  post(event: WebhookEvent): Promise<WebhookEvent>;
  /** Moves the clock to when the event is due and lets the round deliver it. */
  deliverWhenDue(event: WebhookEvent): Promise<WebhookEvent>;
  close(): Promise<void>;
}

export async function openWebhookDesk(): Promise<WebhookDesk> {
  const world = await openOperatorWorld();
  const courier = createCourier(world.deps);
  const merchant = await createMerchant(world.deps, { name: 'Boutique Kivu', noFloat: true });
  const receivers: Receiver[] = [];

  const readEvent = async (event: WebhookEvent): Promise<WebhookEvent> => {
    const found = await world.store.event.get(event.shard, event.id);
    if (found === undefined) throw new Error('the event is gone');
    return found;
  };

  return {
    world,
    courier,
    merchant,
    async receiverOf(...args) {
      const receiver = await openReceiver(...args);
      receivers.push(receiver);
      return receiver;
    },
    async commitEvent(url, of = merchant) {
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
    },
    readEvent,
    async post(event) {
      expect(courier.offer(event)).toBe(true);
      await courier.idle();
      return readEvent(event);
    },
    async deliverWhenDue(event) {
      await world.clock.advance(Math.max(0, (await readEvent(event)).next_at - world.clock.now()));
      await offerDue(world.deps, courier);
      await courier.idle();
      return readEvent(event);
    },
    async close() {
      for (const receiver of receivers) await receiver.close();
      await courier.close();
      await world.close();
    },
  };
}

export function verify(hook: Hook | undefined, secret: string): unknown {
  const headers = Object.fromEntries(Object.entries(hook?.headers ?? {}).map(([name, value]) => [name, String(value)]));
  return new Webhook(secret).verify(hook?.raw ?? '', headers);
}
