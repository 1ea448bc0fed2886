/**
 * Which receivers the courier may reach, and which URLs count as one of them.
 */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCourier } from '../../src/usecases/webhook-deliver.ts';
import { openWebhookDesk, type WebhookDesk } from '../support/webhook-desk.ts';

let desk: WebhookDesk;
beforeEach(async () => {
  desk = await openWebhookDesk();
});
afterEach(() => desk.close());

test('a webhook goes through the guard: an address that no stranger may name is not reached, though it is stored', async () => {
  const receiver = await desk.receiverOf();
  // Every address of this machine: its system connects to itself, the guard refuses.
  const url = Object.assign(new URL(receiver.url), { hostname: '0.0.0.0' }).href;
  const refused = await desk.post(await desk.commitEvent(url));
  expect(refused).toMatchObject({ status: 'waiting', attempts: 1, last_error: expect.stringContaining('not public') });
  expect(receiver.hooks).toEqual([]);
});

test('all URLs of one origin are one receiver, so that none that hangs takes the room of many', async () => {
  const held: ServerResponse[] = [];
  const receiver = await desk.receiverOf((response) => void held.push(response));
  const small = createCourier(desk.world.deps, { atReceiver: 1, inAll: 8, waitingAtReceiver: 1, waitingInAll: 8 });
  const offered: boolean[] = [];
  for (const path of ['/orders/1', '/orders/2?paid', '/']) {
    offered.push(small.offer(await desk.commitEvent(new URL(path, receiver.url).href)));
  }
  expect(offered).toEqual([true, true, false]);
  for (const nth of [1, 2]) {
    await receiver.reached(nth);
    held[nth - 1]?.writeHead(200).end();
  }
  await small.close();
});
