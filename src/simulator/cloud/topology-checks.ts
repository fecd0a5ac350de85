// Cross-validates the parts of a topology: references between names, blocks within blocks, limits.
import { interfacesOf, instanceTypes } from './instance-types.ts';
import { prefixSize } from './address-space.ts';
import { covers, type Ipv4Block, overlap, parseIpv4Block, sizeOf } from './ipv4.ts';
import type { InterfacePlan, Topology } from './topology-schema.ts';

interface Named {
  readonly name: string;
}

type InstancePlan = Topology['instances'][number];

/** Every inconsistency, as text with path, accepted and actual value. */
export function disagreements(topology: Topology): string[] {
  return [
    ...repeated('vpcs', topology.vpcs),
    ...repeated('subnets', topology.subnets),
    ...repeated('instances', topology.instances),
    ...repeatedIds(topology),
    ...vpcReferences(topology),
    ...blocks(topology),
    ...references(topology),
    ...topology.instances.flatMap((plan, index) => limits(plan, `instances[${index}]`)),
  ];
}

/** The VPC of a subnet, table or group: the one it names, or the only one. */
export function vpcNameOf(
  topology: Topology,
  owner: { readonly vpc?: string | undefined },
): string | undefined {
  const only = topology.vpcs.length === 1 ? topology.vpcs[0]?.name : undefined;
  const name = owner.vpc ?? only;
  return topology.vpcs.some((vpc) => vpc.name === name) ? name : undefined;
}

function repeated(path: string, items: readonly Named[]): string[] {
  return items.flatMap((item, index) =>
    items.findIndex((other) => other.name === item.name) < index
      ? [`${path}[${index}].name: expected a name of its own, found ${JSON.stringify(item.name)} again`]
      : [],
  );
}

function repeatedIds(topology: Topology): string[] {
  const { vpcs, subnets, routeTables, securityGroups, instances } = topology;
  const ids = Object.entries({ vpcs, subnets, routeTables, securityGroups, instances }).flatMap(
    ([path, items]) => items.map((item, index) => ({ path: `${path}[${index}].id`, id: item.id })),
  );
  const repeats = ids.filter(
    ({ id }, index) => id !== undefined && ids.findIndex((other) => other.id === id) < index,
  );
  const many = instances.flatMap((plan, index) =>
    plan.id !== undefined && plan.count !== 1
      ? [`instances[${index}].count: expected 1 where an id is given, found ${plan.count}`]
      : [],
  );
  return [...repeats.map(({ path, id }) => `${path}: expected an id of its own, found ${id} again`), ...many];
}

function vpcReferences(topology: Topology): string[] {
  const accepted = [...new Set(topology.vpcs.map((vpc) => vpc.name))].join(', ');
  const { subnets, routeTables, securityGroups } = topology;
  return Object.entries({ subnets, routeTables, securityGroups }).flatMap(([path, items]) =>
    items.flatMap((item, index) =>
      vpcNameOf(topology, item) === undefined
        ? [`${path}[${index}].vpc: expected one of ${accepted}, found ${JSON.stringify(item.vpc ?? null)}`]
        : [],
    ),
  );
}

function blocks(topology: Topology): string[] {
  const zones = topology.subnets.flatMap((subnet, index) =>
    subnet.zone.startsWith(topology.region)
      ? []
      : [
          `subnets[${index}].zone: expected a zone of ${topology.region}, found ${JSON.stringify(subnet.zone)}`,
        ],
  );
  return [...zones, ...topology.subnets.flatMap((_, index) => blockOf(topology, index))];
}

function blockOf(topology: Topology, index: number): string[] {
  const subnet = topology.subnets[index];
  if (subnet === undefined) return [];
  const own = read(subnet.block);
  const path = `subnets[${index}]`;
  const vpcName = vpcNameOf(topology, subnet);
  const vpc = topology.vpcs.find((candidate) => candidate.name === vpcName);
  const problems: string[] = [];
  const expected = (accepted: string): void => {
    problems.push(`${path}.block: expected ${accepted}, found ${subnet.block}`);
  };
  if (vpc?.blocks.every((block) => !covers(read(block), own)) === true) {
    expected(`a part of ${vpc.blocks.join(' or ')}`);
  }
  if (own.length < 16 || own.length > 28) expected('a length of /16 to /28');
  const clash = topology.subnets
    .slice(0, index)
    .find((other) => vpcNameOf(topology, other) === vpcName && overlap(read(other.block), own));
  if (clash !== undefined) expected(`no overlap with subnet ${clash.name} (${clash.block})`);
  return [...problems, ...reservationsOf(subnet, path)];
}

function reservationsOf(subnet: Topology['subnets'][number], path: string): string[] {
  return subnet.reservations.flatMap((reservation, index) => {
    const block = read(reservation.block);
    const earlier = subnet.reservations.slice(0, index);
    const free = earlier.every((other) => !overlap(read(other.block), block));
    const large = reservation.type === 'explicit' || sizeOf(block) >= prefixSize;
    if (covers(read(subnet.block), block) && free && large) return [];
    const accepted = `a part of ${subnet.block} that no other reservation has, of /28 or larger for prefixes`;
    return [`${path}.reservations[${index}].block: expected ${accepted}, found ${reservation.block}`];
  });
}

function references(topology: Topology): string[] {
  const subnets = [...new Set(topology.subnets.map((subnet) => subnet.name))];
  const groups = [...new Set(topology.securityGroups.map((group) => group.name))];
  const check = (path: string, accepted: readonly string[], name: string | undefined): string[] =>
    name === undefined || accepted.includes(name)
      ? []
      : [
          `${path}: expected one of ${accepted.join(', ') || '(none is defined)'}, found ${JSON.stringify(name)}`,
        ];
  const checkGroups = (path: string, names: readonly string[]): string[] =>
    names.flatMap((name, index) => check(`${path}.securityGroups[${index}]`, groups, name));
  const ofInterface = (path: string, plan: InterfacePlan): string[] => [
    ...check(`${path}.subnet`, subnets, plan.subnet),
    ...checkGroups(path, plan.securityGroups),
  ];
  return [
    ...topology.routeTables.flatMap((table, index) =>
      table.subnets.flatMap((name, place) => check(`routeTables[${index}].subnets[${place}]`, subnets, name)),
    ),
    ...topology.instances.flatMap((plan, index) => [
      ...check(`instances[${index}].subnet`, subnets, plan.subnet),
      ...checkGroups(`instances[${index}]`, plan.securityGroups),
      ...plan.interfaces.flatMap((extra, place) =>
        ofInterface(`instances[${index}].interfaces[${place}]`, extra),
      ),
    ]),
  ];
}

function limits(plan: InstancePlan, path: string): string[] {
  const type = instanceTypes.get(plan.type);
  if (type === undefined) return [];
  const problems: string[] = [];
  const max = interfacesOf(type) - 1;
  if (plan.interfaces.length > max) {
    problems.push(
      `${path}.interfaces: expected at most ${max} for ${type.name}, found ${plan.interfaces.length}`,
    );
  }
  const carried = [
    { place: path, load: plan.addresses + plan.prefixes },
    ...plan.interfaces.map((extra, index) => ({
      place: `${path}.interfaces[${index}]`,
      load: extra.addresses + extra.prefixes,
    })),
  ];
  for (const { place, load } of carried) {
    if (load < type.ipv4PerInterface) continue;
    problems.push(
      `${place}: expected at most ${type.ipv4PerInterface - 1} secondary addresses and prefixes for ${type.name}, found ${load}`,
    );
  }
  return problems;
}

/** A block that was already validated. */
function read(text: string): Ipv4Block {
  const block = parseIpv4Block(text);
  if (block === undefined) throw new Error(`not a block: ${text}`);
  return block;
}
