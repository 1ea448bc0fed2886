/**
 * Why listening at an address failed, in one line that names the variable to change.
 */

/** An address to listen at, and the variable that sets its port. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** `code`: the system's error code. */
export function listenProblem(code: string, { host, port, variable }: Address): string {
  if (code === 'EADDRINUSE') return `port ${port} is taken by another program: set ${variable} to a free one`;
  if (code === 'EACCES') return `this user may not listen on port ${port}: set ${variable} to 1024 or more`;
  // The address is not this machine's, so nothing is known about the port yet.
  return `cannot listen on ${host} on this machine (${code}): set HOST to one of its addresses`;
}
