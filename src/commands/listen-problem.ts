/**
 * Why nobody can listen at an address, in one line that names the variable that chooses another.
 */

/** Where somebody wants to listen, and which variable says the port. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

/** `code`: the system's own word for what it says against it. */
export function listenProblem(code: string, { host, port, variable }: Address): string {
  if (code === 'EADDRINUSE') return `port ${port} is taken by another program: set ${variable} to a free one`;
  if (code === 'EACCES') return `this user may not listen at port ${port}: set ${variable} to 1024 or more`;
  // Of an address that is not this machine's nothing is known yet about the port.
  return `nobody can listen at ${host} on this machine (${code}): set HOST`;
}
