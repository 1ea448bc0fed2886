/**
 * How long things take in the pretend world, in milliseconds; changed at run time by POST /control/settings.
 * Invariant: a change applies to later requests, never to a timer that is already running.
 */

export type Settings = {
  /** How long a number that approves by itself takes (contract §11: 1 s). */
  auto_approve_ms: number;
  /** How long a number that fails by itself takes. */
  decline_ms: number;
  /** How long a carrier's prompt waits for a person before it expires. */
  prompt_life_ms: number;
};

export function defaultSettings(): Settings {
  return { auto_approve_ms: 1_000, decline_ms: 300, prompt_life_ms: 300_000 };
}
