/**
 * The webhook drain: events whose delivery failed for an hour, and receivers that are back.
 *
 * Invariant: an event counts once, when its receiver has acknowledged it. Events that do not arrive are reported, not waited for
 * without end.
 */

import { fillBeside } from './fill.ts';
import type { Candidate } from './stage.ts';
import { cpuSeconds, residentMiB, treeCpuSeconds } from './stats.ts';
import { openReceiver } from './wire.ts';
import { freePort } from './worlds.ts';

export interface DrainOrder {
  readonly events: number;
  readonly merchants: number;
  /** Receivers, each at its own address; merchants are spread over them in turn. */
  readonly receivers: number;
}

export interface DrainReport {
  readonly events: number;
  /** How many had not arrived when the drain gave up. */
  readonly missing: number;
  /** Events per second between the first and the last acknowledgement. */
  readonly perSecond: number;
  /** From the first instant at which all were due to the last acknowledgement. */
  readonly seconds: number;
  /** Events that arrived more than once. */
  readonly repeated: number;
  /** Microseconds of CPU time per event. */
  readonly cpuMicroseconds: { readonly server: number; readonly postgres: number };
  readonly serverMiB: number;
}

/** 40 000 ms without an event, after which the rest is given up: longer than a lease, after which the round claims again. */
const GIVE_UP_MS = 40_000;
const LOOK_EVERY_MS = 50;
const OUTAGE_HOURS = 1;

export async function measureDrain(candidate: Candidate, order: DrainOrder): Promise<DrainReport> {
  const { pids } = candidate;
  const acknowledged = new Map<string, number>();
  let repeated = 0;
  const hear = (body: string): void => {
    const { transaction_id: id } = JSON.parse(body) as { transaction_id: string };
    if (acknowledged.has(id)) repeated += 1;
    else acknowledged.set(id, performance.now());
  };
  const ports: number[] = [];
  for (let receiver = 0; receiver < order.receivers; receiver += 1) ports.push(await freePort());
  const closing = await Promise.all(ports.map((port) => openReceiver(port, hear)));
  // Dated before the gateway began: the audit compares what the gateway made itself with its carrier's book.
  const times = { days: 1, hoursAgo: OUTAGE_HOURS };
  const fill = { payments: order.events, merchants: order.merchants, receiverPorts: ports, ...times };
  await fillBeside(candidate.databaseUrl, { ...fill, webhooks: 'due' });
  const [server, postgres] = [cpuSeconds(pids.server), treeCpuSeconds(pids.postgres)];
  const due = performance.now();
  let [seen, seenAt] = [0, due];
  while (acknowledged.size < order.events && performance.now() - seenAt < GIVE_UP_MS) {
    if (acknowledged.size > seen) [seen, seenAt] = [acknowledged.size, performance.now()];
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const instants = [...acknowledged.values()];
  const [first, last] = [instants[0] ?? due, instants.at(-1) ?? due];
  const each = (seconds: number): number => (seconds / Math.max(1, acknowledged.size)) * 1e6;
  const report = {
    events: order.events,
    missing: order.events - acknowledged.size,
    perSecond: (acknowledged.size / Math.max(1, last - first)) * 1000,
    seconds: (last - due) / 1000,
    repeated,
    cpuMicroseconds: {
      server: each(cpuSeconds(pids.server) - server),
      postgres: each(treeCpuSeconds(pids.postgres) - postgres),
    },
    serverMiB: residentMiB(pids.server),
  };
  for (const close of closing) close();
  return report;
}
