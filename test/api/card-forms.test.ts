/** Hosted forms of cards: only the one that is bound to the payment, as it was opened, can pay it. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { cardOf, openCardForm } from '../../src/usecases/card-form.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import {
  CARDS,
  capturesOf,
  collectByCard,
  collectCardWith,
  fillForm,
  openFormOf,
  readyToPay,
  submitCard,
  tamper,
} from '../support/card-payments.ts';
import { type Shown, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { callerOf, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, payFromWallet, statusOf } from '../support/flows.ts';
import { expectNothingWritten, rowsOf } from '../support/rows.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

/** How many inquiries about a movement the network has received. */
async function inquiries(): Promise<number> {
  const page = await (await fetch(`${world.url}/metrics`)).text();
  const counts = page.matchAll(
    /^mbongo_upstream_calls_total\{connector="mastercard",operation="inquire"[^}]*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('forms that may not pay', () => {
  test('an empty form: 1110, and it can pay once it is filled', async () => {
    const paying = await collectByCard(world, merchant);
    expectRefusal(await submitCard(world, paying), 400, '1110', 'CARD_NOT_ENTERED');
    expect(await statusOf(world, paying)).toBe('pending');
    await fillForm(world, paying.form, 'frictionless');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
  });

  test('however often it is sent, the network gets no inquiry about those tries', async () => {
    const paying = await collectByCard(world, merchant);
    for (let tries = 0; tries < 20; tries += 1) {
      expectRefusal(await submitCard(world, paying), 400, '1110', 'CARD_NOT_ENTERED');
    }
    await fillForm(world, paying.form, 'frictionless');
    const before = await inquiries();
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(await inquiries()).toBe(before);
    const { timeline } = (
      await world.call('GET', `/payments/transaction/${paying.transaction_id}`, { bearer: paying.token })
    ).json;
    const reasons = timeline.map(({ reason }: { reason: string | null }) => reason);
    expect(reasons.filter((reason: string | null) => reason === 'form_unusable')).toHaveLength(20);
  });

  test('no operator can say that it has paid: its money was never asked for', async () => {
    const paying = await collectByCard(world, merchant);
    expectRefusal(await submitCard(world, paying), 400, '1110', 'CARD_NOT_ENTERED');
    const [attempt] = await rowsOf<{ id: string }>(world, 'select id from attempt where payment_id = $1', [
      paying.transaction_id,
    ]);
    const verdict = { paid: true, providerReference: 'REF-1', by: 'amina', why: 'statement' };
    await expect(decideAttempt(world.gateway.deps, attempt?.id ?? '', verdict)).rejects.toThrow(
      'cannot have been paid: the upstream was never asked for its money',
    );
    expect(await statusOf(world, paying)).toBe('pending');
  });

  test('a form whose amount was changed behind our back pays nothing', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    await tamper(world, paying, '0.01');
    expectRefusal(await submitCard(world, paying), 400, '1110', 'FORM_CHANGED');
    expect(await statusOf(world, paying)).toBe('pending');
    expect(capturesOf(world, paying)).toEqual([]);
    expect(world.log.lines.some((line) => line.includes('mastercard_answer_mismatch'))).toBe(true);
  });

  test('a form of another payment, session or merchant is refused before the network is called', async () => {
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

  test('a form in whose place another tab opens one just then pays nothing, and neither does the other', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const caller = await callerOf(world, merchant, paying);
    const { deps } = world.gateway;
    const { store } = deps;
    let opened: string | undefined;
    // Between the submit's read and its write.
    const commit: typeof store.commit = async (change) => {
      if (opened === undefined && change.inserts?.some(({ table }) => table === 'attempt')) {
        opened = await openFormOf(world, paying);
        await fillForm(world, opened, 'by_expiry');
      }
      return store.commit(change);
    };
    const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
    const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
    const submitted = submitPayment({ ...deps, store: { ...store, commit } }, caller, command, plainly);
    const details = [{ field: 'session_id', code: 'OTHER_CARD_FORM' }];
    await expect(submitted).rejects.toMatchObject({ code: 1110, more: { details } });
    expect(capturesOf(world, paying)).toEqual([]);
    expect((await submitCard(world, { ...paying, form: opened ?? '' })).json).toMatchObject({ status: 'approved' });
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('a form that the network opens while the payment is paid otherwise is not bound to it', async () => {
    const paying = await collect(world, merchant);
    const wallet = await world.wallet();
    const caller = await callerOf(world, merchant, paying);
    const { deps } = world.gateway;
    const card = cardOf(deps);
    const openForm: typeof card.openForm = async (order) => {
      expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
      return card.openForm(order);
    };
    const meanwhile = { ...deps, connectors: { ...deps.connectors, card: { ...card, openForm } } };
    await expect(openCardForm(meanwhile, caller, paying.transaction_id)).rejects.toMatchObject({ code: 1001 });
    const payment = await deps.store.payment.get(shardOf(paying.transaction_id), paying.transaction_id);
    expect(payment).toMatchObject({ status: 'approved', method: 'wallet', hosted_session_id: null });
    // Neither for it nor for another session's payment is the network asked from now on.
    const asked = { ...deps, connectors: { ...deps.connectors, card: undefined } };
    await expect(openCardForm(asked, caller, paying.transaction_id)).rejects.toMatchObject({ code: 1001 });
    const other = await collect(world, merchant);
    const strange = await callerOf(world, merchant, await collect(world, merchant));
    await expect(openCardForm(asked, strange, other.transaction_id)).rejects.toMatchObject({ code: 1204 });
  });

  test('no other form is opened while a submit is in flight, which may well pay: 1203 at once', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const caller = await callerOf(world, merchant, paying);
    const { deps } = world.gateway;
    const card = cardOf(deps);
    const authenticate: typeof card.authenticate = async (order, asked) => {
      const opening = openCardForm(deps, caller, paying.transaction_id);
      await expect(opening).rejects.toMatchObject({ code: 1203, more: { transactionId: paying.transaction_id } });
      return card.authenticate(order, asked);
    };
    const meanwhile = { ...deps, connectors: { ...deps.connectors, card: { ...card, authenticate } } };
    const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
    const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
    expect((await submitPayment(meanwhile, caller, command, plainly)).status).toBe(200);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('a form that has paid pays nothing more', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    const other = await collectByCard(world, merchant);
    const { store } = world.gateway;
    const shard = shardOf(other.transaction_id);
    const payment = await store.payment.get(shard, other.transaction_id);
    // Even with a row that names it: the network itself binds a form to one order.
    const row = { hosted_session_id: paying.form };
    const update = { table: 'payment', shard, id: other.transaction_id, version: payment?.version ?? 0, row } as const;
    expect(await store.commit({ updates: [update] })).toBe('won');
    const refused = await submitCard(world, { ...other, form: paying.form });
    expectRefusal(refused, 400, '1110', 'FORM_CHANGED');
    expect(capturesOf(world, other)).toEqual([]);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('a payment without a form says how to get one', async () => {
    const paying = await collect(world, merchant);
    const refused = await submitCard(world, { ...paying, form: 'SESSION0002000000000000000000000' });
    expectRefusal(refused, 400, '1110', 'NO_CARD_FORM');
  });
});

describe('a form that has ended at the network', () => {
  const LIFE_MS = 15 * 60_000;

  test('pays nothing and is reported as such, and another one of the session pays', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    await world.pass(LIFE_MS);
    const refused = await submitCard(world, paying);
    expectRefusal(refused, 400, '1110', 'FORM_EXPIRED');
    expect(refused.json).toMatchObject({ retryable: false, retry_after: null });
    // However often it is sent: no earlier try has asked for money, and an order that was never begun leaves no doubt.
    expectRefusal(await submitCard(world, paying), 400, '1110', 'FORM_EXPIRED');
    expect(await statusOf(world, paying)).toBe('pending');
    const other = { ...(await collectCardWith(world, paying.token)), token: paying.token };
    await fillForm(world, other.form, 'frictionless');
    expect((await submitCard(world, other)).json).toMatchObject({ status: 'approved' });
    expect(capturesOf(world, paying)).toEqual([]);
    expect(capturesOf(world, other)).toMatchObject([{ times: 1 }]);
  });

  test('is renewed on the hosted page, by a customer who has filled it too late', async () => {
    const { paying, me, page } = await onPage();
    await fillForm(world, paying.form, 'frictionless');
    await world.pass(LIFE_MS);
    const refused = await me.send(stepOf(page, 'pay'), { method: 'card' });
    expect(refused.status).toBe(400);
    expect(textOf(refused)).toContain('The card form is no longer valid for this payment. Open it again.');
    expect(formIn(refused)).toBeUndefined();
    const renewed = await me.send(stepOf(refused, 'card'), { method: 'card' });
    const form = formIn(renewed) ?? '';
    expect(form).not.toBe(paying.form);
    await fillForm(world, form, 'frictionless');
    await me.send(stepOf(renewed, 'pay'), { method: 'card' });
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test('is not shown if it can no longer be filled: the page offers to open another', async () => {
    const { paying, me, page } = await onPage();
    expect(formIn(page)).toBe(paying.form);
    // A form that ends soon could not be filled in time.
    await world.pass(LIFE_MS - 5 * 60_000);
    const later = await me.open(page.url);
    expect(formIn(later)).toBeUndefined();
    const opened = await me.send(stepOf(later, 'card'), { method: 'card' });
    expect(formIn(opened)).toMatch(/^SESSION/);
    expect(formIn(opened)).not.toBe(paying.form);
  });

  test('can be opened again from its own page, once the network’s script has refused', async () => {
    const { me, page } = await onPage();
    const again = await me.send(stepOf(page, 'card'), { method: 'card' });
    expect(formIn(again)).toMatch(/^SESSION/);
    expect(formIn(again)).not.toBe(formIn(page));
  });

  /** A hosted page of a card payment, on which its form is shown at once. */
  async function onPage() {
    const { token, reference } = await mint(world, merchant);
    const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
    const { json } = await world.call('POST', '/payments/collect', { bearer: token, body });
    const { payment_id, transaction_id, session_id: form, payment_url } = json;
    const me = visitor(world);
    return { paying: { token, reference, payment_id, transaction_id, form }, me, page: await me.open(payment_url) };
  }

  /** The network's session that a page's card form fills, if it shows one. */
  function formIn({ html }: Shown): string | undefined {
    return /data-card="([^"]+)"/.exec(html)?.[1];
  }
});

describe('the fields of a card call', () => {
  test('collect needs cardnet_payment_method, by either name; DIRECT_CAPTURE is not available yet', async () => {
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
    'a card number posted to %s is refused and does not appear in any log line',
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
