/**
 * Replies under Idempotency-Keys while a new master key is rolled out: whichever process remembered one, every other repeats it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { bearerOf, freshKey } from '../support/flows.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { callAt, openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

const NEW_KEY = Buffer.alloc(32, 8).toString('base64');

let world: World;
let renewed: Second;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  const secrets = openSecrets({
    masterKeys: [NEW_KEY, WORLD_MASTER_KEY],
    random: world.gateway.deps.random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  renewed = await openSecond(world, world.clock, world.databaseUrl, { secrets });
});
afterAll(async () => {
  await renewed.close();
  await world.close();
});

test.each(['where the new key is', 'where it is not there yet'])(
  'a reply that was remembered %s is repeated',
  async (at) => {
    const merchant = await world.merchant();
    const headers = freshKey();
    const body = { amount: '10.00', currency: 'usd', customer_reference: 'order-1' };
    const mintAt = async (url: string) => {
      const answer = await callAt(url, 'POST', '/internal/sessions/create', {
        bearer: bearerOf(merchant),
        body,
        headers,
      });
      return { status: answer.status, text: answer.text };
    };
    const [first, second] = at === 'where the new key is' ? [renewed.url, world.url] : [world.url, renewed.url];
    const minted = await mintAt(first);
    expect(minted.status, minted.text).toBe(201);
    expect(await mintAt(second)).toEqual(minted);
  },
);
