import { describe, expect, test } from '@jest/globals';
import type { CommandDescription } from '../../../src/commands/command-description.ts';
import { runCommandLine } from '../../../src/commands/command-line.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** The options of the command; undefined if it did not run. */
  readonly given: Readonly<Record<string, readonly string[]>> | undefined;
}

const work: Omit<CommandDescription, 'run'> = {
  name: 'work',
  summary: 'do the work',
  description: 'Does the work, until it is done.',
  flags: [
    {
      name: 'seed',
      value: { placeholder: 'text' },
      group: 'Work:',
      help: 'What it starts from.',
      notes: ['Default: 1.'],
    },
    {
      name: 'fast',
      value: { placeholder: 'true|false', bare: 'true' },
      group: 'Work:',
      help: 'Less of it.',
      notes: [],
    },
    { name: 'quiet', group: 'Other:', help: 'Says nothing.', notes: [] },
  ],
};

async function run(
  args: readonly string[],
  {
    columns,
    exits = 0,
    ...more
  }: { columns?: number; exits?: number } & Pick<CommandDescription, 'words'> = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  let given: Ran['given'];
  const code = await runCommandLine(args, {
    version: '1.2.3',
    commands: [
      {
        ...work,
        ...more,
        run: (flags) => {
          given = Object.fromEntries(flags);
          return Promise.resolve(exits);
        },
      },
    ],
    terminal: { out: (text) => (out += text), err: (text) => (err += text), columns },
  });
  return { code, out, err, given };
}

describe('runCommandLine', () => {
  test.each<[string[], Ran['given']]>([
    [['work'], {}],
    [['work', '--seed=7'], { seed: ['7'] }],
    [['work', '--seed', '7', '--seed='], { seed: ['7', ''] }],
    [['work', '--seed', '--fast'], { seed: ['--fast'] }],
    [['work', '--fast'], { fast: ['true'] }],
    [['work', '--fast=false'], { fast: ['false'] }],
    [['work', '--fast', 'false'], { fast: ['false'] }],
    [['work', '--fast', '--quiet'], { fast: ['true'], quiet: ['true'] }],
  ])('passes the flags of %j to the command', async (args, given) => {
    expect(await run(args)).toEqual({ code: 0, out: '', err: '', given });
  });

  test.each([0, 1, 2])('returns the exit code of the command: %d', async (exits) => {
    expect(await run(['work'], { exits })).toMatchObject({ code: exits });
  });

  test('does not treat a bug in a command as a wrong command line', async () => {
    const broken = { ...work, run: () => Promise.reject(new TypeError('bug')) };
    const terminal = { out: () => {}, err: () => {}, columns: 80 };

    const ran = runCommandLine(['work'], { version: '1', commands: [broken], terminal });

    await expect(ran).rejects.toThrow('bug');
  });

  test.each<[string[], string]>([
    [['work', '--sed=7'], 'headwater work: unknown option --sed; did you mean --seed?\n'],
    [
      ['work', '--sed', '7', '--fsat', '--elsewhere=secret', '--seed=1'],
      'headwater work: unknown option --sed; did you mean --seed?\nheadwater work: unknown option --fsat; did you mean --fast?\nheadwater work: unknown option --elsewhere\n',
    ],
    [['work', '-x'], 'headwater work: unknown option -x\n'],
    [['work', 'harder', '--fast'], 'headwater work: unexpected argument "harder"\n'],
    [['work', '--quiet=yes'], 'headwater work: option --quiet takes no value\n'],
    [['work', '--seed'], "headwater: option '--seed <text>' argument missing\n"],
    [['wrok'], "headwater: unknown command 'wrok' (Did you mean work?)\n"],
    [['help', 'wrok'], "headwater: unknown command 'wrok' (Did you mean work?)\n"],
    [['--seed=7'], "headwater: unknown option '--seed'\n"],
  ])('refuses %j with exit code 2 and a line for each problem, and runs nothing', async (args, err) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err, given: undefined });
  });

  test('prints the help and fails without a command', async () => {
    const { code, out, err } = await run([]);

    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain('Usage: headwater [options] [command]');
  });

  test.each(['--version', '-V'])('prints the version for %s', async (flag) => {
    expect(await run([flag])).toMatchObject({ code: 0, out: '1.2.3\n', err: '' });
  });

  test('prints the help of the program', async () => {
    const { code, out } = await run(['--help'], { columns: 200 });

    expect(code).toBe(0);
    expect(out).toBe(`Usage: headwater [options] [command]

Keeps every Kubernetes node supplied with pod addresses of the cloud network, under unmodified Cilium agents.

Options:
  -V, --version   print the version
  -h, --help      print this help

Commands:
  work [options]  do the work
  help [command]  display help for command

Exit codes: 0 fine, 1 failure, 2 usage, 3 machine too slow for a demo, 130 interrupted.
`);
  });

  test.each([[['work', '--help']], [['help', 'work']]])('prints the help of a command: %j', async (args) => {
    const { code, out } = await run(args);

    expect(code).toBe(0);
    expect(out).toBe(`Usage: headwater work [options]

Does the work, until it is done.

Work:
  --seed <text>        What it starts from.
                       Default: 1.

  --fast [true|false]  Less of it.

Other:
  --quiet              Says nothing.

Options:
  -h, --help           print this help
`);
  });
});

describe('words after a command', () => {
  const words = { of: 'seed', help: 'More of it.' };

  test.each([
    [['work', '--seed', 'a', 'b', 'c'], { seed: ['a', 'b', 'c'] }],
    [['work', 'a', '--fast'], { seed: ['a'], fast: ['true'] }],
    [['work'], {}],
  ])('are values of the flag that takes them: %j', async (args, given) => {
    expect(await run(args, { words })).toMatchObject({ code: 0, err: '', given });
  });

  test('hide no unknown flag', async () => {
    const { code, err } = await run(['work', 'a', '--sed=b'], { words });

    expect({ code, err }).toEqual({
      code: 2,
      err: 'headwater work: unknown option --sed; did you mean --seed?\n',
    });
  });
});
