/**
 * The shop's drawings and style sheet.
 * Invariant: only the files found when the sandbox started are served, so no request can reach another one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const types: Readonly<Record<string, string>> = { css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };

type File = { readonly type: string; readonly content: string };

/** Next to this file in the sources, and next to its compiled form where the build copied them. */
function readFiles(): Map<string, File> {
  const folders = [new URL('./', import.meta.url), new URL('./pictures/', import.meta.url)];
  const files = new Map<string, File>();
  for (const folder of folders)
    for (const name of readdirSync(folder)) {
      const type = types[name.split('.').at(-1) ?? ''];
      if (type !== undefined) files.set(name, { type, content: readFileSync(new URL(name, folder), 'utf8') });
    }
  return files;
}

export function shopFiles(app: FastifyInstance): void {
  const files = readFiles();
  app.get<{ Params: { name: string } }>('/shop/files/:name', (request, reply) => {
    const file = files.get(request.params.name);
    if (file === undefined) return reply.callNotFound();
    return reply
      .header('content-type', file.type)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-cache')
      .send(file.content);
  });
}
