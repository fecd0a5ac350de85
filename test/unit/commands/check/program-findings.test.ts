import { describe, expect, test } from '@jest/globals';
import { known, unknown } from '../../../../src/commands/check/fact.ts';
import {
  agentFindings,
  allocatorFindings,
  blockOperatorFindings,
  operatorAbsenceFindings,
  operatorFindings,
  shownPod,
  type ShownPod,
} from '../../../../src/commands/check/program-findings.ts';

function pod(name: string, change: Partial<ShownPod> = {}): ShownPod {
  return {
    name,
    node: `node-${name}`,
    words: '',
    isReady: true,
    waitsFor: undefined,
    versions: [],
    ...change,
  };
}

const denied = unknown('may not list pods');

describe('rows of other programs', () => {
  test.each<[string, string, boolean]>([
    [
      'the operator of AWS',
      'registry.example.com/cilium/operator-aws:v1.18.0 cilium-operator-aws --debug',
      true,
    ],
    ['the operator of AWS by digest', 'mirror/operator-aws@sha256:0', true],
    ['the operator of Azure', 'x cilium-operator-azure', true],
    ['the operator of Alibaba Cloud', 'x cilium-operator-alibabacloud', true],
    [
      'the generic operator',
      'registry.example.com/cilium/operator-generic:v1.18.0 cilium-operator-generic --ipam=crd',
      false,
    ],
    [
      'the operator of every mode',
      'registry.example.com/cilium/operator:v1.18.0 cilium-operator --debug',
      true,
    ],
    ['the operator of every mode in a mode of blocks', 'x cilium-operator --ipam=cluster-pool', true],
    ['the operator of every mode that gives out nothing', 'x cilium-operator --ipam=crd', false],
    ['the generic operator in a mode of blocks', 'x cilium-operator-generic --ipam=multi-pool', true],
    ['the generic operator, which does not start', 'x cilium-operator-generic', false],
    ['another program', 'aws-operator', false],
  ])('name an operator that gives out addresses of the cloud: %s', (_, words, isOfCloud) => {
    expect(operatorFindings(known([pod('ns/a', { words })]), 'eni').map(({ verdict }) => verdict)).toEqual(
      isOfCloud ? ['problem'] : [],
    );
  });

  test.each<[string, string | undefined, string | undefined]>([
    ['cilium-operator-generic --ipam=crd', 'cluster-pool', undefined],
    ['cilium-operator-generic --ipam crd', undefined, undefined],
    ['cilium-operator-generic --ipam=kubernetes', 'multi-pool', undefined],
    ['cilium-operator-generic', 'multi-pool', 'multi-pool'],
    ['cilium-operator-generic', undefined, 'cluster-pool'],
    ['cilium-operator-generic --ipam=cluster-pool', 'crd', 'cluster-pool'],
  ])('name an operator that gives out blocks: %s, of a cluster with ipam=%s', (words, configured, mode) => {
    const found = blockOperatorFindings(known([pod('ns/a', { words })]), configured);

    expect(found.map((each) => each.found)).toEqual(
      mode === undefined
        ? []
        : [`cilium-operator runs with ipam=${mode}, and gives out addresses: 1 pod (ns/a)`],
    );
  });

  test('name the plugin of the cloud, and the nodes where it runs', () => {
    const pods = known([pod('a'), pod('b', { node: 'node-a' })]);

    const ours = new Set(['node-a', 'node-z']);

    expect(allocatorFindings('Terway', pods, ours)).toMatchObject([
      {
        verdict: 'problem',
        found: 'Terway runs on 1 node (node-a), and takes addresses of the same machines',
      },
    ]);
    expect(allocatorFindings('Terway', pods, new Set())).toHaveLength(1);
    expect(allocatorFindings('Terway', pods, new Set(['node-z']))).toEqual([]);
    expect(allocatorFindings('Terway', known([]), ours)).toEqual([]);
  });

  test('say once that pods cannot be read', () => {
    expect([
      ...operatorFindings(denied, undefined),
      ...allocatorFindings('Terway', denied, new Set()),
    ]).toMatchObject([{ verdict: 'unknown', found: 'pods cannot be read: may not list pods' }]);
  });
});

describe('rows of agents', () => {
  test.each<[string, ShownPod[], readonly (readonly [string, string])[]]>([
    ['none yet', [], []],
    ['all are ready', [pod('a'), pod('b')], [['ok', '2 pods of k8s-app=cilium are ready']]],
    [
      'all have versions',
      ['a', 'b', 'c'].map((name, at) => pod(name, { versions: [at === 1 ? 'v1.19.0' : 'v1.18.2', 'v9.9'] })),
      [['ok', '3 pods of k8s-app=cilium are ready, 1 of v1.19.0, 2 of v1.18.2']],
    ],
    [
      'one waits for its image, and one for addresses',
      [pod('a'), pod('b', { isReady: false, waitsFor: 'ImagePullBackOff' }), pod('c', { isReady: false })],
      [
        ['warning', '1 pod (b) of k8s-app=cilium: ImagePullBackOff'],
        ['warning', '1 pod (c) of k8s-app=cilium: not ready'],
      ],
    ],
  ])('say which are not ready, and why: %s', (_, pods, rows) => {
    const findings = agentFindings(known(pods), 'k8s-app=cilium');

    expect(findings.map(({ verdict, found }) => [verdict, found])).toEqual(rows);
  });
});

describe('what is read of a pod', () => {
  test('is what runs in it, and whether it is ready', () => {
    const raw = {
      metadata: { name: 'a', namespace: 'ns' },
      spec: {
        nodeName: 'one',
        containers: [
          { image: 'r:5000/i:v1.2.3-rc.1@sha256:0', command: ['c'], args: ['--x', 7] },
          { image: 'r:5000/i' },
        ],
      },
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        initContainerStatuses: [{ state: { terminated: {} } }],
        containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      },
    };

    expect(shownPod(raw)).toEqual({
      name: 'ns/a',
      node: 'one',
      words: 'r:5000/i:v1.2.3-rc.1@sha256:0 c --x 7 r:5000/i',
      isReady: false,
      versions: ['v1.2.3-rc.1'],
      waitsFor: 'CrashLoopBackOff',
    });
    expect(shownPod({})).toEqual({
      name: '/',
      node: '',
      words: '',
      isReady: false,
      waitsFor: undefined,
      versions: [],
    });
  });
});

describe('the row of a cilium-operator that is missing', () => {
  const options = { manageAgentTaint: false, agentNotReadyTaintKey: 'node.cilium.io/agent-not-ready' };
  const some = known([pod('ns/a')]);

  test('says that new Nodes keep the taint, and what to set', () => {
    expect(operatorAbsenceFindings({ operators: known([]), agents: some }, options)).toEqual([
      {
        verdict: 'warning',
        what: 'other programs',
        found:
          'no pod has the label io.cilium/app=operator: without cilium-operator, new Nodes keep the taint node.cilium.io/agent-not-ready, and get no pods',
        remedy: 'run one that gives out no addresses, or set manage-agent-taint (docs/migrate.md)',
      },
    ]);
  });

  test.each<[string, Parameters<typeof operatorAbsenceFindings>[0], boolean]>([
    ['one runs', { operators: some, agents: some }, false],
    ['it is not known', { operators: denied, agents: some }, false],
    ['no agents are known', { operators: known([]), agents: denied }, false],
    ['there are no agents', { operators: known([]), agents: known([]) }, false],
    ['Headwater removes the taint', { operators: known([]), agents: some }, true],
  ])('is not there if %s', (_, programs, manageAgentTaint) => {
    expect(operatorAbsenceFindings(programs, { ...options, manageAgentTaint })).toEqual([]);
  });
});
