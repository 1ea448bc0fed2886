/**
 * The texts that the shop needs.
 * Invariant: the type demands every text in every language; `fill` fills in the `{…}`.
 */
import type { Good } from '../goods.ts';
import type { State, WaitingStatus } from '../orders.ts';

type Told = { readonly title: string; readonly about: string };

export type ShopWords = {
  readonly demo: string;
  readonly sandbox: string;
  readonly language: string;
  readonly currency: string;
  readonly skip: string;
  readonly shop: string;
  readonly cart: string;
  readonly orders: string;
  /** How many items are in the cart, for screen readers. */
  readonly inCart: string;

  readonly title: string;
  readonly lead: string;
  readonly goods: Readonly<Record<Good, { readonly name: string; readonly about: string }>>;
  readonly add: string;
  readonly added: string;
  readonly toCart: string;

  readonly noGateway: Told;

  readonly cartTitle: string;
  readonly cartEmpty: Told;
  readonly toShop: string;
  readonly each: string;
  readonly more: string;
  readonly less: string;
  readonly remove: string;
  readonly total: string;
  readonly feesMayCome: string;
  readonly buy: string;
  readonly thenPay: string;
  readonly advanced: string;
  readonly fees: string;
  readonly feesBy: { readonly buyer: string; readonly merchant: string };
  readonly delivery: string;
  readonly deliveries: { readonly direct_delivery: string; readonly delayed_delivery: string };

  readonly trouble: string;
  readonly noAnswer: string;
  readonly notCharged: string;
  readonly tryAgain: string;

  readonly order: string;
  readonly state: Readonly<Record<State, string>>;
  readonly outcome: Readonly<Record<State, Told>>;
  /** What a waiting order waits for. */
  readonly waitsFor: Readonly<Record<WaitingStatus, string>>;
  readonly looksAgain: string;
  readonly look: string;
  readonly cannotAsk: string;
  readonly goOn: string;
  readonly buyAgain: string;
  readonly offline: string;
  readonly noOrder: Told;

  readonly receipt: string;
  readonly transaction: string;
  readonly learned: string;
  readonly byWebhook: string;
  readonly byAsking: string;
  readonly notYet: string;

  readonly ordersTitle: string;
  readonly ordersLead: string;
  readonly noOrders: Told;
  readonly reference: string;
  readonly amount: string;
  readonly status: string;
  readonly ordered: string;
};
