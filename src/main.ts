#!/usr/bin/env node
/**
 * The program: hands the command line, the environment and the standard streams to the commands.
 */

import { runCommandLine } from './commands/command-line.ts';
import { VERSION } from './platform/version.ts';

// A reader that has gone away (`mbongo … | head -1`) is no reason to fail.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    env: process.env,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  },
  VERSION,
);
