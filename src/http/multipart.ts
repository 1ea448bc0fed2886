/**
 * Reads a form with one file (multipart/form-data, RFC 7578) as it arrives.
 *
 * Invariant: whatever the sender announces, no more is kept than the rule allows and no more is read than a few times that; a
 * sender that falls silent is not waited for. A part's file name and type are only its sender's claim and are dropped; a file
 * that did not arrive whole is refused.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { isShredded } from '../domain/pieces.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { badFraming, tooManyChunks } from './envelope.ts';
import { faultIn, refuseByName } from './json-body.ts';

/** The one file that a form may carry. */
export interface FileRule {
  /** The field's name. */
  readonly field: string;
  /** The most bytes that it may have. */
  readonly most: number;
}

/** A file as its route is handed it. */
export interface UploadedFile {
  readonly bytes: Uint8Array;
}

/** A form that was sent with a file: its other fields as text, and the file's bytes. */
export interface Form {
  readonly fields: { readonly [name: string]: string };
  /** Undefined when there is no such part. */
  readonly file: Uint8Array | undefined;
}

/** A form has a few short fields besides its file. */
const MAX_FIELDS = 8;
const MAX_FIELD_BYTES = 4_096;
/** What the parts' heads and the fields may add to the file's own size. */
const OVERHEAD_BYTES = 64 * 1024;
/**
 * Where the length was announced, up to this many times the limit is still read, and thrown away: a browser reads its answer only
 * after it has sent all of a photo that is too large.
 */
const READ_OUT = 3;
/**
 * Milliseconds for which a known sender may be silent: then it has gone, or only holds a place. A phone that loses its cell, or waits
 * for a lost packet to be sent again for the fourth or fifth time, is silent for half a minute. A sender that holds a place on
 * purpose need not be silent: its share of the places and the time for the whole request bound that.
 */
const MAX_SILENCE_MS = 30_000;

/** `multipart/form-data`, not compressed. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return false;
  return /^multipart\/form-data[ \t]*(;|$)/i.test(headers['content-type'] ?? '');
}

/**
 * Reads the form of a request. A form that is refused midway is not read to its end here: the code that answers discards the
 * rest.
 *
 * @throws Refusal 1403 for a file above the limit (413) or a sender who falls silent (408) or in shreds, 1110 for what is no such
 *   form or holds card data, 1109 for a file under another name.
 */
export async function readMultipart(source: FormSource, rule: FileRule, clock: Pick<Clock, 'after'>): Promise<Form> {
  const { headers } = source;
  // A sender that went away while it was being looked up emits no end, and nothing else any more.
  if (source.destroyed) throw badFraming();
  const isAnnounced = headers['content-length'] !== undefined;
  const most = isAnnounced ? rule.most * READ_OUT + OVERHEAD_BYTES : rule.most + OVERHEAD_BYTES;
  if (Number(headers['content-length'] ?? 0) > most) throw tooLarge(rule);
  const { fields, file, isCut } = await receive(source, openParser(headers, rule), clock, { rule, most, isAnnounced });
  if (isCut) throw tooLarge(rule);
  const named = Object.fromEntries(fields);
  const fault = faultIn(named);
  if (fault !== undefined) throw fault;
  return { fields: named, file: file && Buffer.concat(file) };
}

interface Bounds {
  readonly rule: FileRule;
  /** Bytes of the whole body that are read at most. */
  readonly most: number;
  /** Whether the sender announced the length of the body. */
  readonly isAnnounced: boolean;
}

/** Passes the body to the parser. Resolves with the parts once the body has ended; rejects with the first refusal. */
function receive(
  source: FormSource,
  parser: BusboyInstance,
  clock: Pick<Clock, 'after'>,
  bounds: Bounds,
): Promise<Parts> {
  const { rule, most } = bounds;
  return new Promise((resolve, reject) => {
    const refuse = (refusal: Refusal): void => {
      stopWatching();
      source.unpipe(parser);
      source.pause();
      reject(refusal);
    };
    const stopWatching = watch(source, clock, {
      most,
      tooMuch: () => refuse(tooLarge(rule)),
      silent: () => refuse(stalled(rule)),
      shredded: () => refuse(tooManyChunks()),
    });
    const parts = collectParts(parser, bounds, refuse);
    parser.on('finish', () => {
      stopWatching();
      resolve(parts);
    });
    source.on('error', () => refuse(badFraming()));
    source.on('close', () => {
      if (!source.readableEnded) refuse(badFraming());
    });
    source.pipe(parser);
  });
}

/** The parts of a form, as far as they have arrived. */
interface Parts {
  readonly fields: Map<string, string>;
  /** The file's bytes; undefined: no part is the file. */
  file: Buffer[] | undefined;
  /** The file is larger than allowed: its bytes are no longer kept. */
  isCut: boolean;
}

/** Collects what the parser finds. `refuse` is called for each part that the form may not have. */
function collectParts(
  parser: BusboyInstance,
  { rule, isAnnounced }: Bounds,
  refuse: (refusal: Refusal) => void,
): Parts {
  const parts: Parts = { fields: new Map(), file: undefined, isCut: false };
  parser.on('field', (name: string | undefined, value, _nameCut, valueCut) => {
    if (name === undefined) return refuse(malformed());
    if (parts.fields.has(name)) return refuse(refuseByName(name, 'DUPLICATE_KEY'));
    if (valueCut) return refuse(refuseByName(name, 'TOO_LONG', { maximum: MAX_FIELD_BYTES }));
    parts.fields.set(name, value);
  });
  parser.on('file', (name: string | undefined, stream) => {
    // The file's errors are the parser's too, and are answered there.
    stream.on('error', () => undefined);
    if (name !== rule.field) return refuse(refuseField(1109, rule.field, 'REQUIRED'));
    const chunks: Buffer[] = [];
    parts.file = chunks;
    stream.on('limit', () => {
      parts.isCut = true;
      chunks.length = 0;
      if (!isAnnounced) refuse(tooLarge(rule));
    });
    stream.on('data', (chunk: Buffer) => {
      if (!parts.isCut) chunks.push(chunk);
    });
  });
  parser.on('filesLimit', () => refuse(refuseField(1110, rule.field, 'DUPLICATE_KEY')));
  for (const limit of ['fieldsLimit', 'partsLimit'] as const) parser.on(limit, () => refuse(malformed()));
  parser.on('error', () => refuse(malformed()));
  return parts;
}

type FormSource = Readable & { readonly headers: IncomingHttpHeaders };

/** Watches how much arrives, and whether anything does. Returns the function that ends it. */
function watch(
  source: Readable,
  clock: Pick<Clock, 'after'>,
  rule: { readonly most: number; tooMuch(): void; silent(): void; shredded(): void },
): () => void {
  let bytes = 0;
  let pieces = 0;
  let cancel = clock.after(MAX_SILENCE_MS, rule.silent);
  const count = (chunk: Buffer): void => {
    cancel();
    cancel = clock.after(MAX_SILENCE_MS, rule.silent);
    bytes += chunk.length;
    pieces += 1;
    if (bytes > rule.most) rule.tooMuch();
    else if (isShredded(pieces, bytes)) rule.shredded();
  };
  source.on('data', count);
  return () => {
    source.off('data', count);
    cancel();
  };
}

function openParser(headers: IncomingHttpHeaders, rule: FileRule): BusboyInstance {
  const limits = {
    files: 1,
    fileSize: rule.most,
    fields: MAX_FIELDS,
    fieldSize: MAX_FIELD_BYTES,
    parts: MAX_FIELDS + 2,
    headerPairs: 32,
    headerSize: 8_192,
  };
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits,
      // A part of that name is the file, even if its sender gave it no file name.
      isPartAFile: (name, _type, fileName) => name === rule.field || fileName !== undefined,
    });
  } catch {
    throw malformed();
  }
}

function malformed(): Refusal {
  return refuseField(1110, 'body', 'INVALID_FORM');
}

function stalled({ field }: FileRule): Refusal {
  return new Refusal(1403, { http: 408, retryable: true, details: [{ field, code: 'UPLOAD_STALLED' }] });
}

const MEBIBYTE = 1024 * 1024;

function tooLarge({ field, most }: FileRule): Refusal {
  const limit = most >= MEBIBYTE ? `${most / MEBIBYTE} MiB` : `${most / 1024} KiB`;
  const details = [{ field, code: 'FILE_TOO_LARGE', words: { limit } }] as const;
  return new Refusal(1403, { http: 413, details });
}
