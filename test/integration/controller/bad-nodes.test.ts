import { describe, expect, test } from '@jest/globals';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { JsonValue } from '../../../src/simulator/kubernetes/json-value.ts';
import type { StructuralSchema } from '../../../src/simulator/kubernetes/schema/structural-schema.ts';
import { validateSchema } from '../../../src/simulator/kubernetes/schema/validate.ts';
import type { Json, JsonObject } from '../../../src/simulator/workload/json.ts';
import type { NodeFacts } from '../../../src/simulator/workload/node-facts.ts';
import { instance, testCloud } from '../../support/test-cloud.ts';
import { World } from '../../support/world.ts';
import { startController, type WorldController } from '../../support/world-controller.ts';

const schema: StructuralSchema = ciliumNodeCrd.spec.versions[0].schema.openAPIV3Schema;

/** Values that are valid for some fields and invalid for all others. */
const values: readonly Json[] = [
  null,
  '',
  'text',
  '10.0.0.999',
  'x'.repeat(3000),
  '*',
  -1,
  0.5,
  1e21,
  true,
  [],
  ['text'],
  [7],
  {},
  { name: 'text' },
  { '10.0.0.999': {} },
];

type Path = readonly string[];

/** Every field of a schema; also one entry of each map and list. */
function* fieldsOf(part: StructuralSchema, path: Path): Generator<Path> {
  if (path.length > 0) yield path;
  for (const [name, inner] of Object.entries(part.properties ?? {})) yield* fieldsOf(inner, [...path, name]);
  if (typeof part.additionalProperties === 'object')
    yield* fieldsOf(part.additionalProperties, [...path, '10.0.0.77']);
  if (part.items !== undefined) yield* fieldsOf(part.items, [...path, '0']);
}

/** A merge patch that sets the field; creates lists on the path. */
function patchOf(path: Path, value: Json): JsonObject {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return { [name]: value };
  return rest[0] === '0' ? { [name]: [valueOf(rest.slice(1), value)] } : { [name]: patchOf(rest, value) };
}

function valueOf(path: Path, value: Json): Json {
  return path.length === 0 ? value : patchOf(path, value);
}

/** Fields that Headwater reads; it ignores problems elsewhere. */
const isRead = [
  /^spec\.instance-id/,
  /^spec\.ipam$/,
  /^spec\.ipam\.(pool|pools|(pre|min|max)-allocate|max-above-watermark|static-ip-tags)/,
  /^spec\.eni$/,
  /^spec\.eni\.(instance-id|instance-type|vpc-id|availability-zone|node-subnet-id|first-interface-index)/,
  /^spec\.eni\.(security-group|subnet-|exclude-|delete-|use-|disable-)/,
  /^status\.ipam\.(release-ips|operator-status\.error|assigned-static-ip)/,
  /^status\.eni\.enis(\.[\d.]+)?$/,
  /^status\.eni\.enis\.[\d.]+\.(addresses|prefixes|ipv6-prefixes)/,
];

interface Case {
  readonly name: string;
  readonly field: string;
  readonly patch: JsonObject;
  /** Undefined if Kubernetes itself would accept it. */
  readonly problem: string | undefined;
}

function casesOf(section: 'spec' | 'status'): Case[] {
  const part = schema.properties?.[section] ?? {};
  const relevant = /^(spec\.(instance-id|ipam|eni)|status\.(ipam|eni))/;
  const fields = [...fieldsOf(part, [section])].filter((path) => relevant.test(path.join('.')));
  return fields.flatMap((path) =>
    values.map((value) => {
      const patch = patchOf(path, value);
      const [error] =
        value === null ? [] : validateSchema((patch[section] ?? null) as JsonValue, part, section);
      return { name: '', field: path.join('.'), patch, problem: error && JSON.stringify(error) };
    }),
  );
}

interface Setup {
  readonly world: World;
  readonly controller: WorldController;
  readonly good: readonly NodeFacts[];
  readonly bad: readonly (Case & { readonly machine: NodeFacts })[];
}

/** A fleet in which each bad node is wrong in one field, behind an API server without validation. */
async function setUp(cases: readonly Case[]): Promise<Setup> {
  const count = cases.length + 5;
  const world = new World({
    cloud: testCloud({
      subnets: [{ name: 'nodes', zone: 'us-east-1a', block: '10.0.0.0/16' }],
      routeTables: [],
      instances: [instance({ type: 't3.nano', count })],
      limits: { throttle: false },
    }),
  });
  await world.installSchema({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  const controller = startController(world, { flags: { 'cloud-quota-share': '1' } });
  const good = world.machines.slice(0, 5);
  const bad = cases.map((each, index) => {
    const machine = world.machine(index + 5);
    return { ...each, name: machine.name, machine };
  });
  for (const { machine, patch } of bad) {
    const { status, ...spec } = patch;
    await world.announce(machine, spec);
    if (status !== undefined)
      await world.call('PATCH', `/apis/cilium.io/v2/ciliumnodes/${machine.name}/status`, { status });
  }
  for (const machine of good) await world.announce(machine);
  await world.advance(20 * 60_000);
  return { world, controller, good, bad };
}

/** What was reported about a node, in the log or in /status. */
function reportedOf({ controller }: Setup): ReadonlyMap<string, string> {
  const reported = new Map<string, string>();
  for (const { level, details } of controller.logged) {
    const name = String(details['node']);
    if (level === 'warn') reported.set(name, `${reported.get(name) ?? ''} ${JSON.stringify(details)}`);
  }
  return reported;
}

describe('a CiliumNode that is wrong', () => {
  test.each(['spec', 'status'] as const)(
    'is named, and delays no other node, whichever field of its %s is wrong',
    async (section) => {
      const setup = await setUp(casesOf(section));
      const { world, controller, good, bad } = setup;
      const reported = reportedOf(setup);

      const unserved = good.filter((machine) => world.pool(machine).size !== 2);
      const silent = bad.filter(
        ({ name, field, problem, machine }) =>
          problem !== undefined &&
          isRead.some((pattern) => pattern.test(field)) &&
          reported.get(name) === undefined &&
          world.pool(machine).size !== 2,
      );
      const lost = bad.filter(
        ({ name, machine }) => reported.get(name) === undefined && world.pool(machine).size !== 2,
      );

      expect(bad.length).toBeGreaterThan(200);
      expect(unserved).toEqual([]);
      expect(silent.map(({ field, patch }) => [field, JSON.stringify(patch).slice(0, 200)])).toEqual([]);
      expect(lost.map(({ field, patch }) => [field, JSON.stringify(patch).slice(0, 200)])).toEqual([]);
      const shared = controller.calls.filter(({ action }) => action.startsWith('Describe'));
      const spoilt = shared.filter(({ input }) => /"\*"|x{3000}/.test(JSON.stringify(input)));
      expect(spoilt.map(({ action }) => action)).toEqual([]);
      expect(world.bugs).toEqual([]);
      expect(world.orphaned()).toEqual([]);
    },
  );
});
