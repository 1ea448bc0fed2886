import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextOfTransaction, readTraceparent, writeTraceparent } from './trace-context.ts';

const digits = (count: number) =>
  fc
    .array(fc.integer({ min: 0, max: 15 }), { minLength: count, maxLength: count })
    .map((all) => all.map((one) => one.toString(16)).join(''))
    .filter((text) => !/^0*$/.test(text));

test('what is written is read back', () => {
  fc.assert(
    fc.property(digits(32), digits(16), fc.boolean(), (traceId, spanId, sampled) => {
      const context = { traceId, spanId, sampled };
      expect(readTraceparent(writeTraceparent(context))).toEqual(context);
    }),
  );
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test.each([
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  [`00-${TRACE}-${SPAN}-03`, true],
  [`cc-${TRACE}-${SPAN}-01-what-will-be`, true],
])('%s is accepted', (header, sampled) => {
  expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
});

test.each([
  undefined,
  '',
  'nonsense',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
])('%s is ignored', (header) => {
  expect(readTraceparent(header)).toBeUndefined();
});

test('a transaction has one trace, and every other one another', () => {
  const context = contextOfTransaction('txn_a');
  expect(context).toEqual(contextOfTransaction('txn_a'));
  expect(context.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(context.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(contextOfTransaction('txn_b').traceId).not.toBe(context.traceId);
});
