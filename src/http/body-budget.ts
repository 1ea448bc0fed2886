/**
 * Limits how much of request bodies may be in flight: each is kept whole until its sender has been looked up.
 *
 * Invariant: all large bodies together take 32 MiB at most, however many clients send them slowly, and those of one address a
 * quarter of it, so that no single client can take up all the room. Small bodies, which nearly all are, always pass: the number
 * of connections bounds them.
 */

import type { FastifyRequest } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import { addressKey } from './client-address.ts';
import { isForm } from './multipart.ts';

/** Many times the body of any payment. */
const SMALL_BYTES = 16 * 1024;
/** The largest body that any call but an upload takes (contract §2): one of undeclared length may turn out to be as large. */
export const MAX_BODY_BYTES = 256 * 1024;
const BUDGET_BYTES = 32 * 1024 * 1024;
/** A declared length costs its sender nothing: without this, 128 connections of one machine could reserve everything. */
const ADDRESS_BYTES = BUDGET_BYTES / 4;
const RETRY_SECONDS = 2;

/** How much of request bodies this process may still take in. */
export interface BodyBudget {
  /**
   * The refusal for a request whose body has no room; undefined if there is room, which is reserved until the body has arrived.
   * `addressOf` finds the sender's address.
   */
  refusalFor(request: Pick<FastifyRequest, 'raw' | 'routeOptions'>, addressOf: () => string): Refusal | undefined;
}

/**
 * A budget of which nothing is taken. A process has one. What finds no room is refused with 1402, to be sent again after two
 * seconds.
 */
export function createBodyBudget(): BodyBudget {
  let taken = 0;
  /** Bytes by address; an address with none has no entry. */
  const takenBy = new Map<string, number>();
  const take = (address: string, size: number): void => {
    taken += size;
    const own = (takenBy.get(address) ?? 0) + size;
    if (own === 0) takenBy.delete(address);
    else takenBy.set(address, own);
  };
  return {
    refusalFor({ raw, routeOptions }, addressOf) {
      const size = sizeOf(raw.headers);
      // A file has places of its own (upload-slots.ts), and is not kept before its sender is known.
      if (size <= SMALL_BYTES || bringsFile({ raw, routeOptions })) return undefined;
      // A larger one is refused unread (413), and takes no room.
      if (size > MAX_BODY_BYTES) return undefined;
      const address = addressKey(addressOf());
      const own = takenBy.get(address) ?? 0;
      if (taken + size > BUDGET_BYTES || own + size > ADDRESS_BYTES) {
        return new Refusal(1402, { retryAfter: RETRY_SECONDS });
      }
      take(address, size);
      let held = true;
      const { socket } = raw;
      const giveBack = (): void => {
        if (held) take(address, -size);
        held = false;
        socket.off('close', giveBack);
      };
      raw.once('end', giveBack);
      raw.once('close', giveBack);
      // A request that has been answered already gets no event when its connection closes.
      socket.once('close', giveBack);
      return undefined;
    },
  };
}

/**
 * Whether the body is a file, which is not read before its sender is known. A body of another type on an upload route is held and
 * counted like every other body.
 */
export function bringsFile({ raw, routeOptions }: Pick<FastifyRequest, 'raw' | 'routeOptions'>): boolean {
  return routeOptions.config.takesFile === true && isForm(raw.headers);
}

function sizeOf(headers: {
  readonly 'content-length'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
}): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_BODY_BYTES;
  return Number(headers['content-length'] ?? 0);
}
