/**
 * Lists the failures, one per line, as the last thing that a run prints, so that the end of a long log shows where to look.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

const MAX_LENGTH = 300;

export const failedList: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]) {
    const lines = [
      ...modules.flatMap((module) => [...failuresOf(module)]),
      ...unhandled.map(({ message }) => `outside of any test: ${firstLine(message)}`),
    ];
    if (lines.length > 0) process.stdout.write(`\nfailed:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  },
};

function* failuresOf(module: TestModule): Iterable<string> {
  for (const error of module.errors()) yield `${module.relativeModuleId}: ${firstLine(error.message)}`;
  for (const test of module.children.allTests('failed')) {
    const messages = test.result().errors?.map(({ message }) => firstLine(message)) ?? [];
    yield `${module.relativeModuleId}, “${test.fullName}”: ${messages.join('; ')}`;
  }
  for (const suite of module.children.allSuites()) {
    for (const error of suite.errors())
      yield `${module.relativeModuleId}, “${suite.fullName}”: ${firstLine(error.message)}`;
  }
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').slice(0, MAX_LENGTH);
}
