import { type CloudDescriptor, collectionOf, type CollectionOptions } from './cloud-descriptor.ts';

interface AwsOptions {
  readonly awsReleaseExcessIps: boolean;
  readonly awsUsePrimaryAddress: boolean;
  readonly awsEnablePrefixDelegation: boolean;
  readonly idleInterfaceDelay: number;
  readonly vpcId: string | undefined;
  readonly podVpcId: string | undefined;
}

// EKS sets it on every instance that joins a cluster of its own, and no user can set a tag whose key begins with aws:
// (https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html).
const nameTag = 'aws:eks:cluster-name';

export const aws: CloudDescriptor<AwsOptions & CollectionOptions> = {
  interfaces: 'made',
  ipv6: true,
  subnetIdStart: 'subnet-',
  nodeClass: { kind: 'EC2NodeClass', maxPods: ['spec', 'kubelet', 'maxPods'] },
  otherAllocator: { name: 'the VPC CNI plugin (aws-node)', selector: 'k8s-app=aws-node' },
  releaseOption: 'aws-release-excess-ips',
  firstCalls: {
    what: 'a create and an attach',
    budgets: [
      { perSecond: 5, burst: 100 }, // CreateNetworkInterface
      { perSecond: 5, burst: 50 }, // AttachNetworkInterface: the default for mutating actions
    ],
  },
  // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
  tagLimit: { max: 50, added: 0, cloud: 'EC2' },
  nameTag,
  settings: (options) => ({
    releaseExcessIps: options.awsReleaseExcessIps,
    idleInterfaceDelay: idleDelayOf(options),
    usePrimaryAddress: options.awsUsePrimaryAddress,
    prefixDelegation: options.awsEnablePrefixDelegation,
    sparesOthers: false,
    scope: { networkId: options.vpcId, podNetworkId: options.podVpcId },
    collection: collectionOf(options, nameTag),
  }),
  newNode: { providerId: /^aws:\/\/\/[^/]*\/(.+)$/, ignoresCase: false, section: 'eni' },
};

/** Without releases, Headwater never emptied an interface, so none is idle because of it. */
function idleDelayOf({ awsReleaseExcessIps, idleInterfaceDelay }: AwsOptions): number | undefined {
  return awsReleaseExcessIps && idleInterfaceDelay > 0 ? idleInterfaceDelay : undefined;
}
