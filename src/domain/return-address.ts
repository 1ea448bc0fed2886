/**
 * Addresses of shops that browsers are sent back to.
 *
 * Invariant: the shop's own address stays as it is, and what it needs to know is added to its query; whatever the address,
 * what comes out fits into a header.
 */

/**
 * Whether an address, its fragment too, holds only what a browser leaves where it is: no blanks, no control characters,
 * no backslashes. Letters of any script are fine: they are escaped when the address is written.
 */
export function isPlainAddress(address: string): boolean {
  return !/[\p{Z}\p{Cc}\\]/u.test(address);
}

/** Adds to an address's query, before its fragment. Written as a browser would send it, for it goes into headers too. */
export function withQuery(address: string, more: { readonly [name: string]: string }): string {
  const hash = address.indexOf('#');
  const [place, fragment] = hash < 0 ? [address, ''] : [address.slice(0, hash), address.slice(hash)];
  const mark = !place.includes('?') ? '?' : /[?&]$/.test(place) ? '' : '&';
  return new URL(`${place}${mark}${new URLSearchParams(more)}${fragment}`).href;
}
