/** A machine that sleeps, or is paused by its host, for minutes: its timers stand still as well, and only its clock shows it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import type { Outbound, OutboundAnswer } from './platform.ts';
import { type ManualClock, manualClock } from './testing/manual-clock.ts';

let outbound: Outbound;
const server = createServer((_, response) => {
  arrived += 1;
  response.end('ok');
});
let arrived = 0;

afterEach(async () => {
  await outbound.close();
  server.close();
});

/** Sends a request whose host's name is looked up while `meanwhile` happens. */
async function sendWhile(meanwhile: (clock: ManualClock) => void): Promise<OutboundAnswer> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  arrived = 0;
  const clock = manualClock(1_000_000);
  // Its timers do not run, however its time moves.
  const asleep = { ...clock, after: () => () => undefined };
  const resolve = (): Promise<string[]> => {
    meanwhile(clock);
    return Promise.resolve(['127.0.0.1']);
  };
  outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock: asleep, resolve });
  const url = `http://slow.example.com:${portOf(server)}/`;
  const rest = { headers: {}, trust: 'merchant', answerLimit: 1_024 } as const;
  return outbound.request({ method: 'POST', url, timeout: 10_000, ...rest });
}

test('a request that had no connection before the machine slept is not sent when it wakes', async () => {
  expect(await sendWhile((clock) => clock.setBack(-600_000))).toEqual({
    kind: 'not_sent',
    reason: 'no connection in time',
  });
  expect(arrived).toBe(0);
});

test('a request that had no connection before the clock was set back is not sent: how long the machine slept is not known', async () => {
  expect((await sendWhile((clock) => clock.setBack(600_000))).kind).toBe('not_sent');
  expect(arrived).toBe(0);
});

test('one whose time is not up is sent', async () => {
  expect((await sendWhile((clock) => clock.setBack(-9_000))).kind).toBe('answered');
});
