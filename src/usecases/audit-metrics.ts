/**
 * The last audit as numbers for monitoring.
 *
 * Invariant: they are those of the last audit of any process: one that answers requests and does no work tells of it too.
 */

import type { Metrics } from '../platform/platform.ts';
import { FINDING_KINDS, readAudit } from './audit.ts';
import type { Deps } from './deps.ts';

/** Makes what reads the last audit's result into the numbers. It rejects while the database is away, and they stay as they were. */
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
