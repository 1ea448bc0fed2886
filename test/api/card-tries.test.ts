/** How many cards one session may try: a shop's session is no tool for finding out which stolen cards are good for money. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CardName, capturesOf, collectCardWith, fillForm, submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { openFickleDesk } from '../support/fickle-desk.ts';
import { refusal } from '../support/fickle-network.ts';
import { collectWith, payFromWallet, statusOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { mint, openWorld, type World } from '../support/world.ts';

const MAX = 10;

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

/** Collects once more on the session, and pays by that card. */
async function tryCard(token: string, card: CardName) {
  const made = await collectCardWith(world, token);
  await fillForm(world, made.form, card);
  return { ...made, answer: await submitCard(world, { token, ...made }) };
}

async function refuse(token: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const { answer } = await tryCard(token, n % 2 === 0 ? 'declined' : 'rejected');
    expectRefusal(answer, 402, '1502');
  }
}

test('after ten refused cards a session takes none, however good, and may still be paid in another way', async () => {
  const { token, reference } = await mint(world, merchant, { ttl_seconds: 600 });
  await refuse(token, MAX);
  const { answer, form, ...made } = await tryCard(token, 'frictionless');
  expectRefusal(answer, 429, '1301', 'CARDS_USED');
  expect(answer.json).toMatchObject({ retryable: false, transaction_id: made.transaction_id });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(500);
  expect(capturesOf(world, made)).toEqual([]);
  const other = { token, reference, ...(await collectWith(world, token)) };
  expect((await payFromWallet(world, other, await world.wallet())).json).toMatchObject({ status: 'approved' });
});

test('a card is taken after nine that were refused', async () => {
  const { token } = await mint(world, merchant);
  await refuse(token, MAX - 1);
  expect((await tryCard(token, 'frictionless')).answer.json).toMatchObject({ status: 'approved' });
});

test('a card that has paid after all is found first: nobody is told to pay in another way', async () => {
  const desk = await openFickleDesk();
  const { network, world: fickle } = desk;
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(fickle, paying), 502, '1404');
  network.instead('pay', undefined);
  network.pays = 'DECLINED';
  for (let n = 0; n < MAX; n += 1) {
    const other = await collectCardWith(fickle, paying.token);
    expectRefusal(await submitCard(fickle, { ...other, token: paying.token }), 402, '1502');
  }
  network.pays = 'APPROVED';
  const [first] = await rowsOf<{ id: string }>(fickle, 'select id from attempt where payment_id = $1', [
    paying.transaction_id,
  ]);
  network.took(first?.id ?? '');
  const found = await whileTimePasses(fickle, submitCard(fickle, paying));
  expectRefusal(found, 401, '1001', 'SESSION_CONSUMED');
  expect(await statusOf(fickle, paying)).toBe('approved');
  await desk.close();
});
