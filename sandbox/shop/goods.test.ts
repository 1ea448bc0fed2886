// Prices: the table, and the property that no amount is ever a fractional number.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { currencies, decimalOf, goods, priceOf, totalOf } from './goods.ts';

const digits = { usd: 2, cdf: 2, xof: 0, kes: 2, ngn: 2 } as const;

test.each([
  ['coffee', 'usd', '9.50'],
  ['coffee', 'cdf', '27100.00'],
  ['coffee', 'xof', '5700'],
  ['tea', 'kes', '594.00'],
  ['solar', 'ngn', '199950.00'],
] as const)('%s in %s costs %s', (good, currency, text) => {
  expect(decimalOf(priceOf(good, currency), currency)).toBe(text);
});

test('decimal text has the currency’s digits and says the same amount', () => {
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 15n });
  fc.assert(
    fc.property(fc.constantFrom(...currencies), amounts, (currency, minor) => {
      const text = decimalOf(minor, currency);
      expect(text).toMatch(digits[currency] === 0 ? /^[1-9]\d*$/ : /^(0|[1-9]\d*)\.\d{2}$/);
      expect(BigInt(text.replace('.', ''))).toBe(minor);
    }),
  );
});

test('a total is the sum of its lines', () => {
  const line = fc.record({ good: fc.constantFrom(...goods), quantity: fc.integer({ min: 1, max: 20 }) });
  fc.assert(
    fc.property(fc.constantFrom(...currencies), fc.array(line), (currency, lines) => {
      const one = lines.map((only) => totalOf([only], currency)).reduce((sum, next) => sum + next, 0n);
      expect(totalOf(lines, currency)).toBe(one);
    }),
  );
});
