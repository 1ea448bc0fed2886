/** A node of a JSON document: an object whose fields are not known beforehand, as schemas and the OpenAPI document have them. */

/** A JSON object that is only read, such as a part of the OpenAPI document. */
export type Json = { readonly [name: string]: unknown };

/** Whether a value is such an object; a list is none. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
