/**
 * Phone numbers as they are shown: masked.
 *
 * Invariant: a full number is never shown again, not even to the person who typed it.
 */

/** The country codes of E.164, which is prefix-free: one digit, two, or else three. A library's table checks it. */
const COUNTRY_CODE = /^\+(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** For people: country code, two digits, and the last two: `+243 81 ••• •• 42`. */
export function maskPhone(e164: string): string {
  const code = COUNTRY_CODE.exec(e164)?.[1] ?? e164.slice(1, 4);
  const rest = e164.slice(1 + code.length);
  return `+${code} ${rest.slice(0, 2)} ••• •• ${rest.slice(-2)}`;
}
