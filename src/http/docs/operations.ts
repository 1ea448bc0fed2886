/**
 * Reads the OpenAPI document, with every part in its place, into the calls that a reference shows, by group.
 *
 * Invariant: the document is the only source, so that the reference cannot say anything else than `/openapi.json`.
 */

import { type Field, fieldOf, type Shape, shapesOf } from './fields.ts';
import { at, entriesAt, listAt, textAt } from './json.ts';

/** The calls under one tag. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** One call, as the document describes it. */
export interface Operation {
  /** The operationId, which is also its anchor. */
  readonly id: string;
  readonly method: string;
  /** Below the server's address, parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly credential: 'merchant' | 'session' | 'none';
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly answers: readonly Answer[];
  readonly refusals: readonly Refusals[];
}

/** What a call takes besides its body. */
export interface Parameter {
  /** Where a request has it: `in` of the document. */
  readonly location: 'path' | 'query' | 'header';
  readonly field: Field;
  /** Undefined if the example leaves it out. */
  readonly example: string | undefined;
}

/** What a call takes as its body. */
export interface Body {
  /** Content types, the usual one first. */
  readonly types: readonly string[];
  readonly shapes: readonly Shape[];
  readonly example: unknown;
}

/** A success: any status below 400. */
export interface Answer {
  /** One or several that look alike. */
  readonly statuses: readonly string[];
  readonly shapes: readonly Shape[];
  readonly example: unknown;
  /** What the table holds, if the answer may also be a table; otherwise empty. */
  readonly table: string;
}

/** Codes by HTTP status. */
export interface Refusals {
  readonly status: string;
  readonly codes: readonly { readonly code: string; readonly name: string }[];
}

/**
 * The document's calls by tag: its tags in their order, the calls of each in the order of their paths. A tag without calls is an
 * empty group.
 */
export function groupsOf(document: unknown): Group[] {
  const operations = entriesAt(document, 'paths').flatMap(([path, methods]) =>
    entriesAt(methods).map(([method, operation]) => ({
      tag: String(listAt(operation, 'tags')[0]),
      operation: operationOf(path, method, operation),
    })),
  );
  return listAt(document, 'tags').map((tag) => ({
    name: textAt(tag, 'name'),
    description: textAt(tag, 'description'),
    operations: operations.filter((one) => one.tag === textAt(tag, 'name')).map(({ operation }) => operation),
  }));
}

function operationOf(path: string, method: string, operation: unknown): Operation {
  const [credential] = entriesAt(listAt(operation, 'security')[0]).map(([name]) => name);
  const responses = entriesAt(operation, 'responses');
  return {
    id: textAt(operation, 'operationId'),
    method: method.toUpperCase(),
    path,
    summary: textAt(operation, 'summary'),
    description: textAt(operation, 'description'),
    credential: credential === 'merchant' || credential === 'session' ? credential : 'none',
    parameters: listAt(operation, 'parameters').map(parameterOf),
    body: bodyOf(at(operation, 'requestBody', 'content')),
    answers: answersOf(responses.filter(([status]) => Number(status) < 400)),
    refusals: responses.filter(([status]) => Number(status) >= 400).map(refusalsOf),
  };
}

function parameterOf(parameter: unknown): Parameter {
  const location = textAt(parameter, 'in');
  const field = fieldOf(textAt(parameter, 'name'), at(parameter, 'schema'), at(parameter, 'required') === true);
  const example = at(parameter, 'example');
  return {
    location: location === 'path' || location === 'query' ? location : 'header',
    field: { ...field, meaning: textAt(parameter, 'description') || field.meaning },
    example: typeof example === 'string' || typeof example === 'number' ? String(example) : undefined,
  };
}

function bodyOf(content: unknown): Body | undefined {
  const types = entriesAt(content);
  const [first] = types;
  if (first === undefined) return undefined;
  const [, media] = first;
  return {
    types: types.map(([type]) => type),
    shapes: shapesOf(at(media, 'schema')),
    example: at(media, 'examples', 'example', 'value'),
  };
}

/** Statuses whose bodies have the same form are listed once. */
function answersOf(responses: readonly [status: string, response: unknown][]): Answer[] {
  const byForm = new Map<string, Answer>();
  for (const [status, response] of responses) {
    const media = at(response, 'content', 'application/json');
    const form = JSON.stringify(at(media, 'schema'));
    const known = byForm.get(form);
    byForm.set(form, {
      statuses: [...(known?.statuses ?? []), status],
      shapes: shapesOf(at(media, 'schema')),
      example: known?.example ?? at(media, 'examples', 'example', 'value'),
      table: textAt(response, 'content', 'text/csv', 'schema', 'description'),
    });
  }
  return [...byForm.values()];
}

function refusalsOf([status, response]: [status: string, response: unknown]): Refusals {
  const codes = [...textAt(response, 'description').matchAll(/`(\d{4})` (\w+)/g)];
  return { status, codes: codes.map(([, code = '', name = '']) => ({ code, name })) };
}
