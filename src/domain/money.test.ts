import cc from 'currency-codes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES, exponentOf } from './currency.ts';
import { divideHalfEven, formatMinor, parseAmount, parsePaddedAmount } from './money.ts';

const currency = fc.constantFrom(...CURRENCIES);

describe('amounts', () => {
  test('the exponents are those of ISO 4217', () => {
    for (const code of CURRENCIES) {
      expect([code, exponentOf(code)]).toEqual([code, cc.code(code.toUpperCase())?.digits]);
    }
  });

  test.each([
    ['12.50', 1250n],
    ['12.5', 1250n],
    ['0.01', 1n],
    ['1000000', 100000000n],
    ['999999999999999.99', 99999999999999999n],
  ])('%s is read exactly', (text, minor) => {
    expect(parseAmount(text, 'usd')).toEqual({ minor, currency: 'usd' });
  });

  test('from others are read the same with zeros that the currency does not have', () => {
    fc.assert(
      fc.property(currency, fc.bigInt(1n, 10n ** 14n), fc.integer({ min: 0, max: 6 }), (code, minor, zeros) => {
        const text = formatMinor(minor, code);
        const padded = `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(zeros)}`;
        expect(parsePaddedAmount(padded, code)).toEqual({ minor, currency: code });
      }),
    );
  });

  test.each([
    ['100.00', 'xof', 100n],
    ['100.01', 'xof', undefined],
    ['12.5', 'usd', 1250n],
    ['12.500', 'usd', 1250n],
    ['12.505', 'usd', undefined],
    ['1.0e2', 'usd', undefined],
    ['-1.00', 'usd', undefined],
    [`1.${'0'.repeat(40)}`, 'usd', undefined],
    [12.5, 'usd', undefined],
  ] as const)('from others: %j in %s is %s', (text, code, minor) => {
    expect(parsePaddedAmount(text, code)?.minor).toBe(minor);
  });

  const named = [
    '1e3',
    '1E+2',
    '0.001',
    '-0',
    '0',
    '0.0',
    ' 1',
    '1 ',
    'NaN',
    'Infinity',
    '٣',
    '１',
    '1,000',
    '01',
    '.5',
    '5.',
    '+1',
    '1_000',
    '0x10',
    '1n',
    '9'.repeat(28),
    `0.${'9'.repeat(28)}`,
    '9'.repeat(400),
    '',
    null,
    undefined,
    true,
    10,
    1e3,
    ['5'],
    {},
    '1\u0000',
    '1\u200b',
    '1\ufeff',
    '\u22121',
    "1'000",
    '1\n',
    '\t1',
    '1000000000000000',
  ];
  test.each(named)('%j is refused', (text) => {
    expect(parseAmount(text, 'usd')).toBeUndefined();
  });

  test('a currency without fractions takes none', () => {
    expect(parseAmount('5', 'xof')).toEqual({ minor: 5n, currency: 'xof' });
    expect(parseAmount('5.0', 'xof')).toBeUndefined();
  });

  test('what is formatted is read back the same', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 99_999_999_999_999n }), currency, (minor, code) => {
        expect(parseAmount(formatMinor(minor, code), code)).toEqual({ minor, currency: code });
      }),
    );
  });

  test('negative balances keep their sign, and nothing has none', () => {
    expect(formatMinor(0n, 'usd')).toBe('0.00');
    expect(formatMinor(-5n, 'usd')).toBe('-0.05');
    expect(formatMinor(-5n, 'xof')).toBe('-5');
  });
});

describe('rounding half to even', () => {
  test.each([
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    [25n, 10n, 2n],
    [35n, 10n, 4n],
  ])('%s / %s is %s', (numerator, denominator, quotient) => {
    expect(divideHalfEven(numerator, denominator)).toBe(quotient);
  });

  test('is never off by more than half a unit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.bigInt({ min: 1n, max: 10n ** 9n }), (n, d) => {
        const off = divideHalfEven(n, d) * d - n;
        expect((off < 0n ? -off : off) * 2n <= d).toBe(true);
      }),
    );
  });
});
