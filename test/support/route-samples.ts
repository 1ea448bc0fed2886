/**
 * One call that succeeds for every route of the table, made afresh each time, so that walks can spoil it in one way.
 *
 * Invariant: a route without a sample here fails the walk, so that no route is added without being walked.
 */

import { routesOf } from '../../src/assemble.ts';
import { makeId } from '../../src/domain/ids.ts';
import type { Route } from '../../src/http/route.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from './envelope.ts';
import { listEventsSample, readEventSample, replayEventSample, replayEventsSample } from './event-samples.ts';
import { bearerOf, codeOn, collect, type Paying, payFromWallet } from './flows.ts';
import { createSample, listSample, readSample, retrySample, sendSample } from './payout-samples.ts';
import type { Sample } from './sample.ts';
import { addAccount, FORM_TYPE, formOf, pdfFile, promise } from './transfer-flows.ts';
import { type Answer, collectBody, mint, type World } from './world.ts';

type Make = (world: World, merchant: MerchantCreated) => Promise<Sample>;

/**
 * Every route of the published API that takes a credential. The card network's callback takes none, and has tests of its own.
 */
export function credentialRoutes({ gateway: { deps, courier } }: World): Route[] {
  return routesOf(deps, courier).filter(({ credential }) => credential !== 'none');
}

/** Each route with its name, as `describe.each` takes them. */
export function named(routes: readonly Route[]): (readonly [string, Route])[] {
  return routes.map((route) => [`${route.method} ${route.path}`, route]);
}

export function sampleOf(route: Route, world: World, merchant: MerchantCreated): Promise<Sample> {
  const make = SAMPLES[route.operationId];
  if (make === undefined) throw new Error(`${route.operationId} has no sample: write one, so that it is walked`);
  return make(world, merchant);
}

/** Sends a sample, possibly with parts replaced. */
export function send(
  world: World,
  route: Pick<Route, 'method' | 'upload'>,
  sample: Pick<Sample, 'path' | 'body'> & { readonly bearer?: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  if (route.upload !== undefined && sample.body !== undefined)
    return sendForm(world, route.upload.field, sample, headers);
  return world.call(route.method, sample.path, {
    ...(sample.bearer === undefined ? {} : { bearer: sample.bearer }),
    ...(sample.body === undefined ? {} : { body: sample.body }),
    headers,
  });
}

/** Sends a sample as a form: each text is a field, and the one named like the file is the file's content. */
function sendForm(
  world: World,
  file: string,
  { path, body = {}, bearer }: Pick<Sample, 'path' | 'body'> & { readonly bearer?: string },
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const parts = Object.entries(body).map(([name, value]) => ({
    name,
    value: String(value),
    ...(name === file ? { fileName: 'proof.pdf' } : {}),
  }));
  return world.call('POST', path, {
    ...(bearer === undefined ? {} : { bearer }),
    raw: formOf(parts).toString(),
    headers: { 'content-type': FORM_TYPE, ...headers },
  });
}

/** A well-formed transaction_id and payment_id that name nothing. */
export function nothing(world: World, merchant: MerchantCreated): { transaction_id: string; payment_id: string } {
  const { clock, random, secrets } = world.gateway.deps;
  const transaction_id = makeId('txn', clock.now(), random.bytes(16), merchant.merchant.shard);
  return { transaction_id, payment_id: secrets.sealPaymentId(transaction_id) };
}

let phones = 0;

/** A payment that waits for its one-time code. */
export async function askCode(
  world: World,
  merchant: MerchantCreated,
): Promise<Paying & { readonly phone: string; readonly wallet: string }> {
  phones += 1;
  const phone = `+24382${String(phones).padStart(5, '0')}77`;
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const paying = await collect(world, merchant, { minted: { amount: '150.00', ttl_seconds: 86_400 } });
  const asked = await payFromWallet(world, paying, wallet);
  if (asked.json.status !== 'pending_otp_verification') throw new Error(asked.text);
  return { ...paying, phone, wallet: wallet.number };
}

/** Makes another payment on that session, so that it is consumed. */
async function consume(world: World, token: string): Promise<void> {
  const wallet = await world.wallet();
  const made = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') });
  const paid = await payFromWallet(world, { token, payment_id: made.json.payment_id }, wallet);
  if (paid.json.status !== 'approved') throw new Error(paid.text);
}

const minted = { ttl_seconds: 86_400 };

const SAMPLES: { readonly [operationId: string]: Make } = {
  createSession: async (_world, merchant) => {
    const body = { amount: '12.50', currency: 'usd', customer_reference: 'order-7' };
    return {
      path: '/internal/sessions/create',
      bearer: bearerOf(merchant),
      body,
      answers: 201,
      otherBody: { ...body, amount: '12.51' },
    };
  },
  collectPayment: async (world, merchant) => {
    const { token } = await mint(world, merchant, minted);
    const body = collectBody(world, 'none');
    return {
      path: '/payments/collect',
      bearer: token,
      body,
      answers: 200,
      otherBody: { ...body, fee_covered_by: 'merchant' },
      consume: () => consume(world, token),
    };
  },
  collectRedirect: async (world, merchant) => {
    const { token } = await mint(world, merchant, minted);
    const { payment_method: _none, ...body } = collectBody(world, 'none');
    return {
      path: '/payments/collect-redirect',
      bearer: token,
      body,
      answers: 200,
      otherBody: { ...body, fee_covered_by: 'merchant' },
      consume: () => consume(world, token),
    };
  },
  submitPayment: async (world, merchant) => {
    const paying = await collect(world, merchant, { minted });
    const wallet = await world.wallet();
    const body = {
      payment_id: paying.payment_id,
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    };
    return {
      path: '/payments/submit',
      bearer: paying.token,
      body,
      answers: 200,
      otherBody: { ...body, ewallet_pin: '4321' },
      unknown: { path: '/payments/submit', body: { ...body, payment_id: nothing(world, merchant).payment_id } },
      consume: () => consume(world, paying.token),
    };
  },
  verifyCode: async (world, merchant) => {
    const asked = await askCode(world, merchant);
    const body = { payment_id: asked.payment_id, otp_code: await codeOn(world, asked.phone) };
    return {
      path: '/payments/verify-otp',
      bearer: asked.token,
      body,
      answers: 200,
      otherBody: { ...body, payment_id: `${asked.payment_id}x` },
      unknown: { path: '/payments/verify-otp', body: { ...body, payment_id: nothing(world, merchant).payment_id } },
      consume: () => Promise.resolve(),
    };
  },
  resendCode: async (world, merchant) => {
    const asked = await askCode(world, merchant);
    const body = { payment_id: asked.payment_id };
    return {
      path: '/payments/resend-otp',
      bearer: asked.token,
      body,
      answers: 200,
      otherBody: { payment_id: `${asked.payment_id}x` },
      unknown: { path: '/payments/resend-otp', body: { payment_id: nothing(world, merchant).payment_id } },
      consume: () => Promise.resolve(),
    };
  },
  readBanks: async (world, merchant) => {
    await addAccount(world, merchant);
    const { token } = await mint(world, merchant, minted);
    return { path: '/payments/get-config-bank', bearer: token, answers: 200, consume: () => consume(world, token) };
  },
  uploadProof: async (world, merchant) => {
    const paying = await promise(world, merchant);
    const path = '/payments/bank-transfer/proof';
    const body = { payment_id: paying.payment_id, file: pdfFile().toString() };
    return {
      path,
      bearer: paying.token,
      body,
      answers: 200,
      otherBody: { ...body, file: pdfFile().toString() },
      unknown: { path, body: { ...body, payment_id: nothing(world, merchant).payment_id } },
      consume: () => Promise.resolve(),
    };
  },
  releaseDelivery: async (world, merchant) => {
    const paying = await collect(world, merchant, { body: { delivery_behaviour: 'delayed_delivery' } });
    await payFromWallet(world, paying, await world.wallet());
    const pathOf = (id: string): string => `/internal/deliveries/${id}/release`;
    return {
      path: pathOf(paying.transaction_id),
      bearer: bearerOf(merchant),
      answers: 200,
      otherBody: { note: 'x' },
      unknown: { path: pathOf(nothing(world, merchant).transaction_id) },
    };
  },
  createRefund: async (world, merchant) => {
    const { transaction_id } = await paidOnce(world, merchant);
    const body = { transaction_id, amount: '1.00' };
    const unknown = { ...body, transaction_id: nothing(world, merchant).transaction_id };
    return {
      path: '/internal/refunds',
      bearer: bearerOf(merchant),
      body,
      answers: 201,
      otherBody: { ...body, amount: '2.00' },
      unknown: { path: '/internal/refunds', body: unknown },
    };
  },
  listRefunds: async (world, merchant) => {
    const { transaction_id } = await paidOnce(world, merchant);
    await world.call('POST', '/internal/refunds', { bearer: bearerOf(merchant), body: { transaction_id } });
    return books(merchant, '/internal/refunds?limit=5');
  },
  readRefund: async (world, merchant) => {
    const { transaction_id } = await paidOnce(world, merchant);
    const bearer = bearerOf(merchant);
    const made = await world.call('POST', '/internal/refunds', { bearer, body: { transaction_id } });
    const pathOf = (id: string): string => `/internal/refunds/${id}`;
    const unknown = { path: pathOf(nothing(world, merchant).transaction_id.replace('txn_', 'rfd_')) };
    return { path: pathOf(made.json.refund_id), bearer, answers: 200, unknown };
  },
  readBalances: (_world, merchant) => books(merchant, '/internal/balances'),
  readStatement: (_world, merchant) => books(merchant, '/internal/statement?currency=usd'),
  listTransactions: async (world, merchant) => {
    await collect(world, merchant, { minted });
    return books(merchant, '/internal/transactions?limit=5');
  },
  readMerchantTransaction: async (world, merchant) => {
    const { transaction_id } = await collect(world, merchant, { minted });
    const pathOf = (id: string): string => `/internal/transactions/${id}`;
    return {
      path: pathOf(transaction_id),
      bearer: bearerOf(merchant),
      answers: 200,
      unknown: { path: pathOf(nothing(world, merchant).transaction_id) },
    };
  },
  sendPayout: (world, merchant) => sendSample(world, merchant, consume),
  createPayout: createSample,
  retryPayout: retrySample,
  listPayouts: listSample,
  listEvents: listEventsSample,
  readEvent: readEventSample,
  replayEvent: replayEventSample,
  replayEvents: replayEventsSample,
  readAvailability: (_world, merchant) => books(merchant, '/internal/availability?currency=usd'),
  readPayout: readSample,
  checkStatus: (world, merchant) => reading(world, merchant, '/payments/check-status/', 'transaction_id'),
  readCardStatus: (world, merchant) => reading(world, merchant, '/payments/cardnet/status/', 'transaction_id'),
  readMastercardStatus: (world, merchant) => reading(world, merchant, '/payments/mastercard/status/', 'transaction_id'),
  readStatus: (world, merchant) => reading(world, merchant, '/payments/status/', 'transaction_id'),
  readTransaction: (world, merchant) => reading(world, merchant, '/payments/transaction/', 'payment_id'),
  readMobileMoneyStatus: (world, merchant) => reading(world, merchant, '/payments/mobile-money/status/', 'payment_id'),
};

async function paidOnce(world: World, merchant: MerchantCreated): Promise<Paying> {
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  return paying;
}

function books(merchant: MerchantCreated, path: string): Promise<Sample> {
  return Promise.resolve({ path, bearer: bearerOf(merchant), answers: 200 });
}

async function reading(
  world: World,
  merchant: MerchantCreated,
  path: string,
  id: 'transaction_id' | 'payment_id',
): Promise<Sample> {
  const paying = await collect(world, merchant, { minted });
  return {
    path: path + paying[id],
    bearer: paying.token,
    answers: 200,
    unknown: { path: path + nothing(world, merchant)[id] },
    consume: () => consume(world, paying.token),
  };
}

/** Demands that the unspoilt call succeeds, so that a refusal in a test has the reason under test. */
export async function requireWorks(world: World, route: Route, sample: Sample): Promise<Answer> {
  const answer = await send(world, route, sample);
  if (answer.status !== sample.answers) expectRefusal(answer, sample.answers, 'none');
  return answer;
}
