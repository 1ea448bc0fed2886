/** A gateway that was given a new master key, ahead of the old one: what was made before is still valid. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardedUpdate } from '../../src/domain/change.ts';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { makeWalletNumber, PIN_LOCK_MS, shardOfWallet } from '../../src/domain/wallet.ts';
import type { Secrets } from '../../src/platform/platform.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { renewPinHash } from '../../src/usecases/pin-check.ts';
import { readProof } from '../../src/usecases/proof-read.ts';
import { answerChallenge, callbackFor, capturesOf, challenged } from '../support/card-payments.ts';
import { codeOn, collect, payFromWallet } from '../support/flows.ts';
import { attemptOf, callBack, pushed } from '../support/phone-payments.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { jpegFile, promise, upload } from '../support/transfer-flows.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

const NEW_KEY = Buffer.alloc(32, 8).toString('base64');

let world: World;
let merchant: MerchantCreated;
let renewed: Second;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  renewed = await openSecond(world, world.clock, world.databaseUrl, { secrets: secretsOf(NEW_KEY, WORLD_MASTER_KEY) });
});
afterAll(async () => {
  await renewed.close();
  await world.close();
});

function secretsOf(...masterKeys: string[]): Secrets {
  return openSecrets({
    masterKeys,
    random: world.gateway.deps.random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
}

test('a one-time code that was sent before pays, and a wrong one does not', async () => {
  const phone = '+243826540042';
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const paying = await collect(world, merchant, { method: 'none', minted: { amount: '150.00' } });
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
  const code = await codeOn(world, phone);
  const verify = async (otp_code: string): Promise<unknown> => {
    const answer = await fetch(`${renewed.url}/api/v1/payments/verify-otp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${paying.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ payment_id: paying.payment_id, otp_code }),
    });
    return answer.json();
  };
  expect(await verify(code === '000000' ? '000001' : '000000')).toMatchObject({ error_code: '1302' });
  expect(await verify(code)).toMatchObject({ success: true, status: 'approved' });
});

test('a callback address that a carrier was given before still works', async () => {
  const paying = await pushed(world, merchant, '42');
  const { pathname } = new URL(callbackUrl(world.gateway.deps, await attemptOf(world, paying)));
  expect(await callBack(`${renewed.url}${pathname}`, { status: 'PENDING' })).toBe(200);
  expect(await callBack(`${renewed.url}${pathname.slice(0, -1)}`, { status: 'PENDING' })).toBe(404);
});

/** Posts JSON to the process at that address. */
async function post(url: string, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Readonly<Record<string, unknown>> };
}

test.each([
  ['where the new key is', true],
  ['where it is not there yet', false],
])('a callback that came first %s gets the same answer from the other process', async (_where, renewedFirst) => {
  const paying = await challenged(world, merchant);
  const callback = callbackFor(world, paying);
  const path = '/payments/card/3ds-callback';
  const [first, second] = renewedFirst ? [renewed.url, world.url] : [world.url, renewed.url];
  const heard = await post(first, path, callback);
  expect(heard).toMatchObject({ status: 200, json: { status: 'processing' } });
  await answerChallenge(world, paying, 'pass');
  // Taken as a new callback it would find the customer back, and pay.
  expect(await post(second, path, callback)).toEqual(heard);
  expect(capturesOf(world, paying)).toEqual([]);
  expect(await post(second, path, callbackFor(world, paying))).toMatchObject({ json: { status: 'approved' } });
  expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
});

test('a right PIN is hashed again with the new key, which alone verifies it from then on', async () => {
  const { number, pin } = await world.wallet({ balance: 500_00n });
  const hashOf = async (): Promise<string | undefined> =>
    (await world.gateway.store.wallet.get(shardOfWallet(number), number))?.pin_hash;
  const asking = await openSecond(world, world.clock, world.databaseUrl, {
    secrets: secretsOf(NEW_KEY, WORLD_MASTER_KEY),
  });
  const paying = await collect(world, merchant, { method: 'none' });
  const body = {
    payment_id: paying.payment_id,
    payment_method_id: 'wallet',
    ewallet_number: number,
    ewallet_pin: pin,
  };
  const bearer = { authorization: `Bearer ${paying.token}` };
  expect(await post(asking.url, '/payments/submit', body, bearer)).toMatchObject({ json: { status: 'approved' } });
  // A gateway finishes what it has begun, and the hash is made beside the answer.
  await asking.close();
  const after = await hashOf();
  const alone = secretsOf(NEW_KEY);
  expect(await alone.verifyPin(pin, after, number, 'one')).toBe(true);
  expect(await alone.verifyPin('9999', after, number, 'one')).toBe(false);
});

test('a hash is made anew although a wrong PIN is counted meanwhile, which stays counted', async () => {
  const { wallet, pin, renewal } = await judgedWallet();
  const wrong = once(() => guess(wallet.id, [world.url]));
  await renewal(wrong);
  expect(await wrong()).toHaveLength(1);
  const after = await world.gateway.store.wallet.get(wallet.shard, wallet.id);
  expect(after?.pin_failures).toBe(1);
  expect(await secretsOf(NEW_KEY).verifyPin(pin, after?.pin_hash, wallet.id, 'one')).toBe(true);
});

test('a hash of another PIN that is written while the judged one is made anew stays', async () => {
  const { wallet, renewal } = await judgedWallet();
  const { store, secrets } = world.gateway.deps;
  const other = await secrets.hashPin('7777', wallet.id);
  const change = once(async () => {
    const now = await store.wallet.get(wallet.shard, wallet.id);
    expect(await store.commit({ updates: [guardedUpdate('wallet', now ?? wallet, { pin_hash: other })] })).toBe('won');
  });
  await renewal(change);
  expect((await store.wallet.get(wallet.shard, wallet.id))?.pin_hash).toBe(other);
});

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

/** A wallet whose PIN was judged with the old key. `renewal` hashes it anew; `meanwhile` happens before it first commits. */
async function judgedWallet() {
  const { number, pin } = await world.wallet();
  const { store } = world.gateway.deps;
  const wallet = await store.wallet.get(shardOfWallet(number), number);
  if (wallet === undefined) throw new Error('there is no such wallet');
  const renewal = (meanwhile: () => Promise<unknown>): Promise<void> => {
    const commit: typeof store.commit = async (...given) => {
      await meanwhile();
      return store.commit(...given);
    };
    return renewPinHash({ store: { ...store, commit }, secrets: secretsOf(NEW_KEY, WORLD_MASTER_KEY) }, wallet, pin);
  };
  return { wallet, pin, renewal };
}

/** Tries a wrong PIN at each process in turn; returns each one's answer. */
async function guess(number: string, urls: readonly string[]): Promise<string[]> {
  const paying = await collect(world, merchant, { method: 'none' });
  const body = {
    payment_id: paying.payment_id,
    payment_method_id: 'wallet',
    ewallet_number: number,
    ewallet_pin: '9999',
  };
  const told: string[] = [];
  for (const url of urls) {
    const { json } = await post(url, '/payments/submit', body, { authorization: `Bearer ${paying.token}` });
    told.push(`${String(json.error_code)} ${String(json.message)}`);
  }
  return told;
}

test('a proof that is used twice is recognised, whichever key was in front at its first use', async () => {
  const begun = await openSecond(world, world.clock, world.databaseUrl, {
    secrets: secretsOf(WORLD_MASTER_KEY, NEW_KEY),
  });
  const proven = async (url: string, file: Uint8Array) => {
    const paying = await promise(world, merchant);
    const { json } = await upload({ ...world, url }, paying, file);
    return { id: paying.transaction_id, proofId: json.proof.id as string };
  };
  const usedWith = async ({ proofId }: { proofId: string }) =>
    (await readProof(world.gateway.deps, proofId)).duplicateOf;
  const ways: [string, string][] = [
    [world.url, renewed.url],
    [begun.url, renewed.url],
    [renewed.url, begun.url],
  ];
  for (const [before, after] of ways) {
    const file = jpegFile();
    const [first, second] = [await proven(before, file), await proven(after, file)];
    expect(await usedWith(first)).toEqual([second.id]);
    expect(await usedWith(second)).toEqual([first.id]);
  }
  await begun.close();
});

test('wrong PINs at an unknown number are limited to five, whichever processes they are tried at', async () => {
  const urls = [renewed.url, world.url, world.url, renewed.url, world.url, renewed.url, world.url];
  const told = await guess(makeWalletNumber(11, 4_711), urls);
  expect(told.map((one) => one.slice(0, 4))).toEqual([...Array.from({ length: 5 }, () => '1302'), '1303', '1303']);
});

test('after a lock that only one of two processes wrote, an unknown number answers as a real one does', async () => {
  const askAround = async (number: string): Promise<string[]> => {
    const told = await guess(number, [...Array.from({ length: 4 }, () => renewed.url), world.url]);
    await world.clock.advance(PIN_LOCK_MS + 1_000);
    return [...told, ...(await guess(number, [world.url, renewed.url]))];
  };
  const { number } = await world.wallet();
  expect(await askAround(makeWalletNumber(12, 8_888))).toEqual(await askAround(number));
});

test('a right code forgets the wrong ones before it, even at a process that lacks a key under which they are counted', async () => {
  const phone = '+243826540043';
  const wallet = await world.wallet({ balance: 900_00n, phone });
  const ask = async () => {
    const paying = await collect(world, merchant, { method: 'none', minted: { amount: '110.00' } });
    expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
    return paying;
  };
  const asked = [await ask(), await ask(), await ask(), await ask(), await ask()];
  const codes = await Promise.all(asked.map((_, at) => codeOn(world, phone, at + 1)));
  const wrong = ['000000', '000001', '000002', '000003', '000004', '000005'].find((one) => !codes.includes(one));
  const verify = async (url: string, at: number, otp_code: string | undefined): Promise<unknown> => {
    const { token, payment_id } = asked[at] ?? {};
    return (await post(url, '/payments/verify-otp', { payment_id, otp_code }, { authorization: `Bearer ${token}` }))
      .json;
  };
  for (let guess = 0; guess < 19; guess += 1) await verify(renewed.url, guess % 4, wrong);
  expect(await verify(world.url, 4, codes[4])).toMatchObject({ status: 'approved' });
  expect(await verify(renewed.url, 3, wrong)).toMatchObject({ error_code: '1302' });
  await ask();
});
