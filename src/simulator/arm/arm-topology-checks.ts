// Cross-validates the parts of a topology of Azure: references between names, and blocks within blocks.
import { covers, type Ipv4Block, overlap, parseIpv4Block } from '../cloud/ipv4.ts';
import type { ArmTopology, InterfacePlan } from './arm-topology-schema.ts';
import { maxConfigurations } from './configurations.ts';

/** Every inconsistency, as text with path, accepted and actual value. */
export function disagreements(topology: ArmTopology): readonly string[] {
  const { virtualNetworks, publicIpPrefixes, scaleSets, machines, principals } = topology;
  return [
    ...repeated('virtualNetworks', virtualNetworks),
    ...repeated('publicIpPrefixes', publicIpPrefixes),
    ...repeated('scaleSets', scaleSets),
    ...repeated('machines', machines),
    ...repeated('principals', principals),
    ...Object.entries({ virtualNetworks, publicIpPrefixes, scaleSets, machines }).flatMap(([path, plans]) =>
      plans.flatMap((plan, index) => places(topology, `${path}[${index}]`, plan)),
    ),
    ...virtualNetworks.flatMap((network, index) => blocks(network, `virtualNetworks[${index}]`)),
    ...Object.entries({ scaleSets, machines }).flatMap(([path, plans]) =>
      plans.flatMap((plan, index) => interfaces(topology, `${path}[${index}]`, plan.interfaces)),
    ),
  ];
}

function repeated(path: string, items: readonly { readonly name: string }[]): string[] {
  return items.flatMap(({ name }, index) =>
    items.findIndex((other) => other.name === name) < index
      ? [`${path}[${index}].name: expected a name of its own, found ${JSON.stringify(name)} again`]
      : [],
  );
}

/** The subscription and the group that a plan names. */
function places(
  { subscriptions }: ArmTopology,
  path: string,
  plan: { readonly subscription?: string | undefined; readonly group?: string | undefined },
): string[] {
  const wanted = plan.subscription ?? subscriptions[0]?.id ?? '';
  const found = subscriptions.find(({ id }) => id.toLowerCase() === wanted.toLowerCase());
  if (found === undefined) {
    const accepted = subscriptions.map(({ id }) => id).join(', ');
    return [`${path}.subscription: expected one of ${accepted}, found ${JSON.stringify(wanted)}`];
  }
  if (plan.group === undefined || found.groups.includes(plan.group)) return [];
  return [`${path}.group: expected one of ${found.groups.join(', ')}, found ${JSON.stringify(plan.group)}`];
}

function blocks({ blocks: outer, subnets }: ArmTopology['virtualNetworks'][number], path: string): string[] {
  const own = outer.flatMap((text) => parseIpv4Block(text) ?? []);
  const known: Ipv4Block[] = [];
  return [
    ...repeated(`${path}.subnets`, subnets),
    ...subnets.flatMap(({ block: text }, index) => {
      const block = parseIpv4Block(text);
      if (block === undefined) return [];
      const at = `${path}.subnets[${index}].block`;
      const clash = known.some((other) => overlap(other, block));
      known.push(block);
      if (clash) return [`${at}: expected a block apart from the others, found ${text}`];
      if (block.length > 29) return [`${at}: expected a block of /29 or larger, found ${text}`];
      return own.some((each) => covers(each, block))
        ? []
        : [`${at}: expected a block within ${outer.join(', ')}, found ${text}`];
    }),
  ];
}

function interfaces(topology: ArmTopology, path: string, plans: readonly InterfacePlan[]): string[] {
  const named = topology.virtualNetworks.flatMap(({ name, subnets }) =>
    subnets.map((subnet) => ({ short: subnet.name, whole: `${name}/${subnet.name}` })),
  );
  return [
    ...repeated(`${path}.interfaces`, plans),
    ...plans.flatMap(({ subnet, addresses }, index) => {
      const at = `${path}.interfaces[${index}]`;
      const fitting = named.filter(({ short, whole }) => short === subnet || whole === subnet);
      const accepted = named.map(({ whole }) => whole).join(', ');
      return [
        ...(fitting.length === 1
          ? []
          : [`${at}.subnet: expected one of ${accepted}, found ${JSON.stringify(subnet)}`]),
        ...(addresses < maxConfigurations
          ? []
          : [`${at}.addresses: expected fewer than ${maxConfigurations}, found ${addresses}`]),
      ];
    }),
  ];
}
