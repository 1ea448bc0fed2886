/**
 * Builds dist/ from the sources if they have changed, and makes `npx mbongo` point at it.
 *
 * Invariant: dist/ is replaced as a whole. A failed build leaves the last good one, and no half-built file is ever run.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

const SOURCES = ['src', 'sandbox', 'bench', 'scripts'];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json'];
/** Endings of files that are in the bundles, or that nothing reads at run time. */
const CODE = new Set(['.ts', '.json', '.md', '.snap']);
/** The command line, below the folder that is built. */
const PROGRAM = 'src/main.js';

/**
 * Builds unless nothing changed since the last build.
 *
 * @returns whether there was something to build
 * @throws Error with the bundler's messages
 */
export async function build(): Promise<boolean> {
  const state = fingerprint();
  const stamp = join(ROOT, 'dist', '.built-from');
  const changed = !existsSync(stamp) || readFileSync(stamp, 'utf8') !== state;
  if (changed) await rebuild(state);
  linkCommand();
  return changed;
}

/** Runs an installed tool; resolves with its output, or rejects with it if the tool fails. */
export async function runTool(name: string, args: string[]): Promise<string> {
  const child = spawn(join(ROOT, 'node_modules', '.bin', name), args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += String(text);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${name} failed:\n${said.trim()}`);
  return said;
}

/** Compiles into a draft on the same disk, then swaps; a gateway that is running has already loaded its files. */
async function rebuild(state: string): Promise<void> {
  const drafts = join(ROOT, 'node_modules', '.cache', 'mbongo');
  const draft = join(drafts, `dist-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    await bundle(ROOT, draft);
    for (const dir of SOURCES) copyAssets(dir, draft);
    // Before the swap: a command may be given while a build is under way.
    chmodSync(join(draft, PROGRAM), 0o755);
    writeFileSync(join(draft, '.built-from'), state);
    swapIn(draft, join(ROOT, 'dist'), join(drafts, `old-${process.pid}`));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** What the system says when another build has put its own folder there, or has taken the old one away, in this very moment. */
const MEANWHILE: readonly unknown[] = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];
const TRIES = 100;

/** Puts a folder in the place of another one, which is put aside meanwhile and then removed. Of several at once one stays. */
export function swapIn(draft: string, place: string, aside: string): void {
  mkdirSync(aside, { recursive: true });
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        if (existsSync(place)) renameSync(place, join(aside, String(tries)));
        renameSync(draft, place);
        return;
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (tries === TRIES || !MEANWHILE.includes(code)) throw error;
      }
    }
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** Copies what is not code but is read at run time: SQL, styles, pictures. */
function copyAssets(dir: string, draft: string): void {
  for (const file of filesIn(dir)) {
    if (CODE.has(extname(file))) continue;
    const target = join(draft, file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(ROOT, file), target);
  }
}

/** A hash of the names, sizes and times of everything that the build reads. */
function fingerprint(): string {
  const files = [...SOURCES.flatMap((dir) => filesIn(dir)), ...SETTINGS.filter((file) => existsSync(join(ROOT, file)))];
  const lines = files.map((file) => {
    const { size, mtimeMs } = statSync(join(ROOT, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

function filesIn(dir: string): string[] {
  if (!existsSync(join(ROOT, dir))) return [];
  const entries = readdirSync(join(ROOT, dir), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
}

/** Links `mbongo` by hand: npm links the commands of the packages that it installs, but not the project's own. */
function linkCommand(): void {
  const main = join('dist', PROGRAM);
  if (!existsSync(join(ROOT, main))) return;
  const link = join(ROOT, 'node_modules', '.bin', 'mbongo');
  const target = join('..', '..', main);
  const present = lstatSync(link, { throwIfNoEntry: false });
  if (present?.isSymbolicLink() && readlinkSync(link) === target) return;
  const draft = `${link}.${process.pid}`;
  rmSync(draft, { force: true });
  symlinkSync(target, draft);
  renameSync(draft, link);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const started = performance.now();
    const changed = await build();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.stdout.write(changed ? `built in ${seconds} s\n` : 'nothing to build\n');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
