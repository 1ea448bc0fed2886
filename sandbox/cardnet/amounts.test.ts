// Amounts on the wire, as properties.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountText, jsonAmount, parseAmount, wireJson } from './amounts.ts';

const currencies = fc.constantFrom(['USD', 2], ['XAF', 0], ['KWD', 3]);

test('an amount written with the currency’s digits is read back the same', () => {
  fc.assert(
    fc.property(currencies, fc.bigInt(0n, 10n ** 12n - 1n), ([currency, digits], minor) => {
      const thousandths = minor * 10n ** BigInt(3 - Number(digits));
      const text = amountText(thousandths, String(currency));
      expect(parseAmount(text, String(currency))).toEqual({ thousandths, text });
    }),
  );
});

test('amounts become JSON numbers with all their digits, and other text stays text', () => {
  expect(wireJson({ amount: jsonAmount(12_500n, 'USD'), total: jsonAmount(7_000n, 'XOF'), name: '12.50' })).toBe(
    '{"amount":12.50,"total":7,"name":"12.50"}',
  );
});

test.each([
  ['12.505', 'USD'],
  ['7.0', 'XAF'],
  ['-1', 'USD'],
  ['1e3', 'USD'],
  ['', 'USD'],
  [1e21, 'USD'],
  [Number.NaN, 'USD'],
  [null, 'USD'],
])('%s %s is not an amount', (given, currency) => {
  expect(parseAmount(given, currency)).toBeUndefined();
});

test('a JSON number is read by its shortest text', () => {
  expect(parseAmount(12.5, 'USD')).toEqual({ thousandths: 12_500n, text: '12.5' });
});
