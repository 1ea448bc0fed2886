/**
 * How to verify a webhook, in languages that merchants' backends are written in. Each is a file of its language, which
 * its own tools can read.
 *
 * Invariant: each does the whole verification (time, every signature, constant-time comparison) with nothing but its language's
 * own library. Tests run each sample whose interpreter is installed against signatures that the gateway makes.
 */

import { readFileSync } from 'node:fs';

/** In the order of the page. */
export const WEBHOOK_SAMPLES = [
  { id: 'typescript', language: 'TypeScript', code: sample('verify.mts') },
  { id: 'python', language: 'Python', code: sample('verify.py') },
  { id: 'php', language: 'PHP', code: sample('verify.php') },
  { id: 'go', language: 'Go', code: sample('verify.go') },
] as const;

function sample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8').trimEnd();
}
