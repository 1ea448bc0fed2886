/**
 * What the command line says to people: the words that are true, and the way out.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';

let database: TestDatabase;
let cli: CommandLine;

beforeAll(async () => {
  database = await createTestDatabase();
  cli = await openCommandLine(database.url, TEST_MASTER_KEY);
});

afterAll(async () => {
  await database.drop();
  await cli.close();
});

describe('an operator who mistyped', () => {
  it.each([
    ['clock advance 30', /"30" is not a duration: write it in days \(d\), .* like 24h or 30m\n$/],
    ['clock advance 0', /above zero/],
    [
      'credential rotate --key key_x --grace 24',
      /"24" is not a duration: .* or seconds \(s\), like 24h or 30m, or 0\n$/,
    ],
    ['webhook secret rotate --merchant mch_x --grace 24', /"24" is not a duration: .*, or 0\n$/],
    [
      `fee set --merchant mch_x --currency usd --fixed 0.30`,
      /add --rate in per cent, .*or --rate 0 for a fixed amount/,
    ],
  ])('%s is told what to write', async (words, line) => {
    expect(await cli.run(words)).toEqual({ status: 2, out: '', err: expect.stringMatching(line) });
  });

  it.each(['payment list', 'connector hold mtn-momo --why outage --json'])(
    'the folder of the data is told so, and none is made: %s',
    async (words) => {
      const folder = join(cli.dataDir, 'mistyped');
      const { status, out, err } = await cli.run(words, { DATABASE_URL: '', DATA_DIR: folder });
      expect([status, out, err]).toEqual([
        1,
        '',
        expect.stringContaining(`there is no database in ${folder}: set DATA_DIR`),
      ]);
      expect(existsSync(folder)).toBe(false);
    },
  );

  it.each(['--json', '--url-hosts=example.com', '--no-float', '--nmae', '--help', '-h'])(
    'is not given %s as a value',
    async (word) => {
      const { status, out, err } = await cli.run(['merchant', 'create', '--name', word]);
      expect([status, out]).toEqual([2, '']);
      expect(err).toContain(`option '--name <name>' has no value: behind it stands ${word}`);
      expect((await cli.json('merchant list')).merchants).toEqual([]);
    },
  );

  it.each([
    ['approve', '--note'],
    ['decline', '--reason'],
  ])('of proof %s is told that %s is empty', async (verb, option) => {
    const { status, err } = await cli.run(['proof', verb, 'prf_x', option, '']);
    expect([status, err]).toEqual([2, expect.stringContaining(`mbongo: ${option} must be one line of 1 to 500`)]);
  });

  it('finds in the help which options a command cannot do without', async () => {
    const help = async (words: string): Promise<string> =>
      (await cli.run(`${words} --help`)).out.replaceAll(/\s+/g, ' ');
    expect(await help('archive')).toMatch(/--older-than <age> [^-]*\(required\)/);
    expect(await help('fee set')).toContain('2.5; 0 for a fixed amount alone (required without --remove)');
  });
});

describe('the one thing that a command has to be told', () => {
  const NOBODY = 'mch_00000000000000000000000000';

  it.each(['merchant show', 'credential list', 'webhook secret rotate'])('may stand behind %s', async (words) => {
    for (const told of [NOBODY, `--merchant ${NOBODY}`]) {
      const { status, out, err } = await cli.run(`${words} ${told}`);
      expect([status, out, err]).toEqual([1, '', expect.stringContaining(`no merchant ${NOBODY}`)]);
    }
  });

  it('has its name where other things have to be told, too', async () => {
    const { status, err } = await cli.run(`settle ${NOBODY}`);
    expect([status, err]).toEqual([2, expect.stringContaining("required option '--merchant <id>' not specified")]);
  });
});

describe('words that are no command', () => {
  it.each([
    ['payout lst', "unknown command 'lst' (did you mean list?): see `mbongo payout --help`"],
    ['frobnicate', "unknown command 'frobnicate': see `mbongo --help`"],
    [
      'payout list --merchent x',
      "unknown option '--merchent' (did you mean --merchant?): see `mbongo payout list --help`",
    ],
    ['help frobnicate', "unknown command 'frobnicate': see `mbongo --help`"],
    ['help merchant frobnicate', "unknown command 'frobnicate': see `mbongo merchant --help`"],
    ['merchant frobnicate --help', "unknown command 'frobnicate': see `mbongo merchant --help`"],
  ])('%s is answered with the way out', async (words, line) => {
    expect(await cli.run(words)).toEqual({ status: 2, out: '', err: `mbongo: ${line}\n` });
    const inJson = await cli.run(`${words} --json`);
    expect([inJson.status, JSON.parse(inJson.err)]).toEqual([2, { error: true, message: line }]);
  });

  it('asks for the verb of the noun that was given', async () => {
    const { status, err } = await cli.run('webhook secret');
    expect([status, err]).toEqual([2, 'mbongo: incomplete command: see `mbongo webhook secret --help`\n']);
  });

  it('does not keep the help of a command from being printed', async () => {
    for (const words of [
      '--help',
      'help',
      'help merchant',
      'merchant set --help',
      'help archive drop',
      'merchant help set',
    ]) {
      expect(await cli.run(words)).toMatchObject({ status: 0, out: expect.stringMatching(/^Usage: mbongo /), err: '' });
    }
    expect(await cli.run('--version')).toEqual({ status: 0, out: '0.1.0\n', err: '' });
  });
});
