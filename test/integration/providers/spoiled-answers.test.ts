import { AssignPrivateIpAddressesCommand } from '@aws-sdk/client-ec2';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AwsApi } from '../../../src/providers/aws/aws-api.ts';
import type { Ec2Action, Ec2Input, Ec2Output } from '../../../src/providers/aws/ec2-api.ts';
import type { Ec2Client } from '../../../src/providers/aws/ec2-client.ts';
import { observe } from '../../../src/providers/aws/read.ts';
import type { ReadOptions } from '../../../src/providers/aws/read-list.ts';
import { readInfrastructure, readSubnetCounts } from '../../../src/providers/aws/read-infrastructure.ts';
import { readLimits } from '../../../src/providers/aws/read-limits.ts';
import { CloudError } from '../../../src/providers/contract/cloud-failure.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Delivery, kinds, spoiled } from '../../support/spoiled-answers.ts';
import { type SpoilingFront, startSpoilingFront } from '../../support/spoiling-front.ts';
import { all, context, ec2ClientRig } from '../../unit/providers/aws/ec2-client-rig.ts';
import { plainCloud, type Rig, startRig } from '../simulator/ec2/ec2-rig.ts';

/** Number of answers of each kind. */
const draws = 20;
const vpc = 'vpc-00000000000000001';
const options: ReadOptions = {
  pageSize: 1000,
  instanceTags: {},
  subnetIds: [],
  subnetTags: {},
  tolerance: 'few',
};

let rig: Rig;
let front: SpoilingFront;
let api: AwsApi;
let client: Ec2Client;
let instanceIds: readonly string[];
/** The clock of the time limit for bodies that come too slowly. */
const clock = new VirtualClock();
/** Answers to this action are spoiled. */
let target = '';
let spoil: (answer: string) => Delivery | undefined = () => undefined;
let hasSpoiled = false;

beforeAll(async () => {
  const group = ['a', 'b'].map(
    (subnet) =>
      `  - { name: more-${subnet}, count: 4, type: m5.large, subnet: ${subnet}, securityGroups: [nodes], tags: { role: node } }\n`,
  );
  const roomy = plainCloud.replace('10.0.0.0/24', '10.0.16.0/20').replace('10.0.1.0/24', '10.0.32.0/20');
  rig = await startRig(roomy.replace('limits: {', `${group.join('')}limits: {`));
  instanceIds = [...rig.network.instances.values()].map(({ id }) => id);
  for (const [index, { id }] of [...rig.network.interfaces.values()].entries()) {
    const count = index % 2 === 0 ? { SecondaryPrivateIpAddressCount: 4 } : { Ipv4PrefixCount: 1 };
    await rig.client.send(new AssignPrivateIpAddressesCommand({ NetworkInterfaceId: id, ...count }));
  }
  const spoiling = (action: string, answer: string): Delivery | undefined => {
    const delivery = action === target ? spoil(answer) : undefined;
    hasSpoiled ||= delivery !== undefined;
    return delivery;
  };
  front = await startSpoilingFront(rig.url, spoiling, () => void clock.advance(1000));
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIAINTEGRATION00001';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'integration-secret';
  api = new AwsApi({
    region: 'us-east-1',
    endpoint: front.url,
    http: {
      connections: 4,
      clock,
      connectionTimeout: 5000,
      proxyFor: () => undefined,
      onRoute: () => undefined,
    },
  });
  ({ client } = ec2ClientRig(
    ({ action, input, signal }) => api.send(action, input, { signal, onSend: () => undefined }),
    { bucket: { capacity: 1e9, refill: 1e9 } },
  ));
});

afterAll(async () => {
  api?.close();
  await front?.close();
  await rig?.close();
});

/** Headwater uses no part of such an answer, not even a true one. */
const isWhole: ReadonlySet<string> = new Set([
  'with a byte that is no UTF-8',
  'twice in one',
  'followed by something',
  'declared to be in another encoding',
  'cut off behind an item',
  'with its list twice',
  'that says it has hundreds of megabytes',
  'packed',
  'in a slow drip',
]);

const saysNothing = 'it is there, and nothing is known of it';

type Things = ReadonlyMap<string, string>;

function thingsOf(entries: Iterable<readonly [string, unknown]>): Things {
  return new Map([...entries].map(([id, thing]) => [id, JSON.stringify(thing)]));
}

async function observed(kind: 'all' | 'instances'): Promise<Things> {
  const scope =
    kind === 'all'
      ? ({ kind, networkIds: [vpc], instanceIds: [] } as const)
      : ({ kind, instanceIds } as const);
  const tags = kind === 'all' ? {} : { role: 'node' };
  const pages = await all(observe({ client, options: { ...options, instanceTags: tags }, context }, scope));
  // What fails for one instance is asked for again.
  for (const { error } of pages.flatMap(({ failed = [] }) => failed)) throw error;
  return thingsOf(
    pages
      .flatMap(({ observations }) => observations)
      // An unreadable interface keeps its slot and shows nothing else.
      .map((each) => [
        each.kind === 'instance' ? each.instance.id : each.interface.id,
        each.kind === 'unreadableInterface' ? saysNothing : each,
      ]),
  );
}

const reads: Readonly<
  Record<string, { readonly actions: readonly string[]; readonly read: () => Promise<Things> }>
> = {
  listing: { actions: ['DescribeNetworkInterfaces'], read: () => observed('all') },
  look: { actions: ['DescribeNetworkInterfaces', 'DescribeInstances'], read: () => observed('instances') },
  infrastructure: {
    actions: ['DescribeSubnets', 'DescribeVpcs', 'DescribeRouteTables', 'DescribeSecurityGroups'],
    read: async () => {
      const { infrastructure } = await readInfrastructure({ client, options, context }, [vpc]);
      const { subnets, networks, routeTables, securityGroups, denied = {} } = infrastructure;
      for (const failures of Object.values(denied))
        for (const failure of failures.values()) throw new CloudError(failure);
      return thingsOf([
        ...subnets,
        ...networks,
        ...[...routeTables, ...securityGroups].map((each) => [each.id, each] as const),
      ]);
    },
  },
  counts: {
    actions: ['DescribeSubnets'],
    read: async () => thingsOf((await readSubnetCounts({ client, options, context }, [vpc])).counts),
  },
  limits: {
    actions: ['DescribeInstanceTypes'],
    read: async () => {
      const limits = await readLimits(client, ['m5.large', 'c5.xlarge'], context);
      return thingsOf([...limits].filter(([, each]) => !('problem' in each)));
    },
  },
};

const situations = Object.entries(reads).flatMap(([name, { actions, read }]) =>
  actions.map((action) => ({ name, action, read })),
);

interface Outcome {
  readonly failure: string | undefined;
  /** Facts that differ from the truth. */
  readonly wrong: readonly string[];
  readonly missing: readonly string[];
}

async function outcomeOf(read: () => Promise<Things>, truth: Things): Promise<Outcome> {
  try {
    const things = await read();
    return {
      failure: undefined,
      wrong: [...things]
        .filter(([id, thing]) => truth.get(id) !== thing && thing !== JSON.stringify(saysNothing))
        .map(([, thing]) => thing),
      missing: [...truth.keys()].filter((id) => !things.has(id)),
    };
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    return { failure: error.failure.kind, wrong: [], missing: [] };
  }
}

/** A spoiled answer may have broken the connection of the next request, so a read that finds it closed is repeated. */
async function wellRead(read: () => Promise<Things>): Promise<Things> {
  return read().catch((error: unknown) => {
    if (error instanceof CloudError && error.failure.kind === 'unreachable') return read();
    throw error;
  });
}

/** The same for the same seed: draws the kind for each situation in turn until it can change something there. */
async function draw(kind: string, seed: number): Promise<Outcome & { readonly name: string }> {
  const random = new Random(`${kind} ${seed}`);
  for (const { name, action, read } of random.shuffled(situations)) {
    target = '';
    const truth = await wellRead(read);
    target = action;
    hasSpoiled = false;
    spoil = (answer) => spoiled(kind, answer, random);
    const outcome = await outcomeOf(read, truth);
    target = '';
    if (hasSpoiled) return { ...outcome, name };
  }
  throw new Error(`nothing can be ${kind}`);
}

describe('an answer of EC2', () => {
  test('is spoiled in at least 50 ways, and at least 1,000 times', () => {
    expect(Object.keys(kinds).length).toBeGreaterThanOrEqual(50);
    expect(Object.keys(kinds).length * draws).toBeGreaterThanOrEqual(1000);
  });

  test('is read as a whole when it is intact', async () => {
    const read = await Promise.all(situations.map((situation) => situation.read()));

    expect(read.map(({ size }) => size)).toEqual([10, 20, 20, 6, 6, 6, 6, 2, 2]);
  });

  test('says what was done when it is intact', async () => {
    const [instanceId = ''] = instanceIds;
    const signal = new AbortController().signal;
    const send = <A extends Ec2Action>(action: A, input: Ec2Input<A>): Promise<Ec2Output<A>> =>
      api.send(action, input, { signal, onSend: () => undefined });

    const created = await send('CreateNetworkInterface', {
      SubnetId: 'subnet-0000000000000000a',
      Description: 'of a test',
      Groups: ['sg-00000000000000001'],
      ClientToken: 'token-1',
      SecondaryPrivateIpAddressCount: 2,
    });
    const NetworkInterfaceId = created.NetworkInterface?.NetworkInterfaceId ?? '';
    const attached = await send('AttachNetworkInterface', {
      NetworkInterfaceId,
      InstanceId: instanceId,
      DeviceIndex: 1,
      NetworkCardIndex: 0,
    });
    const AttachmentId = attached.AttachmentId ?? '';
    const assigned = await send('AssignPrivateIpAddresses', {
      NetworkInterfaceId,
      SecondaryPrivateIpAddressCount: 1,
    });
    const PrivateIpAddresses = (assigned.AssignedPrivateIpAddresses ?? []).map(
      ({ PrivateIpAddress = '' }) => PrivateIpAddress,
    );
    const done = [
      await send('ModifyNetworkInterfaceAttribute', {
        NetworkInterfaceId,
        Attachment: { AttachmentId, DeleteOnTermination: true },
      }),
      await send('UnassignPrivateIpAddresses', { NetworkInterfaceId, PrivateIpAddresses }),
      await send('DetachNetworkInterface', { AttachmentId }),
      await send('DeleteNetworkInterface', { NetworkInterfaceId }),
    ];

    expect(created.NetworkInterface?.PrivateIpAddresses).toHaveLength(3);
    expect(PrivateIpAddresses).toHaveLength(1);
    // EC2 reports this; some emulators report nothing.
    expect(done.map(({ Return = true }) => Return)).toEqual([true, true, true, true]);
  });

  test.each(Object.keys(kinds))('is never misread after the damage: %s', async (kind) => {
    const before = process.memoryUsage();
    const outcomes: (Outcome & { readonly name: string })[] = [];
    for (let seed = 0; seed < draws; seed++) outcomes.push(await draw(kind, seed));

    const refused = outcomes.filter(({ failure }) => failure !== undefined);
    if (isWhole.has(kind)) expect(refused).toHaveLength(draws);
    expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([]);
    // A listing takes nothing away: what it does not show is refreshed. A refresh without an interface would.
    const taking = outcomes.filter(({ name, missing }) => name === 'look' && missing.length > 0);
    expect(taking).toEqual([]);
    expect(outcomes.map(({ failure }) => failure ?? 'unreadable')).toEqual(outcomes.map(() => 'unreadable'));
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(150 * 2 ** 20);
  });
});
