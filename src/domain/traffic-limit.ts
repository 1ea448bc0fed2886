/**
 * The limits on calls that a merchant can have a number of its own for, by their names (contract §8).
 *
 * Invariant: each is counted by that merchant's own number. Of what guards a code there can only be fewer: five in five
 * minutes is the specification's law. PINs, and credentials that are wrong, are nobody's to set for a merchant: whoever shows
 * them is not known to be its customer.
 */

/** Calls a window, and the window's length in seconds. */
export interface CallLimit {
  readonly calls: number;
  readonly seconds: number;
}

/** What `RATE_LIMIT_SCALE` multiplies. */
export const TRAFFIC_LIMITS = {
  sessions_create: { calls: 6_000, seconds: 60 },
  payments: { calls: 120, seconds: 60 },
  mobile_money_status: { calls: 30, seconds: 60 },
  card_callbacks: { calls: 60, seconds: 60 },
} as const satisfies { readonly [name: string]: CallLimit };

/** What guards a payment's one-time code: it is never scaled, and these are the most. */
export const CODE_GUARDS = {
  codes: { calls: 5, seconds: 300 },
  /** Calls for another code, whatever comes of them. */
  resends: { calls: 5, seconds: 300 },
} as const satisfies { readonly [name: string]: CallLimit };

export type TrafficLimit = keyof typeof TRAFFIC_LIMITS;
export type CodeGuard = keyof typeof CODE_GUARDS;

/** The names of all of them. */
export const LIMIT_NAMES: readonly string[] = [...Object.keys(TRAFFIC_LIMITS), ...Object.keys(CODE_GUARDS)];

/** Far above what one process can answer. */
const MOST_CALLS = 1_000_000;

/** The most calls a window that a merchant can be given under that name; undefined where no limit is called so. */
export function mostCalls(name: string): number | undefined {
  if (Object.hasOwn(CODE_GUARDS, name)) return CODE_GUARDS[name as CodeGuard].calls;
  return Object.hasOwn(TRAFFIC_LIMITS, name) ? MOST_CALLS : undefined;
}

/** How many calls a guard of this merchant's customers' codes lets through: its own number where it is a smaller one. */
export function guardedCalls(name: CodeGuard, own: { readonly [guard in CodeGuard]?: number } | undefined): number {
  const { calls } = CODE_GUARDS[name];
  return Math.min(calls, own?.[name] ?? calls);
}
