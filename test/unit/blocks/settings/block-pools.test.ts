import { describe, expect, test } from '@jest/globals';
import { blockSettings } from '../../../../src/blocks/settings/block-pools.ts';
import { cidrText } from '../../../../src/blocks/set/cidr.ts';
import { accepted, load, problemsOf } from '../../config/loading.ts';

type Flags = Readonly<Record<string, string>>;

function loaded(command: 'run' | 'nodeipam', flags: Flags): ReturnType<typeof load> {
  const all = command === 'run' ? { ipam: 'cluster-pool', ...flags } : flags;
  return load(
    { flags: Object.fromEntries(Object.entries(all).map(([name, text]) => [name, [text]])) },
    command,
  );
}

function poolsOf(command: 'run' | 'nodeipam', flags: Flags): readonly string[] {
  const { options } = accepted(loaded(command, flags));
  const scope = command === 'run' ? 'cluster-pool' : command;
  return blockSettings(options, scope).pools.map(({ cidr, maskSize }) => `${cidrText(cidr)} /${maskSize}`);
}

describe('the networks of run --ipam=cluster-pool', () => {
  test.each<[Flags, readonly string[]]>([
    [{ 'cluster-pool-ipv4-cidr': '10.0.0.0/8' }, ['10.0.0.0/8 /24']],
    [
      { 'cluster-pool-ipv4-cidr': '10.0.0.0/16 10.2.0.0/16', 'cluster-pool-ipv4-mask-size': '25' },
      ['10.0.0.0/16 /25', '10.2.0.0/16 /25'],
    ],
    [{ 'cluster-pool-ipv6-cidr': 'fd00::/104' }, ['fd00::/104 /112']],
    [
      {
        'cluster-pool-ipv4-cidr': '10.0.0.0/8',
        'cluster-pool-ipv6-cidr': 'fd00::/104',
        'enable-ipv4': 'true',
      },
      ['10.0.0.0/8 /24', 'fd00::/104 /112'],
    ],
    [{ 'cluster-pool-ipv4-cidr': '10.1.2.3/16', 'enable-ipv6': 'false' }, ['10.1.0.0/16 /24']],
  ])('of %j are %j', (flags, pools) => {
    expect(poolsOf('run', flags)).toEqual(pools);
  });

  test.each<[Flags, readonly RegExp[]]>([
    [{}, [/^cluster-pool-ipv4-cidr: "" from the default is refused because blocks come from nowhere/]],
    [
      { 'enable-ipv4': 'true', 'cluster-pool-ipv6-cidr': 'fd00::/104' },
      [
        /^cluster-pool-ipv4-cidr: .* because enable-ipv4 is true \(the flag --enable-ipv4\); accepted: at least one IPv4 CIDR/,
      ],
    ],
    [
      { 'enable-ipv6': 'true', 'cluster-pool-ipv4-cidr': '10.0.0.0/8' },
      [/^cluster-pool-ipv6-cidr: .* because enable-ipv6 is true/],
    ],
    [
      {
        'enable-ipv4': 'false',
        'cluster-pool-ipv4-cidr': '10.0.0.0/8',
        'cluster-pool-ipv6-cidr': 'fd00::/104',
      },
      [
        /^cluster-pool-ipv4-cidr: "10.0.0.0\/8" .* because enable-ipv4 is false .* accepted: nothing, or enable-ipv4=true/,
      ],
    ],
    [
      { 'cluster-pool-ipv4-cidr': '010.0.0.0/8' },
      [/"010.0.0.0\/8" .* because of a leading zero: write 10.0.0.0\/8/],
    ],
    [{ 'cluster-pool-ipv4-cidr': '10.0.0.0' }, [/because it is not an address, a slash and a prefix length/]],
    [
      { 'cluster-pool-ipv4-cidr': 'fd00::/104' },
      [/because it is an IPv6 network; .* belongs to cluster-pool-ipv6-cidr/],
    ],
    [{ 'cluster-pool-ipv6-cidr': '10.0.0.0/8' }, [/because it is an IPv4 network/]],
    [
      { 'cluster-pool-ipv4-cidr': '10.0.0.0/8,10.1.0.0/16' },
      [/"10.1.0.0\/16" .* because it overlaps 10.0.0.0\/8/],
    ],
    [
      { 'cluster-pool-ipv4-cidr': '10.0.0.0/25' },
      [/"10.0.0.0\/25" .* because its prefix length is greater than the mask size, which is 24/],
    ],
    [
      { 'cluster-pool-ipv6-cidr': 'fd00::/64' },
      [/"fd00::\/64" .* because its prefix length is more than 16 less than the mask size, which is 112/],
    ],
    [
      { 'cluster-pool-ipv4-mask-size': '33', 'cluster-pool-ipv4-cidr': '10.0.0.0/8' },
      [/^cluster-pool-ipv4-mask-size: "33"/],
    ],
    [
      { 'cluster-pool-ipv4-cidr': 'ten/8', 'cluster-pool-ipv6-cidr': 'x' },
      [/^cluster-pool-ipv4-cidr: /, /^cluster-pool-ipv6-cidr: /],
    ],
    [
      {
        'cluster-pool-ipv4-cidr': '10.0.0.0/8,ten/8,10.1.0.0/16,fd00::/104',
        'cluster-pool-ipv6-cidr': 'fd00::/64',
        'enable-ipv6': 'false',
      },
      [
        /^cluster-pool-ipv4-cidr: .* because its address is not .* \(entry 2 of 4\); accepted: a CIDR$/,
        /^cluster-pool-ipv4-cidr: "fd00::\/104" .* belongs to cluster-pool-ipv6-cidr/,
        /^cluster-pool-ipv6-cidr: "fd00::\/64" .* because enable-ipv6 is false/,
        /^cluster-pool-ipv4-cidr: "10.1.0.0\/16" .* because it overlaps 10.0.0.0\/8/,
      ],
    ],
  ])('are refused: %j', (flags, problems) => {
    const found = problemsOf(loaded('run', flags));

    expect(found).toHaveLength(problems.length);
    for (const [index, problem] of problems.entries()) expect(found[index]).toMatch(problem);
  });

  test('warn of room for a single node', () => {
    const flags = { 'cluster-pool-ipv4-cidr': '10.0.0.0/24', 'cluster-pool-ipv6-cidr': 'fd00::/111' };
    const { warnings } = accepted(loaded('run', flags));

    expect(warnings.map(({ details }) => details)).toEqual([
      { family: 'ipv4', option: 'cluster-pool-ipv4-cidr', networks: '10.0.0.0/24', maskSize: 24 },
    ]);
    const two = { 'cluster-pool-ipv4-cidr': '10.0.0.0/24,10.0.1.0/24' };
    expect(accepted(loaded('run', two)).warnings).toEqual([]);
  });

  test('are named with a warning if they have host bits', () => {
    const { warnings } = accepted(loaded('run', { 'cluster-pool-ipv4-cidr': '10.1.2.3/16' }));

    expect(warnings.map(({ details }) => details)).toEqual([
      { option: 'cluster-pool-ipv4-cidr', given: '10.1.2.3/16', meant: '10.1.0.0/16' },
    ]);
  });

  test('leave options of clouds in a shared directory without effect, in one line', () => {
    const files = {
      '/c/ipam': 'cluster-pool',
      '/c/cluster-pool-ipv4-cidr': '10.0.0.0/8',
      '/c/enable-ipv4': 'true',
      '/c/enable-ipv6': 'false',
      '/c/eni-tags': 'nonsense',
      '/c/cluster-name': 'mine',
    };
    const { notices, options } = accepted(load({ flags: { 'config-dir': ['/c'] }, files }));

    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'options without effect in this mode',
        details: { options: 'cluster-name, eni-tags', mode: 'cluster-pool' },
      },
    ]);
    expect(options.clusterName).toBe('default');
  });

  test('are reported as without effect if another mode gets them', () => {
    const { notices } = accepted(load({ flags: { 'cluster-pool-ipv4-cidr': ['10.0.0.0/8'] } }));

    expect(notices.map(({ details }) => details['option'])).toEqual(['cluster-pool-ipv4-cidr']);
  });
});

describe('the networks of nodeipam', () => {
  test.each<[Flags, readonly string[]]>([
    [{ 'cluster-cidr': '10.0.0.0/8' }, ['10.0.0.0/8 /24']],
    [{ 'cluster-cidr': 'fd00::/48' }, ['fd00::/48 /64']],
    [{ 'cluster-cidr': 'fd00::/48,10.0.0.0/8' }, ['fd00::/48 /64', '10.0.0.0/8 /24']],
    [{ 'cluster-cidr': '10.0.0.0/8', 'node-cidr-mask-size': '25' }, ['10.0.0.0/8 /25']],
    [{ 'cluster-cidr': 'fd00::/56', 'node-cidr-mask-size': '72' }, ['fd00::/56 /72']],
    [
      {
        'cluster-cidr': '10.0.0.0/8,fd00::/56',
        'node-cidr-mask-size-ipv4': '25',
        'node-cidr-mask-size-ipv6': '72',
      },
      ['10.0.0.0/8 /25', 'fd00::/56 /72'],
    ],
  ])('of %j are %j', (flags, pools) => {
    expect(poolsOf('nodeipam', flags)).toEqual(pools);
  });

  test.each<[Flags, RegExp]>([
    [{}, /^cluster-cidr: "" from the default is refused because blocks come from nowhere/],
    [
      { 'cluster-cidr': '10.0.0.0/8,10.0.0.0/9' },
      /^cluster-cidr: "10.0.0.0\/9" .* because 10.0.0.0\/8 is an IPv4 network, too; accepted: one CIDR, or one of each/,
    ],
    [{ 'cluster-cidr': '10.0.0.0/8,fd00::/48,fd01::/48' }, /"fd01::\/48" .* because fd00::\/48 is an IPv6/],
    [{ 'cluster-cidr': '10.0.0.0/25' }, /because its prefix length is greater than the mask size/],
    [{ 'cluster-cidr': 'fd00::/40' }, /because its prefix length is more than 16 less than the mask size/],
    [
      { 'cluster-cidr': '10.0.0.0/8', 'node-cidr-mask-size': '7' },
      /divides into blocks|greater than the mask size, which is 7/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/8,fd00::/48', 'node-cidr-mask-size': '24' },
      /^node-cidr-mask-size: "24" .* because cluster-cidr names two networks; accepted: a size for each family/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/8', 'node-cidr-mask-size': '24', 'node-cidr-mask-size-ipv4': '24' },
      /^node-cidr-mask-size: "24" .* because node-cidr-mask-size-ipv4 is set, too/,
    ],
    [
      { 'cluster-cidr': 'fd00::/48', 'node-cidr-mask-size-ipv4': '24' },
      /^node-cidr-mask-size-ipv4: "24" .* because cluster-cidr is an IPv6 network only/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/8', 'node-cidr-mask-size-ipv6': '64' },
      /^node-cidr-mask-size-ipv6: "64" .* because cluster-cidr is an IPv4 network only/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/8', 'service-cluster-ip-range': '10.0.0.0/24,10.1.0.0/24' },
      /^service-cluster-ip-range: "10.1.0.0\/24" .* because 10.0.0.0\/24 is an IPv4 network, too/,
    ],
    [
      {
        'cluster-cidr': '10.0.0.0/8',
        'service-cluster-ip-range': '10.0.0.0/24',
        'secondary-service-cluster-ip-range': '10.1.0.0/24',
      },
      /^secondary-service-cluster-ip-range: "10.1.0.0\/24" .* is of that family/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/16', 'service-cluster-ip-range': '10.0.0.0/15' },
      /^cluster-cidr: "10.0.0.0\/16" .* because no block is left beside the addresses of Services/,
    ],
    [
      { 'cluster-cidr': '10.0.0.0/8', 'allocate-node-cidrs': 'false' },
      /^allocate-node-cidrs: "false".*accepted: true/,
    ],
    [{ 'cluster-cidr': '10.0.0.0/8', 'cidr-allocator-type': 'Magic' }, /^cidr-allocator-type: "Magic"/],
    ...[
      [{ 'cluster-cidr': '' }, /^cluster-cidr: "" .* because blocks come from nowhere/],
      [
        { 'cluster-cidr': '10.0.0.0/8,fd00::/48' },
        /^cluster-cidr: .* follows one alias of each instance; accepted: one CIDR$/,
      ],
      [
        { 'service-cluster-ip-range': '10.0.0.0/7' },
        /^cluster-cidr: "10.0.0.0\/8" .* because no block is left beside the addresses of Services/,
      ],
      [{ 'cluster-cidr': '10.0.0.0/23', 'service-cluster-ip-range': '10.0.0.0/24,fd00::/112' }, undefined],
      [{ 'cloud-provider': '' }, /^cloud-provider: "" .* because the cloud to follow is not named/],
      [{ 'cloud-provider': 'azure' }, /^cloud-provider: "azure" .* Azure routes no blocks to an instance/],
      [
        { 'cidr-allocator-type': 'IPAMFromCluster' },
        /^cidr-allocator-type: .* EC2 itself chooses the prefixes/,
      ],
      [{ 'node-sync-resync': '0' }, /^node-sync-resync: "0" .*; accepted: a duration from 1s/],
      [{ 'node-sync-initial-retry': 'soon' }, /^node-sync-initial-retry: "soon" .*; accepted: a duration/],
      [{ 'node-sync-max-backoff': '2h' }, /^node-sync-max-backoff: "2h" .*; accepted: a duration/],
    ].flatMap(([flags, problem]): [Flags, RegExp][] =>
      problem === undefined
        ? []
        : [
            [
              {
                'cidr-allocator-type': 'IPAMFromCloud',
                'cloud-provider': 'aws',
                'cluster-cidr': '10.0.0.0/8',
                ...(flags as Flags),
              },
              problem as RegExp,
            ],
          ],
    ),
    ...[
      ['', 'the cloud to follow is not named'],
      ['azure', 'Azure routes no blocks to an instance'],
      ['alibabacloud', 'Alibaba Cloud routes no blocks to an instance'],
    ].map(([provider = '', because = '']): [Flags, RegExp] => [
      { 'cidr-allocator-type': 'CloudAllocator', 'cloud-provider': provider },
      new RegExp(`^cloud-provider: "${provider}" .* because ${because}.*; accepted: aws`),
    ]),
  ])('are refused: %j', (flags, problem) => {
    expect(problemsOf(loaded('nodeipam', flags))).toEqual([expect.stringMatching(problem)]);
  });

  test.each<[Flags, readonly string[]]>([
    [
      {
        'cluster-cidr': '10.0.0.0/25,10.0.0.0/99',
        'service-cluster-ip-range': '10.1.0.0/24,10.2.0.0/24',
        'secondary-service-cluster-ip-range': 'x',
      },
      [
        'cluster-cidr: "10.0.0.0/99"',
        'secondary-service-cluster-ip-range: "x"',
        'service-cluster-ip-range: "10.2.0.0/24"',
        'cluster-cidr: "10.0.0.0/25"',
      ],
    ],
    [
      {
        'cidr-allocator-type': 'IPAMFromCloud',
        'cloud-provider': 'azure',
        'cluster-cidr': '10.0.0.0/16',
        'service-cluster-ip-range': '10.0.0.0/15',
      },
      ['cloud-provider: "azure"', 'cluster-cidr: "10.0.0.0/16"'],
    ],
    [
      {
        'cluster-cidr': '10.0.0.0/8,fd00::/48',
        'node-cidr-mask-size': '24',
        'service-cluster-ip-range': 'x',
      },
      ['service-cluster-ip-range: "x"', 'node-cidr-mask-size: "24"'],
    ],
    [
      { 'cluster-cidr': '10.0.0.0/99,fd00::/48', 'node-cidr-mask-size-ipv4': '24' },
      ['cluster-cidr: "10.0.0.0/99"'],
    ],
    [{ 'cluster-cidr': '10.0.0.0/99' }, ['cluster-cidr: "10.0.0.0/99"']],
  ])('are refused with every problem at once: %j', (flags, problems) => {
    const found = problemsOf(loaded('nodeipam', flags));

    expect(found.map((line) => line.split(' from ')[0])).toEqual(problems);
  });

  test('warn of room for a single Node', () => {
    const one = accepted(
      loaded('nodeipam', {
        'cluster-cidr': '10.0.0.0/23,fd00::/48',
        'service-cluster-ip-range': '10.0.1.0/24',
      }),
    );
    const more = accepted(loaded('nodeipam', { 'cluster-cidr': '10.0.0.0/23,fd00::/63' }));

    expect(one.warnings).toEqual([
      {
        kind: 'warning',
        message: 'the networks of a family have room for one node only: every other one waits',
        details: { family: 'ipv4', option: 'cluster-cidr', networks: '10.0.0.0/23', maskSize: 24 },
      },
    ]);
    expect(more.warnings).toEqual([]);
  });

  test('are not needed where Nodes follow a cloud', () => {
    const flags = { 'cidr-allocator-type': 'CloudAllocator', 'cloud-provider': 'aws' };

    expect(poolsOf('nodeipam', flags)).toEqual([]);
  });

  test('have a Lease of their own', () => {
    const { options } = accepted(loaded('nodeipam', { 'cluster-cidr': '10.0.0.0/8' }));

    expect(options.leaderElectionLeaseName).toBe('headwater-nodeipam');
  });
});

describe('values that are refused', () => {
  test.each<['run' | 'nodeipam', Flags, readonly string[]]>([
    [
      'run',
      {
        'cluster-pool-ipv4-mask-size': '33',
        'cluster-pool-ipv4-cidr': '10.0.0.0/8,ten/8',
        'cluster-pool-ipv6-cidr': 'fd00::/40',
        'leader-election-renew-deadline': '20s',
        'parallel-alloc-workers': 'many',
      },
      [
        'parallel-alloc-workers: "many"',
        'cluster-pool-ipv4-mask-size: "33"',
        'leader-election-renew-deadline: "20s"',
        'cluster-pool-ipv4-cidr: the value of the flag --cluster-pool-ipv4-cidr is refused because its address is not four numbers',
        'cluster-pool-ipv6-cidr: "fd00::/40"',
      ],
    ],
    [
      'nodeipam',
      { 'cidr-allocator-type': 'CloudAlocator', 'service-cluster-ip-range': '10.0.0.0/24,10.1.0.0/24' },
      ['cidr-allocator-type: "CloudAlocator"', 'service-cluster-ip-range: "10.1.0.0/24"'],
    ],
    [
      'nodeipam',
      {
        'cluster-cidr': '10.0.0.0/24,fd00::/48',
        'node-cidr-mask-size-ipv4': 'a',
        'service-cluster-ip-range': '10.0.0.0/24',
        'node-cidr-mask-size': '24',
      },
      ['node-cidr-mask-size-ipv4: "a"', 'node-cidr-mask-size: "24"'],
    ],
    [
      'run',
      {
        'leader-election-lease-duration': 'long',
        'leader-election-renew-deadline': '20s',
        'enable-ipv4': 'perhaps',
        'cluster-pool-ipv6-cidr': 'fd00::/104',
      },
      ['enable-ipv4: "perhaps"', 'leader-election-lease-duration: "long"'],
    ],
    [
      'run',
      { ipam: 'x', 'cluster-pool-ipv4-cidr': 'x', 'leader-election-renew-deadline': '20s' },
      ['ipam: "x"'],
    ],
  ])('are reported in one start with what contradicts each other: %s %j', (command, flags, problems) => {
    const found = problemsOf(loaded(command, flags));

    expect(new Set(found.map((line) => line.split(' from ')[0]))).toEqual(new Set(problems));
    expect(found).toHaveLength(problems.length);
  });

  test('leave the rest of a directory that can be read to be checked', () => {
    const files = { '/c/cluster-pool-ipv4-mask-size': '33', '/c/cluster-pool-ipv4-cidr': 'ten/8' };
    const flags = { ipam: ['cluster-pool'], 'config-dir': ['/c'] };

    expect(problemsOf(load({ flags, files }))).toHaveLength(2);
  });
});

describe('pools to create with run --ipam=multi-pool', () => {
  const network = 'ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24';
  const pairs = /^auto-create-cilium-pod-ip-pools: .*; accepted: pool=/;

  test.each<[string, RegExp]>([
    ['a=ipv4-cidrs:rubbish;ipv4-mask-size:24', /"rubbish" .* not an address, a slash/],
    [
      'a=ipv4-cidrs:10.0.0.0/33;ipv4-mask-size:24',
      /"10.0.0.0\/33" .*; accepted: a CIDR for ipv4-cidrs of pool a/,
    ],
    ['a=ipv4-cidrs:fd00::/104;ipv4-mask-size:24', /"fd00::\/104" .* because it is an IPv6 network/],
    ['a=ipv4-cidrs:10.0.0.0/25;ipv4-mask-size:24', /because its prefix length is greater than the mask size/],
    ['a=ipv6-cidrs:fd00::/64;ipv6-mask-size:112', /because its prefix length is more than 16 less/],
    [
      'a=ipv4-cidrs:10.0.0.0/8,10.1.0.0/16;ipv4-mask-size:24',
      /"10.1.0.0\/16" .* because it overlaps 10.0.0.0\/8 of pool a/,
    ],
    [`a=${network},b=${network}`, /because it overlaps 10.0.0.0\/8 of pool a; accepted: .* of pool b/],
    ['{"a":', pairs],
    ['["a"]', pairs],
    ['{"a":{"ipv4-cidrs":"10.0.0.0/8"}}', pairs],
  ])('are refused as %s', (text, problem) => {
    const flags = { ipam: ['multi-pool'], 'auto-create-cilium-pod-ip-pools': [text] };

    expect(problemsOf(load({ flags }))).toEqual([expect.stringMatching(problem)]);
  });
});
