/** PINs are hashed by argon2id with a pepper, two at a time, and the queue has an end. */
import { expect, test } from 'vitest';
import { createPins, PinsBusy } from './pins.ts';

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

test('two run and 64 wait; one more is refused at once; afterwards there is room again', async () => {
  const busy = createPins([pepper]);
  const accepted = Array.from({ length: 66 }, () => busy.verifyPin('1234', '0a$damaged'));
  await expect(busy.hashPin('1234')).rejects.toBeInstanceOf(PinsBusy);
  expect(await Promise.all(accepted)).toEqual(accepted.map(() => false));
  expect(await busy.verifyPin('1234', await busy.hashPin('1234'))).toBe(true);
});
