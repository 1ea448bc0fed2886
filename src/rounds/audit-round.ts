/**
 * What the worker repeats for the books: the audit.
 *
 * Invariant: any number of processes may run it; one of them audits, and the others see that it has been done.
 */

import { type AuditDeps, auditDue } from '../usecases/audit.ts';
import type { Work } from './payment-rounds.ts';

/** `isCalm`: whether this process is shedding no load. */
export function auditRounds(deps: AuditDeps, isCalm: () => boolean): Work[] {
  return [{ name: 'audit', every: 60_000, run: () => auditDue(deps, isCalm()) }];
}
