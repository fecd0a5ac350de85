// Describes the limits of instance types.
import { type InstanceType, instanceTypes, interfacesOf } from '../../cloud/instance-types.ts';
import { type Action, action } from '../action.ts';
import { Ec2Refusal } from '../ec2-refusal.ts';
import { compileFilters, type FilterTable } from '../filters.ts';
import { listRequest, pageFields, turnPage } from '../listing.ts';
import { as, flag, integer, list, record, text, type Value } from '../shape.ts';

type Described = InstanceType & { readonly id: string };

const all: readonly Described[] = [...instanceTypes.values()]
  .map((type) => ({ ...type, id: type.name }))
  .toSorted((a, b) => (a.id < b.id ? -1 : 1));

const fewest = 5;
const max = 100;

const networkInfo = record({
  NetworkPerformance: text,
  MaximumNetworkInterfaces: integer,
  MaximumNetworkCards: integer,
  DefaultNetworkCardIndex: integer,
  NetworkCards: list(
    record({ NetworkCardIndex: integer, NetworkPerformance: text, MaximumNetworkInterfaces: integer }),
  ),
  Ipv4AddressesPerInterface: integer,
  Ipv6AddressesPerInterface: integer,
  Ipv6Supported: flag,
  EnaSupport: text,
  EfaSupported: flag,
  EfaInfo: record({ MaximumEfaInterfaces: integer }),
});

const typeInfo = record({
  InstanceType: text,
  CurrentGeneration: flag,
  BareMetal: flag,
  Hypervisor: text,
  ProcessorInfo: record({ SupportedArchitectures: list(text) }),
  VCpuInfo: record({ DefaultVCpus: integer }),
  MemoryInfo: record({ SizeInMiB: integer }),
  NetworkInfo: networkInfo,
});

const filters: FilterTable<Described & { readonly tags?: never }> = {
  'bare-metal': ({ hypervisor }) => hypervisor === 'none',
  hypervisor: ({ hypervisor }) => hypervisor,
  'instance-type': ({ name }) => name,
  'memory-info.size-in-mib': ({ memoryMiB }) => memoryMiB,
  'network-info.efa-supported': ({ efaInterfaces }) => efaInterfaces > 0,
  'network-info.ipv4-addresses-per-interface': ({ ipv4PerInterface }) => ipv4PerInterface,
  'network-info.ipv6-addresses-per-interface': ({ ipv6PerInterface }) => ipv6PerInterface,
  'network-info.ipv6-supported': ({ ipv6PerInterface }) => ipv6PerInterface > 0,
  'network-info.maximum-network-cards': ({ cards }) => cards.length,
  'network-info.maximum-network-interfaces': interfacesOf,
  'processor-info.supported-architecture': ({ architecture }) => architecture,
  'vcpu-info.default-vcpus': ({ cpus }) => cpus,
};

const describeInstanceTypes = action({
  input: record({
    ...pageFields,
    InstanceTypes: as('InstanceType', list(text)),
    IncludeUnsupportedInRegion: flag,
  }),
  output: record({ InstanceTypes: as('instanceTypeSet', list(typeInfo)), NextToken: text }),
  run: ({ InstanceTypes: names = [], ...input }, context) => {
    const { MaxResults } = input;
    if (MaxResults !== undefined && (MaxResults < fewest || MaxResults > max)) {
      throw new Ec2Refusal(
        'InvalidMaxResults',
        `Value ( ${MaxResults} ) for parameter maxResults is invalid. Expecting a value from ( ${fewest} ) to  ( ${max} ).`,
      );
    }
    const unknown = names.filter((name) => !instanceTypes.has(name));
    if (unknown.length > 0) {
      throw new Ec2Refusal(
        'InvalidInstanceType',
        `The following supplied instance types do not exist: [${unknown.join(', ')}]`,
      );
    }
    const matches = compileFilters(input.Filters ?? [], filters);
    const page = turnPage(
      {
        action: `DescribeInstanceTypes ${names.join(' ')}`,
        after: (cursor) => all.filter(({ id }) => id > cursor),
        fits: (type) => (names.length === 0 || names.includes(type.name)) && matches(type, context.view),
      },
      listRequest([], input),
      context,
    );
    return { InstanceTypes: page.records.map(typeOut), NextToken: page.nextToken };
  },
});

function typeOut(type: InstanceType): Value<typeof typeInfo> {
  return {
    InstanceType: type.name,
    CurrentGeneration: !/^(a1|[cmrt][1-4]|i[12]|p[23])\./.test(type.name),
    BareMetal: type.hypervisor === 'none',
    ...(type.hypervisor === 'none' ? {} : { Hypervisor: type.hypervisor }),
    ProcessorInfo: { SupportedArchitectures: [type.architecture] },
    VCpuInfo: { DefaultVCpus: type.cpus },
    MemoryInfo: { SizeInMiB: type.memoryMiB },
    NetworkInfo: {
      NetworkPerformance: type.networkPerformance,
      MaximumNetworkInterfaces: interfacesOf(type),
      MaximumNetworkCards: type.cards.length,
      DefaultNetworkCardIndex: 0,
      NetworkCards: type.cards.map((interfaces, index) => ({
        NetworkCardIndex: index,
        NetworkPerformance: type.networkPerformance,
        MaximumNetworkInterfaces: interfaces,
      })),
      Ipv4AddressesPerInterface: type.ipv4PerInterface,
      Ipv6AddressesPerInterface: type.ipv6PerInterface,
      Ipv6Supported: type.ipv6PerInterface > 0,
      EnaSupport: type.hypervisor === 'xen' ? 'unsupported' : 'required',
      EfaSupported: type.efaInterfaces > 0,
      ...(type.efaInterfaces > 0 && { EfaInfo: { MaximumEfaInterfaces: type.efaInterfaces } }),
    },
  };
}

export const instanceTypeActions: Readonly<Record<string, Action>> = {
  DescribeInstanceTypes: describeInstanceTypes,
};
