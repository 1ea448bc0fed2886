/**
 * What was sent or kept, as it would be read: addresses and forms without their percent signs, JSON within JSON without its
 * backslashes. For looking for what must not be there.
 */
const BLANKS = /\\[rnt]/g;
const ENCODED = /%([0-9a-f]{2})/gi;

/** What cannot be decoded stays as it is; a `+` too, which may be one. */
export function plainText(text: string): string {
  const decoded = text.replace(ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded.replace(BLANKS, ' ').replaceAll('\\', '');
}
