/**
 * Server-Sent Events: notify an open page of a change; the page then fetches what it shows.
 * Invariant: a burst of changes is one event, and a stream that ends leaves no listener and no timer behind.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** 15 000 ms between the comments that keep idle proxies from closing the stream. */
const heartbeat = 15_000;

/** Answers `request` with a stream; `watch` registers a listener and returns how to remove it. */
export function streamChanges(
  request: FastifyRequest,
  reply: FastifyReply,
  watch: (changed: () => void) => () => void,
): void {
  reply.hijack();
  const stream = reply.raw;
  stream.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  stream.write('retry: 1000\n\n');
  let announced = false;
  const unwatch = watch(() => {
    if (announced) return;
    announced = true;
    setImmediate(() => {
      announced = false;
      if (stream.writable) stream.write('event: changed\ndata: 1\n\n');
    });
  });
  const timer = setInterval(() => stream.write(': still here\n\n'), heartbeat);
  timer.unref();
  request.raw.socket.once('close', () => {
    clearInterval(timer);
    unwatch();
  });
}
