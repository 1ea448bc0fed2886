/**
 * Checks input against a route's schema, and reports every bad field at once (contract §2).
 *
 * Invariant: the compiled schema alone decides; the walk that explains runs only on values that it refused. Unknown fields are
 * ignored, and null in an optional field counts as absent.
 */

import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Check } from 'typebox/value';
import { type DetailCode, Refusal, type RefusalCode, type RefusalDetail, type Words } from '../domain/refusal.ts';
import { type JsonObject, joinPath } from './json-body.ts';

/** A compiled schema of parameters. */
export interface Shape {
  /** Returns when the value fits. @throws Refusal with every bad field. */
  require(value: unknown): void;
}

/**
 * A route's own check of the fields, nested ones too, that fit the schema. `unreadable` has the paths of the others, which were
 * sent but look as if they were missing.
 */
export type FieldCheck = (readable: JsonObject, unreadable: ReadonlySet<string>) => readonly RefusalDetail[];

/** A compiled schema of a body or a query, which the route can add checks of its own to. */
export interface BodyShape {
  /** Returns when the body fits and its route finds no fault. @throws Refusal with every bad field of both. */
  require(body: unknown, check: FieldCheck | undefined): void;
  /** The fields of a body that fits, nested ones too, without those that the schema does not know. */
  known(body: unknown): unknown;
}

interface Codes {
  readonly [field: string]: RefusalCode;
}

/** The parts of JSON Schema that our schemas use. */
interface Node extends TSchema {
  readonly type?: string;
  readonly properties?: { readonly [name: string]: Node };
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly const?: string | number | boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly documentedAs?: Node;
}

/** `codes` are for fields whose fault has another code in this body than elsewhere. */
export function createBodyShape(schema: TSchema, codes: Codes = {}): BodyShape {
  return shapeBy(finder(schema), schema, codes);
}

/** The shape of a query. None of its fields is a list: one that is read as a list was given twice. */
export function createQueryShape(schema: TSchema): BodyShape {
  const find = finder(schema);
  const findTwice = (query: unknown): RefusalDetail[] =>
    find(query).map((detail) => {
      const isTwice = isObject(query) && Array.isArray(query[detail.field]);
      return isTwice ? { field: detail.field, code: 'DUPLICATE_KEY' } : detail;
    });
  return shapeBy(findTwice, schema, {});
}

function shapeBy(find: Finder, schema: TSchema, codes: Codes): BodyShape {
  return {
    require(body, check) {
      const found = find(body);
      const faulty = unreadable(found);
      const readable = faulty.size === 0 ? (body as JsonObject) : readableOfBody(body as JsonObject, faulty);
      // A field that could not be read looks as if it were missing: the check's faults in it are dropped.
      const more = check?.(readable, faulty).filter(({ field }) => !isWithin(field, faulty)) ?? [];
      if (found.length + more.length === 0) return;
      const located = [...found, ...more].map((detail) => ({ detail, position: positionOf(schema, detail.field) }));
      throw refuseShape(
        located.sort((a, b) => compare(a.position, b.position)).map(({ detail }) => detail),
        codes,
      );
    },
    known: (body) => knownOf(schema, body),
  };
}

/** Whether a value has fields, or items. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** The paths of values that do not fit. If not all of them have been looked for, whole fields. */
function unreadable(found: readonly RefusalDetail[]): ReadonlySet<string> {
  const all = found.length < MAX_DETAILS;
  return new Set(found.map(({ field }) => (all ? field : (stepsOf(field)[0] ?? field))));
}

type Finder = (value: unknown) => RefusalDetail[];

function finder(schema: TSchema): Finder {
  const compiled = Compile(schema);
  return (value) => {
    if (compiled.Check(value)) return [];
    const found: RefusalDetail[] = [];
    explain(schema, value, '', found);
    return found.length > 0 ? found : [{ field: 'body', code: 'INVALID_FORMAT' }];
  };
}

interface Faulty {
  readonly paths: ReadonlySet<string>;
  /** The paths of what holds them: nothing else is walked through, however much a body has that we do not know. */
  readonly holders: ReadonlySet<string>;
}

/** The fields of a body that can be read. */
function readableOfBody(body: JsonObject, paths: ReadonlySet<string>): JsonObject {
  return without(body, { paths, holders: new Set([...paths].flatMap(pathsTo)) });
}

/** An object without its faulty values, nested ones too; a faulty item of a list leaves `undefined`. */
function without(object: JsonObject, faulty: Faulty, path = ''): JsonObject {
  const kept = Object.entries(object).flatMap(([name, value]) => {
    const field = path === '' ? name : joinPath(path, name);
    return faulty.paths.has(field) ? [] : [[name, readableOf(value, faulty, field)] as const];
  });
  return Object.fromEntries(kept);
}

function readableOf(value: unknown, faulty: Faulty, path: string): unknown {
  if (!isObject(value) || !faulty.holders.has(path)) return value;
  if (!Array.isArray(value)) return without(value, faulty, path);
  return value.map((item: unknown, at) => {
    const field = `${path}[${at}]`;
    return faulty.paths.has(field) ? undefined : readableOf(item, faulty, field);
  });
}

/** Whether a path is one of these, or lies within one. */
function isWithin(field: string, paths: ReadonlySet<string>): boolean {
  return pathsTo(field).some((path) => paths.has(path));
}

/** `beneficiaries`, `beneficiaries[3]` and `beneficiaries[3].amount` of the last one. */
function pathsTo(field: string): string[] {
  return [...field.matchAll(/[.[]|$/g)].map(({ index }) => field.slice(0, index));
}

/** `beneficiaries`, `3` and `amount` of `beneficiaries[3].amount`. */
function stepsOf(field: string): string[] {
  return field.split(/[.[\]]+/).filter((step) => step !== '');
}

/** A path's position in a body: for each of its steps the index among the schema's fields, or in the list. */
function positionOf(schema: Node, field: string): readonly number[] {
  let node: Node | undefined = schema;
  return stepsOf(field).map((step) => {
    const inList: Node | undefined = node === undefined ? undefined : onlyChoice(node).items;
    const fields: Node['properties'] = node === undefined ? undefined : onlyChoice(node).properties;
    node = inList ?? fields?.[step];
    const at = inList === undefined ? Object.keys(fields ?? {}).indexOf(step) : Number(step);
    return at < 0 ? Number.MAX_SAFE_INTEGER : at;
  });
}

/** Orders by the first step that differs; a container comes before its contents. */
function compare(a: readonly number[], b: readonly number[]): number {
  const differs = a.findIndex((step, at) => step !== b[at]);
  return differs < 0 ? a.length - b.length : (a[differs] ?? 0) - (b[differs] ?? -1);
}

/** The fields of a body, by name; undefined if its schema is not simply an object. */
export function fieldsOf(schema: TSchema): object | undefined {
  return (schema as Node).properties;
}

/** Removes nulls where the schema has an optional field that is not nullable. Works in place. */
export function dropNulls(schema: TSchema, value: unknown): void {
  const { properties, required, items } = schema as Node;
  if (Array.isArray(value)) {
    if (items !== undefined) for (const item of value) dropNulls(items, item);
    return;
  }
  if (!isObject(value) || properties === undefined) return;
  for (const [name, property] of Object.entries(properties)) {
    if (value[name] !== null) dropNulls(property, value[name]);
    else if (!(required ?? []).includes(name) && !Check(property, null)) delete value[name];
  }
}

function knownOf(schema: Node, value: unknown): unknown {
  const { properties, items } = onlyChoice(schema);
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => knownOf(items, item));
  if (!isObject(value) || properties === undefined) return value;
  const known: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given !== undefined && !isUnread(property, given)) known[name] = knownOf(property, given);
  }
  return known;
}

/** Whether a list or an object stands where the schema takes anything, and the route reads only what the document describes. */
function isUnread({ documentedAs }: Node, value: unknown): boolean {
  return isObject(value) && documentedAs !== undefined && !Check(documentedAs, value);
}

/** More than any body of ours has fields, so that every bad one is reported; lists without a bound are not worth more. */
const MAX_DETAILS = 1_000;

interface Fault {
  readonly code: DetailCode;
  readonly words?: Words;
}

/** Appends what is wrong with a value, in the schema's field order. */
function explain(schema: Node, value: unknown, path: string, found: RefusalDetail[]): void {
  if (found.length >= MAX_DETAILS || Check(schema, value)) return;
  const node = onlyChoice(schema);
  const fault = faultOf(node, value);
  if (fault !== undefined) found.push(detailOf(path === '' ? 'body' : path, fault));
  else if (Array.isArray(value)) explainItems(node, value, path, found);
  else explainFields(node, value, path, found);
}

/** The part of a nullable schema that is not null. */
function onlyChoice(schema: Node): Node {
  const choices = schema.anyOf?.filter((choice) => choice.type !== 'null') ?? [];
  return choices.length === 1 ? (choices[0] ?? schema) : schema;
}

/** The fault of a value itself; undefined if the fault lies within it. */
function faultOf(schema: Node, value: unknown): Fault | undefined {
  const { type, minimum, maximum } = schema;
  const options = (schema.anyOf ?? [schema]).flatMap((choice) => choice.const ?? []);
  if (options.length > 0) return { code: 'NOT_AN_OPTION', words: { options: options.join(', ') } };
  if (type !== undefined && !hasType(type, value)) return { code: 'WRONG_TYPE', words: { type } };
  if (typeof value === 'string') return textFault(schema, value);
  if (Array.isArray(value)) return lengthFault(value.length, schema.minItems, schema.maxItems);
  if (typeof value === 'number' && (minimum !== undefined || maximum !== undefined)) {
    return { code: 'OUT_OF_RANGE', words: { minimum: minimum ?? '−∞', maximum: maximum ?? '∞' } };
  }
  const within = type === 'object' && isObject(value);
  return within ? undefined : { code: 'INVALID_FORMAT' };
}

/** Characters count, as in JSON Schema: one that takes two places in a string is one. */
function textFault(schema: Node, value: string): Fault {
  return lengthFault(Array.from(value).length, schema.minLength, schema.maxLength) ?? { code: 'INVALID_FORMAT' };
}

function lengthFault(length: number, minimum: number | undefined, maximum: number | undefined): Fault | undefined {
  if (minimum !== undefined && length < minimum) return { code: 'TOO_SHORT', words: { minimum } };
  return maximum !== undefined && length > maximum ? { code: 'TOO_LONG', words: { maximum } } : undefined;
}

function explainItems(schema: Node, items: readonly unknown[], path: string, found: RefusalDetail[]): void {
  if (schema.items === undefined) return;
  for (let i = 0; i < items.length && found.length < MAX_DETAILS; i += 1) {
    explain(schema.items, items[i], `${path}[${i}]`, found);
  }
}

function explainFields(schema: Node, value: JsonObject, path: string, found: RefusalDetail[]): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = path === '' ? name : joinPath(path, name);
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const isRequired = (schema.required ?? []).includes(name);
    const isMissing = given === undefined || (given === null && !Check(property, null));
    if (!isMissing || (given === null && !isRequired)) explain(property, given, field, found);
    else if (isRequired) found.push({ field, code: 'REQUIRED' });
  }
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value) && !Array.isArray(value);
  if (type === 'null') return value === null;
  return typeof value === (type === 'integer' ? 'number' : type) && (type !== 'integer' || Number.isInteger(value));
}

/** Fields whose bad form has a code or a sentence of its own, by the last name of their path. */
const FIELDS: { readonly [name: string]: { readonly code: RefusalCode; readonly detail?: DetailCode } } = {
  amount: { code: 1101, detail: 'INVALID_AMOUNT' },
  currency: { code: 1102, detail: 'INVALID_CURRENCY' },
  transactional_currency: { code: 1102, detail: 'INVALID_CURRENCY' },
  payment_method: { code: 1103 },
  receipt_mode: { code: 1103 },
  method: { code: 1103 },
  cardnet_payment_method: { code: 1103 },
  mastercard_payment_method: { code: 1103 },
  email: { code: 1105, detail: 'INVALID_EMAIL' },
  wallet_pin: { code: 1110, detail: 'MALFORMED_PIN' },
  ewallet_pin: { code: 1110, detail: 'MALFORMED_PIN' },
  flash_pin: { code: 1110, detail: 'MALFORMED_PIN' },
  otp_code: { code: 1110, detail: 'MALFORMED_OTP' },
  phone_number: { code: 1110, detail: 'INVALID_PHONE_NUMBER' },
  mobile_money_phone_number: { code: 1110, detail: 'INVALID_PHONE_NUMBER' },
  notify_url: { code: 1110, detail: 'INVALID_URL' },
  success_redirect_url: { code: 1110, detail: 'INVALID_URL' },
  fail_redirect_url: { code: 1110, detail: 'INVALID_URL' },
};

/** Details whose code is not their field's. */
const DETAILS: { readonly [detail in DetailCode]?: RefusalCode } = {
  NO_CARRIER: 1103,
  UNKNOWN_PAYMENT_METHOD: 1103,
  CARRIER_CURRENCY: 1103,
  PAYOUT_TOTAL: 1101,
};

function ruleOf(field: string) {
  const name = field.slice(field.lastIndexOf('.') + 1);
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

function detailOf(field: string, fault: Fault): RefusalDetail {
  const named = ruleOf(field)?.detail;
  return named === undefined ? { field, ...fault } : { field, code: named };
}

/** Missing fields come first; the first detail decides the refusal's code (contract §2). */
export function refuseShape(found: readonly RefusalDetail[], codes: Codes = {}): Refusal {
  const missing = found.filter(isMissing);
  const details = [...missing, ...found.filter((detail) => !isMissing(detail))];
  const [first] = details;
  if (first === undefined || isMissing(first)) return new Refusal(1109, { details });
  if (first.field === 'beneficiaries' && first.code === 'TOO_LONG') return new Refusal(1207, { details });
  const own = Object.hasOwn(codes, first.field) ? codes[first.field] : undefined;
  return new Refusal(own ?? DETAILS[first.code] ?? ruleOf(first.field)?.code ?? 1110, { details });
}

function isMissing({ code }: RefusalDetail): boolean {
  return code === 'REQUIRED' || code === 'SCOPE_MISSING' || code === 'SENDING_TYPE';
}

/** Characters that no identifier of ours has, some of which no database takes. */
const CONTROL = /\p{Cc}|\p{Surrogate}/u;

/**
 * Checks path parameters. One that is too short is 1110; any other fault makes it the identifier of nothing that exists, and it
 * is answered as every unknown one is: 1204.
 */
export function createParamsShape(schema: TSchema): Shape {
  const compiled = Compile(schema);
  return {
    require(params) {
      const found: RefusalDetail[] = [];
      if (!compiled.Check(params)) explain(schema, params, '', found);
      else if (!Object.values(params as JsonObject).some((text) => CONTROL.test(String(text)))) return;
      const short = found.filter(({ code }) => code === 'TOO_SHORT');
      throw short.length > 0 ? refuseShape(short) : new Refusal(1204);
    },
  };
}
