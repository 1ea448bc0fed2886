/**
 * The parts of an example of a call, and what all examples are about: one order, one customer, one shop.
 *
 * Invariant: none of it exists. Tokens and ids have the form of real ones and open nothing.
 */

/** An example of one call and its answer, as a route's documentation shows it. */
export interface Example {
  /** Path parameters, by name. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The answer with the first success that the route lists. */
  readonly answer: object;
}

export const TRANSACTION = 'txn_01m7wd7tg0edc9xkxzfg934nh6';
export const PAYMENT = 'pay_AWfCTP8IBSRGWpf89SBDSyJcyuEojKwgGZySk7pmj749DZwIIoQDHw7Q0W8fEA';
export const REFERENCE = 'order-2041';
export const BATCH = 'batch_01m7wd7tg1ftzsdmm39wf49z36';
export const REFUND = 'rfd_01m7wd7tg1fzka0rxvpp30d576';
export const EVENT = 'evt_01m7wd7xdse2taj5930zzqenz6';
export const NOTIFY_URL = 'https://shop.example.com/webhooks/mbongo';

/** The instants of the examples. */
export const AT = '2026-11-20T12:00:00.000Z';
export const LATER = '2026-11-20T12:00:09.412Z';
export const HALF_AN_HOUR_LATER = '2026-11-20T12:30:00.000Z';
