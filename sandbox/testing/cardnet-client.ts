/**
 * A small client of the card network's API, as a gateway's server would use it, for tests.
 * Invariant: everything goes over real HTTP under the sandbox's default credentials.
 */
import { randomUUID } from 'node:crypto';
import type { Answer, RunningSandbox } from './start-sandbox.ts';

/** The JSON of an answer, untyped for tests. */
export type Json = ReturnType<typeof JSON.parse>;
export type CardAnswer = Omit<Answer, 'json'> & { readonly json: Json };

export type CardOfTest = { readonly number: string; readonly expiry?: string; readonly securityCode?: string };

export const cardBase = '/cardnet/api/rest/version/100/merchant/TESTMBONGO';
export const cardAuthorization = `Basic ${btoa('merchant.TESTMBONGO:sandbox-cardnet-password')}`;
export const callbackUrl = 'http://127.0.0.1:8080/api/v1/payments/card/3ds-callback?t=1&x=%26';

export type CardClient = {
  readonly ask: (method: string, path: string, body?: unknown) => Promise<CardAnswer>;
  readonly control: (path: string, body: unknown) => Promise<CardAnswer>;
  /** A session that is bound to an order of 12.50 USD. */
  readonly open: (order?: { id?: string; amount?: string; currency?: string }) => Promise<Opened>;
  readonly fill: (session: string, card: CardOfTest) => Promise<CardAnswer>;
  readonly initiate: (opened: Opened) => Promise<CardAnswer>;
  readonly authenticate: (opened: Opened, more?: object) => Promise<CardAnswer>;
  readonly pay: (opened: Opened, more?: object, transaction?: string) => Promise<CardAnswer>;
  /** Opens, fills, authenticates without a challenge, and pays. */
  readonly payWith: (card: CardOfTest) => Promise<{ opened: Opened; paid: CardAnswer }>;
  readonly refund: (opened: Opened, amount: string, transaction: string, currency?: string) => Promise<CardAnswer>;
  readonly book: (order: string) => Promise<Json>;
};

export type Opened = {
  readonly session: string;
  readonly order: string;
  readonly amount: string;
  readonly currency: string;
};

export function transactionPath(order: string, transaction: string): string {
  return `/order/${order}/transaction/${transaction}`;
}

export function cardClient(running: RunningSandbox): CardClient {
  const ask = (method: string, path: string, body?: unknown) =>
    running.call(method, `${cardBase}${path}`, body, { authorization: cardAuthorization });
  const control = (path: string, body: unknown) => running.call('POST', `/control/cardnet${path}`, body);
  const operate = (order: string, transaction: string, body: object) =>
    ask('PUT', transactionPath(order, transaction), body);
  const moneyOf = ({ amount, currency }: Opened) => ({ amount, currency });

  const open: CardClient['open'] = async (order = {}) => {
    const { id = `txn_${randomUUID().slice(0, 26)}`, amount = '12.50', currency = 'USD' } = order;
    const created = await ask('POST', '/session', { session: { authenticationLimit: 25 } });
    const { id: session } = (created.json as Json).session;
    await ask('PUT', `/session/${session}`, { order: { id, amount, currency, reference: id } });
    return { session, order: id, amount, currency };
  };
  const fill: CardClient['fill'] = (session, { number, expiry = '01/39', securityCode = '100' }) => {
    const [expiry_month, expiry_year] = expiry.split('/');
    const card = { number, expiry_month, expiry_year, security_code: securityCode };
    return control(`/sessions/${session}`, card);
  };
  const initiate: CardClient['initiate'] = ({ session, order, currency }) =>
    operate(order, 'auth-1', {
      apiOperation: 'INITIATE_AUTHENTICATION',
      authentication: { acceptVersions: '3DS2', channel: 'PAYER_BROWSER', purpose: 'PAYMENT_TRANSACTION' },
      order: { currency },
      session: { id: session },
    });
  const authenticate: CardClient['authenticate'] = (opened, more = {}) =>
    operate(opened.order, 'auth-1', {
      apiOperation: 'AUTHENTICATE_PAYER',
      authentication: { redirectResponseUrl: callbackUrl },
      device: { browser: 'MOZILLA', browserDetails: { '3DSecureChallengeWindowSize': 'FULL_SCREEN' } },
      order: moneyOf(opened),
      session: { id: opened.session },
      ...more,
    });
  const pay: CardClient['pay'] = (opened, more = {}, transaction = 'pay-1') =>
    operate(opened.order, transaction, {
      apiOperation: 'PAY',
      authentication: { transactionId: 'auth-1' },
      order: { ...moneyOf(opened), reference: opened.order },
      session: { id: opened.session },
      sourceOfFunds: { type: 'CARD' },
      transaction: { reference: opened.order },
      ...more,
    });

  return {
    ask,
    control,
    open,
    fill,
    initiate,
    authenticate,
    pay,
    payWith: async (card) => {
      const opened = await open();
      await fill(opened.session, card);
      await initiate(opened);
      await authenticate(opened);
      return { opened, paid: await pay(opened) };
    },
    refund: ({ order }, amount, transaction, currency = 'USD') =>
      operate(order, transaction, { apiOperation: 'REFUND', transaction: { amount, currency } }),
    book: async (order) => (await running.call('GET', `/control/books?reference=${order}`)).json,
  };
}
