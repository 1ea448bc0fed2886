/**
 * The last audit as numbers for monitoring.
 *
 * Invariant: they are those of the last audit by any process: a process that only answers requests exports them too.
 */

import type { Metrics } from '../platform/platform.ts';
import { FINDING_KINDS, readAudit } from '../usecases/audit.ts';
import type { Deps } from '../usecases/deps.ts';

/** Returns a refresh of the gauges from the last audit. While the database is away it rejects, and they keep their values. */
export function auditMetrics(deps: Pick<Deps, 'store'>, metrics: Metrics): () => Promise<void> {
  const findings = metrics.gauge('mbongo_audit_findings', 'What the last audit found, by kind.', ['kind']);
  const ranAt = metrics.gauge('mbongo_audit_last_run_timestamp_seconds', 'When the last audit began; 0: never.', []);
  const tell = (counts: { readonly [kind: string]: number }, at: number): void => {
    for (const kind of FINDING_KINDS) findings({ kind }, counts[kind] ?? 0);
    ranAt({}, at / 1_000);
  };
  tell({}, 0);
  return async () => {
    const record = await readAudit(deps);
    if (record !== undefined) tell(record.findings, record.at);
  };
}
