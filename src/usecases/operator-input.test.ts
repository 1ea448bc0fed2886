/**
 * Texts that an operator writes: one clean line, as it is stored.
 */
import { describe, expect, test } from 'vitest';
import { requireAttribution, requireLine } from './operator-input.ts';

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
