/**
 * What is sent for a page or a file: compressed once, and not sent again to a browser that has it.
 *
 * Invariant: the same content has the same tag in every process, so that it does not matter which one answers.
 */

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { codingFor } from '../../messages/accept.ts';
import type { PageReply } from '../service-page.ts';

/** A page or a file in every coding in which it can be sent. `tag` is its entity tag (RFC 9110 §8.8.3), a weak one. */
export interface Content {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);
/** Half a second for the largest file, off the main thread; the best compression would take ten. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** A content as it is served: compressed in both codings, once, and with a tag that changes with it. */
export async function compressed(type: string, content: Buffer | string): Promise<Content> {
  const plain = Buffer.from(content);
  const tag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`;
  const [br, zipped] = await Promise.all([toBrotli(plain, BROTLI), toGzip(plain)]);
  return { type, tag, plain, br, gzip: zipped };
}

interface Asked {
  readonly 'accept-encoding'?: string | readonly string[] | undefined;
  readonly 'if-none-match'?: string | undefined;
}

/** The answer to a request: 304 if the browser has the content already, otherwise in the best coding that it accepts. */
export function answerWith(content: Content, asked: Asked, headers: Readonly<Record<string, string>>): PageReply {
  const { type, tag, plain, br, gzip: zipped } = content;
  const common = { ...headers, ETag: tag, Vary: headers.Vary ?? 'Accept-Encoding' };
  if (isKnown(asked['if-none-match'], tag)) return { status: 304, type, body: '', headers: common };
  const coding = codingFor(asked['accept-encoding']?.toString());
  if (coding === undefined) return { status: 200, type, body: plain, headers: common };
  const body = coding === 'br' ? br : zipped;
  return { status: 200, type, body, headers: { ...common, 'Content-Encoding': coding } };
}

/** Whether a browser has this content already (RFC 9110 §13.1.2: compared weakly). */
function isKnown(asked: string | undefined, tag: string): boolean {
  const bare = (one: string): string => one.trim().replace(/^W\//, '');
  return asked !== undefined && (asked.trim() === '*' || asked.split(',').some((one) => bare(one) === bare(tag)));
}
