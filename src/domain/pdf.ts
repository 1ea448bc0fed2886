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
const ACTIVE = [
  'JavaScript',
  'Launch',
  'EmbeddedFile',
  'EmbeddedFiles',
  'RichMedia',
  'Rendition',
  'SubmitForm',
  'ImportData',
  'GoToR',
  'GoToE',
];
/** Honest documents name the page here that they open at; a dictionary in its place is an action. */
const ON_OPENING = 'OpenAction';
const ACTION = /^[\0\t\n\f\r ]*(?:<<|%|$)/;
/** More blanks than any writer puts there, and a comment, are there to hide what follows. */
const GAP_BYTES = 64;
const LONGEST = Math.max(...[...ACTIVE, ON_OPENING].map((name) => name.length));
const SLASH = 0x2f;
const NUMBER_SIGN = 0x23;

export function isSafePdf(bytes: Uint8Array): boolean {
  if (!HEAD.test(textOf(bytes, 0, 8))) return false;
  const tail = textOf(bytes, Math.max(0, bytes.length - TAIL_BYTES), bytes.length);
  const end = tail.lastIndexOf(END_MARK);
  if (end < 0 || !BLANK.test(tail.slice(end + END_MARK.length))) return false;
  for (let at = bytes.indexOf(SLASH); at >= 0; at = bytes.indexOf(SLASH, at + 1)) {
    const { name, end } = nameAt(bytes, at + 1);
    if (ACTIVE.includes(name)) return false;
    if (name === ON_OPENING && ACTION.test(textOf(bytes, end, end + GAP_BYTES))) return false;
  }
  return true;
}

/**
 * The name that begins there, and what follows it. Any of its characters may be written as a number sign and two
 * hexadecimal digits.
 */
function nameAt(bytes: Uint8Array, start: number): { readonly name: string; readonly end: number } {
  let name = '';
  let end = start;
  while (name.length <= LONGEST) {
    const digits = bytes[end] === NUMBER_SIGN ? textOf(bytes, end + 1, end + 3) : undefined;
    if (digits !== undefined && !/^[0-9a-fA-F]{2}$/.test(digits)) break;
    const byte = digits === undefined ? (bytes[end] ?? 0) : Number.parseInt(digits, 16);
    if (!isRegular(byte)) break;
    name += String.fromCharCode(byte);
    end += digits === undefined ? 1 : 3;
  }
  return { name, end };
}

/** Letters and digits: everything else ends the names that are looked for. */
function isRegular(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}
