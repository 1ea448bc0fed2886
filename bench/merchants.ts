/**
 * The merchants of a run, made by the command line as an operator would.
 *
 * Invariant: credentials stay in this process's memory and the load's arguments; nothing writes them down.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = fileURLToPath(new URL('../src/main.js', import.meta.url));

/** Makes merchants, with a float to pay out from or without one, and returns their credentials as `key_id:secret`. */
export async function makeMerchants(
  env: Readonly<Record<string, string>>,
  count: number,
  float = false,
): Promise<string[]> {
  const credentials: string[] = [];
  const make = async (number: number): Promise<void> => {
    const args = [main, 'merchant', 'create', '--name', `bench-${number}`, ...(float ? [] : ['--no-float']), '--json'];
    const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...env } });
    const made = JSON.parse(stdout) as { key_id: string; secret: string };
    credentials.push(`${made.key_id}:${made.secret}`);
  };
  for (let number = 0; number < count; number += 2) await Promise.all([make(number), make(number + 1)]);
  return credentials;
}
