/**
 * A page of the guide, and what all of them know about this installation.
 *
 * Invariant: no page knows a merchant, a credential or a secret.
 */

import type { Html } from '../../messages/html.ts';
import type { Section } from './frame.ts';

/** A page of the guide, without the frame around it. */
export interface Guide {
  readonly title: string;
  readonly main: Html;
  readonly sections: readonly Section[];
}

/** Where a gateway's sandbox is found. */
export interface SandboxInfo {
  /** Where it listens. */
  readonly url: string;
  /** The file with the demo merchant's credential, as seen from the folder of the start. */
  readonly demoFile: string;
}

/** This installation's addresses, for lines that can be pasted. */
export interface Installation {
  /** The API's address, for example `http://127.0.0.1:8080/api/v1`. */
  readonly api: string;
  /** The sandbox's address; that of a start without settings if this gateway has no sandbox. */
  readonly sandbox: string;
  /** The file with the demo merchant's credential, as seen from the folder of the start. */
  readonly demoFile: string;
  /** Whether this gateway uses that sandbox. A production gateway tells how to try things elsewhere. */
  readonly isSandbox: boolean;
}
