/**
 * Which gateway this is, for the command line, for monitoring and for traces.
 *
 * Invariant: it is the version that package.json names; a test compares them.
 */
export const VERSION = '0.1.0';
