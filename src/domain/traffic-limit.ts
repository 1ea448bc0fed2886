/**
 * The limits on calls that can be set per merchant, by name (contract §8).
 *
 * Invariant: a merchant's calls are counted against that merchant's own number. A limit that guards a code can only be lowered:
 * five in five minutes is the specification's law. Limits on PINs and on wrong credentials cannot be set per merchant: a caller
 * who presents those is not known to be its customer.
 */

/** Calls per window, and the window's length in seconds. */
export interface CallLimit {
  readonly calls: number;
  readonly seconds: number;
}

/** The limits that `RATE_LIMIT_SCALE` multiplies. */
export const TRAFFIC_LIMITS = {
  sessions_create: { calls: 6_000, seconds: 60 },
  payments: { calls: 120, seconds: 60 },
  mobile_money_status: { calls: 30, seconds: 60 },
  card_callbacks: { calls: 60, seconds: 60 },
} as const satisfies { readonly [name: string]: CallLimit };

/** The limits that guard a payment's one-time code: never scaled, and a merchant's own can only be lower. */
export const CODE_GUARDS = {
  codes: { calls: 5, seconds: 300 },
  /** Calls for another code, whatever their outcome. */
  resends: { calls: 5, seconds: 300 },
} as const satisfies { readonly [name: string]: CallLimit };

export type TrafficLimit = keyof typeof TRAFFIC_LIMITS;
export type CodeGuard = keyof typeof CODE_GUARDS;

/** The names of all of them. */
export const LIMIT_NAMES: readonly string[] = [...Object.keys(TRAFFIC_LIMITS), ...Object.keys(CODE_GUARDS)];

/** Calls per window; far above what one process can answer. */
const MAX_CALLS = 1_000_000;

/** The most calls per window that a merchant can be given for that limit; undefined: there is no such limit. */
export function mostCalls(name: string): number | undefined {
  if (isCodeGuard(name)) return CODE_GUARDS[name].calls;
  return Object.hasOwn(TRAFFIC_LIMITS, name) ? MAX_CALLS : undefined;
}

function isCodeGuard(name: string): name is CodeGuard {
  return Object.hasOwn(CODE_GUARDS, name);
}

/** How many calls a code guard lets through for this merchant's customers: the merchant's own number if that is lower. */
export function guardedCalls(name: CodeGuard, own: { readonly [guard in CodeGuard]?: number } | undefined): number {
  const { calls } = CODE_GUARDS[name];
  return Math.min(calls, own?.[name] ?? calls);
}
