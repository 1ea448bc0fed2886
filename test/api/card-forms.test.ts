import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';
import {
  CARDS,
  capturesOf,
  collectByCard,
  collectCardWith,
  fillForm,
  readyToPay,
  submitCard,
  tamper,
} from './card-payments.ts';
import { collect, expectNothingWritten, expectRefusal, statusOf } from './flows.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect(await world.gateway.store.audit()).toEqual([]);
  await world.close();
});

describe('forms that may not pay', () => {
  test('an empty form: 1110, and it pays once it is filled', async () => {
    const paying = await collectByCard(world, merchant);
    expectRefusal(await submitCard(world, paying), 400, '1110', 'CARD_NOT_ENTERED');
    expect(await statusOf(world, paying)).toBe('pending');
    await fillForm(world, paying.form, 'frictionless');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
  });

  test('a form whose amount was changed behind our back pays nothing', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    await tamper(world, paying, '0.01');
    expectRefusal(await submitCard(world, paying), 400, '1110', 'FORM_CHANGED');
    expect(await statusOf(world, paying)).toBe('pending');
    expect(capturesOf(world, paying)).toEqual([]);
    expect(world.log.lines.some((line) => line.includes('mastercard_answer_mismatch'))).toBe(true);
  });

  test('a form of another payment, another session or another merchant is refused before anything is asked', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const other = await readyToPay(world, merchant, 'frictionless');
    const stranger = await readyToPay(world, await world.merchant('Librairie Goma'), 'frictionless');
    const sibling = await collectCardWith(world, paying.token);
    for (const form of [other.form, stranger.form, sibling.form, 'SESSION0002000000000000000000000', 'x']) {
      await expectNothingWritten(world, async () => {
        expectRefusal(await submitCard(world, { ...paying, form }), 400, '1110', 'OTHER_CARD_FORM');
      });
    }
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
  });

  test('a form that has paid pays nothing more', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    const other = await collectByCard(world, merchant);
    const { store } = world.gateway;
    const shard = shardOf(other.transaction_id);
    const payment = await store.payment.get(shard, other.transaction_id);
    // Even a row that names it: the network itself binds a form to one order.
    const row = { hosted_session_id: paying.form };
    const update = { table: 'payment', shard, id: other.transaction_id, version: payment?.version ?? 0, row } as const;
    expect(await store.commit({ updates: [update] })).toBe('won');
    const refused = await submitCard(world, { ...other, form: paying.form });
    expectRefusal(refused, 400, '1110', 'FORM_CHANGED');
    expect(capturesOf(world, other)).toEqual([]);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('a payment without a form says where to get one', async () => {
    const paying = await collect(world, merchant);
    const refused = await submitCard(world, { ...paying, form: 'SESSION0002000000000000000000000' });
    expectRefusal(refused, 400, '1110', 'NO_CARD_FORM');
  });
});

describe('what a card call says', () => {
  test('collect needs cardnet_payment_method, by either name; DIRECT_CAPTURE is not there yet', async () => {
    const { token } = await mint(world, merchant);
    const ask = (more: object) =>
      world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'card', { ...more }) });
    expectRefusal(await ask({}), 400, '1109', 'REQUIRED');
    expectRefusal(await ask({ cardnet_payment_method: 'DIRECT_CAPTURE' }), 400, '1103', 'DIRECT_CAPTURE');
    expectRefusal(await ask({ mastercard_payment_method: 'DIRECT_CAPTURE' }), 400, '1103', 'DIRECT_CAPTURE');
    const other = await ask({ cardnet_payment_method: 'PHONE' });
    expectRefusal(other, 400, '1103', 'NOT_AN_OPTION');
    expect(other.json.details[0].message).toContain('HOSTED_SESSION');
    const made = await ask({ mastercard_payment_method: 'HOSTED_SESSION' });
    expect(made.status, made.text).toBe(200);
    expect(made.json).toMatchObject({ status: 'pending', session_id: expect.stringMatching(/^SESSION/) });
    expect(made.json.payment_url).toMatch(/^http/);
  });

  test('submit needs cardnet_payment_method and session_id, and names both at once', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const bare = { payment_id: paying.payment_id, payment_method_id: 'card' };
    const missing = await world.call('POST', '/payments/submit', { bearer: paying.token, body: bare });
    expectRefusal(missing, 400, '1109', 'REQUIRED');
    expect(missing.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'cardnet_payment_method',
      'session_id',
    ]);
    const direct = { ...bare, cardnet_payment_method: 'DIRECT_CAPTURE', session_id: paying.form };
    expectRefusal(
      await world.call('POST', '/payments/submit', { bearer: paying.token, body: direct }),
      400,
      '1103',
      'DIRECT_CAPTURE',
    );
  });

  test.each(['/payments/collect', '/payments/submit', '/payments/verify-otp', '/payments/card/3ds-callback'])(
    'a card number posted to %s is refused and stands in no log line',
    async (path) => {
      const { token } = await mint(world, merchant);
      const number = CARDS.frictionless;
      for (const body of [
        { card_number: number },
        { note: `pay with ${number}` },
        { card: { number, cvv: '100' } },
        { session_id: number },
      ]) {
        expectRefusal(await world.call('POST', path, { bearer: token, body }), 400, '1110', 'CARD_DATA');
      }
      const form = await fetch(`${world.url}/api/v1/payments/card/3ds-callback`, {
        method: 'POST',
        body: new URLSearchParams({ order_id: number }),
      });
      expect(form.status).toBe(400);
      expect(JSON.stringify(world.log.lines)).not.toContain(number);
    },
  );
});
