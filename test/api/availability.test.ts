/**
 * What works at present, judged by how calls went: the sandbox's networks are taken down, and come back.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Availability } from '../../src/domain/availability.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { readyToPay, submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, numberEnding, payByPhone } from '../support/flows.ts';
import { commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { openSecond } from '../support/second-gateway.ts';
import { untilLater, whileTimePasses } from '../support/waiting.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;

let world: World;
let merchant: MerchantCreated;
beforeEach(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterEach(() => world.close());

interface Service {
  readonly use: 'payment' | 'payout';
  readonly method: string;
  readonly currency: string;
  readonly carrier: string | null;
  readonly country: string | null;
  readonly status: Availability;
}

async function services(currency = 'usd'): Promise<Service[]> {
  const answer = await world.call('GET', `/internal/availability?currency=${currency}`, { bearer: bearerOf(merchant) });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.services;
}

/** The availability of a method, by its carriers. */
async function statusOf(method: string, use = 'payment'): Promise<Readonly<Record<string, Availability>>> {
  const of = (await services()).filter((service) => service.use === use && service.method === method);
  return Object.fromEntries(of.map(({ carrier, status }) => [carrier ?? 'own', status]));
}

/** Asks a customer's phone for money. */
async function payFrom(msisdn: string): Promise<number> {
  const paying = await collect(world, merchant);
  return (await whileTimePasses(world, payByPhone(world, paying, msisdn))).status;
}

const vodacom = (): string => numberEnding('01');

let airtels = 0;
function airtel(): string {
  airtels += 1;
  return `+24397${String(airtels).padStart(5, '0')}01`;
}

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) await work();
}

const ALL = {
  'Vodacom M-Pesa': 'operational',
  'Airtel Money': 'operational',
  'Orange Money': 'operational',
  'Africell Money': 'operational',
  'Mobile Money': 'operational',
};
const allOf = (status: Availability) => Object.fromEntries(Object.keys(ALL).map((carrier) => [carrier, status]));

describe('the list', () => {
  test('has what is configured and allowed to the merchant, with carriers and their countries', async () => {
    expect(await statusOf('mobile_money')).toEqual(ALL);
    expect(await statusOf('mobile_money', 'payout')).toEqual(ALL);
    const [vodacomNow] = await services();
    expect((await services()).find(({ carrier }) => carrier === 'Vodacom M-Pesa')).toEqual({
      use: 'payment',
      method: 'mobile_money',
      currency: 'usd',
      carrier: 'Vodacom M-Pesa',
      country: 'CD',
      status: 'operational',
    });
    expect(vodacomNow).toBeDefined();
    for (const method of ['card', 'google_pay', 'apple_pay']) {
      expect(Object.values(await statusOf(method))).toEqual(['operational']);
    }
    expect(await statusOf('wallet')).toEqual({ own: 'operational' });
    expect(await statusOf('flash')).toEqual({ own: 'operational' });
    expect(await statusOf('wallet', 'payout')).toEqual({ own: 'operational' });
    // It has no bank account.
    expect(await statusOf('bank_transfer')).toEqual({});
  });

  test('covers every currency of the merchant’s, or the one in the query', async () => {
    const bearer = bearerOf(merchant);
    const { json } = await world.call('GET', '/internal/availability', { bearer });
    const currencies = new Set(json.services.map(({ currency }: Service) => currency));
    expect(currencies.size).toBeGreaterThan(10);
    expect((await services('xof')).every(({ currency }) => currency === 'xof')).toBe(true);
    expectRefusal(await world.call('GET', '/internal/availability?currency=EUR', { bearer }), 400, '1102');
  });
});

describe('a carrier', () => {
  test('that takes nothing is down, for all callers, and operational within a minute of its return', async () => {
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    await times(4, () => payFrom(vodacom()));
    await world.clock.advance(5_000);
    expect(await statusOf('mobile_money')).toEqual(allOf('down'));
    // Its payouts are a separate API, which nobody has tried; so are cards.
    expect(await statusOf('mobile_money', 'payout')).toEqual(ALL);
    expect(Object.values(await statusOf('card'))).toEqual(['operational']);
    world.sandbox.faults.clear();
    expect(await payFrom(vodacom())).toBe(200);
    await world.clock.advance(5_000);
    expect(await statusOf('mobile_money')).toMatchObject({ 'Vodacom M-Pesa': 'degraded' });
    await world.clock.advance(MINUTE - 5_000);
    expect(await payFrom(vodacom())).toBe(200);
    await world.clock.advance(5_000);
    expect(await statusOf('mobile_money')).toEqual(ALL);
  });

  test('that nobody calls any more is operational after five minutes', async () => {
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    await times(3, () => payFrom(vodacom()));
    await world.clock.advance(4 * MINUTE);
    expect(await statusOf('mobile_money')).toEqual(allOf('down'));
    await world.clock.advance(2 * MINUTE);
    expect(await statusOf('mobile_money')).toEqual(ALL);
  });

  test('is degraded alone while its neighbours answer', async () => {
    await times(3, () => payFrom(airtel()));
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    await payFrom(vodacom());
    await world.clock.advance(5_000);
    expect(await statusOf('mobile_money')).toEqual({ ...ALL, 'Vodacom M-Pesa': 'degraded' });
  });

  test('that knows no account under the numbers works; one that refuses us is down', async () => {
    world.sandbox.faults.set('mtn', { refusal: { status: 404, code: 'PAYER_NOT_FOUND' } });
    await times(3, async () => expect(await payFrom(vodacom())).toBe(400));
    expect(await statusOf('mobile_money')).toEqual(ALL);
    world.sandbox.faults.set('mtn', { refusal: { status: 500, code: 'NOT_ALLOWED' } });
    await times(3, async () => expect(await payFrom(airtel())).toBe(502));
    await untilLater(world, async () =>
      (await statusOf('mobile_money'))['Airtel Money'] === 'down' ? true : undefined,
    );
    expect(await statusOf('mobile_money')).toEqual({ ...ALL, 'Airtel Money': 'down' });
  });

  test('that declines customers works', async () => {
    await times(3, () => payFrom(numberEnding('02')));
    await world.pass(10_000);
    expect(await statusOf('mobile_money')).toEqual(ALL);
  });

  test('is down for payouts while their lines wait for it', async () => {
    const payer = await openPayer(world);
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const payees = Array.from({ length: 4 }, () => ({ msisdn: vodacom(), amount: '1.00' }));
    const lines = await commitBatch(world, payer, payees);
    await world.gateway.dispatcher.idle();
    expect(await statusOf('mobile_money', 'payout')).toEqual(allOf('down'));
    expect(await statusOf('mobile_money')).toEqual(ALL);
    world.sandbox.faults.clear();
    await untilLater(world, async () => ((await lineNow(world, lines[0])).status === 'completed' ? true : undefined));
    await world.pass(MINUTE);
    expect(await statusOf('mobile_money', 'payout')).toEqual(ALL);
  });
});

describe('the card network', () => {
  test('that takes nothing is down for cards and the wallets behind them', async () => {
    const ready = await Promise.all([1, 2, 3].map(() => readyToPay(world, merchant, 'frictionless')));
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    for (const paying of ready) expect((await submitCard(world, paying)).status).toBeGreaterThanOrEqual(500);
    await world.clock.advance(5_000);
    for (const method of ['card', 'google_pay', 'apple_pay']) {
      expect(Object.values(await statusOf(method))).toEqual(['down']);
    }
    expect(await statusOf('mobile_money')).toEqual(ALL);
  });

  test('that opens no form is down for cards, which leave no attempt then, until it opens one', async () => {
    // Whatever an earlier test has left is older than an hour.
    await world.clock.advance(61 * 60_000);
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const collectByCard = async (): Promise<number> => {
      const { token } = await mint(world, merchant);
      const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
      return (await world.call('POST', '/payments/collect', { bearer: token, body })).status;
    };
    for (let tries = 0; tries < 3; tries += 1) expect(await collectByCard()).toBe(502);
    const told = world.log.lines.filter((line) => line.includes('"event":"card_form_not_opened"'));
    const unopened = { level: 'warn', transaction_id: expect.stringMatching(/^txn_/), reason: expect.any(String) };
    expect(told.map((line) => JSON.parse(line))).toMatchObject([unopened, unopened, unopened]);
    await world.clock.advance(5_000);
    expect(Object.values(await statusOf('card'))).toEqual(['down']);
    expect(Object.values(await statusOf('google_pay'))).toEqual(['operational']);
    world.sandbox.faults.clear();
    expect(await collectByCard()).toBe(200);
    await world.clock.advance(61_000);
    expect(Object.values(await statusOf('card'))).toEqual(['operational']);
  });
});

test('availability is combined from what every process has written, and read once in five seconds', async () => {
  const second = await openSecond(world, world.gateway.deps.clock);
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  expect(await statusOf('mobile_money')).toEqual(ALL);
  await times(3, () => payFrom(vodacom()));
  expect(await statusOf('mobile_money')).toEqual(ALL);
  const there = await fetch(`${second.url}/api/v1/internal/availability?currency=usd`, {
    headers: { authorization: `Bearer ${bearerOf(merchant)}` },
  });
  const { services: theirs } = (await there.json()) as { services: Service[] };
  expect(theirs.find(({ carrier }) => carrier === 'Airtel Money')?.status).toBe('down');
  await second.close();
  await world.clock.advance(5_000);
  expect(await statusOf('mobile_money')).toEqual(allOf('down'));
});

test('availability is read again if the clock was set back', async () => {
  expect(await statusOf('mobile_money')).toEqual(ALL);
  world.clock.setBack(60 * MINUTE);
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  await times(3, () => payFrom(vodacom()));
  await world.clock.advance(5_000);
  expect(await statusOf('mobile_money')).toEqual(allOf('down'));
});
