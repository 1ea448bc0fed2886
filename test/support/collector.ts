/**
 * A collector of traces for tests: takes what is posted in OpenTelemetry's protocol (OTLP over HTTP, JSON), and keeps it.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { portOf } from './listening.ts';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  /** OpenTelemetry's numbers: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Nanoseconds since 1970. */
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly failed: boolean;
}

export interface Collector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The bodies that it received, unchanged. */
  readonly bodies: string[];
  close(): Promise<void>;
}

/** `answer` is the status that it answers with. */
export async function openCollector(answer = 200): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(body);
      spans.push(...spansIn(body));
      response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Document {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Raw[] }[] }[];
}

interface Raw extends Pick<CollectedSpan, 'name' | 'traceId' | 'spanId' | 'kind'> {
  readonly parentSpanId?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: CollectedSpan['links'];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
}

function spansIn(body: string): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Document;
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(read)));
}

function read({ name, traceId, spanId, parentSpanId, kind, attributes, links, ...more }: Raw): CollectedSpan {
  return {
    name,
    traceId,
    spanId,
    parentSpanId: parentSpanId ?? '',
    kind,
    attributes: Object.fromEntries(
      (attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0] as string | number | boolean]),
    ),
    links: links ?? [],
    startedAt: BigInt(more.startTimeUnixNano),
    endedAt: BigInt(more.endTimeUnixNano),
    failed: more.status.code === 2,
  };
}
