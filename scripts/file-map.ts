/**
 * docs/files.md: what each file is for, by the first sentence of its head, and where a reader may begin.
 *
 * Invariant: every TypeScript file of the folders shown is listed once, under its own folder, unless it is a test.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ROOT } from './build.ts';

/** Every file of these folders is listed, and of the folders in them. */
const SHOWN = ['src', 'sandbox', 'bench', 'scripts', 'test/simulation', 'test/support'];

/** Files that show together how a payment is made, and what each shows. */
const TOUR: readonly (readonly [path: string, what: string])[] = [
  ['src/domain/change.ts', 'what a decision is: rows to write, and what it relied on'],
  ['src/domain/machine.ts', 'states as tables; `payment.ts` beside it is one'],
  ['src/usecases/perform.ts', 'the loop that every use case goes through: read, decide, commit, or decide again'],
  ['src/store/commit.ts', 'how the changes of all callers become one transaction, and why none can hurt another'],
  ['src/usecases/payment-submit-carrier.ts', 'write, call, write: a phone is asked for money'],
  ['src/domain/settlement.ts', 'what an upstream’s answer writes, all of it at once'],
  ['src/usecases/attempt-inquire.ts', 'callbacks are hints, and silence is asked about'],
  ['src/connectors/connector.ts', 'what a carrier must be able to do; `mtn-momo/` beside it is one'],
  ['src/usecases/webhook-deliver.ts', 'how a merchant is told'],
  ['src/usecases/payout-dispatch.ts', 'money the other way, fairly between merchants'],
  ['src/http/pipeline.ts', 'what a request passes before a use case sees it'],
  ['src/assemble.ts', 'how the parts are joined'],
];

/** The text of docs/files.md. */
export function filesDocument(notice: string): string {
  const files = SHOWN.flatMap(listFiles);
  const folders = [...new Set(files.map((path) => dirname(path)))];
  const tour = TOUR.map(([path, what], index) => `${index + 1}. [${path}](../${path}): ${what}`);
  const sections = folders.map((folder) => {
    const rows = files
      .filter((path) => dirname(path) === folder)
      .map((path) => `| ${linkTo(path)} | ${purposeOf(path)} |`);
    return `## ${folder}/\n\n| file | what it is for |\n| --- | --- |\n${rows.join('\n')}\n`;
  });
  return `${notice}# What each file is for

[ARCHITECTURE.md](../ARCHITECTURE.md) says which question leads to which folder. Tests lie beside what they test; those that take
the whole gateway are in \`test/\`.

To see how a payment is made, read in this order:

${tour.join('\n')}

${sections.join('\n')}`;
}

/** The TypeScript files below a folder that are no tests, in alphabetical order. */
function listFiles(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const isListed = (name: string): boolean => name.endsWith('.ts') && !name.endsWith('.test.ts');
  return names
    .filter(isListed)
    .map((name) => join(folder, name))
    .toSorted();
}

function linkTo(path: string): string {
  return `[${basename(path)}](../${path})`;
}

/** The first sentence of a file's head, in one line. */
function purposeOf(path: string): string {
  const head = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//.exec(readFileSync(join(ROOT, path), 'utf8'))?.[1];
  if (head === undefined) throw new Error(`${path} does not begin by saying what it is for`);
  const [paragraph = ''] = head.split('\n *\n');
  const line = paragraph.replaceAll(/\s+(?:\* )?/g, ' ').trim();
  const sentence = /^.*?[.?](?= |$)/.exec(line)?.[0] ?? line;
  return sentence.replaceAll('|', '\\|');
}
