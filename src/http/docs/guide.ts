/**
 * What a page of the guide is, and what all of them know of this installation.
 *
 * Invariant: no page knows a merchant, a credential or a secret.
 */

import type { Html } from '../../messages/html.ts';
import type { Section } from './frame.ts';

export interface Guide {
  readonly title: string;
  readonly main: Html;
  readonly sections: readonly Section[];
}

/** Where things are, for lines that can be pasted. */
export interface Places {
  /** Of the API, for example `http://127.0.0.1:8080/api/v1`. */
  readonly api: string;
  /** The pretend outside world; that of a start without settings where this gateway has none. */
  readonly sandbox: string;
  /** Whether this gateway takes part in it. A production gateway tells how to try things elsewhere. */
  readonly isSandbox: boolean;
}
