/**
 * Whether a PDF is only something to read.
 *
 * Invariant: nothing follows its last end mark, if it has one (readers repair files without), and it names nothing that runs,
 * starts or carries another file. Compressed streams are not examined: nothing is decompressed here, and an operator should open
 * a proof in a reader that runs no scripts.
 */

const HEAD = /^%PDF-[12]\.[0-9]/;
const END_MARK = '%%EOF';
const END_BYTES = Uint8Array.from(END_MARK, (char) => char.charCodeAt(0));

/**
 * Names, without their slash, of features that no proof needs. All of them are long: a name of four bytes occurs by chance in one
 * of a thousand honest files, somewhere in its compressed streams.
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
/** Honest documents put the page to open at here; a dictionary in its place is an action. */
const ON_OPENING = 'OpenAction';
/** Bytes of white space, more than any writer puts there: that much, or a comment, is there to hide what follows. */
const GAP_BYTES = 64;
const SLASH = 0x2f;
const NUMBER_SIGN = 0x23;
const PERCENT = 0x25;
const LESS_THAN = 0x3c;

/** Whether bytes are a PDF that names nothing active. */
export function isSafePdf(bytes: Uint8Array): boolean {
  if (!HEAD.test(textOf(bytes, 0, 8))) return false;
  const length = lengthWithoutPadding(bytes);
  if (textOf(bytes, length - END_MARK.length, length) !== END_MARK && hasEndMark(bytes)) return false;
  // Byte by byte, building no strings: a file may have a million such names, and every other request waits meanwhile.
  for (let at = 0; at < bytes.length; at += 1) {
    const found = bytes[at] === SLASH ? nameAt(bytes, at + 1) : undefined;
    if (found !== undefined && (found.name !== ON_OPENING || isAction(bytes, found.end))) return false;
  }
  return true;
}

/** Some writers fill a file up to a whole block with white space: that is harmless, however much it is. */
function lengthWithoutPadding(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && isBlank(bytes[length - 1])) length -= 1;
  return length;
}

/** Byte by byte, too: a file may be filled with signs that could begin the mark. */
function hasEndMark(bytes: Uint8Array): boolean {
  for (let at = 0; at + END_BYTES.length <= bytes.length; at += 1) {
    let same = 0;
    while (same < END_BYTES.length && bytes[at + same] === END_BYTES[same]) same += 1;
    if (same === END_BYTES.length) return true;
  }
  return false;
}

/** A beginning of the names that are looked for: the letters that may follow, and the name if it may end here. */
interface Beginning {
  readonly name: string | undefined;
  /** By byte. An array, not a map: a file may be filled with such beginnings. */
  readonly next: readonly (Beginning | undefined)[];
}

function beginningOf(names: readonly string[], length: number): Beginning {
  const letters = new Set(names.filter((name) => name.length > length).map((name) => name.charCodeAt(length)));
  const longer = (letter: number): string[] => names.filter((name) => name.charCodeAt(length) === letter);
  return {
    name: names.find((name) => name.length === length),
    next: Array.from({ length: 128 }, (_, letter) =>
      letters.has(letter) ? beginningOf(longer(letter), length + 1) : undefined,
    ),
  };
}

const BEGINNING = beginningOf([...ACTIVE, ON_OPENING], 0);

/**
 * The name that begins at `start`, if it is one that is looked for, and where it ends. Any of its characters may be written as a
 * number sign and two hexadecimal digits.
 */
function nameAt(bytes: Uint8Array, start: number): { readonly name: string; readonly end: number } | undefined {
  let read = BEGINNING;
  for (let at = start; ; ) {
    const escaped = bytes[at] === NUMBER_SIGN ? escapedAt(bytes, at + 1) : undefined;
    const byte = escaped ?? bytes[at] ?? 0;
    if (!isRegular(byte)) return read.name === undefined ? undefined : { name: read.name, end: at };
    const longer = read.next[byte];
    if (longer === undefined) return undefined;
    read = longer;
    at += escaped === undefined ? 1 : 3;
  }
}

/** The byte that two hexadecimal digits stand for. */
function escapedAt(bytes: Uint8Array, at: number): number | undefined {
  const high = digitOf(bytes[at] ?? 0);
  const low = digitOf(bytes[at + 1] ?? 0);
  return high === undefined || low === undefined ? undefined : high * 16 + low;
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

/** Whether a dictionary begins there, or something that may hide one. */
function isAction(bytes: Uint8Array, start: number): boolean {
  let at = start;
  while (at < start + GAP_BYTES && isBlank(bytes[at])) at += 1;
  if (at === start + GAP_BYTES || at >= bytes.length || bytes[at] === PERCENT) return true;
  return bytes[at] === LESS_THAN && bytes[at + 1] === LESS_THAN;
}

/** NUL, tab, line feed, form feed, carriage return and space. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0 || byte === 0x09 || byte === 0x0a || byte === 0x0c || byte === 0x0d;
}

/** Letters and digits: any other byte ends a name that is looked for. */
function isRegular(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}
