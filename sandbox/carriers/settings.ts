/**
 * How long things take in the pretend world, in milliseconds; changed while it runs by POST /control/settings.
 * Invariant: a change applies to what is asked afterwards, never to a timer that already runs.
 */

export type Settings = {
  /** How long a number that pays by itself takes (contract §11: 1 s). */
  auto_approve_ms: number;
  /** How long a number that fails by itself takes. */
  decline_ms: number;
  /** How long a carrier's prompt waits for its person before it expires. */
  prompt_life_ms: number;
};

export function defaultSettings(): Settings {
  return { auto_approve_ms: 1_000, decline_ms: 300, prompt_life_ms: 300_000 };
}
