/** Numbers as people type them, and as the page shows them. */

import { expect, test } from 'vitest';
import { dialCode, maskedPhone, menuCode, readPhone } from './phone.ts';

test.each([
  ['81 000 00 42', 'CD', '+243810000042'],
  ['0810000042', 'CD', '+243810000042'],
  ['+243 81 000 00 42', 'UG', '+243810000042'],
  ['00243810000042', 'UG', '+243810000042'],
  ['0772 000 042', 'UG', '+256772000042'],
  // As phones' address books and messengers copy numbers: with marks of direction, thin spaces, other hyphens.
  ['\u202a+243 81 000 00 42\u202c', 'UG', '+243810000042'],
  ['\u200e081\u2009000\u202f00\u300042', 'CD', '+243810000042'],
  ['+243\u2011810\u2010000\u2013042\ufeff', 'CD', '+243810000042'],
  ['(081) 000-0042', 'CD', '+243810000042'],
  ['(+243) 81 000 00 42', 'UG', '+243810000042'],
  ['(00243) 810000042', 'UG', '+243810000042'],
  ['+243 (0)81 000 00 42', 'UG', '+243810000042'],
  // As a keyboard for Chinese writes digits.
  ['\uff0b\uff12\uff14\uff13810000042', 'CD', '+243810000042'],
  ['(', 'CD', undefined],
  ['81', 'CD', undefined],
  ['call me', 'CD', undefined],
  ['81 000 00 42', 'XX', undefined],
  ['81 000 00 42', '', undefined],
  [`+243810000042${' '.repeat(100)}1`, 'CD', undefined],
])('%j in %s is %s', (text, country, expected) => {
  expect(readPhone(text, country)).toBe(expected);
});

test('a number is shown masked, without a point at which the line can break', () => {
  expect(maskedPhone('+243810000042').replaceAll('\u00a0', ' ')).toBe('+243 81 ••• •• 42');
  expect(maskedPhone('+243810000042')).not.toMatch(/ |00000/);
});

test('the USSD menu code is the carrier’s in its country, if known', () => {
  expect(menuCode('+243810000042', 'Vodacom M-Pesa')).toBe('*1122#');
  expect(menuCode('+256772000042', 'Vodacom M-Pesa')).toBeUndefined();
  expect(dialCode('CD')).toBe('+243');
  expect(dialCode('nowhere')).toBeUndefined();
});
