// Instance types and their network limits, as DescribeInstanceTypes reports them
// (https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html, "Network specifications").

export interface InstanceType {
  readonly name: string;
  /** Bare metal has none. */
  readonly hypervisor: 'nitro' | 'xen' | 'none';
  readonly architecture: 'x86_64' | 'arm64';
  readonly cpus: number;
  readonly memoryMiB: number;
  /** Interfaces that each network card supports. */
  readonly cards: readonly number[];
  /** Addresses and prefixes of one interface in total, including the primary address. */
  readonly ipv4PerInterface: number;
  readonly ipv6PerInterface: number;
  readonly networkPerformance: string;
  /** Elastic Fabric Adapters that it supports. */
  readonly efaInterfaces: number;
}

/** Interfaces that an instance of the type can have. */
export function interfacesOf(type: InstanceType): number {
  return type.cards.reduce((sum, card) => sum + card, 0);
}

/** Whether interfaces of the type support prefixes: Xen instances do not. */
export function carriesPrefixes(type: InstanceType): boolean {
  return type.hypervisor !== 'xen';
}

/** The most addresses on an interface of any type: the limit for a detached one. */
export const ipv4PerDetachedInterface = 64;

type Row = readonly [
  name: string,
  hypervisor: InstanceType['hypervisor'],
  architecture: InstanceType['architecture'],
  cpus: number,
  memoryMiB: number,
  cards: readonly number[],
  ipv4PerInterface: number,
  ipv6PerInterface: number,
  networkPerformance: string,
  efaInterfaces: number,
];

const cards = (count: number, interfaces: number): readonly number[] => Array<number>(count).fill(interfaces);

// biome-ignore format: a table
const rows: readonly Row[] = [
  ['t2.nano', 'xen', 'x86_64', 1, 512, [2], 2, 2, 'Low to Moderate', 0],
  ['t2.micro', 'xen', 'x86_64', 1, 1024, [2], 2, 2, 'Low to Moderate', 0],
  ['t2.small', 'xen', 'x86_64', 1, 2048, [3], 4, 4, 'Low to Moderate', 0],
  ['t2.medium', 'xen', 'x86_64', 2, 4096, [3], 6, 6, 'Low to Moderate', 0],
  ['t2.large', 'xen', 'x86_64', 2, 8192, [3], 12, 12, 'Low to Moderate', 0],
  ['t2.xlarge', 'xen', 'x86_64', 4, 16384, [3], 15, 15, 'Moderate', 0],
  ['t3.nano', 'nitro', 'x86_64', 2, 512, [2], 2, 2, 'Up to 5 Gigabit', 0],
  ['t3.micro', 'nitro', 'x86_64', 2, 1024, [2], 2, 2, 'Up to 5 Gigabit', 0],
  ['t3.small', 'nitro', 'x86_64', 2, 2048, [3], 4, 4, 'Up to 5 Gigabit', 0],
  ['t3.medium', 'nitro', 'x86_64', 2, 4096, [3], 6, 6, 'Up to 5 Gigabit', 0],
  ['t3.large', 'nitro', 'x86_64', 2, 8192, [3], 12, 12, 'Up to 5 Gigabit', 0],
  ['t3.xlarge', 'nitro', 'x86_64', 4, 16384, [4], 15, 15, 'Up to 5 Gigabit', 0],
  ['t3a.large', 'nitro', 'x86_64', 2, 8192, [3], 12, 12, 'Up to 5 Gigabit', 0],
  ['t4g.nano', 'nitro', 'arm64', 2, 512, [2], 2, 2, 'Up to 5 Gigabit', 0],
  ['t4g.small', 'nitro', 'arm64', 2, 2048, [3], 4, 4, 'Up to 5 Gigabit', 0],
  ['t4g.medium', 'nitro', 'arm64', 2, 4096, [3], 6, 6, 'Up to 5 Gigabit', 0],
  ['t4g.large', 'nitro', 'arm64', 2, 8192, [3], 12, 12, 'Up to 5 Gigabit', 0],
  ['a1.medium', 'nitro', 'arm64', 1, 2048, [2], 4, 4, 'Up to 10 Gigabit', 0],
  ['a1.xlarge', 'nitro', 'arm64', 4, 8192, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['m3.medium', 'xen', 'x86_64', 1, 3840, [2], 6, 0, 'Moderate', 0],
  ['m3.large', 'xen', 'x86_64', 2, 7680, [3], 10, 0, 'Moderate', 0],
  ['m4.large', 'xen', 'x86_64', 2, 8192, [2], 10, 10, 'Moderate', 0],
  ['m4.xlarge', 'xen', 'x86_64', 4, 16384, [4], 15, 15, 'High', 0],
  ['m4.4xlarge', 'xen', 'x86_64', 16, 65536, [8], 30, 30, 'High', 0],
  ['m5.large', 'nitro', 'x86_64', 2, 8192, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['m5.xlarge', 'nitro', 'x86_64', 4, 16384, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['m5.2xlarge', 'nitro', 'x86_64', 8, 32768, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['m5.4xlarge', 'nitro', 'x86_64', 16, 65536, [8], 30, 30, 'Up to 10 Gigabit', 0],
  ['m5.8xlarge', 'nitro', 'x86_64', 32, 131072, [8], 30, 30, '10 Gigabit', 0],
  ['m5.12xlarge', 'nitro', 'x86_64', 48, 196608, [8], 30, 30, '12 Gigabit', 0],
  ['m5.24xlarge', 'nitro', 'x86_64', 96, 393216, [15], 50, 50, '25 Gigabit', 0],
  ['m5.metal', 'none', 'x86_64', 96, 393216, [15], 50, 50, '25 Gigabit', 0],
  ['m5n.24xlarge', 'nitro', 'x86_64', 96, 393216, [15], 50, 50, '100 Gigabit', 1],
  ['m6g.large', 'nitro', 'arm64', 2, 8192, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['m6g.xlarge', 'nitro', 'arm64', 4, 16384, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['m6g.4xlarge', 'nitro', 'arm64', 16, 65536, [8], 30, 30, 'Up to 10 Gigabit', 0],
  ['m6i.large', 'nitro', 'x86_64', 2, 8192, [3], 10, 10, 'Up to 12.5 Gigabit', 0],
  ['m6i.xlarge', 'nitro', 'x86_64', 4, 16384, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['m7g.large', 'nitro', 'arm64', 2, 8192, [3], 10, 10, 'Up to 12.5 Gigabit', 0],
  ['m7g.2xlarge', 'nitro', 'arm64', 8, 32768, [4], 15, 15, 'Up to 15 Gigabit', 0],
  ['m7i.large', 'nitro', 'x86_64', 2, 8192, [3], 10, 10, 'Up to 12.5 Gigabit', 0],
  ['m7i.4xlarge', 'nitro', 'x86_64', 16, 65536, [8], 30, 30, 'Up to 12.5 Gigabit', 0],
  ['m8g.xlarge', 'nitro', 'arm64', 4, 16384, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['c3.xlarge', 'xen', 'x86_64', 4, 7680, [4], 15, 15, 'Moderate', 0],
  ['c4.large', 'xen', 'x86_64', 2, 3840, [3], 10, 10, 'Moderate', 0],
  ['c5.large', 'nitro', 'x86_64', 2, 4096, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['c5.xlarge', 'nitro', 'x86_64', 4, 8192, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['c5.2xlarge', 'nitro', 'x86_64', 8, 16384, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['c5.4xlarge', 'nitro', 'x86_64', 16, 32768, [8], 30, 30, 'Up to 10 Gigabit', 0],
  ['c5.9xlarge', 'nitro', 'x86_64', 36, 73728, [8], 30, 30, '12 Gigabit', 0],
  ['c5.metal', 'none', 'x86_64', 96, 196608, [15], 50, 50, '25 Gigabit', 0],
  ['c5n.18xlarge', 'nitro', 'x86_64', 72, 196608, [15], 50, 50, '100 Gigabit', 1],
  ['c6i.large', 'nitro', 'x86_64', 2, 4096, [3], 10, 10, 'Up to 12.5 Gigabit', 0],
  ['c6i.xlarge', 'nitro', 'x86_64', 4, 8192, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['c6i.4xlarge', 'nitro', 'x86_64', 16, 32768, [8], 30, 30, 'Up to 12.5 Gigabit', 0],
  ['c6g.medium', 'nitro', 'arm64', 1, 2048, [2], 4, 4, 'Up to 10 Gigabit', 0],
  ['c6g.large', 'nitro', 'arm64', 2, 4096, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['c6in.32xlarge', 'nitro', 'x86_64', 128, 262144, cards(2, 8), 50, 50, '200 Gigabit', 2],
  ['c7g.xlarge', 'nitro', 'arm64', 4, 8192, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['c7i.2xlarge', 'nitro', 'x86_64', 8, 16384, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['c8g.large', 'nitro', 'arm64', 2, 4096, [3], 10, 10, 'Up to 12.5 Gigabit', 0],
  ['c8i.8xlarge', 'nitro', 'x86_64', 32, 65536, [10], 50, 50, '15 Gigabit', 0],
  ['c8i.16xlarge', 'nitro', 'x86_64', 64, 131072, [16], 64, 64, '30 Gigabit', 0],
  ['r4.large', 'xen', 'x86_64', 2, 15616, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['r5.large', 'nitro', 'x86_64', 2, 16384, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['r5.xlarge', 'nitro', 'x86_64', 4, 32768, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['r5.2xlarge', 'nitro', 'x86_64', 8, 65536, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['r5.4xlarge', 'nitro', 'x86_64', 16, 131072, [8], 30, 30, 'Up to 10 Gigabit', 0],
  ['r6g.large', 'nitro', 'arm64', 2, 16384, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['r6i.xlarge', 'nitro', 'x86_64', 4, 32768, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['r7g.xlarge', 'nitro', 'arm64', 4, 32768, [4], 15, 15, 'Up to 12.5 Gigabit', 0],
  ['x2gd.medium', 'nitro', 'arm64', 1, 16384, [2], 4, 4, 'Up to 10 Gigabit', 0],
  ['i3.large', 'xen', 'x86_64', 2, 15616, [3], 10, 10, 'Up to 10 Gigabit', 0],
  ['i4i.xlarge', 'nitro', 'x86_64', 4, 32768, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['g4dn.xlarge', 'nitro', 'x86_64', 4, 16384, [3], 10, 10, 'Up to 25 Gigabit', 0],
  ['g5.xlarge', 'nitro', 'x86_64', 4, 16384, [4], 15, 15, 'Up to 10 Gigabit', 0],
  ['p4d.24xlarge', 'nitro', 'x86_64', 96, 1179648, cards(4, 15), 50, 50, '4x 100 Gigabit', 4],
  ['p5.48xlarge', 'nitro', 'x86_64', 192, 2097152, cards(32, 2), 50, 50, '3200 Gigabit', 32],
  ['trn1.32xlarge', 'nitro', 'x86_64', 128, 524288, cards(8, 5), 50, 50, '8x 100 Gigabit', 8],
  ['dl1.24xlarge', 'nitro', 'x86_64', 96, 786432, cards(4, 15), 50, 50, '4x 100 Gigabit', 4],
  ['hpc7g.16xlarge', 'nitro', 'arm64', 64, 131072, [4], 50, 50, '200 Gigabit', 1],
];

/** Every known type, by name. */
export const instanceTypes: ReadonlyMap<string, InstanceType> = new Map(
  rows.map((row) => {
    const [name, hypervisor, architecture, cpus, memoryMiB, cards, ...network] = row;
    const [ipv4PerInterface, ipv6PerInterface, networkPerformance, efaInterfaces] = network;
    const machine = { name, hypervisor, architecture, cpus, memoryMiB };
    return [
      name,
      { ...machine, cards, ipv4PerInterface, ipv6PerInterface, networkPerformance, efaInterfaces },
    ];
  }),
);
