import { describe, expect, test } from '@jest/globals';
import { observe } from '../../../../src/providers/alibaba/read.ts';
import { readInfrastructure } from '../../../../src/providers/alibaba/read-infrastructure.ts';
import type {
  RpcAction,
  RpcApi,
  RpcInput,
  RpcOutput,
  ShownNetworkInterface,
} from '../../../../src/providers/alibaba/rpc-api.ts';
import { unreadableIn } from '../../../../src/manager/listed-page.ts';
import type { Tolerance } from '../../../../src/providers/reading/plausible.ts';
import type { CallContext, ObservedPage } from '../../../../src/providers/contract/cloud.ts';
import type { CloudError } from '../../../../src/providers/contract/cloud-failure.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { clientOn } from './client-on.ts';

const context: CallContext = { caller: { priority: 'normal' }, signal: new AbortController().signal };

type Answers = Partial<Record<RpcAction, object>>;

function ecs(answers: Answers): ReturnType<typeof clientOn> {
  const api: RpcApi = {
    send: <A extends RpcAction>(action: A, _: RpcInput<A>, { onSend }: Parameters<RpcApi['send']>[2]) => {
      onSend();
      const answer = answers[action];
      if (answer === undefined) throw new Error(`${action} is not expected`);
      return Promise.resolve(answer as RpcOutput<A>);
    },
  };
  return clientOn(new VirtualClock(), api);
}

const ours: ShownNetworkInterface = {
  networkInterfaceId: 'eni-1',
  status: 'InUse',
  type: 'Secondary',
  macAddress: '00:16:3e:00:00:01',
  vpcId: 'vpc-1',
  vSwitchId: 'vsw-1',
  zoneId: 'cn-hangzhou-a',
  instanceId: 'i-1',
  privateIpAddress: '10.0.0.5',
  privateIpSets: { privateIpSet: [{ privateIpAddress: '10.0.0.5', primary: true }] },
};

async function listing(
  shown: readonly ShownNetworkInterface[],
  tolerance: Tolerance = 'few',
): Promise<readonly ObservedPage[]> {
  const client = ecs({ DescribeNetworkInterfaces: { networkInterfaceSets: { networkInterfaceSet: shown } } });
  const pages: ObservedPage[] = [];
  const scope = { kind: 'all', networkIds: ['vpc-1'], instanceIds: [] } as const;
  for await (const page of observe({ client, instanceTags: {}, tolerance, context }, scope)) pages.push(page);
  return pages;
}

describe('a listing of interfaces of ECS', () => {
  test('only counts what no instance holds, of which most may be in a form of its own', async () => {
    const ofServices = ['alb-1', 'nat-1', 'ep-1'].map((instanceId, index) => ({
      ...ours,
      networkInterfaceId: `eni-${index + 2}`,
      instanceId,
      macAddress: '',
      status: 'Linked',
    }));

    const [page] = await listing([...ofServices, ours]);

    expect(page?.observations).toMatchObject([{ kind: 'interface', interface: { id: 'eni-1' } }]);
    expect(page?.others).toHaveLength(3);
  });

  test.each<[string, readonly ShownNetworkInterface[]]>([
    ['without their ids', [{ status: 'InUse' }, { status: 'InUse' }]],
    ['of instances in a form of no cloud', [{ ...ours, macAddress: '' }]],
  ])('proves nothing with most interfaces %s', async (_, shown) => {
    await expect(listing(shown)).rejects.toThrow('cannot understand');
  });

  test('skips and counts most interfaces where an option says so', async () => {
    const husks = [
      { status: 'InUse' },
      { status: 'InUse' },
      { ...ours, networkInterfaceId: 'eni-2', macAddress: '' },
    ];

    const pages = await listing([...husks, ours], 'all');

    expect(pages.flatMap(({ observations }) => observations)).toMatchObject([
      { kind: 'unreadableInterface', interface: { id: 'eni-2', problem: 'macAddress is missing' } },
      { kind: 'interface', interface: { id: 'eni-1' } },
    ]);
    expect(pages.flatMap(({ unclear }) => unclear ?? [])).toMatchObject([{ count: 2, instanceIds: [] }]);
    expect(pages.reduce((sum, page) => sum + unreadableIn(page), 0)).toBe(3);
  });
});

describe('a read of instances of ECS', () => {
  const primary: ShownNetworkInterface = { ...ours, networkInterfaceId: 'eni-0', type: 'Primary' };
  const scope = (instanceIds: readonly string[]) => ({ kind: 'instances', instanceIds }) as const;

  async function pagesOf(answers: Answers, instanceIds: readonly string[]): Promise<readonly ObservedPage[]> {
    const pages: ObservedPage[] = [];
    const reading = { client: ecs(answers), instanceTags: {}, tolerance: 'few', context } as const;
    for await (const page of observe(reading, scope(instanceIds))) pages.push(page);
    return pages;
  }

  test.each<[string, ShownNetworkInterface]>([
    ['nothing', {}],
    ['its id alone', { networkInterfaceId: 'eni-1' }],
    ['a holder that is no instance', { ...ours, instanceId: '5' }],
    ['another id than that of an interface', { ...ours, networkInterfaceId: '7' }],
  ])('proves nothing of what it lacks where an item says %s', async (_, odd) => {
    const answers = {
      DescribeNetworkInterfaces: { networkInterfaceSets: { networkInterfaceSet: [primary, odd] } },
    };

    const [page] = await pagesOf(answers, ['i-1']);

    expect(page?.observations).toMatchObject([{ kind: 'interface', interface: { id: 'eni-0' } }]);
    expect(page?.unclear).toMatchObject({ count: 1, instanceIds: ['i-1'] });
  });

  test('shows an interface that says only whose it is as one that cannot be read', async () => {
    const husk = { networkInterfaceId: 'eni-1', instanceId: 'i-1' };
    const answers = {
      DescribeNetworkInterfaces: { networkInterfaceSets: { networkInterfaceSet: [primary, husk] } },
    };

    const [page] = await pagesOf(answers, ['i-1']);

    expect(page?.observations.map(({ kind }) => kind)).toEqual(['interface', 'unreadableInterface']);
    expect(page).not.toHaveProperty('unclear');
  });

  test('fails only for an instance in a state that nobody knows', async () => {
    const shown = (instanceId: string, status: string) => ({
      instanceId,
      status,
      networkInterfaces: { networkInterface: [] },
    });
    const answers = {
      DescribeInstances: { instances: { instance: [shown('i-1', 'Running'), shown('i-2', 'Frozen')] } },
    };

    const [page] = await pagesOf(answers, ['i-1', 'i-2', 'i-3']);

    expect(page?.observations).toMatchObject([
      { kind: 'instance', instance: { id: 'i-1', state: 'running' } },
      { kind: 'instance', instance: { id: 'i-3', state: 'unknown' } },
    ]);
    expect(page?.failed?.map(({ error }) => error.failure.message)).toEqual(['the state of i-2 is Frozen']);
  });

  test('fails only for those that it does not show where one is in another form', async () => {
    const shown = { instanceId: 'i-1', status: 'Running', networkInterfaces: { networkInterface: [] } };
    const answers = { DescribeInstances: { instances: { instance: [shown, {}] } } };

    const [page] = await pagesOf(answers, ['i-1', 'i-2']);

    expect(page?.observations).toMatchObject([
      { kind: 'instance', instance: { id: 'i-1', state: 'running' } },
    ]);
    expect(page?.failed?.map(({ instanceId }) => instanceId)).toEqual(['i-2']);
  });
});

describe('what is read of a network of Alibaba Cloud', () => {
  const good: Answers = {
    DescribeVpcs: { vpcs: { vpc: [{ vpcId: 'vpc-1', cidrBlock: '10.0.0.0/8' }] }, totalCount: 1 },
    DescribeVSwitches: {
      vSwitches: {
        vSwitch: [
          {
            vSwitchId: 'vsw-1',
            vpcId: 'vpc-1',
            zoneId: 'cn-hangzhou-a',
            cidrBlock: '10.0.0.0/24',
            availableIpAddressCount: 200,
          },
        ],
      },
      totalCount: 1,
    },
    DescribeSecurityGroups: {
      securityGroups: { securityGroup: [{ securityGroupId: 'sg-1', vpcId: 'vpc-1' }] },
      nextToken: '',
    },
  };

  test.each([
    ['has no list', {}],
    ['has groups of another form', { securityGroups: { securityGroup: [{ vpcId: 'vpc-1' }] } }],
  ])('lacks only the security groups if their list %s', async (_, groups) => {
    const client = ecs({ ...good, DescribeSecurityGroups: groups });

    const reading = { client, subnetIds: [], subnetTags: {}, tolerance: 'few', context } as const;
    const { infrastructure } = await readInfrastructure(reading, ['vpc-1']);

    expect([...infrastructure.subnets.keys()]).toEqual(['vsw-1']);
    expect(infrastructure.denied?.securityGroups?.get('vpc-1')).toMatchObject({ kind: 'unreadable' });
  });

  test('lacks the vSwitches in another form where an option says so, however many they are', async () => {
    const odd = (vSwitchId: string) => ({ vSwitchId, vpcId: 'vpc-1', zoneId: '' });
    const { vSwitch } = (good.DescribeVSwitches as { vSwitches: { vSwitch: object[] } }).vSwitches;
    const many = { vSwitches: { vSwitch: [...vSwitch, odd('vsw-2'), odd('vsw-3')] }, totalCount: 3 };
    const client = ecs({ ...good, DescribeVSwitches: many });
    const reading = { client, subnetIds: [], subnetTags: {}, context };

    const refused = readInfrastructure({ ...reading, tolerance: 'few' }, ['vpc-1']);
    const { infrastructure, problems } = await readInfrastructure({ ...reading, tolerance: 'all' }, [
      'vpc-1',
    ]);

    await expect(refused).rejects.toThrow('cannot understand 2 of 3');
    expect([...infrastructure.subnets.keys()]).toEqual(['vsw-1']);
    expect(problems.map(({ id }) => id)).toEqual(['vsw-2', 'vsw-3']);
  });

  test.each([
    ['all of it is tolerated', 'all', ['odd'], ['vpc-1', 'vsw-2']],
    ['little is', 'few', ['odd'], 'DescribeVpcs'],
    ['the network comes twice', 'few', ['10.0.0.0/8', '10.0.0.0/8'], 'DescribeVpcs'],
  ] as const)('is told of from the network to its vSwitches where %s', async (_, tolerance, cidrs, told) => {
    const vpc = cidrs.map((cidrBlock) => ({ vpcId: 'vpc-1', cidrBlock }));
    const client = ecs({
      ...good,
      DescribeVpcs: { vpcs: { vpc }, totalCount: 1 },
      DescribeVSwitches: { vSwitches: { vSwitch: [{ vSwitchId: 'vsw-2', vpcId: 'vpc-1' }] }, totalCount: 1 },
    });
    const reading = { client, subnetIds: [], subnetTags: {}, tolerance, context };

    const read = readInfrastructure(reading, ['vpc-1']).then(
      ({ problems }) => problems.map(({ id }) => id),
      (error: CloudError) => error.failure.action,
    );

    expect(await read).toEqual(told);
  });
});
