import { expect, test } from 'vitest';
import { printError } from './output.ts';

const LACKING: string = 'data:text/javascript,import { nothing } from "node:crypto"';

test('a Node.js that lacks what the program imports is named as too old, with the way out', async () => {
  const lacking = await import(/* @vite-ignore */ LACKING).catch((error) => error);
  const written: string[] = [];
  const to = { env: {}, write: () => undefined, writeError: (text: string) => void written.push(text) };
  expect(printError(to, lacking, false)).toBe(1);
  expect(written).toEqual([`mbongo: Node.js ${process.versions.node} is too old: install 20.19.4 or newer\n`]);
});
