/**
 * Who owns a database: its master key, the older keys that its rows still need, and the mode it was opened in.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { claimDatabase } from '../../src/usecases/database-claim.ts';
import { createMerchant } from '../../src/usecases/merchant-create.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { openWallet } from '../../src/usecases/wallet-open.ts';
import { type OperatorWorld, openOperatorWorld } from '../support/operator-world.ts';

const DAY = 86_400_000;

let world: OperatorWorld;

beforeEach(async () => {
  world = await openOperatorWorld();
});

afterEach(async () => {
  await world.close();
});

const ring = (...keys: number[]) =>
  openSecrets({
    masterKeys: keys.map((byte) => Buffer.alloc(32, byte).toString('base64')),
    random: world.deps.random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
/** Two keys that share an id. */
const twins = (): [number, number] => {
  const seen = new Map<string, number>();
  for (let key = 1; key < 256; key += 1) {
    const [id = ''] = ring(key).keyIds;
    const other = seen.get(id);
    if (other !== undefined) return [other, key];
    seen.set(id, key);
  }
  throw new Error('255 keys share no id of 256');
};
const claim = (...keys: number[]) => claimDatabase({ ...world.deps, secrets: ring(...keys) });

it('belongs to the master key that it was first opened with, even if many open it at once', async () => {
  await Promise.all([claim(1), claim(1), claim(1)]);
  await claim(1);
  await expect(claim(2)).rejects.toThrow(/^MASTER_KEY does not contain the key/);
  await expect(claim(2)).rejects.toBeInstanceOf(OperatorError);
});

it('is taken over by a newer key of a ring that contains the older one', async () => {
  await claim(1);
  await claim(2, 1);
  await claim(2);
  await expect(claim(1)).rejects.toThrow('MASTER_KEY');
  const sealed = await world.store.setting.get(0, 'master_key_check');
  await claim(2, 1);
  expect(await world.store.setting.get(0, 'master_key_check')).toEqual(sealed);
});

it('is refused without a key that a wallet, a proof or a signing secret still needs', async () => {
  const { store, clock } = world;
  await claim(1);
  const { wallet } = await openWallet(
    { ...world.deps, secrets: ring(1) },
    { number: undefined, pin: '1234', currency: 'usd', balance: 0n, phone: '+243810000042', kind: 'wallet' },
  );
  const { merchant } = await createMerchant({ ...world.deps, secrets: ring(1) }, { name: 'Kivu', noFloat: true });
  await claim(2, 1);
  await expect(claim(2)).rejects.toThrow(
    'MASTER_KEY lacks an older key that the database still needs (1 wallet, 1 signing secret): add it again',
  );
  // Switching the active key, forth or back, does not make it forget which keys are needed.
  await claim(1, 2);
  await claim(3, 2, 1);
  await expect(claim(3, 2)).rejects.toThrow('the database still needs (1 wallet, 1 signing secret)');
  await claim(3, 1);

  const [secret] = await store.webhookSecret.ofMerchant(merchant.shard, merchant.id);
  const { shard, id } = wallet;
  const pin_hash = await ring(3).hashPin('1234', id);
  await store.commit({
    updates: [
      { table: 'wallet', shard, id, version: 1, row: { pin_hash } },
      {
        table: 'webhook_secret',
        shard: merchant.shard,
        id: secret?.id ?? '',
        version: 1,
        row: { status: 'RETIRING', retires_at: clock.now() },
      },
    ],
    inserts: [
      {
        table: 'proof_file',
        row: { shard, id: 'prf_1', sealed: ring(1).seal('proof', 'x', 'prf_1'), created_at: clock.now() },
      },
    ],
  });
  await expect(claim(3)).rejects.toThrow('the database still needs (1 proof)');
  await store.commit({
    removals: [{ table: 'proof_file', shard, id: 'prf_1' }],
    updates: [{ table: 'wallet', shard, id, version: 2, row: { pin_hash } }],
  });
  await claim(3);
});

it('asks by the database’s clock, in production, which keys are still needed', async () => {
  const { store, clock, deps } = world;
  const aheadBy = (milliseconds: number, ...keys: number[]) => {
    const ahead = { ...clock, now: () => clock.now() + milliseconds };
    return claimDatabase({ ...deps, mode: 'production', clock: ahead, secrets: ring(...keys) });
  };
  await aheadBy(0, 1);
  const { merchant } = await createMerchant({ ...deps, secrets: ring(1) }, { name: 'Kivu', noFloat: true });
  const [secret] = await store.webhookSecret.ofMerchant(merchant.shard, merchant.id);
  const row = { status: 'RETIRING', retires_at: clock.now() + DAY } as const;
  await store.commit({
    updates: [{ table: 'webhook_secret', shard: merchant.shard, id: secret?.id ?? '', version: 1, row }],
  });
  await aheadBy(0, 2, 1);
  await expect(aheadBy(2 * DAY, 2)).rejects.toThrow('the database still needs (1 signing secret)');
});

it('remembers an older key behind the comma, even if that key made no check value', async () => {
  await claim(2);
  await openWallet(
    { ...world.deps, secrets: ring(1) },
    { number: undefined, pin: '1234', currency: 'usd', balance: 0n, phone: '+243810000042', kind: 'wallet' },
  );
  await claim(2, 1);
  await expect(claim(2)).rejects.toThrow('MASTER_KEY lacks an older key that the database still needs (1 wallet)');
});

it('forgets a new key that was put behind the comma and removed before anything needed it', async () => {
  await claim(1);
  await claim(1, 2);
  await claim(1);
  expect(await world.store.setting.get(0, 'master_keys_older')).toMatchObject({ value: '' });
});

it('accepts no new key that shares its id with another one, in front or behind', async () => {
  const [one, twin] = twins();
  await expect(claim(twin, one)).rejects.toThrow(/^MASTER_KEY contains a new key with .*: generate another one$/);
  await claim(one);
  await expect(claim(twin, one)).rejects.toThrow('generate another one');
  await expect(claim(one, twin)).rejects.toThrow('generate another one');
  const other = one === 3 || twin === 3 ? 4 : 3;
  await claim(other, one);
  await expect(claim(other, one, twin)).rejects.toThrow('generate another one');
  await claim(other);
  // Nothing needs the first one any more: its twin may come now.
  await claim(other, twin);
});

it('carries on with two keys of one id that it already has', async () => {
  const [one, twin] = twins();
  await claim(one);
  const { keyIds, macs } = ring(twin);
  const value = `${keyIds[0]}:${macs('master_key_check', 'master_key_check')[0]}`;
  await world.store.commit({
    claims: [{ table: 'setting', row: { shard: 0, id: 'master_keys_older', version: 1, value } }],
  });
  await claim(one, twin);
  await claim(twin, one);
});

it('belongs to the mode in which it was first opened', async () => {
  await claimDatabase(world.deps);
  const other = claimDatabase({ ...world.deps, mode: 'production' });
  await expect(other).rejects.toThrow(/^GATEWAY_MODE is production.*sandbox mode: use another database$/);
});
