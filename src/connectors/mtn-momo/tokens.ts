/**
 * The access token: fetched once for any number of concurrent callers, and renewed before it expires.
 *
 * Invariant: at most one fetch is in flight, and a token that the upstream refused is never handed out again.
 */

import { isWithin } from '../../domain/elapsed.ts';
import type { Clock } from '../../platform/platform.ts';

export interface FetchedToken {
  readonly value: string;
  /** Milliseconds. */
  readonly life: number;
}

export interface Tokens {
  /** A token that should work, or undefined when none can be obtained. */
  current(): Promise<string | undefined>;
  /** Another token than the one that was refused, or undefined when none can be obtained. */
  insteadOf(refused: string): Promise<string | undefined>;
}

/**
 * Milliseconds after which a renewal that failed while the token still works is tried again: an upstream that limits us must not
 * be called for it by every request.
 */
const RENEW_AGAIN_MS = 10_000;

interface Held {
  readonly value: string;
  readonly freshUntil: number;
  readonly goodUntil: number;
}

/** `obtain` never throws; undefined is "none". Renews at 80 % of a token's life (upstreams §0, rule 5). */
export function createTokens(clock: Clock, obtain: () => Promise<FetchedToken | undefined>): Tokens {
  let held: Held | undefined;
  let flight: Promise<string | undefined> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  const fly = async () => {
    const asked = clock.now();
    const token = await obtain();
    flight = undefined;
    if (token === undefined) {
      failedAt = clock.now();
      return undefined;
    }
    // Its lifetime is counted from before the call: a slow answer must not make it seem younger.
    held = { value: token.value, freshUntil: asked + token.life * 0.8, goodUntil: asked + token.life };
    return token.value;
  };
  const renew = () => {
    flight ??= fly();
    return flight;
  };

  const forget = (refused: string): void => {
    if (held?.value === refused) held = undefined;
  };

  return {
    async current() {
      const now = clock.now();
      if (held === undefined || now >= held.goodUntil) return renew();
      // In the last fifth of its lifetime a token still works, so no caller waits for the new one.
      if (now >= held.freshUntil && !isWithin(RENEW_AGAIN_MS, failedAt, now)) void renew();
      return held.value;
    },
    async insteadOf(refused) {
      forget(refused);
      if (held !== undefined) return held.value;
      const value = await renew();
      if (value !== refused) return value;
      forget(refused);
      return undefined;
    },
  };
}
