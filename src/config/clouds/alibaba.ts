import {
  type CloudDescriptor,
  collectionOf,
  type CollectionOptions,
  type TagLimit,
} from './cloud-descriptor.ts';

interface AlibabaOptions {
  readonly alibabaCloudReleaseExcessIps: boolean;
  readonly alibabaCloudVpcId: string | undefined;
}

/** https://www.alibabacloud.com/help/ecs/developer-reference/api-ecs-2014-05-26-createnetworkinterface */
const ecsForm: TagLimit['form'] = {
  words:
    'keys of at most 128 characters that do not begin with aliyun or acs:, values of at most 128, and http:// or https:// in neither',
  accepts: (key, value) =>
    key.length <= 128 &&
    value.length <= 128 &&
    !/^(aliyun|acs:)/i.test(key) &&
    !/https?:\/\//i.test(`${key} ${value}`),
};

export const alibaba: CloudDescriptor<AlibabaOptions & CollectionOptions> = {
  interfaces: 'made',
  ipv6: false,
  subnetIdStart: 'vsw-',
  otherAllocator: { name: 'Terway', selector: 'app in (terway,terway-eni,terway-eniip)' },
  policy: {
    file: 'docs/ram-policy.json',
    permissions: [
      'ecs:DescribeInstances',
      'ecs:DescribeInstanceTypes',
      'ecs:DescribeNetworkInterfaces',
      'ecs:DescribeSecurityGroups',
      'vpc:DescribeVpcs',
      'vpc:DescribeVSwitches',
      'ecs:AssignPrivateIpAddresses',
      'ecs:AttachNetworkInterface',
      'ecs:CreateNetworkInterface',
      'ecs:DeleteNetworkInterface',
      'ecs:UnassignPrivateIpAddresses',
    ],
  },
  releaseOption: 'alibaba-cloud-release-excess-ips',
  firstCalls: {
    what: 'a create and an attach',
    budgets: [
      { perSecond: 500 / 60, burst: 500 }, // CreateNetworkInterface
      { perSecond: 500 / 60, burst: 500 }, // AttachNetworkInterface
    ],
  },
  // https://www.alibabacloud.com/help/ecs/user-guide/tag-overview
  tagLimit: { max: 20, added: 1, cloud: 'ECS', form: ecsForm },
  settings: (options) => ({
    releaseExcessIps: options.alibabaCloudReleaseExcessIps,
    // Pods may use the primary address of each, which cannot be unassigned: none is ever idle.
    idleInterfaceDelay: undefined,
    // Pods have used the primary addresses of secondary interfaces ever since cilium-operator offers them.
    usePrimaryAddress: true,
    prefixDelegation: false,
    sparesOthers: false,
    scope: { networkId: options.alibabaCloudVpcId },
    collection: collectionOf(options),
  }),
  newNode: { providerId: /^[^.]+\.(.+)$/, ignoresCase: false, section: 'alibaba-cloud' },
};
