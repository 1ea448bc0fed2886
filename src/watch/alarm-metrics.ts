/**
 * Counts alarms: what a person must look at.
 *
 * Invariant: every kind of alarm is exported from the start for every purpose, at 0, so that its first rise is seen.
 */

import type { Alarm } from '../domain/attempt-settlement.ts';
import type { AttemptPurpose } from '../domain/records.ts';
import type { Metrics } from '../platform/platform.ts';
import type { AlarmWatch } from '../usecases/deps.ts';

const ALARMS = {
  late_success: true,
  late_acceptance: true,
  contradiction: true,
  overdue: true,
} satisfies Record<Alarm, true>;

const PURPOSES = { payment: true, payout: true, refund: true } satisfies Record<AttemptPurpose, true>;

/** Counts alarms as `mbongo_attempt_alarms_total`, by what each is and what its attempt is for. */
export function alarmMetrics(metrics: Metrics): AlarmWatch {
  const alarms = metrics.counter(
    'mbongo_attempt_alarms_total',
    'What a person must look at, by what it is and what its attempt is for.',
    ['alarm', 'purpose'],
    Object.keys(ALARMS).flatMap((alarm) => Object.keys(PURPOSES).map((purpose) => ({ alarm, purpose }))),
  );
  return (alarm, purpose) => alarms({ alarm, purpose });
}
