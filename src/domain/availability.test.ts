import { expect, it } from 'vitest';
import { type Availability, availabilityOf, type UpstreamCall } from './availability.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

/** `count` calls, `secondsAgo` seconds ago. */
function calls(secondsAgo: number, count: number, outcome: 'answered' | 'failed' | 'silent'): UpstreamCall[] {
  const call = { at: NOW - 1_000 * secondsAgo, answered: outcome === 'answered', silent: outcome === 'silent' };
  return Array.from({ length: count }, () => call);
}

it.each<[string, UpstreamCall[], Availability]>([
  ['whom nobody has called', [], 'operational'],
  ['that answers', calls(1, 1, 'answered'), 'operational'],
  ['that has left one call unanswered, and had no other', calls(1, 1, 'failed'), 'degraded'],
  ['that has left two unanswered', calls(1, 2, 'failed'), 'degraded'],
  ['that has left three unanswered', calls(1, 3, 'failed'), 'down'],
  ['that answers one of ten', [...calls(1, 1, 'answered'), ...calls(1, 9, 'failed')], 'down'],
  ['that answers one of nine', [...calls(1, 1, 'answered'), ...calls(1, 8, 'failed')], 'degraded'],
  ['that leaves one of ten unanswered', [...calls(1, 9, 'answered'), ...calls(1, 1, 'failed')], 'degraded'],
  ['that leaves one of eleven unanswered', [...calls(1, 10, 'answered'), ...calls(1, 1, 'failed')], 'operational'],
  [
    'of whom one call fails, after many that went well',
    [...calls(70, 99, 'answered'), ...calls(1, 1, 'failed')],
    'operational',
  ],
  ['that takes nothing any more', [...calls(70, 99, 'answered'), ...calls(1, 3, 'failed')], 'down'],
  ['that took nothing at last, a while ago', [...calls(200, 99, 'answered'), ...calls(100, 3, 'failed')], 'down'],
  ['that took nothing minutes ago, and was not called since', calls(299, 8, 'failed'), 'down'],
  ['that took nothing longer ago, and was not called since', calls(300, 8, 'failed'), 'operational'],
  ['that is just back', [...calls(9, 8, 'failed'), ...calls(1, 1, 'answered')], 'degraded'],
  ['that has been back for a minute', [...calls(61, 80, 'failed'), ...calls(1, 1, 'answered')], 'operational'],
  [
    'that has been back for a minute, and quiet',
    [...calls(90, 80, 'failed'), ...calls(61, 1, 'answered')],
    'operational',
  ],
  ['that has long been asked about three calls in vain', calls(3_000, 3, 'silent'), 'down'],
  ['that has long been asked about one in vain', calls(3_000, 1, 'silent'), 'degraded'],
  [
    'that says nothing of old calls, and answers',
    [...calls(3_000, 9, 'silent'), ...calls(1, 1, 'answered')],
    'operational',
  ],
])('an upstream %s', (_name, made, expected) => {
  expect(availabilityOf(made, NOW)).toBe(expected);
  expect(availabilityOf(made.toReversed(), NOW)).toBe(expected);
});
