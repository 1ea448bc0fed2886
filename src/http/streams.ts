/**
 * Answers that are made while their client reads them: a statement of a million lines.
 *
 * Invariant: a process holds only a part of such an answer, however slow the client is; it ends when the client goes away or the
 * process stops. An answer that could not be finished breaks off, and so cannot be taken for whole.
 */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { type ExchangeParts, exchangeOf } from './exchange.ts';
import { ConcurrencyExceeded } from './limits.ts';
import type { Streamed } from './route.ts';

/** The answers of this process that are being made while they are read. */
export interface Streams {
  /** @throws Refusal 1301 when the merchant has its share of streams, 1402 when the process has all it may. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Streamed): Readable;
  /** Lets open streams go on for some seconds more, and then ends them. */
  stop(): void;
}

const OF_MERCHANT = { name: 'streams', most: 4 };
const AT_ONCE = 16;
const RETRY_SECONDS = 5;
/** Shorter than a process may take to stop. */
const STOP_MS = 5_000;
/** Bytes of text that are made ahead of what the client has taken. */
const AHEAD_BYTES = 64 * 1024;

/** Keeps the streams of one process: at most 16 at once, and four of one merchant. */
export function createStreams(parts: ExchangeParts & { readonly clock: Pick<Clock, 'after'> }): Streams {
  const open = new Map<Readable, string>();
  let stopping = false;
  let cancel: (() => void) | undefined;
  /** No timer runs while nothing is open. */
  const limit = (): void => {
    if (!stopping || open.size === 0) return;
    cancel ??= parts.clock.after(STOP_MS, () => {
      for (const stream of open.keys()) stream.destroy(new Error('the gateway stops'));
    });
  };

  return {
    send(request, reply, { status, contentType, fileName, chunks }) {
      const { merchantId = '' } = exchangeOf(request);
      const ofMerchant = [...open.values()].filter((owner) => owner === merchantId).length;
      if (ofMerchant >= OF_MERCHANT.most) throw new ConcurrencyExceeded(OF_MERCHANT, RETRY_SECONDS);
      if (open.size >= AT_ONCE) throw new Refusal(1402, { retryAfter: RETRY_SECONDS });
      reply.code(status).headers({
        'Content-Type': contentType,
        'Content-Disposition': `attachment; filename="${fileName}"`,
      });
      // A HEAD request must not have all of the answer made.
      if (request.method === 'HEAD') return Readable.from([]);
      const stream = Readable.from(noted(parts, request, chunks), { objectMode: false, highWaterMark: AHEAD_BYTES });
      open.set(stream, merchantId);
      stream.once('close', () => {
        open.delete(stream);
        if (open.size > 0) return;
        cancel?.();
        cancel = undefined;
      });
      limit();
      return stream;
    },
    stop() {
      stopping = true;
      limit();
    },
  };
}

/** The head of the answer has left: a failure from here on can only be logged. */
async function* noted(
  parts: ExchangeParts,
  request: FastifyRequest,
  chunks: AsyncIterable<string>,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* chunks;
  } catch (error) {
    const { requestId, route } = exchangeOf(request);
    parts.log.error('answer_broken', { request_id: requestId, route }, error);
    throw error;
  }
}
