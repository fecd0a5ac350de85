// Edits the model of an instance, or of one interface, so that a PUT of it adds or removes addresses. Only
// ipConfigurations change: the PUT replaces everything, so every other member goes back as it came, known or not,
// but for those that read-only-members.ts leaves out.
import { list, text } from './arm-api.ts';
import { isObject, type Json, type JsonObject, valueAt } from '../../runtime/json.ts';

/**
 * Configurations of one interface, its primary one included, and of all interfaces of a VM together
 * (https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#networking-limits).
 */
export const maxConfigurations = 256;

export interface Addition {
  /** The interface's name in the model. */
  readonly name: string;
  readonly count: number;
  /** The most configurations of ours that it may have then. */
  readonly max?: number | undefined;
}

/** Names of the configurations that an update adds or removes, by the name of the interface. */
export type NamesByInterface = ReadonlyMap<string, readonly string[]>;

export type Edit =
  | { readonly kind: 'edited'; readonly model: JsonObject }
  | { readonly kind: 'refused'; readonly code: ModelProblem; readonly problem: string };

export type ModelProblem =
  | 'InterfaceNotInModel'
  | 'TooManyConfigurations'
  | 'ModelIsChanging'
  | 'BeingDeleted'
  | 'ConfigurationNotOurs'
  | 'PublicAddressPresent'
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
  const edits = additions.map((addition): InterfaceEdit => {
    const edit = (before: JsonObject): Edit =>
      withAdditions(before, addition, { names: names.get(addition.name) ?? [], fresh: ofVm });
    return { name: addition.name, edit };
  });
  return vmWith(model, edits);
}

/** Removes configurations from interfaces in the model of a scale-set VM. */
export function withRemovalsFromVm(model: JsonObject, names: NamesByInterface): Edit {
  const edits = [...names].map(([name, removed]): InterfaceEdit => {
    return { name, edit: (before) => withRemovals(before, removed) };
  });
  return vmWith(model, edits);
}

interface InterfaceEdit {
  /** The interface's name in the model. */
  readonly name: string;
  readonly edit: (before: JsonObject) => Edit;
}

function vmWith(model: JsonObject, edits: readonly InterfaceEdit[]): Edit {
  const refusal = refusalOf(model);
  if (refusal !== undefined) return refusal;
  const configured = list(model, 'properties', ...vmInterfaces);
  if (configured === undefined) return unreadable(`properties.${vmInterfaces.join('.')} is missing`);
  const interfaces = [...configured];
  for (const { name, edit } of edits) {
    const at = interfaces.findIndex((item) => text(item, 'name')?.toLowerCase() === name.toLowerCase());
    const before = interfaces[at];
    if (!isObject(before)) return refused('InterfaceNotInModel', `the model has no interface ${name}`);
    const edited = edit(before);
    if (edited.kind === 'refused') return edited;
    interfaces[at] = edited.model;
  }
  const [before, total] = [countIn(configured), countIn(interfaces)];
  if (total > maxConfigurations && total > before) return tooMany('the VM', total);
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

/** Removes configurations from the model of an interface that is a resource of its own. */
export function withRemovalsFromInterface(model: JsonObject, names: readonly string[]): Edit {
  return refusalOf(model) ?? withRemovals(model, names);
}

/** The name that cilium-operator gives a public IP address, too. */
export const managedPublicAddress = 'cilium-managed-public-ip';

/** Gives the primary configuration of an interface a public address from a prefix, in the model of a scale-set VM. */
export function withAssociation(model: JsonObject, interfaceName: string, prefixId: string): Edit {
  return vmWith(model, [{ name: interfaceName, edit: (before) => associated(before, prefixId) }]);
}

/** Takes our public addresses off interfaces again, in the model of a scale-set VM. */
export function withoutAssociations(model: JsonObject, interfaceNames: readonly string[]): Edit {
  return vmWith(
    model,
    interfaceNames.map((name) => ({ name, edit: withoutAssociation })),
  );
}

/** Names of the interfaces for which the model of a VM asks for a public address of ours. */
export function associationsIn(model: Json): readonly string[] {
  const interfaces = list(model, 'properties', ...vmInterfaces) ?? [];
  return interfaces.flatMap((item) =>
    (list(item, 'properties', 'ipConfigurations') ?? []).some(isOurAssociation)
      ? (text(item, 'name') ?? [])
      : [],
  );
}

/** Whether the model of a VM asks for a public address of ours on this interface: then an earlier request arrived. */
export function holdsAssociation(model: Json, interfaceName: string): boolean {
  return associationsIn(model).some((name) => name.toLowerCase() === interfaceName.toLowerCase());
}

/** Whether the model, of a VM or of an interface, has all of these: then an earlier request with them arrived. */
export function holdsAll(model: Json, names: NamesByInterface): boolean {
  return every(model, names, (isPresent) => isPresent);
}

/** Whether it has none of these: then an earlier request to remove them arrived. */
export function holdsNone(model: Json, names: NamesByInterface): boolean {
  return every(model, names, (isPresent) => !isPresent);
}

/** Names are unique within one interface only. */
function every(model: Json, names: NamesByInterface, fits: (isPresent: boolean) => boolean): boolean {
  const interfaces = list(model, 'properties', ...vmInterfaces);
  return [...names].every(([interfaceName, wanted]) => {
    const key = interfaceName.toLowerCase();
    const own =
      interfaces === undefined ? model : interfaces.find((item) => text(item, 'name')?.toLowerCase() === key);
    const configured = list(own, 'properties', 'ipConfigurations');
    const present = new Set(configured?.map(nameOf));
    return configured !== undefined && wanted.every((name) => fits(present.has(name)));
  });
}

/** Names of the configurations that a release may remove, by interface. Only of the model of a VM. */
export function ourNamesIn(model: Json): NamesByInterface {
  const names = (list(model, 'properties', ...vmInterfaces) ?? []).map((item) => {
    const configured = list(item, 'properties', 'ipConfigurations') ?? [];
    return [
      text(item, 'name') ?? '',
      configured.filter(isReleasable).flatMap((each) => nameOf(each) ?? []),
    ] as const;
  });
  return new Map(names.filter(([, own]) => own.length > 0));
}

/** Whether the last change of the model failed. */
export function hasFailed(model: Json): boolean {
  const state = text(model, 'properties', 'provisioningState')?.toLowerCase();
  return state === 'failed' || state === 'canceled';
}

/**
 * Whether a release may remove a configuration: one that Headwater or cilium-operator added, and through which nothing
 * outside the cluster reaches a pod. `configuration`: as a model has it, or as its interface shows it.
 */
export function isReleasable(configuration: Json): boolean {
  const isOurs = /^Cilium-./.test(nameOf(configuration) ?? '');
  return isOurs && valueAt(configuration, 'properties', 'primary') !== true && !isReachable(configuration);
}

/** Members that lead to a configuration from outside: lists, and single ones. */
const ways = [
  'publicIPAddress',
  'publicIPAddressConfiguration',
  'loadBalancerBackendAddressPools',
  'loadBalancerInboundNatPools',
  'loadBalancerInboundNatRules',
  'applicationGatewayBackendAddressPools',
] as const;

/** Whether something outside the cluster reaches a pod by the configuration. */
export function isReachable(configuration: Json): boolean {
  return ways.some((way) => {
    const found = valueAt(configuration, 'properties', way);
    return Array.isArray(found) ? found.length > 0 : isObject(found);
  });
}

function withRemovals(before: JsonObject, names: readonly string[]): Edit {
  const configurations = list(before, 'properties', 'ipConfigurations');
  if (configurations === undefined) return unreadable('ipConfigurations is missing');
  const removed = new Set<string | undefined>(names);
  const foreign = configurations.find((item) => removed.has(nameOf(item)) && !isReleasable(item));
  if (foreign !== undefined)
    return refused('ConfigurationNotOurs', `the configuration ${nameOf(foreign) ?? ''} is in use by others`);
  const kept = configurations.filter((item) => !removed.has(nameOf(item)));
  return { kind: 'edited', model: replaced(before, ['properties', 'ipConfigurations'], kept) };
}

const publicAddress = ['properties', 'publicIPAddressConfiguration'] as const;

function isOurAssociation(configuration: Json): boolean {
  return text(configuration, ...publicAddress, 'name') === managedPublicAddress;
}

function associated(before: JsonObject, prefixId: string): Edit {
  const configurations = list(before, 'properties', 'ipConfigurations') ?? [];
  const primary = configurations.find((item) => valueAt(item, 'properties', 'primary') === true);
  const own = primary ?? configurations[0];
  if (!isObject(own)) return unreadable('ipConfigurations is missing');
  if (valueAt(own, ...publicAddress) !== undefined)
    return refused('PublicAddressPresent', 'the primary configuration has a public IP address already');
  const wanted = { name: managedPublicAddress, properties: { publicIPPrefix: { id: prefixId } } };
  const changed = configurations.map((item) => (item === own ? replaced(own, publicAddress, wanted) : item));
  return { kind: 'edited', model: replaced(before, ['properties', 'ipConfigurations'], changed) };
}

function withoutAssociation(before: JsonObject): Edit {
  const configurations = list(before, 'properties', 'ipConfigurations') ?? [];
  const changed = configurations.map((item) =>
    isObject(item) && isOurAssociation(item) ? replaced(item, publicAddress, undefined) : item,
  );
  return { kind: 'edited', model: replaced(before, ['properties', 'ipConfigurations'], changed) };
}

interface Parts {
  readonly names: readonly string[];
  readonly fresh: (subnetId: string) => JsonObject;
}

function withAdditions(before: JsonObject, addition: Addition, { names, fresh }: Parts): Edit {
  const { name: interfaceName, max = Infinity } = addition;
  const configurations = list(before, 'properties', 'ipConfigurations');
  if (configurations === undefined || configurations.length === 0)
    return unreadable(`ipConfigurations of ${interfaceName} is missing`);
  const present = new Set(configurations.map(nameOf));
  const missing = names.filter((name) => !present.has(name));
  const total = configurations.length + missing.length;
  if (total > maxConfigurations) return tooMany(interfaceName, total);
  // Check the limit against this model again: the read of the interfaces may be older than a late request of a former
  // leader.
  const ours = configurations.filter(isReleasable).length;
  if (ours + missing.length > max)
    return refused(
      'ModelIsChanging',
      `${interfaceName} may have ${max} addresses, and its model has ${ours}`,
    );
  const [first] = configurations;
  const inSubnet = text(first, 'properties', 'subnet', 'id');
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

function countIn(interfaces: readonly Json[]): number {
  return interfaces.reduce<number>(
    (sum, item) => sum + (list(item, 'properties', 'ipConfigurations')?.length ?? 0),
    0,
  );
}

function tooMany(what: string, total: number): Edit {
  const text = `${what} would have ${total} configurations, and Azure allows ${maxConfigurations}`;
  return refused('TooManyConfigurations', text);
}

function nameOf(configuration: Json): string | undefined {
  return text(configuration, 'name');
}

/** A PUT now would be refused, or would undo a change that another client began. */
function refusalOf(model: JsonObject): Edit | undefined {
  const state = text(model, 'properties', 'provisioningState');
  if (state === undefined) return unreadable('properties.provisioningState is missing');
  if (['succeeded', 'failed', 'canceled'].includes(state.toLowerCase())) return undefined;
  if (state.toLowerCase() === 'deleting') return refused('BeingDeleted', 'it is being deleted');
  return refused('ModelIsChanging', `the provisioning state is ${state}`);
}

function refused(code: ModelProblem, problem: string): Edit {
  return { kind: 'refused', code, problem };
}

function unreadable(problem: string): Edit {
  return refused('UnreadableAnswer', `cannot understand the model: ${problem}`);
}

/**
 * The model without its image reference. The VM keeps its image, and a PUT with a reference to a gallery would need
 * permissions on that gallery.
 */
function withoutImage(model: JsonObject): JsonObject {
  const profile = valueAt(model, 'properties', 'storageProfile');
  if (!isObject(profile) || !Object.hasOwn(profile, 'imageReference')) return model;
  const { imageReference: _, ...kept } = profile;
  return replaced(model, ['properties', 'storageProfile'], kept);
}

function replaced(
  model: JsonObject,
  [name = '', ...rest]: readonly string[],
  value: Json | undefined,
): JsonObject {
  const { [name]: before, ...others } = model;
  const after = rest.length === 0 ? value : replaced(isObject(before) ? before : {}, rest, value);
  return after === undefined ? others : { ...model, [name]: after };
}
