import { expect, test } from 'vitest';
import type { Outbound, OutboundRequest } from '../../platform/platform.ts';
import { doorTo, MISBEHAVIOURS } from './scripted-upstream.ts';

test('only a call that nothing but its deadline ends is hurried, so that a slow machine ends no other', async () => {
  const given: number[] = [];
  const request: Outbound['request'] = async ({ timeout }) => {
    given.push(timeout);
    return { kind: 'lost', reason: 'for the test' };
  };
  const door: Outbound = { request, refuses: () => undefined, close: async () => undefined };
  const url = 'http://127.0.0.1:9/';
  const asked: OutboundRequest = {
    method: 'POST',
    url,
    headers: {},
    timeout: 10_000,
    trust: 'upstream',
    answerLimit: 1,
  };
  for (const reply of [...MISBEHAVIOURS, { status: 200, body: '' }]) await doorTo(reply, door).request(asked);
  expect(given.filter((timeout) => timeout < asked.timeout)).toHaveLength(1);
  await doorTo('endless', door, () => true).request(asked);
  expect(given.at(-1)).toBe(asked.timeout);
});
