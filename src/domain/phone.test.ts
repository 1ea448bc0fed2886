import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { expect, test } from 'vitest';
import { maskPhone } from './phone.ts';

test('a number is shown masked', () => {
  expect(maskPhone('+243810000042')).toBe('+243 81 ••• •• 42');
  expect(maskPhone('+12025550143')).toBe('+1 20 ••• •• 43');
  expect(maskPhone('+27821234567')).toBe('+27 82 ••• •• 67');
  expect(maskPhone('+000000')).not.toContain('000000');
});

test('the calling code of every country is recognised', () => {
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    expect(maskPhone(`+${code}987654321`), country).toBe(`+${code} 98 ••• •• 21`);
  }
});
