import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { curlOf } from './curl.ts';
import type { Operation } from './operations.ts';

const CALL: Operation = {
  id: 'pay',
  method: 'POST',
  path: '/payments/{id}/pay',
  summary: '',
  description: '',
  credential: 'session',
  parameters: [],
  body: undefined,
  answers: [],
  refusals: [],
};

const field = (name: string) => ({ name, required: true, form: '', options: [], limits: '', meaning: '', fields: [] });

/** The arguments with which curl would be started. */
function argumentsOf(line: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; TOKEN=sess_1 CREDENTIAL=key:secret; ${line}`;
  return execFileSync('bash', ['-c', script]).toString().split('\0').slice(0, -1);
}

test('a shell passes on what was meant, whatever it contains', () => {
  const text = fc.string().filter((one) => !one.includes('\0'));
  fc.assert(
    fc.property(text, text, text, (id, note, limit) => {
      const parameters = [
        { location: 'path', field: field('id'), example: id },
        { location: 'query', field: field('limit'), example: limit },
      ] as const;
      const body = { types: ['application/json'], shapes: [], example: { note } };
      const [, method, url = '', , credential, , , , sent = ''] = argumentsOf(
        curlOf({ ...CALL, parameters, body }, 'http://127.0.0.1:8080/api/v1'),
      );
      expect([method, credential]).toEqual(['POST', 'Authorization: Bearer sess_1']);
      expect(JSON.parse(sent)).toEqual({ note });
      const query = url.slice(url.indexOf('?'));
      expect(new URLSearchParams(query).get('limit')).toBe(limit);
      expect(url.slice(0, -query.length)).toBe(`http://127.0.0.1:8080/api/v1/payments/${encodeURIComponent(id)}/pay`);
    }),
    { numRuns: 50 },
  );
});

test('a read has neither method nor body, and a call that needs no credential sends none', () => {
  const line = curlOf({ ...CALL, method: 'GET', path: '/x', credential: 'none' }, 'http://127.0.0.1/api/v1');
  expect(argumentsOf(line)).toEqual(['http://127.0.0.1/api/v1/x']);
});

test('a file is sent as a form', () => {
  const body = { types: ['multipart/form-data'], shapes: [], example: { payment_id: 'pay_1', file: '@transfer.pdf' } };
  expect(argumentsOf(curlOf({ ...CALL, body }, '')).slice(-4)).toEqual([
    '-F',
    'payment_id=pay_1',
    '-F',
    'file=@transfer.pdf',
  ]);
});
