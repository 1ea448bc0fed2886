/**
 * The hosted page in two windows at once: each shows what has become of the payment, and neither breaks.
 */

import { afterAll, afterEach, expect, test } from 'vitest';
import { fillForm } from '../support/card-payments.ts';
import { type Hosted, host, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { collectWith, numberEnding, payByPhone, statusOf } from '../support/flows.ts';
import { carrierAsked } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
const merchant = await world.merchant();
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

/** The hosted form's session of a page's payment. */
async function formOf({ transaction_id }: Hosted): Promise<string> {
  const payment = await world.gateway.store.payment.get(merchant.merchant.shard, transaction_id);
  return payment?.hosted_session_id ?? '';
}

test('“Try again” pressed many times at once starts one payment, and every press shows it', async () => {
  const hosted = await host(world, merchant);
  const me = visitor(world);
  const page = await me.open(hosted.url);
  const form = await me.send(stepOf(page, 'card'), { method: 'card' });
  await fillForm(world, await formOf(hosted), 'declined');
  const declined = await me.send(stepOf(form, 'pay'), { method: 'card' });
  expect(await statusOf(world, hosted)).toBe('declined');
  const again = stepOf(declined, 'again');
  const shown = await Promise.all(Array.from({ length: 8 }, () => me.send(again, {})));
  for (const one of shown) expect([one.status, titleOf(one)], textOf(one)).toEqual([200, 'How would you like to pay?']);
  const made = await rowsOf<{ id: string; shown: boolean }>(
    world,
    `select p.id, p.id = c.payment_id as shown from payment p join checkout c on c.shard = p.shard and c.id = p.checkout_id
     where p.shard = $1 and p.session_id = c.session_id and c.id = (select checkout_id from payment where shard = $1 and id = $2)
     order by 2`,
    [merchant.merchant.shard, hosted.transaction_id],
  );
  expect(made).toMatchObject([{ id: hosted.transaction_id, shown: false }, { shown: true }]);
});

test('a card form that is requested while the session is paying otherwise is refused in words, and opens later', async () => {
  const hosted = await host(world, merchant);
  const me = visitor(world);
  const page = await me.open(hosted.url);
  const other = { ...(await collectWith(world, hosted.token)), token: hosted.token };
  world.sandbox.faults.set('mtn', { refuse_rate: 1, delay_ms: 1_000 });
  const asked = carrierAsked(world);
  const paying = payByPhone(world, other, numberEnding('01'));
  await asked;
  const refused = await me.send(stepOf(page, 'card'), { method: 'card' });
  expect(refused.status, textOf(refused)).toBe(409);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(textOf(refused)).toContain('Another payment of this order is under way, and nothing has been charged here.');
  expect((await whileTimePasses(world, paying, 500)).status).toBe(502);
  const opened = await me.send(stepOf(page, 'card'), { method: 'card' });
  expect(opened.status, textOf(opened)).toBe(200);
  expect(await formOf(hosted)).not.toBe('');
});
