// ECS instance types and their network limits, as DescribeInstanceTypes reports them
// (https://help.aliyun.com/document_detail/25378.html).
import type { CloudRules } from '../cloud/cloud-rules.ts';
import type { InstanceType } from '../cloud/instance-types.ts';

type Row = readonly [name: string, cpus: number, memoryGiB: number, interfaces: number, addresses: number];

// biome-ignore format: a table
const rows: readonly Row[] = [
  ['ecs.t6-c1m1.large', 2, 2, 2, 2],
  ['ecs.t6-c1m2.large', 2, 4, 2, 2],
  ['ecs.c6.large', 2, 4, 3, 6],
  ['ecs.c6.xlarge', 4, 8, 4, 15],
  ['ecs.c6.2xlarge', 8, 16, 4, 15],
  ['ecs.c7.large', 2, 4, 3, 6],
  ['ecs.c7.xlarge', 4, 8, 4, 15],
  ['ecs.c7.4xlarge', 16, 32, 8, 30],
  ['ecs.g6.large', 2, 8, 3, 6],
  ['ecs.g6.xlarge', 4, 16, 4, 15],
  ['ecs.g6.2xlarge', 8, 32, 4, 15],
  ['ecs.g6.4xlarge', 16, 64, 8, 20],
  ['ecs.g6.8xlarge', 32, 128, 8, 30],
  ['ecs.g6.26xlarge', 104, 384, 15, 50],
  ['ecs.g7.large', 2, 8, 3, 6],
  ['ecs.g7.xlarge', 4, 16, 4, 15],
  ['ecs.g7.2xlarge', 8, 32, 4, 15],
  ['ecs.g7.4xlarge', 16, 64, 8, 30],
  ['ecs.g7.8xlarge', 32, 128, 8, 30],
  ['ecs.g7.32xlarge', 128, 512, 15, 50],
  ['ecs.r7.large', 2, 16, 3, 6],
  ['ecs.r7.2xlarge', 8, 64, 4, 15],
  ['ecs.ebmg6.26xlarge', 104, 384, 32, 10],
];

/** Every known type, by name. */
export const ecsInstanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  rows.map(([name, cpus, memoryGiB, interfaces, addresses]) => [
    name,
    {
      name,
      hypervisor: 'nitro',
      architecture: 'x86_64',
      cpus,
      memoryMiB: memoryGiB * 1024,
      cards: [interfaces],
      ipv4PerInterface: addresses,
      ipv6PerInterface: addresses,
      networkPerformance: '',
      efaInterfaces: 0,
    },
  ]),
);

/** Secondary addresses of an interface that is not attached. */
export const maxSecondaryAddresses = 49;

/** The first and the last three addresses of a vSwitch are reserved (https://help.aliyun.com/document_detail/65387.html). */
export const ecsRules: CloudRules = {
  instanceTypes: ecsInstanceTypes,
  ipv4PerDetachedInterface: maxSecondaryAddresses + 1,
  reservedOffsets: (size) => [0, size - 3, size - 2, size - 1],
};
