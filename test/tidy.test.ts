/**
 * Keeps the code base tidy: who may import whom, which words are forbidden, and what leads nowhere.
 *
 * Invariant: what ARCHITECTURE.md says about the rooms holds for every existing import.
 */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  findCycles,
  type Import,
  listFiles,
  reachableFrom,
  readSources,
  readText,
  type Source,
} from './support/sources.ts';

/** What a room may import: other rooms, rooms of which only types, packages by name, or any package or `node:` module. */
type Rule = { rooms: string[]; types?: string[]; packages?: string[] | 'any' };

const RULES: Record<string, Rule> = {
  domain: { rooms: [] },
  platform: { rooms: [], packages: 'any' },
  messages: { rooms: ['domain'], packages: ['intl-messageformat'] },
  store: { rooms: ['domain'], packages: ['pg'] },
  // References and signatures are derived by hashing, and the issuer's form is parsed from HTML: pure functions.
  'connectors/*': {
    rooms: ['domain', 'connectors/connector.ts', 'connectors/response.ts'],
    types: ['platform'],
    packages: ['node:crypto', 'parse5'],
  },
  'connectors/connector.ts': { rooms: ['domain'], types: ['platform'] },
  'connectors/response.ts': { rooms: ['domain'], types: ['platform'] },
  'connectors/registry.ts': { rooms: ['domain', 'connectors'], types: ['platform'] },
  'connectors/routes.ts': { rooms: ['domain', 'connectors/connector.ts'] },
  usecases: { rooms: ['domain', 'store', 'connectors/connector.ts'], types: ['platform'] },
  rounds: { rooms: ['usecases', 'domain'] },
  watch: { rooms: ['usecases', 'rounds', 'domain', 'store', 'connectors/connector.ts'], types: ['platform'] },
  http: { rooms: ['usecases', 'domain', 'messages'], types: ['platform'], packages: 'any' },
  checkout: { rooms: ['usecases', 'domain', 'messages'], types: ['platform'], packages: 'any' },
  'config.ts': { rooms: ['config-upstreams.ts', 'platform'], packages: 'any' },
  'config-upstreams.ts': { rooms: ['domain', 'platform'] },
};

/** The files that join the parts, and so may import every room: the command line and the assembly. */
const JOINTS = /^src\/(main\.ts|assemble\.ts|commands\/)/;

/** Scripts that build, check and start the service do so from outside. */
const FIRST_STEPS = /^scripts\/(build|check|start|supervisor|test)\.ts$/;

/** Single files that need something more, each with its reason. */
const EXCEPTIONS: Record<string, string[]> = {
  // Migrations are files: they are read from disk and identified by their hash.
  'src/store/migrate.ts': ['node:crypto', 'node:fs', 'node:url'],
  // Which carrier serves which prefix is a table next to the registry.
  'src/connectors/registry.ts': ['node:fs'],
};

/** Libraries that several rooms import: the table of docs/decisions/0005-libraries.md says what each is for. */
const SHARED: Record<string, string[]> = {
  'csv-stringify': ['commands', 'http'],
  'ipaddr.js': ['http', 'platform'],
  'libphonenumber-js': ['checkout', 'commands', 'http'],
  pg: ['platform', 'store'],
};

/** The rooms whose functions and classes other rooms call. */
const DOCUMENTED =
  /^src\/(checkout|commands|connectors|domain|http|messages|platform|rounds|store|usecases|watch)\/|^src\/[^/]+$/;

/** The programs: everything else must be reached from here, or be for tests. */
const ENTRIES = [
  /^src\/main\.ts$/,
  /^sandbox\/main\.ts$/,
  /^sandbox\/browser\/[^/]+\.ts$/,
  /^src\/checkout\/browser\/[^/]+\.ts$/,
  /^bench\/(main|load|naive)\.ts$/,
  /^scripts\/[^/]+\.ts$/,
];
const FOR_TESTS = [/\.test\.ts$/, /^test\//, /^vitest\.config\.ts$/, /\/testing\//];

const LARGE_LINES = 400;

/** Words that are forbidden in code, and the files in which they are allowed. */
const FORBIDDEN: { pattern: RegExp; why: string; allowed?: RegExp }[] = [
  { pattern: /\bparseFloat\b/, why: 'amounts are integers in minor units' },
  {
    pattern: /\.to(Fixed|Precision|Exponential)\(/,
    why: 'amounts are written from minor units; only sizes of disks are rounded',
    allowed: /^src\/commands\/doctor-/,
  },
  { pattern: /:\s*any\b|\bas any\b|<any>/, why: 'say what it is' },
  {
    pattern: /\bDate\.now\(|\bnew Date\(\)/,
    why: 'the time comes from the platform',
    allowed: /^src\/(platform\/|checkout\/browser\/)/,
  },
  {
    pattern: /\bMath\.random\b/,
    why: 'chance comes from the platform',
    allowed: /^src\/platform\//,
  },
  {
    pattern: /\bperformance\.now\b|\bset(Timeout|Interval)\(/,
    why: 'who waits is handed the clock; only where sockets and processes are, the machine’s own time counts',
    allowed: /^(src\/(platform|store|commands)\/|src\/(assemble|http\/turn-away)\.ts|src\/checkout\/browser\/)/,
  },
  {
    pattern: /\bfetch\(/,
    why: 'others are called through the platform’s outbound door, which has deadlines, bounds and guards',
    allowed: /^src\/checkout\/browser\//,
  },
  { pattern: /\brandom(Bytes|UUID|Int)\b/, why: 'chance comes from the platform', allowed: /^src\/platform\// },
  {
    pattern: /\bprocess\.env\b/,
    why: 'the environment is handed over by main.ts',
    allowed: /^src\/(platform\/|main\.ts)/,
  },
];

/** Words that are forbidden everywhere, including comments. */
const FORBIDDEN_ANYWHERE =
  /@ts-(ignore|expect-error|nocheck)|\bTODO\b|\bFIXME\b|[Nn]ot (yet )?implemented|(biome|eslint|oxlint)-(ignore|disable)|\b(test|it|describe)\.(skip|only|todo)\(/;

/** A constant that is a number, or is computed from others. */
const NUMBER = /^\s*(?:export )?const ([A-Z][A-Z0-9_]*) = (?:[-(\d]|[A-Z][A-Z0-9_]*\b)/gm;
const LIMIT_WORDS = new Set(
  'MAX MIN MOST LEAST LIMIT LONGEST SHORTEST LARGEST SMALLEST MAXIMUM MINIMUM ALLOWED'.split(' '),
);

const sources = readSources();
const byPath = new Map(sources.map((source) => [source.path, source]));
const isForTests = (path: string): boolean => FOR_TESTS.some((pattern) => pattern.test(path));

test('every import is allowed to its room', () => {
  const wrong = sources.flatMap((source) =>
    source.imports.flatMap((imported) => {
      const fault = faultOf(source, imported);
      return fault === undefined ? [] : [`${source.path} imports ${imported.specifier}: ${fault}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test('a library is imported by one room, so that it can be replaced there', () => {
  const rooms = new Map<string, Set<string>>();
  for (const { path, imports } of sources) {
    if (!path.startsWith('src/') || isForTests(path)) continue;
    for (const { specifier, path: file, typeOnly } of imports) {
      if (file !== undefined || typeOnly || specifier.startsWith('node:')) continue;
      const name = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1);
      const library = name.join('/');
      rooms.set(library, (rooms.get(library) ?? new Set()).add(roomOf(path).split('/')[0] ?? ''));
    }
  }
  const shared = [...rooms].filter(([, importing]) => importing.size > 1);
  expect(Object.fromEntries(shared.map(([name, importing]) => [name, [...importing].toSorted()]))).toEqual(SHARED);
});

test('imports form no cycle', () => {
  expect(findCycles(byPath)).toEqual([]);
});

test('imports of project files have their ending, and nothing is re-exported or exported by default', () => {
  const wrong = sources.flatMap(({ path, code, imports }) => [
    ...imports
      .filter((found) => found.path !== undefined && !existsSync(found.path))
      .map((found) => `${path}: ${found.specifier}`),
    ...imports
      .filter(({ specifier }) => /^(#|~|@\/)/.test(specifier))
      .map(({ specifier }) => `${path}: alias ${specifier}`),
    ...(/^export\s[^;'"]*\bfrom\s+'/m.test(code) ? [`${path}: passes on what another file exports`] : []),
    ...(/^export default\b/m.test(code) && !isForTests(path) ? [`${path}: default export`] : []),
  ]);
  expect(wrong).toEqual([]);
});

test('the code contains no forbidden word', () => {
  const wrong = sources.flatMap(({ path, code, text }) => {
    if (path === 'test/tidy.test.ts') return [];
    const anywhere = FORBIDDEN_ANYWHERE.exec(text)?.[0];
    const found = anywhere === undefined ? [] : [`${path}: ${anywhere}`];
    const governed = path.startsWith('src/') && !isForTests(path);
    for (const { pattern, why, allowed } of FORBIDDEN) {
      const word = pattern.exec(code)?.[0];
      if (word === undefined || (allowed !== undefined && (!governed || allowed.test(path)))) continue;
      found.push(`${path}: ${word} (${why})`);
    }
    return found;
  });
  expect(wrong).toEqual([]);
});

test('the name of a limit begins with MAX_ or MIN_, and no constant says so otherwise', () => {
  const wrong = sources.flatMap(({ path, code }) =>
    [...code.matchAll(NUMBER)].flatMap(([, name = '']) => {
      const [first = '', ...others] = name.split('_');
      const isNamed = first === 'MAX' || first === 'MIN';
      return isNamed || ![first, ...others].some((word) => LIMIT_WORDS.has(word)) ? [] : [`${path}: ${name}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test('a file opens with a comment that says what it is for, unless it is a test beside what it tests', () => {
  const isBeside = (path: string): boolean => path.endsWith('.test.ts') && !/^test\/(\w+)\//.test(path);
  const silent = sources.filter(({ path, text }) => !isBeside(path) && !/^(#!.*\n)?\/[*/]/.test(text));
  expect(silent.map(({ path }) => path)).toEqual([]);
});

test('what a room offers to others has a docstring, if it is a function or a class', () => {
  const bare = sources
    .filter(({ path }) => DOCUMENTED.test(path) && !isForTests(path))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, at) => {
        const name = /^export (?:async )?(?:function\*?|class) (\w+)/.exec(line)?.[1];
        // A comment to a tool may stand between; the implementation of an overloaded function follows its signatures.
        const before = lines.slice(0, at).findLast((one) => !one.startsWith('//')) ?? '';
        return name === undefined || /\*\/\s*$/.test(before) || before.includes(` ${name}(`)
          ? []
          : [`${path}: ${name}`];
      });
    });
  expect(bare).toEqual([]);
});

test('every file is reached from a program', () => {
  const running = reachableFrom(
    sources.map(({ path }) => path).filter((path) => ENTRIES.some((entry) => entry.test(path))),
    byPath,
  );
  expect(sources.map(({ path }) => path).filter((path) => !running.has(path) && !isForTests(path))).toEqual([]);
  const tests = sources
    .map(({ path }) => path)
    .filter((path) => path.endsWith('.test.ts') || path === 'vitest.config.ts');
  const tested = reachableFrom(tests, byPath);
  const startedByPath = sources.flatMap(({ text }) =>
    [...text.matchAll(/((?:test\/support|sandbox\/testing)\/[a-z-]+)\.[tj]s/g)].map(([, path]) => `${path}.ts`),
  );
  const unused = sources.map(({ path }) => path).filter((path) => isForTests(path) && !tested.has(path));
  expect(unused.filter((path) => !startedByPath.includes(path))).toEqual([]);
});

test('every snapshot holds something: an empty one could never fail again', () => {
  const empty = listFiles('.snap').flatMap((path) =>
    [...readText(path).matchAll(/^exports\[`(.*)`\] = `(?:undefined|null|"")?`;$/gm)].map(
      ([, name]) => `${path}: ${name}`,
    ),
  );
  expect(empty).toEqual([]);
});

test('no file is so large that it holds two ideas', () => {
  const large = sources
    .map(({ path, text }) => ({ path, lines: text.split('\n').length }))
    .filter(({ lines }) => lines > LARGE_LINES);
  expect(large).toEqual([]);
});

/** What is wrong with an import, if anything. Tests may import what they test, wherever it is. */
function faultOf({ path }: Source, imported: Import): string | undefined {
  const target = imported.path;
  const toService = target?.startsWith('src/') === true;
  if (path.startsWith('sandbox/') && toService) return 'the sandbox must not share a misreading with the service';
  if (isForTests(path)) return undefined;
  if (target !== undefined && isForTests(target)) return 'it is for tests alone';
  if (FIRST_STEPS.test(path)) return toService ? 'it must run when the service does not compile' : undefined;
  if (!path.startsWith('src/')) return undefined;
  if (JOINTS.test(path)) return undefined;
  const room = roomOf(path);
  const rule = RULES[room];
  if (rule === undefined) return `no rule for ${room}`;
  if (target === undefined) {
    const allowed = rule.packages === 'any' || rule.packages?.includes(imported.specifier);
    return allowed || EXCEPTIONS[path]?.includes(imported.specifier)
      ? undefined
      : `${room} may not import this package`;
  }
  if (!toService) return 'the service imports nothing from outside src/';
  if (belongs(target, folderOf(path))) return undefined;
  if (rule.rooms.some((name) => belongs(target, name))) return undefined;
  if (imported.typeOnly && rule.types?.some((name) => belongs(target, name))) return undefined;
  return `${room} may not import ${roomOf(target)}`;
}

/** The room whose rule a file follows: all connectors' files follow one rule, whatever their folder is called. */
function roomOf(path: string): string {
  const [first = '', second = ''] = path.slice('src/'.length).split('/');
  if (first !== 'connectors') return first;
  return second.endsWith('.ts') ? `connectors/${second}` : 'connectors/*';
}

/** The folder within which a file may import freely. */
function folderOf(path: string): string {
  const [first = '', second = ''] = path.slice('src/'.length).split('/');
  return first === 'connectors' ? `${first}/${second}` : first;
}

function belongs(target: string, place: string): boolean {
  return target === `src/${place}` || target.startsWith(`src/${place}/`);
}
