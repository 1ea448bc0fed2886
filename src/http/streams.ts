/**
 * Answers that are made while their client takes them: a statement of a million lines.
 *
 * Invariant: of such an answer a process holds a part and no more, however slow the client is; whoever goes away ends it, and
 * so does a process that stops. One that could not be finished breaks off, and so cannot be taken for whole.
 */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { type ExchangeParts, exchangeOf } from './exchange.ts';
import { NoPlace } from './limits.ts';
import type { Streamed } from './route.ts';

export interface Streams {
  /** @throws Refusal 1301 when the merchant has its share of them, 1402 when the process has. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Streamed): Readable;
  /** Lets what is under way go on for some seconds more, and ends it then. */
  stop(): void;
}

const OF_MERCHANT = { name: 'streams', most: 4 };
const AT_ONCE = 16;
const RETRY_SECONDS = 5;
/** Shorter than a process may take to stop. */
const STOP_MS = 5_000;
/** Text that is made before its client has taken what was made before. */
const AHEAD_BYTES = 64 * 1024;

export function createStreams(parts: ExchangeParts & { readonly clock: Pick<Clock, 'after'> }): Streams {
  const open = new Map<Readable, string>();
  let stopping = false;
  let cancel: (() => void) | undefined;
  /** Nobody waits for the time to pass when nothing is open. */
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
      if (ofMerchant >= OF_MERCHANT.most) throw new NoPlace(OF_MERCHANT, RETRY_SECONDS);
      if (open.size >= AT_ONCE) throw new Refusal(1402, { retryAfter: RETRY_SECONDS });
      reply.code(status).headers({
        'Content-Type': contentType,
        'Content-Disposition': `attachment; filename="${fileName}"`,
      });
      // Who asks for the head alone must not have all of it made.
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

/** The head of the answer has left: what fails from here on can only be noted. */
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
