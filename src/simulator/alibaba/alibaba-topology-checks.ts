// Cross-validates the parts of a topology of Alibaba Cloud: references between names, blocks within blocks, limits.
import { interfacesOf } from '../cloud/instance-types.ts';
import { covers, type Ipv4Block, overlap, parseIpv4Block } from '../cloud/ipv4.ts';
import type { AlibabaTopology } from './alibaba-topology-schema.ts';
import { ecsInstanceTypes } from './ecs-instance-types.ts';

type InstancePlan = AlibabaTopology['instances'][number];

/** Every inconsistency, as text with path, accepted and actual value. */
export function disagreements(topology: AlibabaTopology): readonly string[] {
  const { vpcs, vSwitches, securityGroups, instances } = topology;
  return [
    ...Object.entries({ vpcs, vSwitches, securityGroups, instances }).flatMap(([path, items]) => [
      ...repeated(
        path,
        'name',
        items.map((item) => item.name),
      ),
      ...repeated(
        path,
        'id',
        items.map((item) => item.id),
      ),
    ]),
    ...Object.entries({ vSwitches, securityGroups }).flatMap(([path, items]) =>
      items.flatMap((item, index) =>
        vpcOf(topology, item) === undefined
          ? expected(`${path}[${index}].vpc`, vpcs.map(({ name }) => name).join(', '), item.vpc)
          : [],
      ),
    ),
    ...vSwitches.flatMap((_, index) => blockOf(topology, index)),
    ...instances.flatMap((plan, index) => ofInstance(topology, plan, `instances[${index}]`)),
  ];
}

/** The VPC of a vSwitch or group: the one it names, or the only one. */
export function vpcOf(
  { vpcs }: AlibabaTopology,
  owner: { readonly vpc?: string | undefined },
): AlibabaTopology['vpcs'][number] | undefined {
  if (owner.vpc === undefined) return vpcs.length === 1 ? vpcs[0] : undefined;
  return vpcs.find(({ name }) => name === owner.vpc);
}

function repeated(path: string, what: string, values: readonly (string | undefined)[]): string[] {
  return values.flatMap((value, index) =>
    value !== undefined && values.indexOf(value) < index
      ? [`${path}[${index}].${what}: expected a ${what} of its own, found ${JSON.stringify(value)} again`]
      : [],
  );
}

function blockOf(topology: AlibabaTopology, index: number): string[] {
  const vSwitch = topology.vSwitches[index];
  const vpc = vSwitch && vpcOf(topology, vSwitch);
  if (vSwitch === undefined || vpc === undefined) return [];
  const own = read(vSwitch.block);
  const path = `vSwitches[${index}]`;
  const earlier = topology.vSwitches.slice(0, index);
  const clash = earlier.find((other) => vpcOf(topology, other) === vpc && overlap(read(other.block), own));
  const inside = vpc.blocks.some((block) => covers(read(block), own));
  return [
    ...(vSwitch.zone.startsWith(topology.region)
      ? []
      : expected(`${path}.zone`, `a zone of ${topology.region}`, vSwitch.zone)),
    ...(inside ? [] : expected(`${path}.block`, `a part of ${vpc.blocks.join(' or ')}`, vSwitch.block)),
    ...(own.length >= 16 && own.length <= 29
      ? []
      : expected(`${path}.block`, 'a length of /16 to /29', vSwitch.block)),
    ...(clash === undefined
      ? []
      : expected(`${path}.block`, `no overlap with vSwitch ${clash.name} (${clash.block})`, vSwitch.block)),
  ];
}

function ofInstance(topology: AlibabaTopology, plan: InstancePlan, path: string): string[] {
  return [
    ...(plan.id !== undefined && plan.count !== 1
      ? expected(`${path}.count`, '1 where an id is given', plan.count)
      : []),
    ...references(topology, plan, path),
    ...plan.interfaces.flatMap((extra, place) => references(topology, extra, `${path}.interfaces[${place}]`)),
    ...limits(plan, path),
  ];
}

function references(
  { vSwitches, securityGroups }: AlibabaTopology,
  plan: { readonly vSwitch?: string | undefined; readonly securityGroups: readonly string[] },
  path: string,
): string[] {
  const groups = securityGroups.map(({ name }) => name);
  const switches = vSwitches.map(({ name }) => name);
  const { vSwitch } = plan;
  return [
    ...(vSwitch === undefined || switches.includes(vSwitch)
      ? []
      : expected(`${path}.vSwitch`, `one of ${switches.join(', ')}`, vSwitch)),
    ...plan.securityGroups.flatMap((name, index) =>
      groups.includes(name)
        ? []
        : expected(`${path}.securityGroups[${index}]`, `one of ${groups.join(', ') || '(none)'}`, name),
    ),
  ];
}

function limits(plan: InstancePlan, path: string): string[] {
  const type = ecsInstanceTypes.get(plan.type);
  if (type === undefined) return [];
  const max = interfacesOf(type) - 1;
  const carried = [plan, ...plan.interfaces];
  return [
    ...(plan.interfaces.length > max
      ? expected(`${path}.interfaces`, `at most ${max} for ${type.name}`, plan.interfaces.length)
      : []),
    ...carried.flatMap(({ addresses }, index) =>
      addresses < type.ipv4PerInterface
        ? []
        : expected(
            index === 0 ? `${path}.addresses` : `${path}.interfaces[${index - 1}].addresses`,
            `at most ${type.ipv4PerInterface - 1} for ${type.name}`,
            addresses,
          ),
    ),
  ];
}

function expected(path: string, accepted: string, found: unknown): string[] {
  return [`${path}: expected ${accepted}, found ${JSON.stringify(found ?? null)}`];
}

/** A block that was already validated. */
function read(text: string): Ipv4Block {
  const block = parseIpv4Block(text);
  if (block === undefined) throw new Error(`not a block: ${text}`);
  return block;
}
