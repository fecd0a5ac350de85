import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { buildNetwork } from '../../../../src/simulator/cloud/build-network.ts';
import { readTopology } from '../../../../src/simulator/cloud/topology.ts';
import { networkRig, topologyFrom } from './network-rig.ts';

const small = `
vpcs: [{ name: main, blocks: [10.0.0.0/16] }]
subnets: [{ name: a, zone: us-east-1a, block: 10.0.0.0/24 }]
`;

function problemsOf(text: string): readonly string[] {
  const result = readTopology(text);
  return 'problems' in result ? result.problems : [];
}

describe('readTopology', () => {
  test('has a default for everything but networks, subnets and instances', () => {
    const topology = topologyFrom(small);

    expect(topology).toMatchObject({
      region: 'us-east-1',
      instances: [],
      limits: { throttle: true, scale: 1 },
    });
    expect(topology.times.terminatedVisibleMs).toEqual({ min: 3_600_000, max: 3_600_000 });
  });

  test('accepts JSON as well as YAML', () => {
    const json = JSON.stringify({
      vpcs: [{ name: 'main', blocks: ['10.0.0.0/16'] }],
      subnets: [{ name: 'a', zone: 'us-east-1a', block: '10.0.0.0/24' }],
    });

    expect(topologyFrom(json)).toEqual(topologyFrom(small));
  });

  test.each([
    ['small.yaml', 4],
    ['mixed-fleet.yaml', 50],
  ])('builds the example %s with %i instances', (name, count) => {
    const file = new URL(`../../../../src/simulator/ec2/examples/${name}`, import.meta.url);
    const topology = topologyFrom(readFileSync(file, 'utf8'));

    const network = buildNetwork({ topology, clock: new VirtualClock(), random: new Random('example') });

    expect(network.instances.size).toBe(count);
  });

  test.each([
    ['', 'vpcs: expected array, received undefined, found nothing'],
    ['vpcs: [', 'not readable as YAML or JSON'],
    [`${small}\nvpc: []`, 'topology: unknown key "vpc": accepted are account, region'],
    [`${small}\nregion: mars`, 'region: expected a region such as us-east-1, found "mars"'],
    [`${small}\nlatency: { scale: fast }`, 'latency.scale: expected a factor, 0 or more, found "fast"'],
    [`${small}\ntimes: { attachMs: { min: 5, max: 1 } }`, 'times.attachMs: expected min not above max'],
    [
      `${small}\ninstances: [{ name: n, type: m5.huge, subnet: a }]`,
      'instances[0].type: expected one of the instance types of instance-types.ts, found "m5.huge"',
    ],
    [
      `${small}\ninstances: [{ name: n, type: m5.large, subnet: z }]`,
      'instances[0].subnet: expected one of a, found "z"',
    ],
    [
      `${small}\ninstances: [{ name: n, type: m5.large, subnet: a, addresses: 10 }]`,
      'instances[0]: expected at most 9 secondary addresses and prefixes for m5.large, found 10',
    ],
    [
      `${small}\ninstances: [{ name: n, type: t3.nano, subnet: a, interfaces: [{}, {}] }]`,
      'instances[0].interfaces: expected at most 1 for t3.nano, found 2',
    ],
    [
      small.replace('10.0.0.0/24', '10.1.0.0/24'),
      'subnets[0].block: expected a part of 10.0.0.0/16, found 10.1.0.0/24',
    ],
    [
      small.replace('us-east-1a', 'eu-west-1a'),
      'subnets[0].zone: expected a zone of us-east-1, found "eu-west-1a"',
    ],
    [
      small.replace('block: 10.0.0.0/24', 'block: 10.0.0.0/29'),
      'subnets[0].block: expected a length of /16 to /28',
    ],
    [
      small.replace(
        'block: 10.0.0.0/24',
        'block: 10.0.0.0/24, reservations: [{ block: 10.0.1.0/28, type: prefix }]',
      ),
      'subnets[0].reservations[0].block: expected a part of 10.0.0.0/24',
    ],
  ])('names the problem of case %#: %s', (text, problem) => {
    expect(problemsOf(text)).toContainEqual(expect.stringContaining(problem));
  });

  test('names every problem at once', () => {
    const text = `
vpcs: [{ name: main, blocks: [10.0.0.0/16] }, { name: main, blocks: [10.1.0.0/16] }]
subnets:
  - { name: a, vpc: main, zone: us-east-1a, block: 10.0.0.0/24 }
  - { name: a, vpc: mine, zone: us-east-1a, block: 10.0.0.128/25 }
instances: [{ name: n, type: m5.large, subnet: b, id: i-00000001, count: 2 }]
`;

    expect(problemsOf(text)).toEqual([
      'vpcs[1].name: expected a name of its own, found "main" again',
      'subnets[1].name: expected a name of its own, found "a" again',
      'instances[0].count: expected 1 where an id is given, found 2',
      'subnets[1].vpc: expected one of main, found "mine"',
      'instances[0].subnet: expected one of a, found "b"',
    ]);
  });
});

test('a network is built as the topology says, the same each time', () => {
  const [first, second] = [networkRig().network, networkRig().network];

  expect(first.snapshot()).toEqual(second.snapshot());
  expect([...first.instances.values()].map(({ type, state }) => `${type} ${state}`)).toEqual([
    'm5.large running',
    't2.micro running',
    'p4d.24xlarge running',
  ]);
});
