/**
 * What one client may take of our time and our connections.
 *
 * Invariant: each way to be slow has an end: in sending headers, in sending a body, in reading an answer, in saying nothing.
 */

import type { Server } from 'node:http';
import type { Clock, Metrics } from '../platform/platform.ts';
import type { OpenConnections, RoomMade } from './open-connections.ts';

/** How many connections a server holds, and how long it waits on each. All times are milliseconds. */
export interface SocketLimits {
  /** Connections at once; more are closed as they come. */
  readonly connections: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** How long a request may take to arrive whole; handlers may take longer, while an upstream answers. */
  readonly requestMs: number;
  /** How long a file may take to arrive whole, as long as something arrives: five megabytes from a slow phone. */
  readonly uploadMs: number;
  /** How long a connection may go without traffic, either way, as when its client does not read the answer. */
  readonly silenceMs: number;
  /** How long an idle connection is kept: longer than load balancers keep one, so that they and not we close it. */
  readonly keptMs: number;
  /** How often `headersMs` and `requestMs` are checked. */
  readonly lookEveryMs: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  connections: 10_000,
  headersMs: 10_000,
  requestMs: 28_000,
  uploadMs: 120_000,
  silenceMs: 60_000,
  keptMs: 65_000,
  lookEveryMs: 1_000,
};

/** How often room is made. */
const MAKE_ROOM_EVERY_MS = 100;

/** Why a connection is closed to make room. */
const REASONS = ['idle', 'over_share'] as const satisfies readonly (keyof RoomMade)[];

/**
 * Limits a server's connections. Counts those that are dropped as they come, and those that are closed to make room for more. When
 * one is dropped, room is made: otherwise one client that asks for a page on each of ten thousand connections and keeps them, or
 * never finishes what it asks, would shut out everybody. An address may have half of the connections before it loses those that it
 * does not use.
 */
export function limitConnections(
  server: Server,
  most: number,
  connections: Pick<OpenConnections, 'makeRoom'>,
  { clock, metrics }: { readonly clock: Pick<Clock, 'now'>; readonly metrics: Pick<Metrics, 'counter'> },
): void {
  const dropped = metrics.counter(
    'mbongo_http_connections_dropped_total',
    'Connections that were closed at once, because there were too many.',
    [],
  );
  const closed = metrics.counter(
    'mbongo_http_connections_closed_total',
    'Connections that were closed to make room for others, by why.',
    ['reason'],
    REASONS.map((reason) => ({ reason })),
  );
  let last = Number.NEGATIVE_INFINITY;
  server.maxConnections = most;
  server.on('drop', () => {
    dropped({});
    const at = clock.now();
    if (Math.abs(at - last) < MAKE_ROOM_EVERY_MS) return;
    last = at;
    const made = connections.makeRoom(most / 2);
    for (const reason of REASONS) for (let count = made[reason]; count > 0; count -= 1) closed({ reason });
  });
}
