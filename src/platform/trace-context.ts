/**
 * Trace contexts (W3C): those that callers send, and those that follow from a transaction.
 *
 * Invariant: every process derives the same trace for a transaction, so that what one of them begins and another continues hours
 * later appears together, and nothing has to be stored for it.
 */

import { createHash } from 'node:crypto';

/** A span within its trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const SHAPE = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The context in a `traceparent` header (W3C Trace Context); undefined for anything else. */
export function readTraceparent(header: string | undefined): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = (header === undefined ? null : SHAPE.exec(header)) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  // Version 00 has nothing after its flags; later ones may.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The `traceparent` header for a context (W3C Trace Context, version 00). */
export function writeTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The first span of a transaction's trace. Whether the trace is sampled is not decided here. */
export function contextOfTransaction(transactionId: string): Pick<TraceContext, 'traceId' | 'spanId'> {
  const digest = createHash('sha256').update(`mbongo trace ${transactionId}`).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}
