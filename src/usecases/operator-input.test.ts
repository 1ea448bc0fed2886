/**
 * Texts that an operator writes: one clean line, as it is stored.
 */
import { describe, expect, test } from 'vitest';
import { requireAmount, requireAttribution, requireLine } from './operator-input.ts';

describe('a line', () => {
  test.each(['Rawbank\r', 'Rawbank\n', '\ufeffRawbank', ' Rawbank\t'])(
    'is %j without surrounding white space',
    (text) => {
      expect(requireLine(text, 'a name', 140)).toBe('Rawbank');
    },
  );

  test.each(['Raw\u200bbank', 'Raw\nbank', 'Rawbank\u202e', 'caf\ufffd', '', ' \r\n', 'x'.repeat(141)])(
    'is not %j',
    (text) => {
      expect(() => requireLine(text, 'a name', 140)).toThrow(
        'a name must be one line of 1 to 140 characters in UTF-8, without invisible characters',
      );
    },
  );
});

test('the operator’s name and reason are logged as they are kept', () => {
  expect(requireAttribution({ by: ' ame\u0301lie\n', why: '\tcalled them ' })).toEqual({
    by: 'amélie',
    why: 'called them',
  });
  expect(requireAttribution({ by: 'ops', why: null })).toEqual({ by: 'ops', why: null });
});

describe('an amount that cannot be used says what is wrong with it, and how to write it', () => {
  test.each([
    ['0', 'usd', 'it must be above zero, like 100.00'],
    ['0.00', 'usd', 'it must be above zero, like 100.00'],
    ['5.001', 'usd', 'usd has at most 2 decimals, like 100.00'],
    ['1.5', 'xof', 'xof has no decimals, like 100'],
    ['5,00', 'usd', 'write it like 100.00'],
    ['-5', 'usd', 'write it like 100.00'],
  ] as const)('%s %s', (text, currency, said) => {
    expect(() => requireAmount(text, currency)).toThrow(`"${text}" is not a valid amount in ${currency}: ${said}`);
  });
});
