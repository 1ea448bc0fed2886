/**
 * `mbongo wallet open --pin -`: a PIN that no other user of the machine can see among the words of a command.
 */
import { afterAll, expect, test } from 'vitest';
import { openCommandWorld } from '../support/command-world.ts';
import { collect, payFromWallet } from '../support/flows.ts';

const { world, cli, close } = await openCommandWorld();
afterAll(close);

const WORDS = 'wallet open --pin - --currency usd --balance 50.00 --phone +243810000042 --json';

test.each(['408213', '408213\n', '408213\r\nand what follows it'])(
  'is read from the first line of %j',
  async (input) => {
    const opened = await cli.run(WORDS, {}, input);
    expect(opened.status, opened.err).toBe(0);
    const { wallet_number: number } = JSON.parse(opened.out) as { wallet_number: string };
    const paying = await collect(world, await world.merchant());
    expect((await payFromWallet(world, paying, { number, pin: '408213' })).json).toMatchObject({ status: 'approved' });
  },
);

test('is missing where there is no input', async () => {
  expect(await cli.run(WORDS)).toMatchObject({ status: 2, err: expect.stringContaining('four to eight digits') });
});
