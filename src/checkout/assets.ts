/**
 * The files that the pages load: one stylesheet, one icon, the compiled browser scripts.
 *
 * Invariant: a file's address holds a hash of its content, so that browsers keep it for ever; only what was found when
 * the process started is served.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { codingFor } from '../messages/accept.ts';
import type { PageAnswer, PageRequest } from '../messages/page.ts';

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  /** Made at the first request, and kept: the best compression takes tens of milliseconds, which no start waits for. */
  br?: Buffer;
  gzip?: Buffer;
}

/** The files of the pages, by the addresses at which they are served. */
export interface Assets {
  /** A file's address; undefined when there is none of that name (scripts, before the first build). */
  address(name: 'page.css' | 'icon.svg' | 'page.js' | 'card.js'): string | undefined;
  /** The file at an address; undefined for any other. */
  answer(file: string, request: Pick<PageRequest, 'header'>): PageAnswer | undefined;
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#0b6e4f"/><path d="M8 22V11l8 7 8-7v11" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** The parts of the one stylesheet, in their order: later rules win. */
const SHEETS = ['page.css', 'page-ways.css', 'page-states.css'];

const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Reads the files, once for the process. The scripts may be missing, as before the first build.
 *
 * @throws Error when a stylesheet is missing.
 */
export function openAssets(): Assets {
  const here = dirname(fileURLToPath(import.meta.url));
  const byFile = new Map<string, Asset>();
  const addresses = new Map<string, string>();
  const add = (name: string, type: string, content: string): void => {
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
    const file = name.replace('.', `.${hash}.`);
    const plain = Buffer.from(content);
    byFile.set(file, { type, plain });
    addresses.set(name, `/checkout/assets/${file}`);
  };
  const style = SHEETS.map((name) => readFileSync(join(here, name), 'utf8')).join('\n');
  add('page.css', 'text/css; charset=utf-8', style);
  add('icon.svg', 'image/svg+xml', ICON);
  for (const name of ['page.js', 'card.js']) {
    const script = scriptPath(here, name);
    // When run from the sources, before the first build, the pages have no scripts: their forms need none.
    if (script !== undefined) add(name, 'text/javascript; charset=utf-8', readFileSync(script, 'utf8'));
  }
  return {
    address: (name) => addresses.get(name),
    answer(file, request) {
      const asset = byFile.get(file);
      return asset === undefined ? undefined : encoded(asset, codingFor(request.header('accept-encoding')));
    },
  };
}

/** A script beside this file's compiled form, or in the last build. */
function scriptPath(here: string, name: string): string | undefined {
  const places = [join(here, 'browser', name), join(here, '../../dist/src/checkout/browser', name)];
  return places.find((path) => existsSync(path));
}

function encoded(asset: Asset, coding: 'br' | 'gzip' | undefined): PageAnswer {
  const { type, plain } = asset;
  const headers = { 'Cache-Control': FOR_EVER, Vary: 'Accept-Encoding' };
  if (coding === undefined) return { status: 200, type, body: plain, headers };
  return { status: 200, type, body: packed(asset, coding), headers: { ...headers, 'Content-Encoding': coding } };
}

function packed(asset: Asset, coding: 'br' | 'gzip'): Buffer {
  asset[coding] ??= coding === 'br' ? brotliCompressSync(asset.plain) : gzipSync(asset.plain);
  return asset[coding];
}
