/**
 * What somebody who can write the database, but has no master key, copies from a row of their own over another's.
 */
import { hash } from '@node-rs/argon2';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openKeyring } from '../../src/platform/keyring.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { keyOfWebhookSecret } from '../../src/usecases/webhook-sign.ts';
import { collect, payFromWallet } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWebhookDesk, verify, type WebhookDesk } from '../support/webhook-desk.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const pay = async (number: string, pin: string) =>
  (await payFromWallet(world, await collect(world, merchant, { method: 'none' }), { number, pin })).json;

const setHash = (number: string, pin_hash: string | undefined) =>
  rowsOf(world, 'update wallet set pin_hash = $2, version = version + 1 where id = $1', [number, pin_hash]);

async function hashOf(number: string): Promise<string | undefined> {
  const [row] = await rowsOf<{ pin_hash: string }>(world, 'select pin_hash from wallet where id = $1', [number]);
  return row?.pin_hash;
}

test('a PIN whose hash was copied to another wallet opens that wallet no more than any other wrong PIN', async () => {
  const [mine, theirs] = [await world.wallet({ pin: '9999' }), await world.wallet({ pin: '4711' })];
  const before = await hashOf(theirs.number);
  await setHash(theirs.number, await hashOf(mine.number));
  const wrong = { error_code: '1302', details: [{ code: 'INVALID_PIN' }] };
  expect(await pay(theirs.number, mine.pin)).toMatchObject(wrong);
  expect(await pay(theirs.number, theirs.pin)).toMatchObject(wrong);
  await setHash(theirs.number, before);
  expect(await pay(theirs.number, theirs.pin)).toMatchObject({ status: 'approved' });
  expect(await pay(mine.number, mine.pin)).toMatchObject({ status: 'approved' });
});

test('a hash of an earlier build is verified, and bound to its wallet after the next right PIN', async () => {
  const { number, pin } = await world.wallet();
  const { secrets } = world.gateway.deps;
  const secret = openKeyring([WORLD_MASTER_KEY]).active.bytes('pin/pepper');
  const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
  const early = secrets.keyIds[0] + (await hash(pin, { ...cost, secret }));
  await setHash(number, early);
  expect(await pay(number, '9999')).toMatchObject({ error_code: '1302' });
  expect(await hashOf(number)).toBe(early);
  expect(await pay(number, pin)).toMatchObject({ status: 'approved' });
  const bound = await until(async () => {
    const now = await hashOf(number);
    return now === early ? undefined : now;
  });
  expect(secrets.isPinHashNew(bound ?? '', number)).toBe(true);
  expect(await pay(number, pin)).toMatchObject({ status: 'approved' });
});

describe('a signing secret', () => {
  let desk: WebhookDesk;
  beforeEach(async () => {
    desk = await openWebhookDesk();
  });
  afterEach(() => desk.close());

  const move = (from: MerchantCreated, to: MerchantCreated) =>
    rowsOf(desk.world, 'update webhook_secret set merchant_id = $2, shard = $3 where merchant_id = $1', [
      from.merchant.id,
      to.merchant.id,
      to.merchant.shard,
    ]);

  test('that was moved to another merchant signs nothing there, even where it was opened before', async () => {
    const { deps } = desk.world;
    const mine = await createMerchant(deps, { name: 'Librairie Goma', noFloat: true });
    const receiver = await desk.receiverOf();
    await desk.post(await desk.commitEvent(receiver.url));
    await move(desk.merchant, mine);
    await desk.post(await desk.commitEvent(receiver.url, mine));
    const [theirs, moved] = receiver.hooks;
    expect(verify(theirs, desk.merchant.webhook_secret)).toBeDefined();
    expect(verify(moved, mine.webhook_secret)).toBeDefined();
    expect(() => verify(moved, desk.merchant.webhook_secret)).toThrow('signature');
    // Who has lost their only secret is sent nothing unsigned.
    await desk.world.clock.advance(1_000);
    const unsigned = await desk.post(await desk.commitEvent(receiver.url));
    expect(unsigned).toMatchObject({ status: 'waiting', last_error: 'no_signing_secret' });
    expect(receiver.hooks).toHaveLength(2);
  });

  test('of an earlier build signs still, and earlier builds find the key in one that is bound', async () => {
    const { store, deps } = desk.world;
    const { merchant, webhook_secret } = desk.merchant;
    const [row] = await store.webhookSecret.ofMerchant(merchant.shard, merchant.id);
    const { id = '', sealed = '' } = row ?? {};
    const text = deps.secrets.open('webhook_secret', sealed, id) ?? '';
    expect(text).not.toBe(webhook_secret);
    expect(keyOfWebhookSecret(text)).toEqual(keyOfWebhookSecret(webhook_secret));
    const early = deps.secrets.seal('webhook_secret', webhook_secret, id);
    await rowsOf(desk.world, 'update webhook_secret set sealed = $2 where id = $1', [id, early]);
    const receiver = await desk.receiverOf();
    await desk.post(await desk.commitEvent(receiver.url));
    expect(verify(receiver.hooks[0], webhook_secret)).toBeDefined();
  });
});
