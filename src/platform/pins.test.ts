/** PINs are hashed by argon2id with a pepper, two at a time, and the queue is bounded. */
import { verify } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { createHashTurns, createPins, NOBODYS_HASH, PinsBusy } from './pins.ts';

const pepper = { keyId: '0a', secret: Buffer.alloc(32, 1) };
const pins = createPins([pepper]);

test('a hash names its key and cost, and verifies its PIN only', async () => {
  const hash = await pins.hashPin('1234');
  expect(hash).toMatch(/^0a\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]+\$[^$]+$/);
  expect(await pins.hashPin('1234')).not.toBe(hash);
  expect(await pins.verifyPin('1234', hash)).toBe(true);
  expect(await pins.verifyPin('1235', hash)).toBe(false);
  expect(await pins.verifyPin('', hash)).toBe(false);
});

test('without the right pepper a PIN does not verify', async () => {
  const hash = await pins.hashPin('1234');
  const stranger = createPins([{ keyId: '0a', secret: Buffer.alloc(32, 2) }]);
  expect(await stranger.verifyPin('1234', hash)).toBe(false);
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
  expect(await pins.verifyPin('1234', damaged)).toBe(false);
});

test('without a stored hash, one of the same cost is computed, and no PIN matches it', async () => {
  expect(await pins.verifyPin('1234', undefined)).toBe(false);
  // The library throws at once for a hash that it cannot parse.
  expect(await verify(NOBODYS_HASH, '1234', { secret: pepper.secret })).toBe(false);
  const costOf = (hash: string): string | undefined => /\$argon2id\$v=19\$[^$]+/.exec(hash)?.[0];
  const real = await pins.hashPin('1234');
  expect(costOf(NOBODYS_HASH)).toBe(costOf(real));
  expect(NOBODYS_HASH.length).toBe(real.length - pepper.keyId.length);
});

test('two run and 64 of one owner wait; one more is refused at once; afterwards there is room again', async () => {
  const busy = createPins([pepper]);
  const accepted = Array.from({ length: 66 }, () => busy.verifyPin('1234', '0a$damaged', 'one'));
  await expect(busy.verifyPin('1234', '0a$damaged', 'one')).rejects.toBeInstanceOf(PinsBusy);
  accepted.push(busy.verifyPin('1234', '0a$damaged', 'another'));
  expect(await Promise.all(accepted)).toEqual(accepted.map(() => false));
  expect(await busy.verifyPin('1234', await busy.hashPin('1234'))).toBe(true);
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
  const busy = createPins([pepper]);
  const accepted = Array.from({ length: 258 }, (_, n) => busy.verifyPin('1234', '0a$damaged', `owner ${n % 5}`));
  await expect(busy.verifyPin('1234', '0a$damaged', 'late')).rejects.toBeInstanceOf(PinsBusy);
  await Promise.all(accepted);
});

test('a hash that can wait takes only a free place, and none while another caller waits', async () => {
  const busy = createPins([pepper]);
  expect(await busy.hashPinIfFree('1234')).toMatch(/^0a\$argon2id\$/);
  const verify = () => busy.verifyPin('1234', '0a$damaged', 'one');
  // All of these arrive at the same moment.
  const given = [verify(), verify(), busy.hashPinIfFree('1234'), verify(), busy.hashPinIfFree('1234')];
  expect(await Promise.all(given)).toEqual([false, false, undefined, false, undefined]);
  expect(await busy.hashPinIfFree('1234')).toMatch(/^0a\$argon2id\$/);
});
