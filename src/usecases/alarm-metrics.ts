/**
 * Counts what a person must look at.
 *
 * Invariant: every kind of alarm is there from the start, at 0, so that its first rise is seen.
 */

import type { Alarm } from '../domain/attempt-settlement.ts';
import type { Metrics } from '../platform/platform.ts';

/** Told of every alarm. */
export type AlarmWatch = (alarm: Alarm) => void;

const ALARMS = {
  late_success: true,
  late_acceptance: true,
  contradiction: true,
  overdue: true,
} satisfies Record<Alarm, true>;

export function alarmMetrics(metrics: Metrics): AlarmWatch {
  const alarms = metrics.counter(
    'mbongo_attempt_alarms_total',
    'What a person must look at, by what it is.',
    ['alarm'],
    Object.keys(ALARMS).map((alarm) => ({ alarm })),
  );
  return (alarm) => alarms({ alarm });
}
