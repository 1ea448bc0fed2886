/**
 * The numbers that decide by themselves in the sandbox (contract §11).
 *
 * Invariant: they are the sandbox's; a test compares the two, because neither may import the other.
 */

/** By the last two digits: what becomes of a payment from the number, and of a payout to it. */
export const PHONES = [
  { ending: '01', carrier: 'approves by itself after a second', payment: 'approved', payout: 'paid after a second' },
  { ending: '02', carrier: 'insufficient funds', payment: 'failed', payout: 'fails: no such account' },
  { ending: '03', carrier: 'the customer rejects', payment: 'cancelled', payout: 'fails: the account is blocked' },
  {
    ending: '04',
    carrier: 'never answers',
    payment: 'pending_mobile_money_verification, then expired',
    payout: 'stays open',
  },
  {
    ending: '05',
    carrier: 'does not answer the request in time, and yet moves the money',
    payment: 'approved, once the gateway inquires',
    payout: 'paid, once the gateway inquires',
  },
  {
    ending: '06',
    carrier: 'is down',
    payment: 'the submit answers 1404; the payment stays open',
    payout: 'waits, and is sent again',
  },
  {
    ending: '07',
    carrier: 'sends three callbacks, out of order',
    payment: 'approved, only once',
    payout: 'paid, only once',
  },
  {
    ending: '08',
    carrier: 'never sends a callback',
    payment: 'approved, once the gateway inquires',
    payout: 'paid, once the gateway inquires',
  },
] as const;

export const CARDS = [
  { number: '5123 4500 0000 0008', what: 'approved without a challenge' },
  { number: '4508 7500 1574 1019', what: 'the issuer challenges the customer: choose there to pass or fail' },
  { number: '5111 1111 1111 1118', what: 'declined by the issuer' },
  {
    number: '4000 0000 0000 0119',
    what: 'after the challenge the network’s answer is lost, and yet it moves the money',
  },
] as const;
