/**
 * Phone numbers on the page: read as people of a country write them, shown masked, with what to dial when no request
 * shows up.
 *
 * Invariant: once it has been accepted, a full number is never shown again, not even to the customer who typed it.
 */

import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { maskPhone } from '../domain/phone.ts';

/** The number in E.164, written in international form or as in that country; undefined unless it is a valid one. */
export function readPhone(text: string, country: string): string | undefined {
  const given = plain(text);
  if (given.length > 40 || !/^[+0-9][0-9 ().\-/]*$/.test(given)) return undefined;
  const written = given.startsWith('00') ? `+${given.slice(2)}` : given;
  const options = isSupportedCountry(country) ? { defaultCountry: country, extract: false } : { extract: false };
  const parsed = parsePhoneNumberFromString(written, options);
  return parsed?.isValid() === true ? parsed.number : undefined;
}

/**
 * The number without what address books, messengers and keyboards put around and into it: marks of direction, other spaces and
 * hyphens, wide digits, and brackets around what it begins with.
 */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .replaceAll(/\p{Zs}/gu, ' ')
    .replaceAll(/\p{Pd}/gu, '-')
    .trim()
    .replace(/^\(([^()]*)\)/, '$1 ');
}

/** The masked number without a place to break the line. */
export function maskedPhone(e164: string): string {
  return maskPhone(e164).replaceAll(' ', '\u00a0');
}

function countryOf(e164: string): CountryCode | undefined {
  return parsePhoneNumberFromString(e164)?.country;
}

/** `+243`; undefined for what is no country. */
export function dialCode(country: string): string | undefined {
  return isSupportedCountry(country) ? `+${getCountryCallingCode(country)}` : undefined;
}

/** The codes that open a carrier's menu, by country and carrier, as the carriers publish them. */
const MENUS: { readonly [carrier: string]: string } = {
  'CD Vodacom M-Pesa': '*1122#',
  'CD Airtel Money': '*501#',
  'CD Orange Money': '*144#',
  'UG MTN MoMo': '*165#',
  'UG Airtel Money': '*185#',
  'GH MTN MoMo': '*170#',
  'RW MTN MoMo': '*182#',
  'CM MTN MoMo': '*126#',
  'CI MTN MoMo': '*133#',
  'ZM MTN MoMo': '*115#',
};

/** The code that opens the carrier's menu on that phone, where it is known. */
export function menuCode(e164: string, carrier: string): string | undefined {
  const country = countryOf(e164);
  return country === undefined ? undefined : MENUS[`${country} ${carrier}`];
}
