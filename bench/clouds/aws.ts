// EC2: instances of one type in one zone, and a subnet for pods that has room for all of them.
import { accessToEc2 } from '../../rig/controller-process.ts';
import type { LeastCall } from '../floor.ts';
import type { BenchCloud, CloudPlan } from './bench-cloud.ts';
import { allBuckets, buckets, latencies } from './ec2-limits.ts';
import { quotaFlags } from './quota-flags.ts';

const region = 'eu-central-1';
const zone = 'eu-central-1a';
const podSubnetTags = { purpose: 'pods' } as const;

const call = (action: keyof typeof buckets): LeastCall => ({
  bucket: buckets[action],
  seconds: latencies[action],
});

export const aws: BenchCloud = {
  name: 'aws',
  title: 'EC2',
  server: {
    name: 'the EC2 model',
    flags: () => ['--ec2-port=0'],
    lastVariable: 'AWS_SECRET_ACCESS_KEY',
    access: ({ url, variables: { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } }) =>
      accessToEc2({ url, credentials: { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } }, region),
  },
  topology,
  agent: (firstInterfaceIndex) => ({
    protocol: 'multi-pool',
    eni: { firstInterfaceIndex, subnetTags: podSubnetTags },
  }),
  quotaFlags: (scale) => quotaFlags(allBuckets, scale),
  growth: {
    0: {
      words: 'first-interface-index 0, so that one assignment is enough for each',
      calls: [call('AssignPrivateIpAddresses')],
    },
    1: {
      words: 'first-interface-index 1, so that each needs an interface created and attached',
      calls: [call('CreateNetworkInterface'), call('AttachNetworkInterface')],
    },
  },
  largestScaleUp: Infinity,
  usual: { type: 'm5.xlarge', firstInterfaceIndex: 1, before: 0, wanted: 8 },
  large: {
    // Two interfaces of 16 addresses fit. With the primary one, 15 for pods are 16.
    type: 'm5.4xlarge',
    firstInterfaceIndex: 1,
    before: 15,
    wanted: 15,
    words:
      'nodes m5.4xlarge that have an interface with 16 addresses each get another with 16; then everything is listed once more, in pages of 1000.',
  },
  scale: { full: 10, small: 1 },
};

function topology({ machines, scale, latencyScale = 1 / scale, spread }: CloudPlan): string {
  const ms = (min: number, max: number): { min: number; max: number } => ({
    min: min * latencyScale,
    max: max * latencyScale,
  });
  return JSON.stringify({
    region,
    seed: 'bench',
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16', '10.21.0.0/16'] }],
    subnets: [
      { name: 'nodes', zone, block: '10.20.0.0/16' },
      { name: 'pods', zone, block: '10.21.0.0/16', tags: podSubnetTags },
    ],
    routeTables: [{ name: 'private', subnets: ['nodes', 'pods'] }],
    securityGroups: [{ name: 'nodes' }],
    instances: machines.map(({ type, count, addresses = 0 }) => ({
      name: type,
      type,
      count,
      addresses,
      subnet: 'nodes',
      securityGroups: ['nodes'],
    })),
    limits: { scale },
    latency: { scale: latencyScale, spread },
    consistency: { visibilityDelayMs: ms(0, 500), listingLagMs: ms(0, 1000) },
    times: { attachMs: ms(1000, 3000), detachMs: ms(2000, 3000) },
  });
}
