/**
 * The structure of pictures: where a PNG, a JPEG or a WebP really ends.
 *
 * Invariant: every byte before the end belongs to a part that the format names. Data hidden between the parts makes the parser
 * stop early or find no end; what follows the end is not part of the picture.
 */

/** Pixels per side; nothing larger is a photograph or a screenshot. */
const MAX_SIDE = 20_000;

const PNG_HEAD = 8;
/** Bytes of a chunk's length, name and checksum. */
const PNG_FRAME = 12;
const IHDR = 0x49484452;
const IDAT = 0x49444154;
const IEND = 0x49454e44;

/** Where a PNG ends: IHDR first, some IDAT, an empty IEND. Undefined when it is not a PNG, or has too many pixels. */
export function endOfPng(bytes: Uint8Array, pixelsMost: number): number | undefined {
  const view = viewOf(bytes);
  let drawn = false;
  for (let at = PNG_HEAD; at + PNG_FRAME <= bytes.length; ) {
    const length = view.getUint32(at);
    const name = view.getUint32(at + 4);
    const end = at + PNG_FRAME + length;
    if (end > bytes.length) return undefined;
    if ((at === PNG_HEAD) !== (name === IHDR)) return undefined;
    if (name === IHDR) {
      if (length !== 13 || !isSane(view.getUint32(at + 8), view.getUint32(at + 12), pixelsMost)) return undefined;
    }
    if (name === IEND) return drawn && length === 0 ? end : undefined;
    drawn ||= name === IDAT && length > 0;
    at = end;
  }
  return undefined;
}

/** The end of a file that begins as a PNG but contains no header chunk, so that no reader unpacks anything. */
export function endOfEmptyPng(bytes: Uint8Array): number | undefined {
  const view = viewOf(bytes);
  for (let at = PNG_HEAD; at + 4 <= bytes.length; at += 1) if (view.getUint32(at) === IHDR) return undefined;
  return bytes.length;
}

/** The end of a file that begins as a JPEG but contains no frame, so that no reader unpacks anything. */
export function endOfEmptyJpeg(bytes: Uint8Array): number | undefined {
  // Byte by byte, and in `endOfScan` too: a file may be filled with markers, and `indexOf` costs fifty times a byte's time for each.
  for (let at = 2; at + 1 < bytes.length; at += 1) {
    if (bytes[at] === 0xff && isFrame(bytes[at + 1] ?? 0)) return undefined;
  }
  return bytes.length;
}

/**
 * Where the last of the pictures in a JPEG file ends. Telephones append further whole pictures (a preview, a gain map); anything
 * else appended is not parsed. If the file ends within a scan, the first picture has been cut off, or its encoder omits the end
 * marker: it is accepted if it has at most `unendedMost` pixels.
 */
export function endOfJpegs(bytes: Uint8Array, pixelsMost: number, unendedMost = 0): number | undefined {
  let end: number | undefined;
  for (let at = 0; isMarker(bytes, at, SOI); at = end) {
    const next = endOfJpeg(bytes, at, pixelsMost, at === 0 ? unendedMost : 0);
    if (next === undefined) return end;
    end = next;
  }
  return end;
}

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;

/** Parses one picture, segment by segment and scan by scan, and returns the position after its end. */
function endOfJpeg(bytes: Uint8Array, start: number, pixelsMost: number, unendedMost: number): number | undefined {
  const view = viewOf(bytes);
  let drawn = false;
  let pixels = Number.POSITIVE_INFINITY;
  for (let at = start + 2; at + 2 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff || marker === 0 || marker === SOI) return undefined;
    // A marker may be preceded by any number of fill bytes.
    if (marker === 0xff) at += 1;
    else if (marker === EOI) return drawn ? at + 2 : undefined;
    else if (isBare(marker)) at += 2;
    else {
      const length = at + 4 <= bytes.length ? view.getUint16(at + 2) : 0;
      if (length < 2 || at + 2 + length > bytes.length) return undefined;
      if (isFrame(marker)) {
        const [height, width] = length < 8 ? [0, 0] : [view.getUint16(at + 5), view.getUint16(at + 7)];
        if (!isSane(width, height, pixelsMost)) return undefined;
        pixels = width * height;
      }
      at += 2 + length;
      if (marker === SOS) {
        drawn = true;
        at = endOfScan(bytes, at);
        if (at === bytes.length && pixels <= unendedMost) return at;
      }
    }
  }
  return undefined;
}

/** Where the compressed data of a scan ends: at the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(bytes: Uint8Array, start: number): number {
  for (let at = start; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !isBare(next)) return at;
  }
  return bytes.length;
}

/** Markers without a length: restarts, and TEM. */
function isBare(marker: number): boolean {
  return (marker >= 0xd0 && marker <= 0xd7) || marker === 0x01;
}

/** A frame's header holds the picture's dimensions; C4, C8 and CC are other markers. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function isMarker(bytes: Uint8Array, at: number, marker: number): boolean {
  return bytes[at] === 0xff && bytes[at + 1] === marker;
}

const WEBP = 0x57454250;
const VP8 = 0x56503820;
const VP8L = 0x5650384c;
const VP8X = 0x56503858;

/** A RIFF file of kind WEBP that declares its own length and begins with a picture; no picture in it exceeds `pixelsMost`. */
export function isWebp(bytes: Uint8Array, pixelsMost: number): boolean {
  if (bytes.length < 20) return false;
  const view = viewOf(bytes);
  if (view.getUint32(4, true) + 8 !== bytes.length || view.getUint32(8) !== WEBP) return false;
  if (![VP8, VP8L, VP8X].includes(view.getUint32(12))) return false;
  let at = 12;
  while (at + 8 <= bytes.length) {
    const sides = sidesOfWebp(view, at);
    if (sides !== undefined && !isSane(...sides, pixelsMost)) return false;
    const length = view.getUint32(at + 4, true);
    at += 8 + length + (length % 2);
  }
  return at === bytes.length;
}

/**
 * Width and height that a chunk declares (VP8L and VP8X store them minus one); zero if it is cut short. Undefined for chunks that
 * hold no picture.
 */
function sidesOfWebp(view: DataView, at: number): [number, number] | undefined {
  const name = view.getUint32(at);
  if (name !== VP8 && name !== VP8L && name !== VP8X) return undefined;
  const data = at + 8;
  if (data + 10 > view.byteLength) return [0, 0];
  if (name === VP8) return [view.getUint16(data + 6, true) & 0x3fff, view.getUint16(data + 8, true) & 0x3fff];
  if (name === VP8X)
    return [(view.getUint32(data + 4, true) & 0xffffff) + 1, (view.getUint32(data + 6, true) >>> 8) + 1];
  const both = view.getUint32(data + 1, true);
  return [(both & 0x3fff) + 1, ((both >>> 14) & 0x3fff) + 1];
}

function isSane(width: number, height: number, pixelsMost: number): boolean {
  return width > 0 && height > 0 && width <= MAX_SIDE && height <= MAX_SIDE && width * height <= pixelsMost;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
