/**
 * Starts the sandbox as a process: reads the environment, listens, and stops when it is told to or its parent is gone.
 * Invariant: it prints one line when it listens or one line when it cannot, and nothing else on the way.
 */
import { join } from 'node:path';
import { createSandbox } from './app.ts';
import { openDiary } from './diary.ts';

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

function portFrom(text: string | undefined): number {
  if (text === undefined || text === '') return 8090;
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : fail(`SANDBOX_PORT is not a port: ${text}`);
}

function diaryOf(folder: string): ReturnType<typeof openDiary> {
  try {
    return openDiary(join(folder, 'sandbox'));
  } catch (error) {
    return fail(
      `SANDBOX_DATA_DIR (${folder}) cannot be used: ${(error as Error).message}. Set it, or DATA_DIR, to another folder.`,
    );
  }
}

const port = portFrom(process.env.SANDBOX_PORT);
const host = process.env.SANDBOX_HOST || '127.0.0.1';
const seed = process.env.SANDBOX_SEED || 'mbongo';

const webhookSecret = process.env.SANDBOX_WEBHOOK_SECRET;
const cardnetCallbackSecret = process.env.CARDNET_CALLBACK_SECRET;
const browserUrl = process.env.CARDNET_FORM_URL?.replace(/\/+$/, '');
const gatewayUrl = process.env.GATEWAY_URL || 'http://127.0.0.1:8080';

// Next to the gateway's own data, so that both remember the same after a restart.
const dataDir = process.env.SANDBOX_DATA_DIR;
const diary = dataDir ? diaryOf(dataDir) : undefined;

const { app } = await createSandbox({
  seed,
  gatewayUrl,
  ...(webhookSecret ? { webhookSecret } : {}),
  ...(cardnetCallbackSecret ? { cardnetCallbackSecret } : {}),
  ...(browserUrl ? { browserUrl } : {}),
  ...(diary ? { diary } : {}),
});
const url = await app
  .listen({ port, host })
  .catch((error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'EADDRINUSE'
        ? `Port ${port} is taken: set SANDBOX_PORT to a free one.`
        : `The sandbox cannot listen on ${host}:${port}: ${error.message}`,
    ),
  );
console.log(`sandbox networks on ${url} (seed ${seed})`);

let stopping = false;
const stop = () => {
  if (stopping) return;
  stopping = true;
  app.close().then(
    () => {
      diary?.close();
      process.exit(0);
    },
    (error: Error) => fail(`The sandbox did not stop cleanly: ${error.message}`),
  );
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
if (process.send !== undefined) {
  process.on('disconnect', stop);
  process.send({ type: 'ready', url });
}
