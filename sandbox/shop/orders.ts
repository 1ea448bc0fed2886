/**
 * The shop's orders, in memory, and what it knows of their payments.
 * Invariant: an order's outcome is written once, by a verified webhook or an answer of the gateway, and nothing late or repeated
 * undoes it.
 */
import type { Currency, Line } from './goods.ts';
import type { PaymentEvent, PaymentRead, Purchase } from './merchant.ts';

/** What each status of the gateway means to the shop. */
const meanings = {
  pending: 'waiting',
  processing: 'waiting',
  pending_otp_verification: 'waiting',
  pending_mobile_money_verification: 'waiting',
  pendingBankProofUpload: 'waiting',
  approved: 'paid',
  declined: 'refused',
  failed: 'refused',
  cancelled: 'cancelled',
  expired: 'expired',
  refunded: 'refunded',
} as const;

export type Status = keyof typeof meanings;
export type State = (typeof meanings)[Status];
export type WaitingStatus = { [Each in Status]: (typeof meanings)[Each] extends 'waiting' ? Each : never }[Status];

export type Order = Purchase & {
  readonly currency: Currency;
  readonly lines: readonly Line[];
  /** Milliseconds since the epoch, as all times here. */
  readonly at: number;
  readonly transaction_id: string;
  /** The page of the gateway where the customer pays. */
  readonly redirect_url: string;
  /** For reading this order's payment. Stays on the server; shown nowhere. */
  readonly session_token: string;
  readonly status: Status;
  /** When the gateway reported the present status: in answer to an inquiry, and by a verified webhook. */
  readonly asked_at: number | null;
  readonly webhook_at: number | null;
};

export type NewOrder = Omit<Order, 'status' | 'asked_at' | 'webhook_at'>;

/** How a webhook was handled: `unknown` matches no order of this shop, or not what was ordered. */
export type Heard = 'taken' | 'repeated' | 'stale' | 'unknown';

export type Orders = {
  /** Keeps a new order as `pending`; a known order stays as it is. */
  readonly add: (order: NewOrder) => void;
  readonly get: (id: string) => Order | undefined;
  /** Newest first. */
  readonly newest: (limit: number) => readonly Order[];
  /** Replaces the session token that reads the payment, once the first has expired. */
  readonly renew: (id: string, sessionToken: string) => void;
  /** Applies the gateway's answer to an inquiry about an order. */
  readonly answered: (id: string, read: PaymentRead, at: number) => void;
  /** Applies an event whose signature was verified. */
  readonly heard: (event: PaymentEvent, at: number) => Heard;
  /** Calls back when an order has changed: the named one, or any. */
  readonly watch: (id: string | undefined, changed: () => void) => () => void;
};

/** `sequence` is the latest of the order's present transaction. */
type Kept = { order: Order; sequence: number; readonly events: Set<string> };

const ordersKept = 1_000;

export function stateOf({ status }: Pick<Order, 'status'>): State {
  return meanings[status];
}

export function isWaiting(status: Status): status is WaitingStatus {
  return meanings[status] === 'waiting';
}

function isStatus(text: string): text is Status {
  return Object.hasOwn(meanings, text);
}

/** A final status stays, except that a paid order may be refunded. */
function mayBecome(now: Status, next: Status): boolean {
  return isWaiting(now) || (now === 'approved' && next === 'refunded');
}

/** Another order's payment, or a wrong amount, buys nothing. A refund may be partial. */
function fits(order: Order, told: PaymentRead): boolean {
  const asked = told.amount === order.amount && told.currency === order.currency;
  return told.customer_reference === order.reference && (asked || told.status === 'refunded');
}

/** After a decline the customer may try again within the same session: the order then follows the new payment. */
function leadsOn(order: Order, { status }: PaymentRead): boolean {
  const state = stateOf(order);
  if (!isStatus(status) || state === 'paid' || state === 'refunded') return false;
  return meanings[status] === 'paid' || (meanings[status] === 'waiting' && state !== 'waiting');
}

/** Whether a report is about the order's payment, after switching the order to a new payment if the report calls for that. */
function follow(entry: Kept, told: PaymentRead): boolean {
  const { order } = entry;
  if (!fits(order, told)) return false;
  if (told.transaction_id === order.transaction_id) return true;
  if (!leadsOn(order, told)) return false;
  const { transaction_id } = told;
  entry.order = { ...order, transaction_id, status: 'pending', asked_at: null, webhook_at: null };
  entry.sequence = 0;
  return true;
}

export function createOrders(): Orders {
  const kept = new Map<string, Kept>();
  const byReference = new Map<string, string>();
  const watchers = new Set<{ readonly id: string | undefined; readonly changed: () => void }>();

  const tell = (id: string) => {
    for (const watcher of watchers) if (watcher.id === undefined || watcher.id === id) watcher.changed();
  };
  /** `how` says when and by which way the status was learned; the first time by each way counts. */
  const learn = (entry: Kept, status: string, how: Partial<Pick<Order, 'asked_at' | 'webhook_at'>>) => {
    const { order } = entry;
    if (!isStatus(status)) return;
    if (status !== order.status && !mayBecome(order.status, status)) return;
    const before = status === order.status ? order : { asked_at: null, webhook_at: null };
    const asked_at = before.asked_at ?? how.asked_at ?? null;
    const webhook_at = before.webhook_at ?? how.webhook_at ?? null;
    entry.order = { ...order, status, asked_at, webhook_at };
    // Watchers hear only of news: an open page asks again whenever it is notified.
    if (before !== order || asked_at !== order.asked_at || webhook_at !== order.webhook_at) tell(order.id);
  };

  return {
    add: (order) => {
      if (kept.has(order.id)) return;
      const full = { ...order, status: 'pending', asked_at: null, webhook_at: null } as const;
      kept.set(order.id, { order: full, sequence: 0, events: new Set() });
      byReference.set(order.reference, order.id);
      const [oldest] = kept.values();
      if (kept.size > ordersKept && oldest !== undefined) {
        kept.delete(oldest.order.id);
        byReference.delete(oldest.order.reference);
      }
      tell(order.id);
    },
    get: (id) => kept.get(id)?.order,
    newest: (limit) =>
      [...kept.values()]
        .slice(-limit)
        .reverse()
        .map(({ order }) => order),
    renew: (id, session_token) => {
      const entry = kept.get(id);
      if (entry !== undefined) entry.order = { ...entry.order, session_token };
    },
    answered: (id, read, at) => {
      const entry = kept.get(id);
      if (entry !== undefined && follow(entry, read)) learn(entry, read.status, { asked_at: at });
    },
    heard: (event, at) => {
      const entry = kept.get(byReference.get(event.customer_reference) ?? '');
      if (entry === undefined) return 'unknown';
      if (entry.events.has(event.id)) return 'repeated';
      if (!follow(entry, event)) return 'unknown';
      if (event.sequence <= entry.sequence) return 'stale';
      entry.events.add(event.id);
      entry.sequence = event.sequence;
      learn(entry, event.status, { webhook_at: at });
      return 'taken';
    },
    watch: (id, changed) => {
      const watcher = { id, changed };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
