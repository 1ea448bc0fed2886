/**
 * The shop in English.
 * Invariant: every sentence says what happened and what to do next.
 */
import type { ShopWords } from './shop-words.ts';

export const en: ShopWords = {
  demo: 'A demo shop: nothing here is really sold, and no real money moves.',
  sandbox: 'Mbongo sandbox',
  language: 'Language',
  currency: 'Currency',
  skip: 'To the content',
  shop: 'Shop',
  cart: 'Cart',
  orders: 'Orders',
  inCart: 'in the cart: {n}',

  title: 'Good things from around the lake',
  lead: 'Coffee from the hills, cloth from the market, light for the evening. From Goma to Kinshasa.',
  goods: {
    coffee: { name: 'Kivu coffee', about: 'Arabica from the hills of Kalehe, roasted in Goma. 500 g.' },
    wax: { name: 'Wax cloth', about: 'Six yards of printed cotton, enough for a dress and a headscarf.' },
    honey: { name: 'Forest honey', about: 'Dark, from the edge of the Ituri forest. 350 g.' },
    charger: { name: 'Phone charger', about: 'USB-C, 20 W, with a cable of two metres.' },
    chocolate: { name: 'Dark chocolate', about: 'Cocoa from Beni, 72 %. Two bars of 80 g.' },
    basket: { name: 'Woven basket', about: 'Sisal and banana fibre, made by hand in Bukavu.' },
    tea: { name: 'Black tea', about: 'From the slopes above the lake. 250 g, loose.' },
    solar: { name: 'Solar kit', about: 'A panel, a battery and two lamps: four evenings of light.' },
  },
  add: 'Add to cart',
  added: 'In your cart: {n}',
  toCart: 'See the cart',

  noGateway: {
    title: 'The till is not connected yet',
    about:
      'The gateway hands this shop its credential when it starts in sandbox mode with a demo merchant. To connect another merchant, run this on the same machine:',
  },

  cartTitle: 'Your cart',
  cartEmpty: { title: 'Nothing in it yet', about: 'Choose something in the shop, and it waits for you here.' },
  toShop: 'To the shop',
  each: '{amount} each',
  more: 'One more: {name}',
  less: 'One less: {name}',
  remove: 'Remove',
  total: 'Total',
  feesMayCome: 'Before fees; the payment page shows them before you pay.',
  buy: 'Buy for {amount}',
  thenPay: 'You choose how to pay on the gateway’s page, and come back here.',
  advanced: 'For testers: fees and delivery',
  fees: 'Fees are paid by',
  feesBy: { buyer: 'the buyer', merchant: 'the shop' },
  delivery: 'The shop gets the money',
  deliveries: { direct_delivery: 'at once', delayed_delivery: 'later, when it is released' },

  trouble: 'The payment could not be started',
  noAnswer: 'The payment service does not answer just now. Wait a moment, then try again.',
  notCharged: 'Nothing was charged, and your cart is as it was.',
  tryAgain: 'Try again',

  order: 'Order {reference}',
  state: {
    waiting: 'waiting',
    paid: 'paid',
    refused: 'not paid',
    cancelled: 'cancelled',
    expired: 'expired',
    refunded: 'refunded',
  },
  outcome: {
    waiting: { title: 'Not paid yet', about: 'Your order is kept for you meanwhile.' },
    paid: { title: 'Thank you, it is paid', about: 'We are packing your order. This is your receipt.' },
    refused: {
      title: 'The payment did not go through',
      about: 'No money was taken. Buy again, and pay with another number or in another way.',
    },
    cancelled: {
      title: 'The payment was cancelled',
      about: 'No money was taken. If you changed your mind again, buy again.',
    },
    expired: {
      title: 'The time to pay is over',
      about: 'Nobody confirmed in time. Buy again; should money have left your account all the same, we send it back.',
    },
    refunded: { title: 'We sent your money back', about: 'It goes the way it came. Buy again whenever you like.' },
  },
  waitsFor: {
    pending: 'We wait for you: choose how to pay on the payment page.',
    processing: 'We wait for the word of the operator or the bank. You need do nothing.',
    pending_otp_verification: 'We wait for the code that you got as a text message: enter it on the payment page.',
    pending_mobile_money_verification: 'We wait for you to confirm on your phone: enter your PIN there.',
    pendingBankProofUpload: 'We wait for the proof of your transfer: upload it on the payment page.',
  },
  looksAgain: 'This page looks again by itself every few seconds.',
  look: 'Look again',
  cannotAsk: 'We cannot ask the payment service just now:',
  goOn: 'Go on to the payment page',
  buyAgain: 'Buy again',
  offline: 'Connection lost. Trying again…',
  noOrder: {
    title: 'We do not know this order',
    about: 'The address may be cut short, or the shop was started anew since: it forgets its orders then.',
  },

  receipt: 'Receipt',
  transaction: 'Transaction',
  learned: 'How we know',
  byWebhook: 'verified webhook, {time}',
  byAsking: 'asked the gateway, {time}',
  notYet: 'not known yet',

  ordersTitle: 'Orders',
  ordersLead: 'What the shop knows of each payment, and from whom: a browser that comes back is never believed.',
  noOrders: { title: 'No orders yet', about: 'Buy something in the shop, and it appears here at once.' },
  reference: 'Order',
  amount: 'Amount',
  status: 'Status',
  ordered: 'Ordered',
};
