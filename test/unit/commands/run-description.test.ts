import { describe, expect, jest, test } from '@jest/globals';
import { runCommandLine } from '../../../src/commands/command-line.ts';
import {
  agentDescription,
  nodeIpamDescription,
  runDescription,
} from '../../../src/commands/run-description.ts';
import { optionGroups, type OptionRow } from '../../../src/config/option-row.ts';
import { defaultsIn, optionsOfCommand } from '../../../src/config/option-scope.ts';
import { environmentNameOf, optionTable } from '../../../src/config/option-table.ts';
import { optionsWithoutEffect } from '../../../src/config/options/options-without-effect.ts';

async function help(columns?: number): Promise<string> {
  let out = '';
  const run = { ...runDescription, run: () => Promise.resolve(0) };
  await runCommandLine(['run', '--help'], {
    version: '1',
    commands: [run],
    terminal: { out: (text) => (out += text), err: () => {}, columns },
  });
  return out;
}

describe('headwater run --help', () => {
  test('lists every option of the command with its variable', async () => {
    const text = await help();

    const missing = [
      ...optionsOfCommand('run').flatMap((name) => [
        `  --${name} `,
        `Environment: ${environmentNameOf(name)}`,
      ]),
      ...Object.keys(optionsWithoutEffect.run.reasons).map((name) => `  --${name} `),
    ].filter((part) => !text.includes(part) && !text.replaceAll(/\s+/g, ' ').includes(part));
    expect(missing).toEqual([]);
  });

  test('keeps the groups in the order of the table', async () => {
    const groups = new Set(
      optionsOfCommand('run').map((name): OptionRow['group'] => optionTable[name].group),
    );
    const headings = (await help()).split('\n').filter((line) => /^\S.*:$/.test(line));

    expect(headings).toEqual([
      ...Object.entries(optionGroups)
        .filter(([group]) => groups.has(group as OptionRow['group']))
        .map(([, title]) => `${title}:`),
      'Accepted from cilium-operator, without effect:',
      'Options:',
    ]);
  });

  test.each([
    [undefined, 80],
    [80, 80],
    [100, 100],
    [120, 110],
    [20, 80],
  ])('has, on %p columns, no line longer than %d', async (columns, limit) => {
    const max = Math.max(...(await help(columns)).split('\n').map((line) => line.length));

    expect(max).toBeLessThanOrEqual(limit);
  });

  test.each([
    `
  --aws-max-results-per-call <number>
        Results per page of a listing. Smaller pages mean more calls; change it
        only if large pages time out.
        Accepted: a whole number from 5 to 1000, or 0 for 1000
        Default: 0. Environment: CILIUM_AWS_MAX_RESULTS_PER_CALL

  --cloud-call-timeout <duration>
`,
    `
  --k8s-namespace <namespace>
        The namespace of the Lease that elects the leader among the replicas.
        Accepted: the name of a namespace: up to 63 of a-z, 0-9 and -
        Default: the pod's own namespace in a cluster, else kube-system.
        Environment: CILIUM_K8S_NAMESPACE; never from --config-dir
`,
    `
  --enable-metrics [value]
        Does nothing: metrics are always served, on serve-addr.

`,
  ])('describes an option like this: %s', async (part) => {
    expect(await help()).toContain(part);
  });
});

describe('a command line of the program that is replaced', () => {
  test.each([
    [
      runDescription,
      [
        '--leader-elect=true',
        '--kube-api-qps',
        '50',
        '--v=2',
        '--secure-port=0',
        '--gops-port=9891',
        '--cloud-provider=external',
        '--node-cidr-mask-size=0',
      ],
    ],
    [
      nodeIpamDescription,
      [
        '--leader-elect',
        '--leader-elect-lease-duration=15s',
        '--controllers=*,-nodeipam',
        '--bind-address=127.0.0.1',
        '--cloud-provider=external',
        '--node-cidr-mask-size=0',
        '--use-service-account-credentials=true',
        '--concurrent-service-syncs=2',
        '--route-reconciliation-period=10s',
        '--horizontal-pod-autoscaler-sync-period=30s',
        '--v=2',
      ],
    ],
  ])('starts $name', async ({ name, ...description }, flags) => {
    const run = jest.fn(() => Promise.resolve(0));
    const err = jest.fn();

    const code = await runCommandLine([name, ...flags], {
      version: '1',
      commands: [{ ...description, name, run }],
      terminal: { out: () => {}, err, columns: undefined },
    });

    expect({ code, errors: err.mock.calls }).toEqual({ code: 0, errors: [] });
    expect(run).toHaveBeenCalledTimes(1);
  });
});

test.each([nodeIpamDescription, agentDescription])(
  'the help of $name shows the defaults of that command',
  ({ name, flags }) => {
    const own = Object.entries(defaultsIn[name as 'nodeipam' | 'agent']);

    const shown = own.map(([option]) => flags.find((flag) => flag.name === option)?.notes[1]);

    expect(own.length).toBeGreaterThan(0);
    for (const [index, [, value]] of own.entries())
      expect(shown[index]).toContain(`Default: ${value.default}.`);
  },
);
