/**
 * Writes a JSON value as YAML.
 *
 * Invariant: every string is quoted as JSON quotes it, which YAML 1.2 reads alike: no text can be taken for a number,
 * a date or `no`.
 */

type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };

/** A YAML document. Values are those of JSON; properties that are undefined are left out. */
export function toYaml(value: unknown): string {
  const plain = JSON.parse(JSON.stringify(value)) as Value;
  return `${block(plain, '').replace(/^\n/, '')}\n`;
}

/** What follows a key or a dash: a space and a scalar, or the lines of the nested value. */
function block(value: Value, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((item: Value) => `\n${indent}-${block(item, `${indent}  `)}`).join('');
  }
  if (typeof value !== 'object' || value === null) return ` ${JSON.stringify(value)}`;
  const entries = Object.entries(value);
  if (entries.length === 0) return ' {}';
  return entries.map(([name, item]) => `\n${indent}${key(name)}:${block(item, `${indent}  `)}`).join('');
}

/** Keys that cannot be taken for anything else stay unquoted. */
function key(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(name)
    ? name
    : JSON.stringify(name);
}
