// The command max-pods against the models of the clouds.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, endAll, headwater, linesOf } from './child.ts';
import { simulate, supplyKeys } from './simulated.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'headwater-max-pods-'));
});
afterEach(endAll);
afterAll(() => rm(directory, { recursive: true }));

describe('headwater max-pods', () => {
  test('asks EC2, and prints lines, JSON and the part of a node class', async () => {
    const { ec2 } = await simulate(join(directory, 'aws'));
    const ask = (...args: string[]): ReturnType<typeof headwater> =>
      headwater(['max-pods', `--ec2-api-endpoint=${ec2}`, '--aws-region=us-east-1', ...args], {
        environment: supplyKeys,
      });

    const text = await ask('--type=m5.large,m5.xlarge');
    const json = await ask(
      '--type=m5.large',
      '--type=m5.huge',
      '--aws-enable-prefix-delegation',
      '--output=json',
    );
    const elsewhere = await ask('--type=m5.large', '--pod-vpc-id=vpc-00000000000000002');
    const words = await ask('--type', 'm5.large', 'm5.xlarge');
    const karpenter = await ask(
      '--type=m5.large,m5.xlarge',
      '--first-interface-index=1',
      '--host-network-pods=0',
      '--output=karpenter',
    );

    expect(text).toMatchObject({ code: 0, err: '' });
    expect(linesOf(text.out)).toEqual([
      expect.stringMatching(/^TYPE .* MAX PODS$/),
      expect.stringMatching(/^m5\.large +3 +10 +no +27 +29$/),
      expect.stringMatching(/^m5\.xlarge +4 +15 +no +56 +58$/),
    ]);
    expect(linesOf(elsewhere.out)[1]).toMatch(/^m5\.large +3 +10 +no +18 +20$/);
    expect(words).toEqual(text);
    expect(json).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(json.out)).toEqual({
      types: [
        expect.objectContaining({ type: 'm5.large', prefixes: true, podAddresses: 432, maxPods: 434 }),
        { type: 'm5.huge', problem: 'the cloud knows no such type here' },
      ],
    });
    expect(karpenter).toMatchObject({ code: 0, err: '' });
    expect(linesOf(karpenter.out).slice(1)).toEqual(['spec:', '  kubelet:', '    maxPods: 18']);
  });

  test('asks Alibaba Cloud, where pods use the primary addresses of all interfaces but the first', async () => {
    const topology = 'src/simulator/alibaba/examples/small.yaml';
    const ports = ['--alibaba-cloud-port=0', '--alibaba-cloud-metadata-port=0'];
    const child = new Child(['simulate', '--topology', topology, ...ports]);
    const endpoint = await child.word(/--alibaba-cloud-endpoint=(\S+) /m);
    const id = await child.word(/^export ALIBABA_CLOUD_ACCESS_KEY_ID=(\S+)$/m);
    const secret = await child.word(/^export ALIBABA_CLOUD_ACCESS_KEY_SECRET=(\S+)$/m);

    const { code, out } = await headwater(
      [
        'max-pods',
        '--ipam=alibabacloud',
        '--alibaba-cloud-region=cn-hangzhou',
        `--alibaba-cloud-endpoint=${endpoint}`,
        '--type=ecs.g7.xlarge',
        '--output=json',
      ],
      { environment: { ALIBABA_CLOUD_ACCESS_KEY_ID: id, ALIBABA_CLOUD_ACCESS_KEY_SECRET: secret } },
    );

    expect(code).toBe(0);
    const [type] = (JSON.parse(out) as { readonly types: readonly Record<string, number>[] }).types;
    const { interfaces = 0, addressesPerInterface = 0 } = type ?? {};
    expect(interfaces).toBeGreaterThan(1);
    expect(type).toMatchObject({ podAddresses: (interfaces - 1) * addressesPerInterface });
  });

  test('knows the limits of Azure, which are those of all sizes, and takes settings of the agents from a directory', async () => {
    await writeFile(join(directory, 'ipam'), 'azure');
    await writeFile(join(directory, 'azure-use-primary-address'), 'true');
    const args = ['max-pods', '--config-dir', directory, '--interfaces=2', '--output=karpenter'];

    const { code, out } = await headwater([...args, '--type=Standard_D4s_v5']);

    expect(code).toBe(0);
    expect(linesOf(out)).toEqual([
      '# of an AKSNodeClass: Standard_D4s_v5 250',
      '# AKS admits 250 pods at most on a node, not 258',
      'spec:',
      '  maxPods: 250',
    ]);
  });

  test.each<[string[], RegExp]>([
    [[], /^name instance types by --type/],
    [['--ipam=azure', '--type='], /^--type is ""; accepted: names of instance types/],
    [['--type=;'], /^--type is ";"; accepted: names of instance types/],
    [['--type=a', '--host-network-pods=many'], /^--host-network-pods is "many"; accepted: a whole number/],
    [['--type=a', '--interfaces=3'], /^--interfaces is for clouds that give machines their interfaces/],
    [['--ipam=cluster-pool'], /^--ipam=cluster-pool has no cloud/],
    [
      ['--ipam=alibabacloud', '--type=a', '--output=karpenter'],
      /accepted with --ipam=alibabacloud: text, json$/,
    ],
    [['--type=a', '--aws-region=nowhere'], /^aws-region: .* accepted: the name of an AWS region/],
    [
      ['--type=m5.large', '--aws-region=us-east-1', '--ec2-api-endpoint=http://127.0.0.1:1'],
      /^DescribeInstanceTypes failed: ECONNREFUSED: .*check the network path and the endpoint$/,
    ],
  ])('says in one line what is wrong, with exit code 2: %j', async (args, line) => {
    const { code, out, err } = await headwater(['max-pods', ...args], { environment: supplyKeys });

    expect({ code, out }).toEqual({ code: 2, out: '' });
    const [problem = '', ...more] = linesOf(err);
    expect(problem.replace('headwater max-pods: ', '')).toMatch(line);
    expect(more).toEqual([]);
  });
});
