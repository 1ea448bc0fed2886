/**
 * Whether a PDF is only something to read.
 *
 * Invariant: it is one document from its first byte to its last mark, and names nothing that runs, starts or carries
 * another file. What stands in compressed streams is not looked at: nothing is decompressed here, and whoever opens a
 * proof should do so in a reader that runs no scripts.
 */

/** How far before the end the last mark may stand. */
const TAIL_BYTES = 1_024;
const HEAD = /^%PDF-[12]\.[0-9]/;
const END_MARK = '%%EOF';
const BLANK = /^[\0\t\n\f\r ]*$/;

/**
 * Names, without their slash, of what a proof has no need for. All of them are long: what has four bytes stands in one of
 * a thousand honest files by chance, somewhere in its compressed streams.
 */
const ACTIVE = ['JavaScript', 'Launch', 'EmbeddedFile', 'EmbeddedFiles', 'RichMedia'];
const LONGEST = Math.max(...ACTIVE.map((name) => name.length));
const SLASH = 0x2f;
const NUMBER_SIGN = 0x23;

export function isSafePdf(bytes: Uint8Array): boolean {
  if (!HEAD.test(textOf(bytes, 0, 8))) return false;
  const tail = textOf(bytes, Math.max(0, bytes.length - TAIL_BYTES), bytes.length);
  const end = tail.lastIndexOf(END_MARK);
  if (end < 0 || !BLANK.test(tail.slice(end + END_MARK.length))) return false;
  for (let at = bytes.indexOf(SLASH); at >= 0; at = bytes.indexOf(SLASH, at + 1)) {
    if (ACTIVE.includes(nameAt(bytes, at + 1))) return false;
  }
  return true;
}

/** The name that begins there. Any of its characters may be written as a number sign and two hexadecimal digits. */
function nameAt(bytes: Uint8Array, start: number): string {
  let name = '';
  for (let at = start; name.length <= LONGEST; at += 1) {
    let byte = bytes[at] ?? 0;
    if (byte === NUMBER_SIGN) {
      const digits = textOf(bytes, at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) return name;
      byte = Number.parseInt(digits, 16);
      at += 2;
    }
    if (!isRegular(byte)) return name;
    name += String.fromCharCode(byte);
  }
  return name;
}

/** Letters and digits: everything else ends the names that are looked for. */
function isRegular(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}
