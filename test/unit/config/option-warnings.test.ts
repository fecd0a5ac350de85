import { describe, expect, test } from '@jest/globals';
import { accepted, load, type Outside, problemsOf } from './loading.ts';

describe('options without effect', () => {
  test('are reported if they are set by flag or environment', () => {
    const { notices } = accepted(
      load({ flags: { 'enable-metrics': ['true'] }, environment: { CILIUM_ENABLE_IPV6: 'false' } }),
    );

    expect(notices.map(({ message, details }) => [message, details['option'], details['from']])).toEqual([
      ['option has no effect', 'enable-ipv6', 'the environment variable CILIUM_ENABLE_IPV6'],
      ['option has no effect', 'enable-metrics', 'the flag --enable-metrics'],
    ]);
  });

  test.each([
    ['cloud-provider', 'external', /the cloud is that of ipam/],
    ['node-cidr-mask-size', '0', /cluster-pool-ipv4-mask-size/],
    ['node-cidr-mask-size-ipv6', '64', /cluster-pool-ipv6-mask-size/],
  ])('say where run has it, if they are of nodeipam: --%s=%s', (option, text, reason) => {
    const { notices } = accepted(load({ flags: { [option]: [text] } }));

    expect(notices.map(({ details }) => details)).toEqual([
      { option, from: `the flag --${option}`, reason: expect.stringMatching(reason) },
    ]);
  });

  test('are named once, with what they do here, in a directory; its options of agents are not', () => {
    const files = {
      '/c/enable-ipv6': 'false',
      '/c/tunnel-protocol': 'vxlan',
      '/c/remove-cilium-node-taints': 'true',
      '/c/enable-metrics': 'true',
    };

    const { notices } = accepted(load({ flags: { 'config-dir': ['/c'] }, files }));

    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'options without effect in the directory',
        details: {
          'enable-metrics': 'metrics are always served, on serve-addr',
          'remove-cilium-node-taints': 'set manage-agent-taint instead',
          from: 'the directory /c',
        },
      },
    ]);
  });
});

describe('what kube-controller-manager is given', () => {
  const network = { 'cluster-cidr': ['10.0.0.0/8'] };

  test.each<[string, string, RegExp]>([
    ['leader-elect-lease-duration', '15s', /leader-election-lease-duration/],
    ['kube-api-qps', '50', /no limit/],
    ['v', '4', /log-level/],
    ['secure-port', '10257', /serve-addr/],
    ['cloud-provider', 'external', /no cloud is followed/],
    ['node-cidr-mask-size', '0', /not set/],
    ['node-cidr-mask-size-ipv6', '0', /not set/],
    ['horizontal-pod-autoscaler-sync-period', '30s', /goes on running there/],
    ['route-reconciliation-period', '10s', /route controller/],
  ])('is accepted by nodeipam with a notice: --%s=%s', (option, text, reason) => {
    const { notices } = accepted(load({ flags: { ...network, [option]: [text] } }, 'nodeipam'));

    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'option has no effect',
        details: { option, from: `the flag --${option}`, reason: expect.stringMatching(reason) },
      },
    ]);
  });

  test('leaves sizes and cloud at what they are without it, also from a mounted ConfigMap', () => {
    const files = {
      '/c/cloud-provider': 'external',
      '/c/node-cidr-mask-size': '0',
      '/c/cluster-cidr': '10.0.0.0/8',
    };

    const { options, sources, notices } = accepted(
      load({ flags: { 'config-dir': ['/c'], 'node-cidr-mask-size-ipv4': ['0'] }, files }, 'nodeipam'),
    );

    expect(notices.map(({ details }) => details)).toContainEqual({
      'cloud-provider': expect.stringMatching(/no cloud is followed/),
      'node-cidr-mask-size': expect.stringMatching(/not set/),
      from: 'the directory /c',
    });
    expect(options).toMatchObject({ nodeCidrMaskSizeIpv4: 24, cloudProvider: undefined });
    expect(sources['node-cidr-mask-size']).toEqual({ kind: 'default' });
  });

  test('does not name a cloud to follow', () => {
    const flags = { 'cidr-allocator-type': ['CloudAllocator'], 'cloud-provider': ['external'] };

    expect(problemsOf(load({ flags }, 'nodeipam'))).toContainEqual(
      expect.stringMatching(/^cloud-provider: /),
    );
  });

  test('leaves a size that a later flag sets', () => {
    const { options } = accepted(
      load({ flags: { ...network, 'node-cidr-mask-size': ['0', '25'] } }, 'nodeipam'),
    );

    expect(options.nodeCidrMaskSize).toBe(25);
  });

  test('is no variable of nodeipam', () => {
    const { notices } = accepted(load({ flags: network, environment: { CILIUM_V: '2' } }, 'nodeipam'));

    expect(notices).toEqual([]);
  });
});

describe('agents that ask for IPv6', () => {
  test.each<[string, string, Outside]>([
    ['azure', 'the flag --enable-ipv6', { flags: { 'enable-ipv6': ['true'] } }],
    [
      'alibabacloud',
      'the environment variable CILIUM_ENABLE_IPV6',
      { environment: { CILIUM_ENABLE_IPV6: 'true' } },
    ],
  ])('are a warning in mode %s, by %s', (ipam, from, outside) => {
    const subscription = ipam === 'azure' ? { 'azure-subscription-id': [uuid] } : {};

    const { warnings } = accepted(
      load({ ...outside, flags: { ...outside.flags, ...subscription, ipam: [ipam] } }),
    );

    expect(warnings).toContainEqual({
      kind: 'warning',
      message: 'IPv6 is not served in this mode',
      details: {
        option: 'enable-ipv6',
        from,
        because: expect.stringContaining('never gets ready'),
        remedy: 'set enable-ipv6 to false for the agents',
      },
    });
  });

  test('are a notice on AWS: only new ones say that they want it', () => {
    const files = { '/c/enable-ipv6': 'true' };

    const { notices, warnings } = accepted(load({ flags: { 'config-dir': ['/c'], ipam: ['eni'] }, files }));

    expect(warnings.map(({ details }) => details['option'])).not.toContain('enable-ipv6');
    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'IPv6 needs agents from 1.20 on',
        details: {
          option: 'enable-ipv6',
          from: 'the file /c/enable-ipv6',
          because: expect.stringContaining('agents up to 1.19'),
          remedy: expect.stringContaining('upgrade agents up to 1.19'),
        },
      },
    ]);
  });
});

const uuid = '00000000-0000-4000-8000-000000000000';

describe('a cap on all cloud calls', () => {
  test.each<[Outside, string, string]>([
    [{ flags: { 'limit-ipam-api-qps': ['4'] } }, 'limit-ipam-api-qps', 'the flag --limit-ipam-api-qps'],
    [
      { environment: { HEADWATER_CONFIG_DIR: '/c' }, files: { '/c/limit-ipam-api-burst': '20' } },
      'limit-ipam-api-burst',
      'the file /c/limit-ipam-api-burst',
    ],
  ])('causes a warning that states its cost: %j', (outside, option, from) => {
    const { warnings } = accepted(load(outside));

    expect(warnings).toContainEqual({
      kind: 'warning',
      message: 'all cloud calls together are capped',
      details: {
        option,
        from,
        perSecond: 4,
        burst: 20,
        cost: expect.stringContaining('at least 495 s instead of 190 s'),
      },
    });
  });

  test('is only a notice if it costs nothing', () => {
    const { notices, warnings } = accepted(
      load({ flags: { 'limit-ipam-api-qps': ['100'], 'limit-ipam-api-burst': ['500'] } }),
    );

    expect(warnings.filter(({ message }) => message.includes('capped'))).toEqual([]);
    expect(notices).toHaveLength(1);
  });
});

describe('the collection of orphaned interfaces', () => {
  const said = 'orphaned interfaces are not deleted';

  test.each<[string, Outside, readonly string[]]>([
    ['no name', {}, [said]],
    ['the name of every cluster without one', { flags: { 'cluster-name': ['default'] } }, [said]],
    ['a name', { flags: { 'cluster-name': ['blue'] } }, []],
    ['the name that EKS sets', { flags: { 'cluster-name': ['tag=aws:eks:cluster-name'] } }, []],
    ['tags of its own', { flags: { 'eni-gc-tags': ['cluster=blue'] } }, []],
    ['no name, and nothing to collect', { flags: { 'eni-gc-interval': ['0'] } }, []],
    ['no name, in a dry run of the collection', { flags: { 'eni-gc-dry-run': ['true'] } }, [said]],
  ])('is reported, if it is off, for a cluster with %s', (_, outside, expected) => {
    const { warnings } = accepted(load(outside));

    expect(warnings.map(({ message }) => message)).toEqual(expected);
    for (const { details } of warnings) expect(details['remedy']).toContain('--cluster-name');
  });

  test.each([
    ['eni', true],
    ['alibabacloud', false],
  ])('is off with ipam=%s, whose remedy names the tag of the cloud: %s', (ipam, isNamed) => {
    const { warnings } = accepted(load({ flags: { ipam: [ipam] } }));
    const remedies = warnings
      .filter(({ message }) => message === said)
      .map(({ details }) => details['remedy']);

    expect(remedies).toHaveLength(1);
    expect(String(remedies[0]).includes('or to tag=aws:eks:cluster-name if the instances carry')).toBe(
      isNamed,
    );
  });

  test.each([
    ['5s', 1],
    ['59s', 1],
    ['1m', 0],
    ['0', 0],
  ])('every %s causes %d notices about the cost', (text, count) => {
    const { notices } = accepted(load({ flags: { 'eni-gc-interval': [text], 'cluster-name': ['blue'] } }));

    expect(notices.map(({ message }) => message)).toEqual(
      Array(count).fill('orphaned interfaces are looked for very often'),
    );
    for (const { details } of notices) expect(details['cost']).toMatch(/calls an hour.*1m/);
  });
});
