import { describe, expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { createLimits, limitHeaders } from './limits.ts';

const START = Date.parse('2026-11-20T12:00:00Z');

describe('the traffic limits', () => {
  const clock = manualClock(START);
  const callsOf = (scale: number, own?: number) => createLimits(clock, scale).take('payments', 'ses_1', own)?.calls;

  it('are those of the contract, scaled, or the merchant’s own', () => {
    expect([callsOf(1), callsOf(2), callsOf(0.001), callsOf(1, 7), callsOf(2, 7)]).toEqual([120, 240, 1, 7, 14]);
    expect(createLimits(clock, 1).take('sessions_create', 'k', undefined)?.calls).toBe(6_000);
    expect(createLimits(clock, 1).take('mobile_money_status', 'k', undefined)?.calls).toBe(30);
  });

  it('are off at scale 0', () => {
    expect(callsOf(0)).toBeUndefined();
  });

  it('are reported in the form of the IETF draft', () => {
    const standing = { allowed: true, calls: 30, seconds: 60, remaining: 29, reset: 12, retryAfter: 0 };
    expect(limitHeaders('mobile_money_status', standing)).toEqual({
      'RateLimit-Policy': '"mobile_money_status";q=30;w=60',
      RateLimit: '"mobile_money_status";r=29;t=12',
    });
  });
});
