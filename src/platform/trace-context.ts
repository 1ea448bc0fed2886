/**
 * Names of traces: those that callers send, and those that follow from a transaction.
 *
 * Invariant: every process derives the same trace for a transaction, so that what one of them begins and another continues hours
 * later appears together, and nothing has to be stored for it.
 */

import { createHash } from 'node:crypto';

/** Where in a trace something happens. */
export interface TracePlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const SHAPE = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The place that a `traceparent` header names (W3C Trace Context); undefined for anything else. */
export function readTraceparent(header: string | undefined): TracePlace | undefined {
  const [, version, traceId, spanId, flags, more] = (header === undefined ? null : SHAPE.exec(header)) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Version 00 has nothing after its flags; later ones may.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header that names a place in a trace (W3C Trace Context, version 00). */
export function writeTraceparent({ traceId, spanId, sampled }: TracePlace): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The trace of a transaction, and its first span. Whether it is sampled is not decided here. */
export function placeOf(transactionId: string): Pick<TracePlace, 'traceId' | 'spanId'> {
  const digest = createHash('sha256').update(`mbongo trace ${transactionId}`).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}
