import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePhone } from './phone.ts';

describe('a phone number', () => {
  it.each([
    ['+243810000042', '+243810000042'],
    ['00243810000042', '+243810000042'],
    ['+243 81 000-00.42', '+243810000042'],
    [' +243 (81) 0000042 ', '+243810000042'],
    ['+254 712 345678', '+254712345678'],
    ['+1 202-555-0143', '+12025550143'],
  ])('%s is %s', (text, phone) => {
    expect([parsePhone(text), parsePhone(text)]).toEqual([phone, phone]);
  });

  it.each([
    '0810000042',
    '243810000042',
    '+243',
    '+24381000004',
    '+2438100000420',
    '+999123456789',
    '',
    'call +243810000042',
    '+243810000042 ext. 5',
    '+٢٤٣٨١٠٠٠٠٠٤٢',
    '+243810000042\u0000',
    `+${'2'.repeat(60_000)}`,
  ])('%j is not one', (text) => {
    expect(parsePhone(text)).toBeUndefined();
  });

  it('is always E.164, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.string(),
        (text) => parsePhone(text) === undefined || /^\+[1-9][0-9]{6,14}$/.test(parsePhone(text) ?? ''),
      ),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^\+[0-9 ().-]{6,20}$/), (text) =>
        /^(\+[1-9][0-9]{6,14})?$/.test(parsePhone(text) ?? ''),
      ),
    );
  });
});
