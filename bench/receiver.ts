/**
 * The merchants' webhook receiver, as a process of its own: acknowledges at once, then reports to the load what it received.
 *
 * Listens on the ports given as arguments. Invariant: an acknowledgement never waits for the reports, which go in batches
 * over the channel to the parent process.
 */

import { openReceiver } from './wire.ts';

/** A webhook that was acknowledged. Instants are milliseconds since 1970, by this machine's clock. */
export interface Heard {
  readonly id: string;
  readonly status: string;
  readonly acknowledgedAt: number;
  /** When the transaction became final, according to the webhook. */
  readonly finalAt: number;
}

/** A report to the parent process. */
export interface HeardMessage {
  readonly type: 'heard';
  readonly webhooks: readonly Heard[];
}

/** 50 ms between reports: nobody waits for them and each webhook carries its time, so more of them would only cost CPU time. */
const TELL_EVERY_MS = 50;

let waiting: Heard[] = [];

function hear(body: string): void {
  const acknowledgedAt = performance.timeOrigin + performance.now();
  const said = JSON.parse(body) as { transaction_id: string; status: string; completed_at: string };
  if (waiting.length === 0) setTimeout(tell, TELL_EVERY_MS);
  waiting.push({
    id: said.transaction_id,
    status: said.status,
    acknowledgedAt,
    finalAt: Date.parse(said.completed_at),
  });
}

function tell(): void {
  process.send?.({ type: 'heard', webhooks: waiting } satisfies HeardMessage);
  waiting = [];
}

for (const port of process.argv.slice(2)) await openReceiver(Number(port), hear);
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });
