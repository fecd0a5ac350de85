// Alibaba Cloud: instances of one type in one zone, and a vSwitch for pods that has room for all of them.
import type { BenchCloud, CloudPlan, Machines } from './bench-cloud.ts';
import { quotaFlags } from './quota-flags.ts';

const zone = 'cn-hangzhou-a';
const podTags = { purpose: 'pods' } as const;

/** From the attachment of an interface until it is in use, in ms: what the peer was measured with. */
const attachMs = 3000;

export const alibaba: BenchCloud = {
  name: 'alibaba',
  title: 'Alibaba Cloud',
  server: {
    name: 'the model of Alibaba Cloud',
    flags: () => ['--alibaba-cloud-port=0', '--alibaba-cloud-metadata-port=0'],
    lastVariable: 'ALIBABA_CLOUD_ACCESS_KEY_SECRET',
    access: ({ flags, variables }) => ({ flags: ['--ipam=alibabacloud', ...flags], env: variables }),
  },
  topology,
  agent: () => ({
    cloud: 'alibabacloud',
    protocol: 'crd-allocator',
    networkCidr: '10.20.0.0/16',
    alibaba: { vSwitchTags: podTags },
  }),
  // Its windows are the cloud's own, whatever the model's are.
  quotaFlags: () => quotaFlags({}, 1),
  growth: { 1: { words: 'for which each needs an interface created and attached' } },
  largestScaleUp: 500,
  usual: { type: 'ecs.g7.xlarge', firstInterfaceIndex: 1, before: 0, wanted: 8 },
  large: {
    type: 'ecs.g7.4xlarge',
    firstInterfaceIndex: 1,
    before: 15,
    wanted: 30,
    words:
      'instances that have one interface for pods with 15 addresses get 15 more; then everything is listed once more.',
  },
  scale: { full: 1, small: 1 },
};

function topology({ machines, scale, latencyScale = 1 / scale, spread }: CloudPlan): string {
  const ms = (min: number, max: number): { min: number; max: number } => ({
    min: min * latencyScale,
    max: max * latencyScale,
  });
  return JSON.stringify({
    cloud: 'alibabacloud',
    seed: 'bench',
    vpcs: [{ name: 'production', blocks: ['10.20.0.0/16', '10.21.0.0/16'] }],
    vSwitches: [
      { name: 'nodes', zone, block: '10.20.0.0/16' },
      { name: 'pods', zone, block: '10.21.0.0/16', tags: podTags },
    ],
    securityGroups: [{ name: 'nodes' }],
    instances: machines.map(({ type, count, addresses }) => ({
      name: type,
      type,
      count,
      vSwitch: 'nodes',
      securityGroups: ['nodes'],
      interfaces: interfacesWith(addresses),
    })),
    limits: { scale },
    latency: { scale: latencyScale, spread },
    consistency: { visibilityDelayMs: ms(0, 500), listingLagMs: ms(0, 1000) },
    times: { createMs: ms(0, 1000), attachMs: ms(attachMs, attachMs) },
  });
}

/** Pods get no addresses of a primary interface; the first address of another one is theirs. */
function interfacesWith(addresses: Machines['addresses'] = 0): readonly object[] {
  if (addresses === 0) return [];
  return [{ vSwitch: 'pods', addresses: addresses - 1, tags: { 'cilium-eni-index': '1' } }];
}
