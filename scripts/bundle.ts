/**
 * Makes the programs and the pages' scripts out of the sources: a program and what it shares with others are a few files,
 * with the libraries in them, so that it opens some twenty at its start instead of two thousand (decision 26).
 *
 * Invariant: a source that asks for its own place (`import.meta.url`) is told the one that it has below the target, where
 * what it reads lies beside it.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild';

/** What is started by its name: by people, by `npm start`, by the benchmark, by tests. */
const PROGRAMS = [
  'src/main.ts',
  'sandbox/main.ts',
  'sandbox/testing/fast-clock.ts',
  'bench/main.ts',
  'bench/naive.ts',
  'bench/receiver.ts',
  'bench/load.ts',
  'bench/overload-load.ts',
  'bench/payout-load.ts',
];

/** What several programs need lies in this folder, no deeper than the programs themselves. */
const SHARED = 'shared';

/** Libraries that were written for CommonJS ask for Node.js's own modules with this. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/**
 * Writes below `target` what is to lie in `dist`: from there source maps name their sources.
 *
 * @throws Error with the messages of esbuild
 */
export async function bundle(root: string, target: string): Promise<void> {
  const dist = join(root, 'dist');
  const made = (options: BuildOptions) =>
    build({
      absWorkingDir: root,
      outdir: dist,
      outbase: root,
      bundle: true,
      logLevel: 'silent',
      ...options,
      write: false,
    });
  try {
    const built = await Promise.all([
      made(forNode(root)),
      made({ ...forBrowsers, entryPoints: ['sandbox/browser/*.ts'], format: 'esm' }),
      made({ ...forBrowsers, entryPoints: ['src/checkout/browser/*.ts'], format: 'iife' }),
    ]);
    for (const { path, contents } of built.flatMap(({ outputFiles }) => outputFiles)) {
      const file = join(target, relative(dist, path));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, contents);
    }
  } finally {
    // Whoever has built may run for months, and would keep a process of esbuild's.
    await stop();
  }
}

function forNode(root: string): BuildOptions {
  return {
    // An image is built without the benchmark.
    entryPoints: PROGRAMS.filter((program) => existsSync(join(root, program))),
    chunkNames: `${SHARED}/[name]-[hash]`,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Hashes are computed by a binary, which npm chooses for each system and the library's own loader finds.
    external: ['@node-rs/argon2', 'pg-native'],
    banner: { js: REQUIRE },
    // Only blanks and comments go: a stack has all names.
    minifyWhitespace: true,
    // Where a process dies of an error, Node.js prints the line that it comes from.
    lineLimit: 160,
    // Two libraries look at these at once, to learn where they run: for that Node.js would load an HTTP client of its own.
    define: { Response: 'undefined', 'globalThis.Headers': 'undefined' },
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [placesBelow(root), ownLinesOnly],
  };
}

const forBrowsers: BuildOptions = { platform: 'browser', target: 'es2022', charset: 'utf8' };

function placesBelow(root: string): Plugin {
  return {
    name: 'places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const source = await readFile(path, 'utf8');
        if (!source.includes('import.meta.url')) return undefined;
        const place = relative(join(root, SHARED), path).replace(/\.ts$/, '.js');
        const contents = source.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`);
        return { contents, loader: 'ts', resolveDir: dirname(path) };
      });
    },
  };
}

/**
 * Source maps are for our own lines: those of libraries would be four fifths of all, which each process keeps, and takes
 * apart line by line at the first error whose stack is asked for. Of a library a stack names the function, and only the
 * first line of its file, or of one that lies before it.
 */
const ownLinesOnly: Plugin = {
  name: 'own lines only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
      const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
      return { contents: `${await readFile(path, 'utf8')}\n${comment}`, loader: 'js' };
    });
  },
};
