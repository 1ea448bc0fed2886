/**
 * The numbers that decide by themselves in the sandbox (contract §11).
 *
 * Invariant: they are the sandbox's; a test compares the two, because neither may import the other.
 */

/** By the last two digits: what becomes of a payment from the number, and of a payout to it. */
export const PHONES = [
  { ending: '01', carrier: 'approves by itself after a second', payment: 'approved', payout: 'paid after a second' },
  { ending: '02', carrier: 'insufficient funds', payment: 'failed', payout: 'fails, no such account' },
  { ending: '03', carrier: 'the customer rejects', payment: 'cancelled', payout: 'fails, account blocked' },
  {
    ending: '04',
    carrier: 'never answers',
    payment: 'pending_mobile_money_verification, then expired',
    payout: 'never decided',
  },
  {
    ending: '05',
    carrier: 'times out on the request, and yet pays',
    payment: 'approved, found by asking',
    payout: 'paid, found by asking',
  },
  { ending: '06', carrier: 'is down', payment: '1404; the payment stays open', payout: 'waits, and is sent again' },
  {
    ending: '07',
    carrier: 'calls back three times, out of order',
    payment: 'approved, once',
    payout: 'paid, once',
  },
  {
    ending: '08',
    carrier: 'never calls back',
    payment: 'approved, found by asking',
    payout: 'paid, found by asking',
  },
] as const;

export const CARDS = [
  { number: '5123 4500 0000 0008', what: 'approved without a challenge' },
  { number: '4508 7500 1574 1019', what: 'the issuer asks: pass or fail there' },
  { number: '5111 1111 1111 1118', what: 'declined by the issuer' },
  { number: '4000 0000 0000 0119', what: 'the network’s answer is lost after the challenge, and yet it pays' },
] as const;
