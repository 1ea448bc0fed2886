/**
 * The files that the documentation's pages load: their stylesheet, icon and scripts.
 *
 * Invariant: a file's address holds a hash of its content, so that browsers keep it for ever; nothing else is served.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Content, compressed } from './content.ts';

/** The addresses of the files, and the files themselves. */
export interface DocsAssets {
  readonly style: string;
  readonly icon: string;
  readonly page: string;
  readonly explorer: string;
  readonly explorerGuard: string;
  readonly explorerStyle: string;
  /** The library that shows the explorer: three megabytes, read at the first request for it. */
  readonly reference: string;
  /** The file at an address below `/docs/assets/`; undefined for any other. */
  file(name: string): Promise<Content> | undefined;
}

interface Asset {
  readonly type: string;
  read(): Buffer;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/**
 * Finds the files, and reads those of our own.
 *
 * @throws Error when one of them, or the package of the explorer's library, is missing.
 */
export function openDocsAssets(): DocsAssets {
  const here = dirname(fileURLToPath(import.meta.url));
  const files = new Map<string, Asset>();
  const ready = new Map<string, Promise<Content>>();
  const add = (name: string, asset: Asset, hashed: Buffer | string): string => {
    const hash = createHash('sha256').update(hashed).digest('base64url').slice(0, 12);
    const file = name.replace('.', `.${hash}.`);
    files.set(file, asset);
    return `/docs/assets/${file}`;
  };
  /** A file of our own, or several of them as one. */
  const own = (name: string, type: string, ...more: readonly string[]): string => {
    const parts = [name, ...more].map((part) => readFileSync(join(here, 'assets', part)));
    const content = Buffer.concat(parts);
    return add(name, { type, read: () => content }, content);
  };
  const library = libraryPath();
  return {
    style: own('style.css', STYLE, 'style-frame.css', 'style-reference.css'),
    icon: own('icon.svg', 'image/svg+xml'),
    page: own('page.js', SCRIPT),
    explorer: own('explorer.js', SCRIPT),
    explorerGuard: own('explorer-guard.js', SCRIPT),
    explorerStyle: own('explorer.css', STYLE),
    // Its version identifies it as well as its content would, and need not be read from the whole file.
    reference: add('reference.js', { type: SCRIPT, read: () => readFileSync(library.file) }, library.version),
    file(name) {
      const asset = files.get(name);
      if (asset === undefined) return undefined;
      const made = ready.get(name) ?? compressed(asset.type, asset.read());
      ready.set(name, made);
      return made;
    },
  };
}

/** Where npm has put the explorer's library, and its version. */
function libraryPath(): { file: string; version: string } {
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@scalar/fastify-api-reference');
  const manifest: unknown = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'));
  const version: unknown = typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'version') : '';
  return { file: join(dirname(entry), 'js/standalone.js'), version: String(version) };
}
