import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { describe, expect, test } from '@jest/globals';
import { loadOptions } from '../../../src/config/load-options.ts';
import { plainValue } from '../../../src/network/untrusted-text.ts';
import {
  environmentNameOf,
  type OptionName,
  type Options,
  optionNames,
} from '../../../src/config/option-table.ts';
import type { agentOptions } from '../../../src/config/options/agent-options.ts';
import type { blockOptions } from '../../../src/config/options/block-options.ts';
import type { nodeIpamOptions } from '../../../src/config/options/node-ipam-options.ts';
import { accepted, load, type Outside, problemsOf } from './loading.ts';

type BlockOption = keyof typeof blockOptions | keyof typeof nodeIpamOptions | keyof typeof agentOptions;

/** A refused text for each option that counts with ipam=eni. Paths accept every text. */
const refused: Readonly<
  Record<Exclude<OptionName, BlockOption | 'config-dir' | 'k8s-kubeconfig-path' | 'extra-ca-file'>, string>
> = {
  ipam: 'kubernetes',
  'enable-ipv4': 'false',
  'cluster-name': 'two words',
  'subnet-ids-filter': 'vpc-0123abcd',
  'subnet-tags-filter': 'team',
  'instance-tags-filter': '{"a":1}',
  'skip-unreadable-items': 'sometimes',
  'resync-interval': '600',
  'aws-release-excess-ips': 'perhaps',
  'excess-ip-release-delay': '2 minutes',
  'release-quarantine': '75',
  'release-pod-check': 'perhaps',
  'idle-interface-delay': '-1h',
  'allow-withdrawals': 'all',
  'aws-region': 'Frankfurt',
  'vpc-id': 'vpc-123',
  'pod-vpc-id': 'vpc-123',
  'ec2-api-endpoint': 'ftp://ec2',
  'network-account-role-arn': 'arn:aws:iam::1:user/network',
  'network-account-external-id': 'a b',
  'aws-use-primary-address': 'maybe',
  'aws-enable-prefix-delegation': 'maybe',
  'eni-tags': 'aws:x=y',
  'exclude-interface-tags': 'role',
  'azure-subscription-id': 'production',
  'azure-resource-group': 'a/b',
  'azure-user-assigned-identity-id': 'agent-pool',
  'azure-use-primary-address': 'maybe',
  'azure-offered-configurations': 'mine',
  'azure-release-excess-ips': 'maybe',
  'azure-cloud': 'AzureGermanCloud',
  'azure-endpoint': 'ftp://management',
  'azure-metadata-endpoint': '169.254.169.254',
  'alibaba-cloud-region': 'Hangzhou',
  'alibaba-cloud-vpc-id': 'production',
  'alibaba-cloud-release-excess-ips': 'maybe',
  'alibaba-cloud-ecs-endpoint': 'ftp://ecs',
  'alibaba-cloud-vpc-endpoint': 'ftp://vpc',
  'alibaba-cloud-endpoint': 'ftp://ecs',
  'alibaba-cloud-metadata-endpoint': '100.100.100.200',
  'cloud-quota-overrides': 'AttachNetworkInterface=100',
  'spread-cloud-calls': 'maybe',
  'eni-gc-tags': '=y',
  'eni-gc-interval': '4s',
  'eni-gc-dry-run': 'maybe',
  'parallel-alloc-workers': '0',
  'limit-ipam-api-qps': '0',
  'limit-ipam-api-burst': '0.5',
  'aws-max-results-per-call': '3',
  'cloud-quota-share': '1.5',
  'cloud-call-timeout': '0s',
  audit: 'audit.jsonl',
  'consistency-window': '1h',
  'k8s-api-server': 'kubernetes.default',
  'k8s-namespace': 'kube_system',
  'node-selector': 'pool in ()',
  'require-node': 'perhaps',
  'nodes-gc-interval': '1s',
  'manage-agent-taint': 'perhaps',
  'agent-not-ready-taint-key': 'two words',
  'cilium-pod-labels': 'k8s-app = cilium',
  'cilium-pod-namespace': 'kube_system',
  'leader-election': '2',
  'leader-election-lease-name': 'Lease',
  'leader-election-lease-duration': '15500ms',
  'leader-election-renew-deadline': '-10s',
  'leader-election-retry-period': '999ms',
  'dry-run': 'maybe',
  pause: 'everything',
  'serve-addr': '9966',
  ui: 'maybe',
  'node-metrics-limit': '100001',
  'log-level': 'trace',
  debug: 'on',
};

describe('a value that is refused', () => {
  test.each(Object.entries(refused) as [OptionName, string][])('is refused for %s: %s', (name, text) => {
    const byFlag = problemsOf(load({ flags: { [name]: [text] } }));
    const byEnvironment = problemsOf(load({ environment: { [environmentNameOf(name)]: text } }));

    const shown = plainValue(text);
    const value = shown === undefined ? 'the value of' : `${JSON.stringify(shown)} from`;
    expect(byFlag).toHaveLength(1);
    expect(byFlag[0]).toContain(`${name}: ${value} the flag --${name} is refused; accepted: `);
    expect(byEnvironment).toHaveLength(1);
    expect(byEnvironment[0]).toContain(
      `${name}: ${value} the environment variable ${environmentNameOf(name)} is refused; accepted: `,
    );
  });

  test('is reported in this one line', () => {
    const loaded = load({
      flags: { 'config-dir': ['/c'] },
      files: { '/c/parallel-alloc-workers': '5000\n' },
    });

    expect(problemsOf(loaded)).toEqual([
      'parallel-alloc-workers: "5000" from the file /c/parallel-alloc-workers is refused; accepted: a whole number from 1 to 1000',
    ]);
  });

  test('is reported together with all others, on one line each', () => {
    const loaded = load({
      flags: { 'vpc-id': ['a\nb'], 'parallel-alloc-workers': ['0'] },
      environment: { CILIUM_IPAM: 'kubernetes', HEADWATER_CONFIG_DIR: '/c' },
      files: { '/c/debug': 'loud', '/c/enable-ipv4': 'false' },
    });

    expect(problemsOf(loaded).map((line) => line.split(':')[0])).toEqual([
      'ipam',
      'enable-ipv4',
      'vpc-id',
      'parallel-alloc-workers',
      'debug',
    ]);
    expect(problemsOf(loaded).join('')).not.toContain('\n');
  });

  test('is shown without the password of its URL, for every option', () => {
    const text = 'https://user:planted@host/?token=planted#';
    const lines = problemsOf(
      load({ flags: Object.fromEntries(Object.keys(refused).map((name) => [name, [text]])) }),
    );
    expect(lines.length).toBeGreaterThan(30);
    expect(lines.join()).not.toContain('planted');
  });

  test('is cut if it is long', () => {
    const [line = ''] = problemsOf(load({ flags: { 'vpc-id': ['x'.repeat(5000)] } }));

    expect(line.length).toBeLessThan(250);
  });

  test('is refused even if it is one of several occurrences', () => {
    const loaded = load({ flags: { 'resync-interval': ['soon', '5m'] } });

    expect(problemsOf(loaded)[0]).toContain('"soon"');
  });

  test('may be a directory that cannot be read, or a file in it', () => {
    const readFile = (): never => {
      throw Object.assign(new Error('no'), { code: 'EACCES' });
    };

    const loaded = loadOptions(
      new Map([['config-dir', ['/c']]]),
      {
        environment: {},
        readFile,
        readDirectory: () => ['ipam'],
      },
      { checks: blockChecks },
    );
    const gone = loadOptions(
      new Map([['config-dir', ['/c']]]),
      {
        environment: {},
        readFile,
        readDirectory: readFile,
      },
      { checks: blockChecks },
    );

    expect(problemsOf(loaded)).toEqual([
      'ipam: the file /c/ipam is refused because this process may not read it; accepted: a readable file',
    ]);
    expect(problemsOf(gone)).toEqual([
      'config-dir: "/c" from the flag --config-dir is refused because this process may not read it; accepted: the path of a directory that holds one file per option',
    ]);
  });
});

describe('precedence', () => {
  const files = { '/c/cluster-name': 'file', '/c/resync-interval': '1m' };

  test.each<[string, Outside, string, string]>([
    ['default', {}, 'default', 'default'],
    ['directory before default', { flags: { 'config-dir': ['/c'] }, files }, 'file', 'file'],
    [
      'environment before directory',
      { environment: { HEADWATER_CONFIG_DIR: '/c', CILIUM_CLUSTER_NAME: 'env' }, files },
      'env',
      'environment',
    ],
    [
      'flag before everything',
      {
        flags: { 'config-dir': ['/c'], 'cluster-name': ['flag'] },
        environment: { CILIUM_CLUSTER_NAME: 'env' },
        files,
      },
      'flag',
      'flag',
    ],
    [
      'an empty variable says nothing',
      { flags: { 'config-dir': ['/c'] }, environment: { CILIUM_CLUSTER_NAME: ' ' }, files },
      'file',
      'file',
    ],
    [
      'an empty file says nothing',
      { flags: { 'config-dir': ['/c'] }, files: { '/c/cluster-name': '\n' } },
      'default',
      'default',
    ],
  ])('%s', (_, outside, value, source) => {
    const { options, sources } = accepted(load(outside));

    expect(options.clusterName).toBe(value);
    expect(sources['cluster-name'].kind).toBe(source);
  });

  test('applies to each option separately', () => {
    const { options, sources } = accepted(
      load({
        flags: { 'config-dir': ['/c'], 'vpc-id': ['vpc-0123abcd'] },
        environment: { CILIUM_DEBUG: 'true' },
        files,
      }),
    );

    expect(options).toMatchObject({
      vpcId: 'vpc-0123abcd',
      debug: true,
      resyncInterval: 60_000,
      clusterName: 'file',
    });
    expect(sources).toMatchObject({
      'vpc-id': { kind: 'flag' },
      debug: { kind: 'environment' },
      'resync-interval': { kind: 'file', path: '/c/resync-interval' },
      ipam: { kind: 'default' },
    });
  });

  test('lets an empty flag unset what has no default, and empty what may be empty', () => {
    const { options } = accepted(
      load({
        flags: { 'vpc-id': [''], 'eni-tags': [''] },
        environment: { HEADWATER_VPC_ID: 'vpc-0123abcd', CILIUM_ENI_TAGS: 'a=b' },
      }),
    );

    expect(options.vpcId).toBeUndefined();
    expect(options.eniTags).toEqual({});
  });

  test('refuses an empty flag where a value is required', () => {
    expect(problemsOf(load({ flags: { debug: [''] } }))).toHaveLength(1);
  });

  test('adds up repeated flags for lists and maps, and takes the last one of others', () => {
    const { options } = accepted(
      load({
        flags: {
          'subnet-ids-filter': ['subnet-0123abcd', 'subnet-4567abcd,subnet-0123abcd'],
          'eni-tags': ['a=1', '{"b":"2"}'],
          'cluster-name': ['one', 'two'],
        },
      }),
    );

    expect(options).toMatchObject({
      subnetIdsFilter: ['subnet-0123abcd', 'subnet-4567abcd'],
      eniTags: { a: '1', b: '2' },
      clusterName: 'two',
    });
  });
});

describe('defaults', () => {
  test('apply if nothing is set', () => {
    const { options, sources, notices, warnings } = accepted(load({}));

    expect(options).toEqual({
      ipam: 'eni',
      enableIpv4: undefined,
      clusterName: 'default',
      subnetIdsFilter: [],
      subnetTagsFilter: {},
      instanceTagsFilter: {},
      skipUnreadableItems: false,
      resyncInterval: 600_000,
      awsReleaseExcessIps: false,
      excessIpReleaseDelay: 180_000,
      releaseQuarantine: 75_000,
      releasePodCheck: true,
      idleInterfaceDelay: 3_600_000,
      allowWithdrawals: undefined,
      awsRegion: undefined,
      vpcId: undefined,
      podVpcId: undefined,
      networkAccountRoleArn: undefined,
      networkAccountExternalId: undefined,
      ec2ApiEndpoint: undefined,
      awsUsePrimaryAddress: false,
      awsEnablePrefixDelegation: false,
      azureSubscriptionId: [],
      azureResourceGroup: [],
      azureUserAssignedIdentityId: undefined,
      azureUsePrimaryAddress: false,
      azureOfferedConfigurations: 'all',
      azureReleaseExcessIps: false,
      azureCloud: undefined,
      azureEndpoint: undefined,
      azureMetadataEndpoint: 'http://169.254.169.254',
      alibabaCloudRegion: undefined,
      alibabaCloudVpcId: undefined,
      alibabaCloudReleaseExcessIps: false,
      alibabaCloudEndpoint: undefined,
      alibabaCloudEcsEndpoint: undefined,
      alibabaCloudVpcEndpoint: undefined,
      alibabaCloudMetadataEndpoint: 'http://100.100.100.200',
      eniTags: {},
      excludeInterfaceTags: {},
      eniGcTags: {},
      eniGcInterval: 300_000,
      eniGcDryRun: false,
      enableIpv6: undefined,
      clusterPoolIpv4Cidr: [],
      clusterPoolIpv4MaskSize: 24,
      clusterPoolIpv6Cidr: [],
      clusterPoolIpv6MaskSize: 112,
      nodesGcInterval: 300_000,
      manageAgentTaint: false,
      agentNotReadyTaintKey: 'node.cilium.io/agent-not-ready',
      ciliumPodLabels: 'k8s-app=cilium',
      ciliumPodNamespace: undefined,
      maxBlocksWithoutNode: 64,
      biggerBlocksShare: 50,
      skipCrdCreation: false,
      operatorK8sClientQps: 0,
      operatorK8sClientBurst: undefined,
      cidrAllocatorType: 'RangeAllocator',
      cloudProvider: undefined,
      gceApiEndpoint: 'https://compute.googleapis.com/compute/v1',
      gceMetadataEndpoint: 'http://169.254.169.254',
      clusterCidr: [],
      serviceClusterIpRange: [],
      secondaryServiceClusterIpRange: [],
      nodeCidrMaskSize: undefined,
      nodeCidrMaskSizeIpv4: 24,
      nodeCidrMaskSizeIpv6: 64,
      allocateNodeCidrs: true,
      kubeconfig: undefined,
      parallelAllocWorkers: 50,
      limitIpamApiQps: undefined,
      limitIpamApiBurst: undefined,
      awsMaxResultsPerCall: 1000,
      cloudCallTimeout: 30_000,
      audit: undefined,
      consistencyWindow: 30_000,
      k8sApiServer: undefined,
      k8sKubeconfigPath: undefined,
      k8sNamespace: 'kube-system',
      requireNode: false,
      nodeSelector: undefined,
      leaderElection: true,
      leaderElectionLeaseName: 'headwater',
      leaderElectionLeaseDuration: 15_000,
      leaderElectionRenewDeadline: 10_000,
      leaderElectionRetryPeriod: 2000,
      cloudQuotaShare: 0.8,
      cloudQuotaOverrides: new Map(),
      spreadCloudCalls: false,
      configDir: undefined,
      dryRun: false,
      pause: [],
      extraCaFile: undefined,
      serveAddr: { host: undefined, port: 9966 },
      ui: true,
      nodeMetricsLimit: 2000,
      logLevel: 'info',
      debug: false,
      nodeName: expect.any(String) as unknown as string,
      socketPath: '/var/run/headwater/agent.sock',
      stateDir: '/var/lib/headwater/agent',
      bootIdFile: '/proc/sys/kernel/random/boot_id',
      ipv4Range: undefined,
      ipv6Range: undefined,
      excludeIps: [],
      resolvConfDirectories: ['/etc', '/run/systemd/resolve'],
      autoCreateCiliumNodeResource: true,
      ciliumNodeSpec: undefined,
      ciliumNodeProtocol: 'used',
      ipamCiliumNodeUpdateRate: 15_000,
      ipamDefaultIpPool: 'default',
      ipamMultiPoolPreAllocation: ['default=8'],
      onlyMasqueradeDefaultPool: false,
      ipCooldownPeriod: 30_000,
      ipamExpiration: 600_000,
      prometheusServeAddr: undefined,
      agentHealthPort: undefined,
      autoCreateCiliumPodIpPools: new Map(),
      enableClusterPoolToMultiPoolMigration: false,
      multiPoolMigrationWorkers: 16,
      nodeSyncResync: 30_000,
      nodeSyncInitialRetry: 250,
      nodeSyncMaxBackoff: 10_000,
    } satisfies Options);
    expect(Object.keys(sources)).toEqual(optionNames);
    expect(notices).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual(['orphaned interfaces are not deleted']);
  });

  test('include the namespace of the pod', () => {
    const { options } = accepted(
      load({ files: { '/var/run/secrets/kubernetes.io/serviceaccount/namespace': 'network\n' } }),
    );

    expect(options.k8sNamespace).toBe('network');
  });
});

describe('the option debug', () => {
  test.each([
    [{}, 'info'],
    [{ debug: ['true'] }, 'debug'],
    [{ debug: ['false'] }, 'info'],
    [{ debug: ['true'], 'log-level': ['warn'] }, 'warn'],
  ])('sets, with the flags %j, the log level %s', (flags, level) => {
    const { options } = accepted(load({ flags }));

    expect(options.logLevel).toBe(level);
  });
});

describe('the interval of the collection', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['5s', 5000],
    ['1m', 60_000],
    ['24h', 86_400_000],
  ])('runs every %s', (text, ms) => {
    const { options } = accepted(load({ flags: { 'eni-gc-interval': [text] } }));

    expect(options.eniGcInterval).toBe(ms);
  });

  test.each(['4.9s', '25h', '5'])('is refused for every %s', (text) => {
    expect(problemsOf(load({ flags: { 'eni-gc-interval': [text] } }))).toEqual([
      expect.stringContaining('a duration from 5s to 24h'),
    ]);
  });
});

describe('the ids of subnets to use', () => {
  test.each([
    ['eni', 'subnet-0123abcd', []],
    ['alibabacloud', 'vsw-1', []],
    ['eni', 'vsw-1', [expect.stringContaining('ids that start with subnet-')]],
    ['alibabacloud', 'subnet-0123abcd', [expect.stringContaining('ids that start with vsw-')]],
  ])('with ipam=%s and %s, are those of the cloud or refused', (ipam, id, problems) => {
    const flags = { ipam: [ipam], 'cluster-name': ['one'], 'subnet-ids-filter': [id] };
    const loaded = load({ flags });

    expect('problems' in loaded ? loaded.problems : []).toEqual(problems);
  });
});

test('an external id without the role that requires it is refused', () => {
  const flags = { 'cluster-name': ['one'], 'network-account-external-id': ['two'] };
  const role = { 'network-account-role-arn': ['arn:aws:iam::444455556666:role/a/b'] };
  const problemsOf = (given: Parameters<typeof load>[0]): readonly string[] => {
    const loaded = load(given);
    return 'problems' in loaded ? loaded.problems : [];
  };

  expect(problemsOf({ flags })).toEqual([expect.stringContaining('used with network-account-role-arn')]);
  expect(problemsOf({ flags: { ...flags, ...role } })).toEqual([]);
});
