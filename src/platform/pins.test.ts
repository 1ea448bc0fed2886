/** PINs are hashed by argon2id with a pepper, two at a time, and the queue is bounded. */
import { hash as hashed, verify } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { createHashTurns, createPins, NOBODYS_HASH, PinsBusy } from './pins.ts';
import { systemRandom } from './random.ts';

const [MINE, THEIRS] = ['5707156309559904', '5707156309559912'];
const pepper = { keyId: '0a', secret: Buffer.alloc(32, 1) };
const pins = createPins([pepper], systemRandom());

test('a hash names its key and cost, and verifies its PIN only', async () => {
  const hash = await pins.hashPin('1234', MINE);
  expect(hash).toMatch(/^0a\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]+\$[^$]+$/);
  expect(await pins.hashPin('1234', MINE)).not.toBe(hash);
  expect(await pins.verifyPin('1234', hash, MINE, 'one')).toBe(true);
  expect(await pins.verifyPin('1235', hash, MINE, 'one')).toBe(false);
  expect(await pins.verifyPin('', hash, MINE, 'one')).toBe(false);
});

test('without the right pepper a PIN does not verify', async () => {
  const hash = await pins.hashPin('1234', MINE);
  const stranger = createPins([{ keyId: '0a', secret: Buffer.alloc(32, 2) }], systemRandom());
  expect(await stranger.verifyPin('1234', hash, MINE, 'one')).toBe(false);
});

test('a hash verifies for its own account only, and looks new for no other', async () => {
  const hash = await pins.hashPin('1234', MINE);
  expect(await pins.verifyPin('1234', hash, THEIRS, 'one')).toBe(false);
  expect(await pins.verifyPin('1234', hash, '', 'one')).toBe(false);
  expect([MINE, THEIRS].map((account) => pins.isPinHashNew(hash, account))).toEqual([true, false]);
  const renewed = createPins([{ keyId: '0b', secret: Buffer.alloc(32, 2) }, pepper], systemRandom());
  expect(await renewed.verifyPin('1234', hash, MINE, 'one')).toBe(true);
  expect(await renewed.verifyPin('1234', hash, THEIRS, 'one')).toBe(false);
  expect(renewed.isPinHashNew(hash, MINE)).toBe(false);
});

test('no part of a hash can be changed so that it verifies for another account', async () => {
  const [, kind, version, cost, salt = '', output] = (await pins.hashPin('1234', MINE)).split('$');
  const bytes = Buffer.from(salt, 'base64');
  const theirs = Buffer.from((await pins.hashPin('9999', THEIRS)).split('$')[4] ?? '', 'base64');
  const moved = Buffer.concat([bytes.subarray(0, 16), theirs.subarray(16)]);
  const unpadded = (salt: Buffer): string => salt.toString('base64').replace(/=+$/, '');
  const salts = [moved, theirs, bytes.subarray(0, 16), bytes.subarray(0, 17), Buffer.alloc(0)].map(unpadded);
  const parts = [...salts.map((other) => [version, cost, other]), [cost, salt], [version, cost, salt, salts[2]]];
  for (const middle of parts) {
    const changed = ['0a', kind, ...middle, output].join('$');
    expect(await pins.verifyPin('1234', changed, THEIRS, 'one')).toBe(false);
  }
});

test('a hash of the form without an account is verified for any, and is not new', async () => {
  const hash = `0a${await hashed('1234', { memoryCost: 19_456, timeCost: 2, parallelism: 1, secret: pepper.secret })}`;
  expect(await pins.verifyPin('1234', hash, MINE, 'one')).toBe(true);
  expect(await pins.verifyPin('1235', hash, MINE, 'one')).toBe(false);
  expect(pins.isPinHashNew(hash, MINE)).toBe(false);
});

test('a process of an earlier build, which knows no account, verifies a hash that is bound to one', async () => {
  const hash = await pins.hashPin('1234', MINE);
  expect(await verify(hash.slice(2), '1234', { secret: pepper.secret })).toBe(true);
  expect(await verify(hash.slice(2), '1235', { secret: pepper.secret })).toBe(false);
});

test.each([
  '',
  'x',
  '0a',
  '0a$',
  '0a$argon2id$v=19$m=19456,t=2,p=1$AAAA',
  '$argon2id$',
  'zz$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAA$AAAA',
])('the damaged hash %j verifies nothing', async (damaged) => {
  expect(await pins.verifyPin('1234', damaged, MINE, 'one')).toBe(false);
});

test('without a stored hash, one of the same cost is computed, and no PIN matches it', async () => {
  expect(await pins.verifyPin('1234', undefined, MINE, 'one')).toBe(false);
  // The library throws at once for a hash that it cannot parse.
  expect(await verify(NOBODYS_HASH, '1234', { secret: pepper.secret })).toBe(false);
  const costOf = (hash: string): string | undefined => /\$argon2id\$v=19\$[^$]+/.exec(hash)?.[0];
  const real = await pins.hashPin('1234', MINE);
  expect(costOf(NOBODYS_HASH)).toBe(costOf(real));
  expect(NOBODYS_HASH.length).toBe(real.length - pepper.keyId.length);
});

test('two run and 64 of one owner wait; one more is refused at once; afterwards there is room again', async () => {
  const busy = createPins([pepper], systemRandom());
  const accepted = Array.from({ length: 66 }, () => busy.verifyPin('1234', '0a$damaged', MINE, 'one'));
  await expect(busy.verifyPin('1234', '0a$damaged', MINE, 'one')).rejects.toBeInstanceOf(PinsBusy);
  accepted.push(busy.verifyPin('1234', '0a$damaged', MINE, 'another'));
  expect(await Promise.all(accepted)).toEqual(accepted.map(() => false));
  expect(await busy.verifyPin('1234', await busy.hashPin('1234', MINE), MINE, 'one')).toBe(true);
});

test('owners take turns: one PIN does not wait behind another owner’s sixty', async () => {
  const { inTurn } = createHashTurns();
  const begun: string[] = [];
  const send = (turn: string) => inTurn(turn, async () => begun.push(turn));
  await Promise.all([...Array.from({ length: 60 }, () => send('many')), send('one'), send('other')]);
  expect(begun).toHaveLength(62);
  expect(begun.slice(0, 6)).toEqual(['many', 'many', 'many', 'one', 'other', 'many']);
});

test('the whole queue is bounded too', async () => {
  const busy = createPins([pepper], systemRandom());
  const accepted = Array.from({ length: 258 }, (_, n) => busy.verifyPin('1234', '0a$damaged', MINE, `owner ${n % 5}`));
  await expect(busy.verifyPin('1234', '0a$damaged', MINE, 'late')).rejects.toBeInstanceOf(PinsBusy);
  await Promise.all(accepted);
});

test('a hash that can wait takes only a free place, and none while another caller waits', async () => {
  const busy = createPins([pepper], systemRandom());
  expect(await busy.hashPinIfFree('1234', MINE)).toMatch(/^0a\$argon2id\$/);
  const verify = () => busy.verifyPin('1234', '0a$damaged', MINE, 'one');
  // All of these arrive at the same moment.
  const given = [verify(), verify(), busy.hashPinIfFree('1234', MINE), verify(), busy.hashPinIfFree('1234', MINE)];
  expect(await Promise.all(given)).toEqual([false, false, undefined, false, undefined]);
  expect(await busy.hashPinIfFree('1234', MINE)).toMatch(/^0a\$argon2id\$/);
});
