// Edits the model of an instance, or of one interface, so that a PUT of it adds addresses. Only ipConfigurations change:
// the PUT replaces everything, so every other member goes back as it came, known or not.
import { isObject, type Json, type JsonObject, list, member, text } from './arm-api.ts';

/** Configurations of one interface, its primary one included. */
export const mostConfigurations = 256;

export interface Addition {
  /** The interface's name in the model. */
  readonly name: string;
  /** Undefined: the subnet that the interface is in. */
  readonly subnetId?: string | undefined;
  readonly count: number;
}

/** What an update asks for: names of its configurations, by the name of the interface. */
export type NamesByInterface = ReadonlyMap<string, readonly string[]>;

export type Edit =
  | { readonly kind: 'edited'; readonly model: JsonObject }
  | { readonly kind: 'refused'; readonly code: ModelProblem; readonly problem: string };

export type ModelProblem =
  | 'InterfaceNotInModel'
  | 'TooManyConfigurations'
  | 'ModelIsChanging'
  | 'UnreadableAnswer';

const vmInterfaces = ['networkProfileConfiguration', 'networkInterfaceConfigurations'] as const;

/**
 * A repeated request with the same id asks for the same names, so it adds nothing twice. Names are unique within the
 * update: `Cilium-<8 of the id>-<n>`.
 */
export function namesFor(additions: readonly Addition[], operationId: string): NamesByInterface {
  const stem = `Cilium-${operationId.replaceAll('-', '').slice(0, 8)}`;
  let n = 0;
  return new Map(
    additions.map(({ name, count }) => [name, Array.from({ length: count }, () => `${stem}-${n++}`)]),
  );
}

/** Adds configurations to interfaces in the model of a scale-set VM. */
export function withAdditionsToVm(
  model: JsonObject,
  additions: readonly Addition[],
  names: NamesByInterface,
): Edit {
  const refusal = refusalOf(model);
  if (refusal !== undefined) return refusal;
  const configured = list(model, 'properties', ...vmInterfaces);
  if (configured === undefined) return unreadable(`properties.${vmInterfaces.join('.')} is missing`);
  const interfaces = [...configured];
  for (const addition of additions) {
    const at = interfaces.findIndex(
      (item) => text(item, 'name')?.toLowerCase() === addition.name.toLowerCase(),
    );
    const before = interfaces[at];
    if (!isObject(before))
      return refused('InterfaceNotInModel', `the model has no interface ${addition.name}`);
    const edit = withAdditions(before, addition, { names: names.get(addition.name) ?? [], fresh: ofVm });
    if (edit.kind === 'refused') return edit;
    interfaces[at] = edit.model;
  }
  return {
    kind: 'edited',
    model: withoutImage(replaced(model, ['properties', ...vmInterfaces], interfaces)),
  };
}

/** Adds configurations to the model of an interface that is a resource of its own. */
export function withAdditionsToInterface(
  model: JsonObject,
  addition: Addition,
  names: readonly string[],
): Edit {
  return refusalOf(model) ?? withAdditions(model, addition, { names, fresh: ofInterface });
}

/** Whether the model, of a VM or of an interface, has all of these: then an earlier request with them arrived. */
export function holdsAll(model: Json, names: NamesByInterface): boolean {
  const interfaces = list(model, 'properties', ...vmInterfaces) ?? [model];
  const present = new Set(
    interfaces.flatMap((item) => (list(item, 'properties', 'ipConfigurations') ?? []).map(nameOf)),
  );
  return [...names.values()].flat().every((name) => present.has(name));
}

interface Parts {
  readonly names: readonly string[];
  readonly fresh: (subnetId: string) => JsonObject;
}

function withAdditions(
  before: JsonObject,
  { name: interfaceName, subnetId }: Addition,
  { names, fresh }: Parts,
): Edit {
  const configurations = list(before, 'properties', 'ipConfigurations');
  if (configurations === undefined || configurations.length === 0)
    return unreadable(`ipConfigurations of ${interfaceName} is missing`);
  const present = new Set(configurations.map(nameOf));
  const missing = names.filter((name) => !present.has(name));
  const total = configurations.length + missing.length;
  if (total > mostConfigurations) {
    const text = `${interfaceName} would have ${total} configurations, and Azure allows ${mostConfigurations}`;
    return refused('TooManyConfigurations', text);
  }
  const [first] = configurations;
  const inSubnet = subnetId ?? text(first, 'properties', 'subnet', 'id');
  if (inSubnet === undefined) return unreadable(`${interfaceName} is in no subnet`);
  const groups = applicationGroupsOf(first);
  const added = missing.map((name) => ({
    name,
    properties: { ...fresh(inSubnet), ...(groups.length > 0 && { applicationSecurityGroups: groups }) },
  }));
  return {
    kind: 'edited',
    model: replaced(before, ['properties', 'ipConfigurations'], [...configurations, ...added]),
  };
}

function ofVm(subnetId: string): JsonObject {
  return { subnet: { id: subnetId }, privateIPAddressVersion: 'IPv4' };
}

function ofInterface(subnetId: string): JsonObject {
  return { subnet: { id: subnetId }, privateIPAllocationMethod: 'Dynamic', privateIPAddressVersion: 'IPv4' };
}

/** All configurations of an interface must have the same ones. */
function applicationGroupsOf(first: Json | undefined): readonly JsonObject[] {
  const groups = list(first, 'properties', 'applicationSecurityGroups') ?? [];
  return groups.flatMap((group) => {
    const id = text(group, 'id');
    return id === undefined ? [] : [{ id }];
  });
}

function nameOf(configuration: Json): string | undefined {
  return text(configuration, 'name');
}

/** Whoever began the change, a PUT now would be refused or would undo it. */
function refusalOf(model: JsonObject): Edit | undefined {
  const state = text(model, 'properties', 'provisioningState');
  if (state === undefined) return unreadable('properties.provisioningState is missing');
  if (['succeeded', 'failed', 'canceled'].includes(state.toLowerCase())) return undefined;
  return refused('ModelIsChanging', `the provisioning state is ${state}`);
}

function refused(code: ModelProblem, problem: string): Edit {
  return { kind: 'refused', code, problem };
}

function unreadable(problem: string): Edit {
  return refused('UnreadableAnswer', `cannot understand the model: ${problem}`);
}

/**
 * Without its image reference a model keeps its image. With one from a gallery, the PUT needs permissions on the gallery
 * that nothing else needs.
 */
function withoutImage(model: JsonObject): JsonObject {
  const profile = member(model, 'properties', 'storageProfile');
  if (!isObject(profile) || !Object.hasOwn(profile, 'imageReference')) return model;
  const { imageReference: _, ...kept } = profile;
  return replaced(model, ['properties', 'storageProfile'], kept);
}

function replaced(model: JsonObject, [name = '', ...rest]: readonly string[], value: Json): JsonObject {
  const before = model[name];
  const after = rest.length === 0 ? value : replaced(isObject(before) ? before : {}, rest, value);
  return { ...model, [name]: after };
}
