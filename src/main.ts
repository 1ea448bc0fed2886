#!/usr/bin/env node
/**
 * The program: hands the command line, the environment and the standard streams to the commands.
 */

import { runCommandLine } from './commands/command-line.ts';
import { messageOf, printError } from './commands/output.ts';
import { VERSION } from './platform/version.ts';

// The build is a few large files; source maps let an error's stack name the sources' lines. Commands are loaded after this.
process.setSourceMapsEnabled(true);

const argv = process.argv.slice(2);
const io = {
  env: process.env,
  write: (text: string) => void process.stdout.write(text),
  writeError: (text: string) => void process.stderr.write(text),
  isStderrTty: process.stderr.isTTY,
  // Only a command that reads it opens it.
  input: () => process.stdin,
};

/** Commands that print a secret, which is shown only once. */
const MAKES_A_SECRET = /^(?:merchant create|credential issue|credential rotate|webhook secret)\b/;
const makesSecret = MAKES_A_SECRET.test(argv.join(' '));

// The copy of a journal entry, or an error, that cannot be written is lost alone: the change has been made, and its result, perhaps a
// secret that is shown once, is still to be printed.
process.stderr.on('error', () => undefined);

let isLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has gone away (`mbongo … | head -1`) is no reason to fail, unless a secret was to be read; and a gateway keeps
  // serving whether or not its output is read.
  if ((error.code === 'EPIPE' && !makesSecret) || argv[0] === 'serve' || isLost) return;
  isLost = true;
  const happened = `what the command did has happened${makesSecret ? ', and the secret that it made is lost' : ''}`;
  const message = `the result could not be written (${messageOf(error)}): ${happened}`;
  printError(io, new Error(message), argv.includes('--json'));
  process.exitCode = 1;
});

const status = await runCommandLine(argv, io, VERSION);
process.exitCode = isLost ? 1 : status;
