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
    sum += i % 2 === 0 ? digit : doubled(digit);
  }
  return sum;
}

/** What a digit counts where it is doubled: the sum of the digits of twice its value. */
export function doubled(digit: number): number {
  return digit > 4 ? digit * 2 - 9 : digit * 2;
}
