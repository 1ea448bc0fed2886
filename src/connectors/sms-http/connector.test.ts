import { afterAll, afterEach, expect, test } from 'vitest';
import { createOutbound } from '../../platform/outbound.ts';
import { memoryLog } from '../../platform/testing/memory-log.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../testing/scripted-upstream.ts';
import { createSmsHttp } from './connector.ts';

const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
const log = memoryLog();
const upstreams: ScriptedUpstream[] = [];
const text = { to: '+243810000042', text: 'Code 123456' };

afterEach(async () => {
  for (const upstream of upstreams.splice(0)) await upstream.close();
});
afterAll(() => outbound.close());

test.each([
  [200, 'sent'],
  [202, 'sent'],
  [302, 'not_sent'],
  [400, 'not_sent'],
  [401, 'not_sent'],
  [429, 'not_sent'],
  [500, 'unknown'],
  [503, 'unknown'],
] as const)('%i is %s', async (status, outcome) => {
  const upstream = await startScriptedUpstream(() => ({ status, body: '' }));
  upstreams.push(upstream);
  expect(await createSmsHttp({ url: `${upstream.url}/sms`, token: 's3cret' }, { outbound, log }).sendText(text)).toBe(
    outcome,
  );
  expect(upstream.arrived).toHaveLength(1);
  expect(upstream.arrived[0]).toMatchObject({
    method: 'POST',
    path: '/sms',
    headers: { authorization: 'Bearer s3cret', 'content-type': 'application/json' },
    body: JSON.stringify(text),
  });
});

test('if the connection is cut, the text may have been sent', async () => {
  const upstream = await startScriptedUpstream(() => 'cuts');
  upstreams.push(upstream);
  const door = createSmsHttp({ url: upstream.url, token: 's3cret' }, { outbound, log });
  expect(await door.sendText(text)).toBe('unknown');
  expect(upstream.arrived).toHaveLength(1);
});

test('if the provider is unreachable, nothing has been sent', async () => {
  const upstream = await startScriptedUpstream(() => 'cuts');
  await upstream.close();
  const door = createSmsHttp({ url: upstream.url, token: 's3cret' }, { outbound, log });
  expect(await door.sendText(text)).toBe('not_sent');
});

test('none of this has logged a text, a number or a token', () => {
  const logged = log.lines.join('\n');
  expect(logged).toContain('text_refused');
  for (const secret of ['123456', '243810000042', 's3cret']) expect(logged).not.toContain(secret);
});
