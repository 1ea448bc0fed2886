/**
 * Text that was sent or kept, in readable form: addresses and forms without percent-encoding, JSON within JSON without
 * backslashes. For searching for what must not be there.
 */
const BLANKS = /\\[rnt]/g;
const ENCODED = /%([0-9a-f]{2})/gi;

/** What cannot be decoded stays as it is, and so does a `+`, which may be a literal plus. */
export function plainText(text: string): string {
  const decoded = text.replace(ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded.replace(BLANKS, ' ').replaceAll('\\', '');
}
