/**
 * Extracts the issuer's form from the HTML that the network wants shown: the address, and the hidden fields.
 *
 * Invariant: only data leaves this file. The network's markup and its scripts never reach a page of ours.
 */

import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { Challenge } from '../connector.ts';

type Node = DefaultTreeAdapterTypes.ChildNode | DefaultTreeAdapterTypes.Document;
type Element = DefaultTreeAdapterTypes.Element;

/** Limits on a challenge, which is usually about a kilobyte; a larger one is not shown to a browser. */
const MAX_FIELDS = 20;
const MAX_VALUE_LENGTH = 65_536;

/** The first form with method POST, as data; undefined if there is none that a browser may be sent to. */
export function challengeIn(html: string): Challenge | undefined {
  const form = elementsOf(parse(html), 'form').find(
    (element) => attribute(element, 'method')?.toLowerCase() === 'post',
  );
  const action = form === undefined ? undefined : attribute(form, 'action');
  if (form === undefined || action === undefined || !isWebAddress(action)) return undefined;
  const fields = elementsOf(form, 'input').flatMap((input) => {
    const name = attribute(input, 'name');
    return name === undefined || name === '' ? [] : [{ name, value: attribute(input, 'value') ?? '' }];
  });
  const fits = fields.length <= MAX_FIELDS && fields.every(({ value }) => value.length <= MAX_VALUE_LENGTH);
  return fields.length > 0 && fits ? { action, fields } : undefined;
}

function elementsOf(node: Node | Element, name: string): Element[] {
  const children: readonly Node[] = 'childNodes' in node ? node.childNodes : [];
  return children.flatMap((child) => [
    ...('tagName' in child && child.tagName === name ? [child] : []),
    ...elementsOf(child, name),
  ]);
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value;
}

function isWebAddress(text: string): boolean {
  if (text.length > 2_048 || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
