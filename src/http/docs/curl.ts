/**
 * Writes a call as a line of curl that can be pasted into a shell.
 *
 * Invariant: credentials are shell variables, never values; everything else is quoted so that no shell interprets it.
 */

import { entriesAt } from './json.ts';
import type { Operation } from './operations.ts';

/** The shell variable that holds each credential, as the guide's first page sets it. */
const VARIABLES = { merchant: '$CREDENTIAL', session: '$TOKEN' } as const;

/** Writes the call. `api` is the server's address, for example `http://127.0.0.1:8080/api/v1`. */
export function curlOf(operation: Operation, api: string): string {
  const { method, credential, body } = operation;
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(api + addressOf(operation))}`];
  if (credential !== 'none') lines.push(`-H "Authorization: Bearer ${VARIABLES[credential]}"`);
  if (body?.types[0] === 'multipart/form-data') {
    lines.push(...entriesAt(body.example).map(([name, value]) => `-F ${quoted(`${name}=${String(value)}`)}`));
  } else if (body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body.example ?? {}, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}

function addressOf({ path, parameters }: Operation): string {
  const of = (wanted: 'path' | 'query') => parameters.filter(({ location }) => location === wanted);
  const filled = of('path').reduce(
    (address, { field, example }) => address.replace(`{${field.name}}`, encodeURIComponent(example ?? '…')),
    path,
  );
  const query = of('query').flatMap(({ field, example }): [string, string][] =>
    example === undefined ? [] : [[field.name, example]],
  );
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query).toString()}`;
}

/** In single quotes, in which a shell interprets nothing. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
