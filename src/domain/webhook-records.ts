/**
 * What is stored about webhooks: the secrets that sign them, the events, and each try to deliver one.
 *
 * The rules of `records.ts` hold here too: names are columns, instants are milliseconds.
 */

import type { CredentialStatus, Keyed, Versioned } from './records.ts';

/** A webhook signing secret, sealed at rest because it must be recovered to sign. */
export interface WebhookSecret extends Versioned {
  readonly merchant_id: string;
  readonly sealed: string;
  readonly status: CredentialStatus;
  readonly retires_at: number | null;
  readonly created_at: number;
}

/** `dead`: all tries failed. `gone`: its receiver answered 410. `no_target`: it was made without a notify_url. */
export type EventStatus = 'waiting' | 'delivered' | 'dead' | 'gone' | 'no_target';

/** A webhook event: committed with the state it tells of, delivered at least once. */
export interface WebhookEvent extends Versioned {
  readonly merchant_id: string;
  readonly transaction_id: string;
  /** 1, 2, … per transaction. */
  readonly sequence: number;
  /** For example `payment.approved`. */
  readonly type: string;
  readonly url: string | null;
  /** The exact bytes that are posted, the same on every attempt. */
  readonly body: string;
  readonly status: EventStatus;
  readonly attempts: number;
  /** The number of tries when it was last replayed: the retry schedule starts again there. */
  readonly replayed_after: number;
  readonly next_at: number;
  readonly created_at: number;
  readonly delivered_at: number | null;
  readonly last_error: string | null;
}

/** One try to deliver an event. */
export interface WebhookAttempt extends Keyed {
  readonly event_id: string;
  readonly number: number;
  readonly at: number;
  readonly status_code: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
}
