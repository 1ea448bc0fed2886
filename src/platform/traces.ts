/**
 * Records what becomes of requests and transactions, and exports it to an OpenTelemetry collector.
 *
 * Invariant: a payment never waits for a collector, nor fails because of one. What is loaded here is loaded only if traces are
 * wanted.
 *
 * A request belongs to its caller's trace if the caller names one, and otherwise to the trace of the first transaction that it
 * touches, which is known only once that transaction is (record 0017).
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { createCache } from './cache.ts';
import type { Clock, Log, Random, Secrets, TraceAttributes, TracedRequest, TraceStep, Traces } from './platform.ts';
import { contextOfTransaction, readTraceparent, type TraceContext, writeTraceparent } from './trace-context.ts';
import { VERSION } from './version.ts';

export interface TracesOptions {
  /** The address of a collector that speaks OTLP over HTTP, without a slash at the end. */
  readonly endpoint: string;
  /** The name under which this gateway is shown. */
  readonly serviceName: string;
  /** The share of transactions that is recorded, 0 to 1. */
  readonly share: number;
}

interface Doors {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly random: Random;
  readonly secrets: Pick<Secrets, 'mac'>;
}

/** Milliseconds that closing waits at most: a collector that does not answer must not hold up a stop. */
const GOODBYE_MS = 2_000;
/** How many transactions are remembered, the newest, whose callers have named a trace. */
const MAX_ADOPTED = 10_000;

/** The request that current steps belong to. */
interface Scope {
  /** Undefined until it is known to which trace the request belongs. */
  span: Span | undefined;
  transactionId: string | undefined;
  readonly startedAt: number;
  /** Steps that ended before that was known. */
  early: (() => void)[];
  ended: boolean;
}

/** Starts to record traces, which are sent as `options` say. */
export function openTraces(options: TracesOptions, doors: Doors): Traces {
  const tracer = openTracer(options, doors);
  const transactions = createTransactionTraces(tracer);
  const current = new AsyncLocalStorage<Scope>();
  const close = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      const cancel = doors.clock.after(GOODBYE_MS, resolve);
      void tracer.shutdown().then(resolve, resolve).finally(cancel);
    });
  };
  return {
    begin: (traceparent) => beginRequest(tracer, current, traceparent),
    step: (step, take, attributesOf) =>
      takeStep({ tracer, transactions, scope: current.getStore() }, step, take, attributesOf),
    created(transactionId, kind, origin) {
      const own = tracer.derived(transactionId);
      const context = transactions.contextOf(transactionId);
      const links: Link[] = context.traceId === own.traceId ? [] : [{ context }];
      if (origin !== undefined) links.push({ context: transactions.contextOf(origin) });
      tracer.first(own, kind, links).setAttribute('mbongo.transaction_id', transactionId).end();
    },
    close,
  };
}

interface Tracer {
  start(name: string, kind: SpanKind, parent: SpanContext | undefined, startTime: number): Span;
  /** The beginning of a transaction's trace, which every process derives alike. */
  derived(transactionId: string): SpanContext;
  /** A caller's span, which is recorded only if the caller records it and our own share allows it. */
  named(caller: TraceContext): SpanContext;
  /** Makes the span that is that beginning. */
  first(own: SpanContext, name: string, links: Link[]): Span;
  shutdown(): Promise<void>;
}

function openTracer({ endpoint, serviceName, share }: TracesOptions, { log, random, secrets }: Doors): Tracer {
  const ids = presetIds(random);
  const sampler = new TraceIdRatioBasedSampler(share);
  const isSampled = (traceId: string): boolean =>
    sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  const exporter = loggingFailures(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }), log);
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION }),
    sampler: new ParentBasedSampler({ root: sampler }),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('mbongo', VERSION);
  return {
    start(name, kind, parent, startTime) {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      return tracer.startSpan(name, { kind, startTime }, context);
    },
    derived(transactionId) {
      const own = contextOfTransaction(transactionId);
      return spanContextOf({ ...own, sampled: isSampled(own.traceId) });
    },
    named(caller) {
      // Callers choose their ids: by the id itself they could choose to be recorded. All processes of one key decide alike.
      const drawn = Buffer.from(secrets.mac('trace', caller.traceId), 'base64url').toString('hex', 0, 16);
      return spanContextOf({ ...caller, sampled: caller.sampled && isSampled(drawn) });
    },
    first: (own, name, links) => ids.within(own, () => tracer.startSpan(name, { root: true, links }, ROOT_CONTEXT)),
    shutdown: () => provider.shutdown(),
  };
}

/** In which trace each transaction is recorded: in its caller's if the caller named one, otherwise in its own. */
interface TransactionTraces {
  contextOf(transactionId: string): SpanContext;
  /** Notes that the request is about that transaction, unless it is already about another one. */
  assign(scope: Scope, transactionId: string): void;
}

function createTransactionTraces({ derived, start }: Tracer): TransactionTraces {
  const adopted = createCache<SpanContext>(MAX_ADOPTED);
  const contextOf = (transactionId: string): SpanContext => adopted.get(transactionId) ?? derived(transactionId);
  return {
    contextOf,
    assign(scope, transactionId) {
      if (scope.transactionId !== undefined || scope.ended) return;
      scope.transactionId = transactionId;
      if (scope.span === undefined) {
        attach(scope, start('request', SpanKind.SERVER, contextOf(transactionId), scope.startedAt));
        return;
      }
      scope.span.addLink({ context: derived(transactionId) });
      adopted.set(transactionId, scope.span.spanContext());
    },
  };
}

/** Gives the request its span, and records under it the steps that ended before there was one. */
function attach(scope: Scope, span: Span): void {
  scope.span = span;
  const { early } = scope;
  scope.early = [];
  for (const record of early) record();
}

function beginRequest(
  { start, named }: Tracer,
  current: AsyncLocalStorage<Scope>,
  traceparent: string | undefined,
): TracedRequest {
  const startedAt = performance.now();
  const scope: Scope = { span: undefined, transactionId: undefined, startedAt, early: [], ended: false };
  const caller = readTraceparent(traceparent);
  if (caller !== undefined) scope.span = start('request', SpanKind.SERVER, named(caller), startedAt);
  return {
    within: (run) => current.run(scope, run),
    end(name, attributes) {
      if (scope.span === undefined) attach(scope, start(name, SpanKind.SERVER, undefined, startedAt));
      scope.ended = true;
      scope.span?.updateName(name);
      finish(scope.span, attributes, performance.now());
    },
  };
}

interface Surroundings {
  readonly tracer: Tracer;
  readonly transactions: TransactionTraces;
  readonly scope: Scope | undefined;
}

/** The span that a step is part of; undefined: none is known yet. */
function parentOf({ transactions, scope }: Surroundings, transactionId: string | undefined): SpanContext | undefined {
  if (transactionId === undefined) return scope?.ended === true ? undefined : scope?.span?.spanContext();
  if (scope !== undefined) transactions.assign(scope, transactionId);
  return scope?.transactionId === transactionId ? scope.span?.spanContext() : transactions.contextOf(transactionId);
}

async function takeStep<T>(
  around: Surroundings,
  { name, kind, transactionId, attributes }: TraceStep,
  take: (traceparent: string | undefined) => Promise<T>,
  attributesOf: (result: T) => TraceAttributes,
): Promise<T> {
  const { scope, tracer } = around;
  const startedAt = performance.now();
  const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL;
  const parent = parentOf(around, transactionId);
  const open = parent && tracer.start(name, spanKind, parent, startedAt);
  let more: TraceAttributes = FAILED;
  try {
    const result = await take(open && writeTraceparent(traceContextOf(open.spanContext())));
    more = attributesOf(result);
    return result;
  } finally {
    const endedAt = performance.now();
    const all = { ...attributes, 'mbongo.transaction_id': transactionId, ...more };
    if (open !== undefined) finish(open, all, endedAt);
    else if (scope !== undefined && !scope.ended) {
      const record = (): void =>
        finish(tracer.start(name, spanKind, scope.span?.spanContext(), startedAt), all, endedAt);
      if (scope.span === undefined) scope.early.push(record);
      else record();
    }
  }
}

const FAILED: TraceAttributes = { 'error.type': 'failed' };

function finish(span: Span | undefined, attributes: TraceAttributes, at: number): void {
  if (span === undefined) return;
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) span.setAttribute(name, value);
  if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}

function spanContextOf({ traceId, spanId, sampled }: TraceContext): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

function traceContextOf({ traceId, spanId, traceFlags }: SpanContext): TraceContext {
  return { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

/** Random ids, or for one span those that are wanted. */
function presetIds(random: Random) {
  let wanted: Pick<SpanContext, 'traceId' | 'spanId'> | undefined;
  const hex = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('hex');
  return {
    generateTraceId: () => wanted?.traceId ?? hex(16),
    generateSpanId: () => wanted?.spanId ?? hex(8),
    within<T>(ids: Pick<SpanContext, 'traceId' | 'spanId'>, make: () => T): T {
      wanted = ids;
      try {
        return make();
      } finally {
        wanted = undefined;
      }
    },
  };
}

/** Logs when the collector does not accept what it is given, once until it does again. */
function loggingFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed && !failing) log.warn('traces_not_taken', { spans: spans.length });
        else if (!failed && failing) log.info('traces_taken_again', { spans: spans.length });
        failing = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
