// Azure: Uniform scale sets with one interface a VM, in one subnet that has room for all of them.
import type { Bucket } from '../floor.ts';
import type { BenchCloud, CloudPlan } from './bench-cloud.ts';
import { quotaFlags } from './quota-flags.ts';

/** Limits of Resource Manager for a subscription and principal. The limits of Compute are wider. */
const reads: Bucket = { capacity: 250, refill: 25 };
const writes: Bucket = { capacity: 200, refill: 10 };

/**
 * How long the operation of an update takes, in ms: the mean that operators report. Without jitter the lower bound is
 * exact.
 */
const operationMs = 35_000;
/** Seconds until an answer, as the model's. */
const latencies = { get: 0.25, update: 1.2 };
/** Seconds that Azure asks to wait between polls. */
const retryAfter = 10;

/** The number of VMs in a scale set. */
const ofOneSet = 100;

export const azure: BenchCloud = {
  name: 'azure',
  title: 'Azure',
  server: {
    name: 'the model of Azure',
    flags: (directory) => [
      '--azure-port=0',
      '--azure-metadata-port=0',
      `--azure-ca-file=${directory}/azure-ca.pem`,
    ],
    lastVariable: 'AZURE_CLIENT_SECRET',
    access: ({ flags, variables }) => ({ flags: ['--ipam=azure', ...flags], env: variables }),
  },
  topology,
  agent: () => ({ cloud: 'azure', protocol: 'multi-pool' }),
  quotaFlags: (scale) => quotaFlags({ 'arm-reads': reads, 'arm-writes': writes }, scale),
  growth: {
    0: {
      words: 'for which one update of its VM is enough',
      calls: [
        { bucket: reads, seconds: latencies.get },
        { bucket: writes, seconds: latencies.update + operationMs / 1000 },
      ],
    },
  },
  // More would only take longer.
  largestScaleUp: 500,
  usual: { type: 'Standard_D4s_v5', firstInterfaceIndex: 0, before: 0, wanted: 8 },
  large: {
    type: 'Standard_D4s_v5',
    firstInterfaceIndex: 0,
    before: 14,
    wanted: 30,
    words: 'VMs that have one interface with 14 addresses get 16 more; then everything is listed once more.',
  },
  scale: { full: 1, small: 10 },
};

function topology({ machines, scale, latencyScale = 1 / scale, spread }: CloudPlan): string {
  const machineMs = { min: operationMs * latencyScale, max: operationMs * latencyScale };
  return JSON.stringify({
    cloud: 'azure',
    seed: 'bench',
    virtualNetworks: [
      { name: 'production', blocks: ['10.20.0.0/16'], subnets: [{ name: 'nodes', block: '10.20.0.0/16' }] },
    ],
    scaleSets: machines.flatMap(({ type, count, addresses = 0 }, kind) =>
      setsOf(count).map((size, index) => ({
        name: `pool-${kind}-${index}`,
        size: type,
        count: size,
        interfaces: [{ name: 'nic0', subnet: 'nodes', addresses }],
      })),
    ),
    limits: { scale },
    latency: { scale: latencyScale, spread },
    consistency: { listingLagMs: { min: 0, max: 1000 * latencyScale } },
    times: { machineMs },
    operations: { retryAfter: Math.max(1, Math.round(retryAfter * latencyScale)) },
  });
}

/** Sizes of the scale sets of so many VMs. */
function setsOf(count: number): readonly number[] {
  const sets = Math.ceil(count / ofOneSet);
  return Array.from({ length: sets }, (_, index) => Math.min(ofOneSet, count - index * ofOneSet));
}
