/**
 * The container's question to itself: `node healthcheck.js [port] [path]` ends with 0 when the answer is 200.
 *
 * Invariant: it needs nothing but Node.js, because the image has no curl, and it ends in time whatever the other side does.
 */
import { get } from 'node:http';

const LIMIT_MS = 2_500;
const [port = process.env.PORT || '8080', path = '/health'] = process.argv.slice(2);

const request = get({ host: '127.0.0.1', port, path, timeout: LIMIT_MS }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
});
request.on('error', () => process.exit(1));
request.on('timeout', () => process.exit(1));
