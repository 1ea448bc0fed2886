/**
 * The traffic limits, by their names (contract §8).
 *
 * Invariant: these can be set for a merchant, and each is counted by that merchant's own number. What guards a secret
 * (`codes`, `resends`, `failed_authentications`, the tries of a PIN) is not among them: it is the same for everybody.
 */

/** Calls a window, and the window's length in seconds. */
export const TRAFFIC_LIMITS = {
  sessions_create: { calls: 6_000, seconds: 60 },
  payments: { calls: 120, seconds: 60 },
  mobile_money_status: { calls: 30, seconds: 60 },
  card_callbacks: { calls: 60, seconds: 60 },
} as const;

export type TrafficLimit = keyof typeof TRAFFIC_LIMITS;

/** Whether a text names a limit that a merchant can have a number of its own for. */
export function isTrafficLimit(name: string): name is TrafficLimit {
  return Object.hasOwn(TRAFFIC_LIMITS, name);
}
