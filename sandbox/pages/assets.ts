/**
 * The files that pages load: one style sheet, one icon, and the compiled browser scripts.
 * Invariant: only names found when the sandbox started are served, so no request can reach another file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

export type Asset = { readonly type: string; readonly content: string };
export type Assets = ReadonlyMap<string, Asset>;

/** The folder of package.json, searched upwards from here: the same from the sources and from dist/. */
function projectRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('The sandbox found no package.json above itself.');
    folder = parent;
  }
  return folder;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Mbongo</title>
<rect width="32" height="32" rx="9" fill="#0b6e4f"/><path d="M8 22V11l8 7 8-7v11" fill="none" stroke="#fff"
stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** Everything that pages may load, by name. */
export function readAssets(): Assets {
  const root = projectRoot();
  const assets = new Map<string, Asset>([['icon.svg', { type: 'image/svg+xml', content: icon }]]);
  // Next to this file in the sources, and next to its compiled form where the build copied them.
  const beside = dirname(fileURLToPath(import.meta.url));
  for (const name of ['style.css', 'phone.css', 'tools.css', 'cardnet.css']) {
    const copied = join(beside, name);
    const content = readFileSync(existsSync(copied) ? copied : join(root, 'sandbox/pages', name), 'utf8');
    assets.set(name, { type: 'text/css; charset=utf-8', content });
  }
  const scripts = join(root, 'dist/sandbox/browser');
  // Without a build the pages still work: their forms need no script.
  const names = existsSync(scripts) ? readdirSync(scripts).filter((name) => name.endsWith('.js')) : [];
  for (const name of names) {
    const content = readFileSync(join(scripts, name), 'utf8');
    assets.set(name, { type: 'text/javascript; charset=utf-8', content });
  }
  return assets;
}

export function assetRoutes(app: FastifyInstance, assets: Assets): void {
  app.get<{ Params: { name: string } }>('/assets/:name', (request, reply) => {
    const asset = assets.get(request.params.name);
    if (asset === undefined) return reply.callNotFound();
    return reply
      .header('content-type', asset.type)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-cache')
      .send(asset.content);
  });
}
