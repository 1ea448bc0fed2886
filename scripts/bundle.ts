/**
 * Bundles the programs and the pages' scripts: a program and what it shares with others become a few files that
 * include the libraries, so that it opens some twenty files at start-up instead of two thousand (decision 26).
 *
 * Invariant: a source that uses its own location (`import.meta.url`) gets the location that it has below the target, where
 * the files it reads lie next to it.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Plugin, stop } from 'esbuild';

/** The programs that are started by name: by people, by `npm start`, by the benchmark, by tests. */
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

/** The folder of what several programs need, at the depth of the programs' own folders. */
const SHARED = 'shared';

/** Libraries written for CommonJS load Node.js's own modules with this. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);`;

/**
 * Writes below `target` what will be moved to `dist`; source maps refer to their sources from `dist`.
 *
 * @throws Error with esbuild's messages
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
    // The calling process may run for months, and would keep esbuild's process alive.
    await stop();
  }
}

function forNode(root: string): BuildOptions {
  return {
    // A container image is built without the benchmark.
    entryPoints: PROGRAMS.filter((program) => existsSync(join(root, program))),
    chunkNames: `${SHARED}/[name]-[hash]`,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // Argon2 is a native binary, which npm chooses for each system and the library's own loader finds.
    external: ['@node-rs/argon2', 'pg-native'],
    banner: { js: REQUIRE },
    // Only whitespace and comments are removed, so that stack traces keep all names.
    minifyWhitespace: true,
    // When an error kills a process, Node.js prints the source line.
    lineLimit: 160,
    // Two libraries look at these at start-up to detect their environment, which would make Node.js load its HTTP client.
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
 * Source maps cover only our own lines. Libraries would make up four fifths of them, which each process keeps in memory and
 * parses line by line at the first error whose stack is read. For a library, a stack names the function, and only the
 * first line of its file or of an earlier one.
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
