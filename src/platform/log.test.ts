/** Lines are JSON documents with fixed keys; they never contain what looks like a secret or a phone number. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { asJavaScript } from '../../test/support/as-javascript.ts';
import { createLog } from './log.ts';
import { memoryLog } from './testing/memory-log.ts';

const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6) };

test('a line contains level, time, event and the fields', () => {
  const log = memoryLog(clock);
  log.info('attempt_settled', {
    transaction_id: 'txn_01m7wnar0rem2874srwc3s5my5',
    ms: 12,
    ok: true,
    none: null,
    absent: undefined,
  });
  expect(log.lines).toEqual([
    '{"level":"info","time":"2026-01-02T03:04:05.006Z","transaction_id":"txn_01m7wnar0rem2874srwc3s5my5","ms":12,"ok":true,"none":null,"event":"attempt_settled"}',
  ]);
});

test.each([
  ['a session token', 'sess_AbC-123_x', 'AbC-123'],
  ['a test secret', 'key_1:sk_test_AbCdEf', 'AbCdEf'],
  ['a live secret', 'x sk_live_AbCdEf y', 'AbCdEf'],
  ['a webhook secret', 'whsec_AbC/dEf+gh==', 'AbC/dEf'],
  ['a bearer token', 'Authorization: bearer  abc.def', 'abc.def'],
  ['a basic credential', 'Basic dXNlcjpwYXNz', 'dXNl'],
  ['a phone number', 'to +243810000042 sent', '8100000'],
  ['a spaced phone number', 'to +243 81 000 00-42.', '81 000'],
  ['a short phone number', '+24381042', '24381'],
  ['a number without plus', 'msisdn=243810000042', '24381'],
  ['a number in a path', '/phone/243810000042/state', '24381'],
  ['a card number', '5123450000000008', '512345'],
])('%s is masked in fields, event, error and stack', (_, value, secret) => {
  const log = memoryLog(clock);
  log.warn('went_wrong', { value });
  log.error(value, { value }, new Error(`outer ${value}`, { cause: new Error(`inner ${value}`) }));
  log.error('thrown', {}, value);
  expect(log.lines).toHaveLength(3);
  expect(log.lines.join('\n')).toContain('***');
  expect(log.lines.join('\n')).not.toContain(secret);
});

test.each([
  'txn_01m7wnar0rem2874srwc3s5my5',
  '2026-01-02T03:04:05.006Z',
  '1000000.00',
  'evt_0123456789abcdef',
  '+1',
  'payment_submit',
])('%s is left alone', (value) => {
  const log = memoryLog(clock);
  log.info('x', { value });
  expect(JSON.parse(log.lines[0] ?? '')).toMatchObject({ value });
});

test('an error is logged with its causes and stack, but without its other properties', () => {
  const log = memoryLog(clock);
  const driver = Object.assign(new Error('duplicate key'), { detail: 'Key (phone)=(0810)', code: '23505' });
  log.error('commit_failed', { error: 'mine' }, new TypeError('outer', { cause: driver }));
  const line = JSON.parse(log.lines[0] ?? '');
  expect(line).toMatchObject({ error: 'TypeError: outer <- Error: duplicate key', error_: 'mine' });
  expect(line.stack).toContain('log.test.ts');
  expect(log.lines[0]).not.toContain('(0810)');
});

test('no text can begin a second line, and a very long one is cut', () => {
  const log = memoryLog(clock);
  log.info('x', { value: '\n{"level":"error"}\u2028', long: 'a'.repeat(1_000_000) });
  expect(log.lines).toHaveLength(1);
  expect(log.lines[0]).not.toContain('\n');
  expect(log.lines[0]?.length).toBeLessThan(5000);
});

test('hostile texts are masked in time that grows linearly with their length', () => {
  const log = memoryLog(clock);
  for (const unit of ['+1 ', '+', 'Bearer ', '1', '+1(', 'sess_', ' ']) log.info('x', { value: unit.repeat(4000) });
  expect(log.lines).toHaveLength(7);
});

test('lines below the level are not written', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) }, clock });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['c', 'd']);
  const silent = createLog({ level: 'silent', destination: { write: (line) => void lines.push(line) } });
  silent.error('e');
  expect(lines).toHaveLength(2);
});

const module = asJavaScript(fileURLToPath(new URL('./log.ts', import.meta.url)));
afterAll(() => module.remove());

test.each(['await log.close();', 'process.exit(0);', ''])(
  'no line is lost when a process ends by %j',
  async (end) => {
    const program = `import { createLog } from ${JSON.stringify(module.file)};
    const log = createLog({ level: 'info' });
    for (let i = 0; i < 5000; i += 1) log.info('line', { i });
    ${end}`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
    expect(output.trimEnd().split('\n')).toHaveLength(5000);
  },
  30_000,
);
