import { expect, test } from 'vitest';
import { printError, printOutput } from './output.ts';

const LACKING: string = 'data:text/javascript,import { nothing } from "node:crypto"';

test('a Node.js that lacks what the program imports is named as too old, with the way out', async () => {
  const lacking = await import(/* @vite-ignore */ LACKING).catch((error) => error);
  const written: string[] = [];
  const to = { env: {}, write: () => undefined, writeError: (text: string) => void written.push(text) };
  expect(printError(to, lacking, false)).toBe(1);
  expect(written).toEqual([`mbongo: Node.js ${process.versions.node} is too old: install 20.19.4 or newer\n`]);
});

test('a JSON document is one line without anything unseen, and means what it meant', () => {
  const name = 'a\u001b[31m\u009b31m\u202e\u2028\u200b\u{e0041}é漢🙂';
  const written: string[] = [];
  const to = { env: {}, write: (text: string) => void written.push(text), writeError: () => undefined };
  printOutput(to, { document: { name }, lines: [] }, true);
  expect(written).toEqual([expect.stringMatching(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u)]);
  expect(written[0]).toContain('\\u009b31m\\u202e\\u2028\\u200b\\udb40\\udc41é漢🙂');
  expect(JSON.parse(String(written[0]))).toEqual({ name });
});
