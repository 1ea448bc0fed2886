/**
 * Reads the project's files for the tidy test: which files there are, and which import which.
 *
 * Invariant: paths are relative to the project's folder, with forward slashes; what npm, git and the build made is left out.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One import: of a file of the project (`path`) or of a package (`name`, `node:` ones included). */
export type Import = { specifier: string; path: string | undefined; typeOnly: boolean };

/** One TypeScript file; `code` is its text without comments. */
export type Source = { path: string; text: string; code: string; imports: Import[] };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.data', 'coverage']);
const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^']+)'/gm;
const CALL = /\bimport\(\s*'([^']+)'/g;

/** Every file whose name ends with `ending`. */
export function listFiles(ending: string, dir = ''): string[] {
  return readdirSync(join(ROOT, dir), { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = dir === '' ? entry.name : `${dir}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(ending, path);
    return path.endsWith(ending) ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function readSources(): Source[] {
  return listFiles('.ts').map((path) => {
    const text = readText(path);
    const code = text.replace(COMMENT_OR_STRING, (found) => (found.startsWith('/') ? '' : found));
    return { path, text, code, imports: readImports(path, code) };
  });
}

/** The files that the given ones reach by imports, including themselves. */
export function reachableFrom(entries: string[], sources: Map<string, Source>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    for (const { path: target } of sources.get(path)?.imports ?? []) if (target !== undefined) waiting.push(target);
  }
  return reached;
}

/** Each import cycle once, as the files on it; type imports count, because such files too must be understood together. */
export function findCycles(sources: Map<string, Source>): string[] {
  const done = new Set<string>();
  const rings: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) rings.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    for (const { path: target } of sources.get(path)?.imports ?? []) {
      if (target !== undefined) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return rings;
}

function readImports(path: string, code: string): Import[] {
  const found: Import[] = [];
  for (const [, type, names, specifier] of code.matchAll(STATEMENT)) {
    if (specifier === undefined) continue;
    const typeOnly = type !== undefined || (names !== undefined && areTypes(names));
    found.push({ specifier, path: resolve(path, specifier), typeOnly });
  }
  for (const [, specifier] of code.matchAll(CALL)) {
    if (specifier !== undefined) found.push({ specifier, path: resolve(path, specifier), typeOnly: false });
  }
  return found;
}

/** Whether each name in the braces is itself marked as a type. */
function areTypes(names: string): boolean {
  const inside = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  const list = inside
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return list !== undefined && list.length > 0 && list.every((name) => name.startsWith('type '));
}

function resolve(from: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(from), specifier)) : undefined;
}
