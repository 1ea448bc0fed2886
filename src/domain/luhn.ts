/**
 * The Luhn sum of digits (ISO/IEC 7812-1), by which card and wallet numbers tell a typo.
 *
 * Invariant: pure; the text holds digits alone.
 */

const ZERO = 0x30;

/** The sum in which each second digit from the right is doubled: of a whole card number it is a multiple of ten. */
export function luhnSum(digits: string): number {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - ZERO;
    const counted = i % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum;
}
