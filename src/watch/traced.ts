/**
 * Records the steps of a transaction in traces: its commits, calls to upstreams, and webhooks.
 *
 * Invariant: a record names a transaction, an attempt or an event by its id, and holds nothing about people or amounts. Nothing
 * waits for tracing, and without traces nothing is wrapped.
 */

import type { Change, Outcome } from '../domain/change.ts';
import { evictOldest } from '../domain/evict.ts';
import type { Outbound, OutboundRequest, Traces } from '../platform/platform.ts';
import type { UpstreamWatch } from './upstream-watch.ts';

/** 10 000 attempts and events whose transaction is remembered: the newest that this process has written. */
const MAX_KNOWN = 10_000;

/** Which transaction an attempt or event belongs to. */
export interface TransactionsOf {
  of(id: string | undefined): string | undefined;
  note(id: string, transactionId: string): void;
}

/** Makes a memory of the newest `MAX_KNOWN`; older ones are recorded without their transaction. */
export function rememberTransactions(): TransactionsOf {
  const known = new Map<string, string>();
  return {
    of: (id) => (id === undefined ? undefined : known.get(id)),
    note(id, transactionId) {
      known.set(id, transactionId);
      evictOldest(known, MAX_KNOWN);
    },
  };
}

/** The same store, whose commits are recorded. */
export function traceCommits<S extends { commit(change: Change): Promise<Outcome> }>(
  store: S,
  traces: Traces,
  known: TransactionsOf,
): S {
  const commit = async (change: Change): Promise<Outcome> => {
    const transactionId = transactionIn(change, known);
    const step = { name: 'commit', kind: 'internal', transactionId, attributes: DATABASE } as const;
    const outcome = await traces.step(
      step,
      () => store.commit(change),
      (ended) => ({ 'mbongo.outcome': ended }),
    );
    if (outcome === 'won') noteNew(change, transactionId, traces, known);
    return outcome;
  };
  return { ...store, commit };
}

const DATABASE = { 'db.system.name': 'postgresql', 'db.operation.name': 'COMMIT' };

/** The transaction that a change is about. A refund has a trace apart from its payment's, and a line from its batch's. */
function transactionIn({ updates = [], claims = [], inserts = [] }: Change, known: TransactionsOf): string | undefined {
  const batch = claims.find(({ table }) => table === 'payout_batch');
  if (batch !== undefined) return batch.row.id;
  const written = [
    ...updates.map(({ table, id }) => ({ table, id })),
    ...inserts.map(({ table, row }) => ({ table, id: 'id' in row ? row.id : '' })),
  ];
  for (const wanted of ['refund', 'payout_line', 'payment', 'payout_batch'] as const) {
    const found = written.find(({ table }) => table === wanted);
    if (found !== undefined) return found.id;
  }
  for (const { table, row } of inserts) if (table === 'attempt') return row.payment_id;
  return written.map(({ id }) => known.of(id)).find((transactionId) => transactionId !== undefined);
}

const KINDS = { payment: 'payment', payout_line: 'payout', refund: 'refund', payout_batch: 'payout batch' } as const;

/** Remembers the transactions of a change's new attempts and events, and begins the traces of its new transactions. */
function noteNew(
  { claims = [], inserts = [] }: Change,
  transactionId: string | undefined,
  traces: Traces,
  known: TransactionsOf,
): void {
  for (const { table, row } of [...claims, ...inserts]) {
    if (table === 'attempt') known.note(row.id, row.payment_id);
    else if (table === 'webhook_event') known.note(row.id, transactionId ?? row.transaction_id);
    else if (table === 'payment' || table === 'payout_batch') traces.created(row.id, KINDS[table]);
    else if (table === 'payout_line') traces.created(row.id, KINDS[table], row.batch_id);
    else if (table === 'refund') traces.created(row.id, KINDS[table], row.payment_id);
  }
}

/** Records calls to upstreams. The trace context is not sent to them: carriers have no use for it. */
export function upstreamTraces(traces: Traces, known: TransactionsOf): UpstreamWatch {
  return ({ connector, operation, transactionId, attemptId }, make, outcomeOf) => {
    const step = {
      name: `${connector} ${operation}`,
      kind: 'client',
      transactionId: known.of(attemptId) ?? transactionId,
      attributes: { 'mbongo.connector': connector, 'mbongo.operation': operation, 'mbongo.attempt_id': attemptId },
    } as const;
    return traces.step(step, make, (answer) => ({ 'mbongo.outcome': outcomeOf(answer) }));
  };
}

/** The same outbound network for webhooks: each try is recorded, and sends its receiver the trace context. */
export function traceWebhooks(outbound: Outbound, traces: Traces, known: TransactionsOf): Outbound {
  const request = (order: OutboundRequest): ReturnType<Outbound['request']> => {
    const eventId = order.headers['webhook-id'];
    const step = {
      name: 'webhook',
      kind: 'client',
      transactionId: known.of(eventId) ?? transactionOfBody(order.body),
      attributes: {
        'http.request.method': order.method,
        'server.address': hostOf(order.url),
        'mbongo.event_id': eventId,
        'mbongo.event': order.headers['webhook-event'],
      },
    } as const;
    return traces.step(
      step,
      (traceparent) =>
        outbound.request(traceparent === undefined ? order : { ...order, headers: { ...order.headers, traceparent } }),
      (answer) =>
        answer.kind === 'answered'
          ? { 'http.response.status_code': answer.status }
          : { 'mbongo.outcome': answer.kind, 'error.type': answer.kind },
    );
  };
  return { ...outbound, request };
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The transaction of a webhook. Our own bodies always name it. */
function transactionOfBody(body: string | undefined): string | undefined {
  const event: unknown = body === undefined ? undefined : JSON.parse(body);
  if (typeof event !== 'object' || event === null || !('transaction_id' in event)) return undefined;
  return typeof event.transaction_id === 'string' ? event.transaction_id : undefined;
}
