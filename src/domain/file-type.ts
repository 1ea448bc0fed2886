/**
 * What a file from a customer or an operator really is: judged by its content, never by its name or its declared type.
 *
 * Invariant: a file is accepted only as one thing. Anything that a browser, an unzipper or a PDF reader could take for something
 * else is unsafe. Only what was judged is kept: telephones append notes and films to pictures, and those are cut off, whatever
 * they are. Nothing is decompressed or drawn here or anywhere in the gateway, so a decompression bomb stays a small file.
 */

import { endOfEmptyJpeg, endOfEmptyPng, endOfJpegs, endOfPng, isWebp } from './image.ts';
import { isSafePdf } from './pdf.ts';

/** The types of file that prove a bank transfer (contract §4). */
export type ProofType = 'image/jpeg' | 'image/png' | 'application/pdf';
/** The types of picture that a merchant's logo can be. */
export type LogoType = 'image/jpeg' | 'image/png' | 'image/webp';

/** The largest proof: 5 MiB (contract §4). */
export const MAX_PROOF_BYTES = 5 * 1024 * 1024;
/** The largest logo: 64 KiB. */
export const MAX_LOGO_BYTES = 64 * 1024;
/** Pixels that a reader has to unpack: no telephone's photo of 5 MiB has more, and no logo needs more. */
const MAX_PROOF_PIXELS = 100_000_000;
const MAX_LOGO_PIXELS = 4_000_000;
/** Pixels; a picture no larger than this cannot show a legible receipt. */
const ILLEGIBLE_PIXELS = 64 * 64;

/** Why a file is refused: it has no bytes, is of no type that is accepted, or could be taken for something else. */
export type FileFault = 'FILE_EMPTY' | 'FILE_TYPE' | 'FILE_UNSAFE';

/** What a file proves to be. */
export type FileVerdict<T extends string> =
  /** `bytes` is what to keep of it. */
  | { readonly kind: 'file'; readonly type: T; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly fault: FileFault };

/**
 * Judges a proof of a bank transfer. A file that begins as a picture but holds none proves nothing, yet harms nobody: the
 * operator who decides about the transfer sees that, and likewise for a picture of a few pixels, whole or not. Any other picture
 * that is cut off is refused, so that its sender can send it whole.
 */
export function judgeProof(bytes: Uint8Array): FileVerdict<ProofType> {
  return judge(bytes, {
    'image/jpeg': (jpeg) => endOfJpegs(jpeg, MAX_PROOF_PIXELS, ILLEGIBLE_PIXELS) ?? endOfEmptyJpeg(jpeg),
    'image/png': (png) => endOfPng(png, MAX_PROOF_PIXELS) ?? endOfEmptyPng(png),
    'application/pdf': (pdf) => (isSafePdf(pdf) ? pdf.length : undefined),
  });
}

/** Judges a merchant's logo. */
export function judgeLogo(bytes: Uint8Array): FileVerdict<LogoType> {
  return judge(bytes, {
    'image/jpeg': (jpeg) => endOfJpegs(jpeg, MAX_LOGO_PIXELS),
    'image/png': (png) => endOfPng(png, MAX_LOGO_PIXELS),
    'image/webp': (webp) => (isWebp(webp, MAX_LOGO_PIXELS) ? webp.length : undefined),
  });
}

const MAGIC: { readonly [type in ProofType | LogoType]: readonly number[] } = {
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
  'application/pdf': [0x25, 0x50, 0x44, 0x46, 0x2d],
};

/** `endsOf` says where a file of that type ends; undefined: it is not of that type, or not safe. */
function judge<T extends ProofType | LogoType>(
  bytes: Uint8Array,
  endsOf: { readonly [type in T]: (bytes: Uint8Array) => number | undefined },
): FileVerdict<T> {
  if (bytes.length === 0) return { kind: 'refused', fault: 'FILE_EMPTY' };
  const types = Object.keys(endsOf) as T[];
  const type = types.find((one) => MAGIC[one].every((byte, at) => bytes[at] === byte));
  if (type === undefined) return { kind: 'refused', fault: 'FILE_TYPE' };
  const end = endsOf[type](bytes);
  const kept = bytes.subarray(0, end);
  const isSafe = end !== undefined && !isArchive(kept) && !hasMarkup(kept) && (type === PDF || !holdsPdf(kept));
  return isSafe ? { kind: 'file', type, bytes: kept } : { kind: 'refused', fault: 'FILE_UNSAFE' };
}

const PDF = 'application/pdf';

/** How far into a file readers look for the head of a PDF. */
const PDF_HEAD_BYTES = 1_024;
const PDF_HEAD = bytesOf('%PDF-');

/** PDF readers skip whatever precedes the head, the beginning of a picture for instance. */
function holdsPdf(picture: Uint8Array): boolean {
  return holds(picture.subarray(0, PDF_HEAD_BYTES + PDF_HEAD.length - 1), PDF_HEAD);
}

/**
 * Bytes from the end of a file within which an archive's directory may close: the record itself, and a comment of 65 535 bytes.
 */
const ARCHIVE_TAIL = 22 + 65_535;
const END_OF_ARCHIVE = bytesOf('PK\u0005\u0006');
const ARCHIVE_ENTRY = bytesOf('PK\u0001\u0002');

/** An unzipper looks for an archive's directory from the end of a file, whatever it begins with. */
function isArchive(bytes: Uint8Array): boolean {
  return holds(bytes.subarray(-ARCHIVE_TAIL), END_OF_ARCHIVE) && holds(bytes, ARCHIVE_ENTRY);
}

/** Bytes that browsers examine when they guess the type; a script is not wanted anywhere. */
const HEAD_BYTES = 4_096;
const MARKUP_IN_HEAD = ['<svg', '<html', '<!doctype', '<body', '<iframe', '<?php'].map(bytesOf);
const SCRIPT = bytesOf('<script');

function hasMarkup(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  return holds(bytes, SCRIPT, 'any_case') || MARKUP_IN_HEAD.some((word) => holds(head, word, 'any_case'));
}

/** The bytes of a text in ASCII. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/**
 * Whether a run of bytes is among these. `any_case`: the run is a word in lower-case ASCII that starts with a sign, and is found in
 * capitals too.
 */
function holds(bytes: Uint8Array, run: Uint8Array, spelling: 'exact' | 'any_case' = 'exact'): boolean {
  const [first] = run;
  for (let at = 0; at <= bytes.length - run.length; at += 1) {
    if (bytes[at] !== first) continue;
    let same = 1;
    while (same < run.length && spelled(bytes[at + same], spelling) === run[same]) same += 1;
    if (same === run.length) return true;
  }
  return false;
}

function spelled(byte: number | undefined, spelling: 'exact' | 'any_case'): number | undefined {
  const isCapital = byte !== undefined && byte >= 0x41 && byte <= 0x5a;
  return isCapital && spelling === 'any_case' ? byte + 0x20 : byte;
}
