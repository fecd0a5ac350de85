import { afterEach, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Child, endAll, headwater, linesOf } from './child.ts';

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
    [['demo', '--plain=no'], /^headwater demo: option --plain takes no value$/],
  ])('ends with exit code 2 and one line that names it: %j', async (args, line) => {
    const { code, out, err } = await headwater(args);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(linesOf(err)).toEqual([expect.stringMatching(line)]);
  });

  test('is answered with the help when it is to give no arguments', async () => {
    const { code, out, err } = await headwater([]);

    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: headwater [options] [command]');
  });
});
