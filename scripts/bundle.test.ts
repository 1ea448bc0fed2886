import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin, SourceMap, type SourceMapping } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from './build.ts';
import { bundle } from './bundle.ts';

let dist: string;

beforeAll(async () => {
  // Next to the libraries, which the programs still need to find.
  dist = mkdtempSync(join(ROOT, 'node_modules', '.bundle-'));
  await bundle(ROOT, dist);
});

afterAll(() => rmSync(dist, { recursive: true, force: true }));

function builtFiles(): string[] {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.js')).map((name) => join(dist, name));
}

/** A built file on one line: its line breaks carry no meaning. */
function codeOf(file: string): string {
  return readFileSync(file, 'utf8').replaceAll('\n', '');
}

/** What a built file imports by name: specifiers within the bundle begin with a dot. */
function importsOf(file: string): string[] {
  return [...codeOf(file).matchAll(/\b(?:import|export)\b[^;"]*?from"([^".][^"]*)"|\bimport\("([^".][^"]*)"\)/g)].map(
    ([, fixed, later]) => fixed ?? later ?? '',
  );
}

it('includes the libraries, except the one that is a native binary', () => {
  const asked = new Set(builtFiles().flatMap(importsOf));
  expect([...asked].filter((name) => !isBuiltin(name))).toEqual(['@node-rs/argon2']);
});

it('gives a source its location in the build', () => {
  const told = builtFiles().flatMap((file) =>
    [...codeOf(file).matchAll(/new URL\("(\.\.\/[^"]+)",import\.meta\.url\)\.href/g)].map(([, to]) => to),
  );
  expect(told).toContain('../src/store/migrate.js');
  expect(told).toContain('../bench/worlds.js');
});

it("maps an error's stack back to the sources", async () => {
  const program = join(dist, 'src', 'main.js');
  const shown = `
    process.argv = ['node', 'mbongo', '--version'];
    await import(${JSON.stringify(program)});
    const { readdirSync } = await import('node:fs');
    const shared = ${JSON.stringify(join(dist, 'shared'))};
    const file = readdirSync(shared).find((name) => /^serve-.*\\.js$/.test(name));
    const { serve } = await import(shared + '/' + file);
    await serve(null, null).catch((error) => console.log(error.stack));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', shown]);
  expect(stdout).toContain('src/commands/serve.ts:');
});

/** The sources that the parts of a built line come from, sampled in steps shorter than any statement. */
function entriesOf(map: SourceMap, line: number, length: number) {
  const places = Array.from({ length: Math.ceil(length / 10) }, (_, step) => map.findEntry(line, step * 10));
  return places.filter((entry) => 'originalLine' in entry);
}

function sourceOf({ originalSource }: SourceMapping): string {
  return String(originalSource);
}

it('maps every line of ours, but of a library only its file: a process keeps its source maps in memory', () => {
  const mapped = builtFiles()
    .filter((file) => existsSync(`${file}.map`))
    .flatMap((file) => {
      const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
      const place = dirname(join(ROOT, 'dist', relative(dist, file)));
      const lines = readFileSync(file, 'utf8').split('\n');
      const entries = lines.flatMap((text, line) => entriesOf(map, line, text.length));
      // Thousands of entries name the same source.
      const sources = new Map([...new Set(entries.map(sourceOf))].map((source) => [source, resolve(place, source)]));
      return entries.map((entry) => ({ ...entry, originalSource: sources.get(sourceOf(entry)) ?? '' }));
    });
  const places = new Set(mapped.map(({ originalSource }) => originalSource));
  expect([...places].filter((place) => /\/src\//.test(place) && !existsSync(place))).toEqual([]);
  /** The lines that files with such a path are mapped to. */
  const linesOf = (path: RegExp): number[] => [
    ...new Set(mapped.filter((entry) => path.test(entry.originalSource)).map(({ originalLine }) => originalLine)),
  ];
  expect(linesOf(/\/(?:undici|fastify)\//)).toEqual([0]);
  expect(linesOf(/src\/http\//).length).toBeGreaterThan(200);
});

it('has short lines, because a process that dies of an error prints the one that caused it', () => {
  const longest = builtFiles().map((file) =>
    Math.max(
      ...readFileSync(file, 'utf8')
        .split('\n')
        .map(({ length }) => length),
    ),
  );
  // Except what is long in itself: a library's expression.
  expect(Math.max(...longest)).toBeLessThan(5_000);
});

it('does not make Node.js load its own HTTP client before one is used', async () => {
  const shown = `
    const { readdirSync } = await import('node:fs');
    const shared = ${JSON.stringify(join(dist, 'shared'))};
    const names = readdirSync(shared).filter((name) => /^(outbound|store)-.*\\.js$/.test(name));
    for (const name of names) await import(shared + '/' + name);
    console.log(names.length, process.moduleLoadList.filter((name) => name.includes('undici')));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', shown]);
  expect(stdout).toBe('2 []\n');
});
