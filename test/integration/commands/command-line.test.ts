import { afterEach, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Child, childrenOf, endAll, headwater, linesOf, program } from './child.ts';

afterEach(endAll);

describe('help and version of the command line', () => {
  test.each<[string[], string[]]>([
    [
      ['--help'],
      ['Usage: headwater [options] [command]', 'run [options]', 'simulate [options]', 'demo [options]'],
    ],
    [['help'], ['Usage: headwater [options] [command]']],
    [
      ['help', 'run'],
      ['Usage: headwater run [options]', '--serve-addr <host:port>', 'CILIUM_CLUSTER_NAME'],
    ],
    [['run', '--help'], ['Usage: headwater run [options]']],
    [
      ['help', 'simulate'],
      ['Usage: headwater simulate [options]', '--topology <file>'],
    ],
    [
      ['status', '--help'],
      [
        'Usage: headwater status [options]',
        '--k8s-namespace <namespace>',
        '--address <host:port>',
        'Default: headwater, else headwater-nodeipam.',
      ],
    ],
    [
      ['demo', '-h'],
      ['Usage: headwater demo [options]', '--nodes <number>'],
    ],
  ])('are shown for %j', async (args, texts) => {
    const { code, out, err } = await headwater(args);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const text of texts) expect(out).toContain(text);
  });

  test.each(['--version', '-V'])('include with %s the version of the package', async (flag) => {
    const { version } = JSON.parse(
      await readFile(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
    ) as { version: string };

    expect(await headwater([flag])).toMatchObject({ code: 0, out: `${version}\n`, err: '' });
  });

  test('end without an error when their reader closes the pipe', async () => {
    const child = new Child(['help', 'run']);
    child.hangUp();

    expect(await child.ended).toMatchObject({ code: 0, err: '' });
  });
});

describe('output that cannot be written', () => {
  test.each([
    ['--help', 1],
    ['run --help', 1],
    ['nodeipam --cluster-cidr=10.0.0.0/16', 1],
    ['check --ipam=crd --output=json', 2],
    ['max-pods --ipam=azure', 2],
  ])(
    'ends %s with exit code %i and one line that says why: where 1 is an answer, nobody was told it',
    async (args, expected) => {
      const shell = ['-c', `exec ${program} ${args} > /dev/full`];
      const { code, err } = await headwater(shell, { program: '/bin/sh' });

      expect(code).toBe(expected);
      expect(linesOf(err)).toEqual(['headwater: cannot write its output: no space left on device']);
    },
  );
});

describe('a process that is to end before it has started', () => {
  const args = ['nodeipam', '--cluster-cidr=10.0.0.0/16', '--k8s-api-server=http://127.0.0.1:9'];

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with exit code 0 at %s, while a Node.js for it is sought',
    async (signal) => {
      const child = new Child(args);
      while (childrenOf(child.pid).length === 0) await new Promise(setImmediate);

      expect(await child.stop(signal)).toMatchObject({ code: 0, out: '', err: '' });
    },
  );

  test('ends with exit code 0 while its command is loaded', async () => {
    const hooks = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) {
  if (/\\/run(\\.ts|-[A-Z\\d]+\\.js)$/.test(url)) process.kill(process.pid, 'SIGTERM');
  return next(url, context);
} });`;
    const environment = { HEADWATER_V8_FLAGS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` };

    expect(await headwater(args, { environment })).toMatchObject({ code: 0, err: '' });
  });
});

describe('a mistake on the command line', () => {
  test.each<[string[], RegExp]>([
    [['rnu'], /^headwater: unknown command 'rnu' \(Did you mean run\?\)$/],
    [['help', 'simulatr'], /^headwater: unknown command 'simulatr' \(Did you mean simulate\?\)$/],
    [['--nodes=3'], /^headwater: unknown option '--nodes'$/],
    [['run', '--serve-adr=:1'], /"problem":"unknown option --serve-adr; did you mean --serve-addr\?"/],
    [['run', '--cluster-name'], /^{"level":"error".*--cluster-name <name>.*"msg":"cannot start"}$/],
    [['run', 'away'], /"problem":"unexpected argument \\"away\\""/],
    [['simulate', '--frobnicate'], /^headwater simulate: unknown option --frobnicate$/],
    [['simulate'], /^headwater simulate: nothing to serve: give --topology, --kubernetes, or both$/],
    [
      ['simulate', '--kubernetes', '--kubernetes-port=x'],
      /--kubernetes-port is "x"; accepted: a whole number/,
    ],
    [['demo', '--frobnicate'], /^headwater demo: unknown option --frobnicate$/],
    [['demo', '--nodes=0'], /^headwater demo: --nodes is "0"; accepted: a whole number from 4 to 100$/],
    [
      ['demo', '--cloud=azure', '--ipam=nodeipam', '--nodes=5'],
      /^headwater demo: --ipam nodeipam shows blocks without a cloud, for 60 nodes: leave out --cloud, --nodes$/,
    ],
    [
      ['demo', '--ipam=cluster-pool', '--keep-running', '--prometheus'],
      /^headwater demo: --ipam cluster-pool shows blocks .*: leave out --keep-running, --prometheus$/,
    ],
    [
      ['demo', '--ipam=eni', '--cloud=azure'],
      /^headwater demo: --ipam eni is the mode of aws: leave out --ipam, or --cloud$/,
    ],
    [['demo', '--plain=no'], /^headwater demo: option --plain takes no value$/],
  ])('ends with exit code 2 and one line that names it: %j', async (args, line) => {
    const { code, out, err } = await headwater(args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(line)]);
  });

  test('ends a demonstration in one line if no file can be written', async () => {
    const environment = { TMPDIR: '/nowhere' };
    const { code, out, err } = await headwater(['demo', '--plain'], { environment });

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([
      'headwater demo: cannot create a directory in /nowhere (ENOENT): name one in TMPDIR that exists and can be written',
    ]);
  });

  test('is answered with the help when it is to give no arguments', async () => {
    const { code, out, err } = await headwater([]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: headwater [options] [command]');
  });
});
