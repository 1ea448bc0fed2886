/**
 * A connector wired to an upstream that replies as a check tells it to, and what passed between them.
 *
 * Invariant: when a check is over, neither an answer nor the log has shown a number, a key or a token.
 */

import assert from 'node:assert/strict';
import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import { createOutbound } from '../../platform/outbound.ts';
import type { Outbound, OutboundRequest } from '../../platform/platform.ts';
import { manualClock } from '../../platform/testing/manual-clock.ts';
import { memoryLog } from '../../platform/testing/memory-log.ts';
import type { Inquiry } from '../connector.ts';
import type { AskedOrder, ConformanceWorld, Mover } from './conformance-world.ts';
import { type Arrived, doorTo, type Reply, startScriptedUpstream } from './scripted-upstream.ts';

export interface Stand<Order> {
  readonly connector: Mover<Order>;
  /** The upstream's reply from now on to all requests but those for access. */
  reply: Reply | ((request: Arrived) => Reply);
  /** What the connector has asked for, except access. */
  readonly asked: OutboundRequest[];
}

const START = Date.UTC(2026, 10, 20, 12);

/** Runs a check against an upstream that gives that reply, and closes everything. */
export async function standBefore<Order extends AskedOrder>(
  world: ConformanceWorld<Order>,
  reply: Stand<Order>['reply'],
  check: (stand: Stand<Order>) => Promise<void>,
): Promise<void> {
  const isAccess = (path: string): boolean => world.access?.(path) !== undefined;
  const asked: OutboundRequest[] = [];
  const shown: unknown[] = [];
  const log = memoryLog();
  const open = createOutbound({ allowLoopback: true, requireHttps: false });
  const recording: Outbound = {
    ...open,
    request: (request) => {
      if (!isAccess(new URL(request.url).pathname)) asked.push(request);
      const hurried = typeof stand.reply === 'function' ? open : doorTo(stand.reply, open, isAccess);
      return hurried.request(request);
    },
  };
  const upstream = await startScriptedUpstream((request) => {
    const { reply: now } = stand;
    return world.access?.(request.path) ?? (typeof now === 'function' ? now(request) : now);
  });
  const mover = world.connectTo(upstream.url, { outbound: recording, clock: manualClock(START), log });
  const msisdns: string[] = [];
  const showing = async <A extends Answer | InquiryAnswer>(answering: Promise<A>): Promise<A> => {
    const answer = await answering;
    shown.push(answer);
    return answer;
  };
  const connector: Mover<Order> = {
    ...mover,
    start: (order) => {
      msisdns.push(order.msisdn.replace('+', ''));
      return showing(mover.start(order));
    },
    inquire: (order: Inquiry) => showing(mover.inquire(order)),
  };
  const stand: Stand<Order> = { connector, reply, asked };
  try {
    if (reply === 'refuses_connections') await upstream.close();
    await check(stand);
    const seen = JSON.stringify(shown) + log.lines.join('\n');
    for (const secret of [...world.secrets, ...msisdns])
      assert.ok(!seen.includes(secret), `an answer or the log shows what must not be shown: ${hidden(seen, secret)}`);
  } finally {
    await upstream.close();
    await open.close();
  }
}

/** Where a secret stands, without it. */
function hidden(seen: string, secret: string): string {
  const at = seen.indexOf(secret);
  return `${seen.slice(Math.max(0, at - 80), at)}(here)`;
}
