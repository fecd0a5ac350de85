// Reads a CiliumPodIPPool, as the operator and agents of the mode multi-pool use it. It never throws. A user who may
// write pools may write anything into them, so every field is bounded, and what cannot be read is named.
import { sanitizedText } from '../../network/untrusted-text.ts';
import { type ObjectIdentity, readIdentity } from '../object-identity.ts';
import { isList, isObject, type Json, type JsonObject, textAt, valueAt } from '../../runtime/json.ts';

export const ciliumPodIpPoolsPath = '/apis/cilium.io/v2alpha1/ciliumpodippools';

export interface CiliumPodIpPool extends ObjectIdentity {
  /** Undefined for a family that the pool does not have. */
  readonly ipv4: PoolNetworks | undefined;
  readonly ipv6: PoolNetworks | undefined;
  /** Label selectors, as written: pods and namespaces that take addresses of this pool without naming it. */
  readonly podSelector: JsonObject | undefined;
  readonly namespaceSelector: JsonObject | undefined;
  /** Packets of its addresses leave the cluster unmasqueraded: annotation `ipam.cilium.io/skip-masquerade`. */
  readonly skipsMasquerade: boolean;
  /** The first field that cannot be read, its value, and what to do; what it belongs to is then undefined. Undefined if all are read. */
  readonly problem: string | undefined;
}

/** The networks of one family. */
export interface PoolNetworks {
  /** Any text, in the order of the pool. At least one. */
  readonly cidrs: readonly string[];
  /** Prefix length of a block: a whole number, at least 1, at most the bits of an address. */
  readonly maskSize: number;
  /** Whether pods get the first and the last address of a block: the same for both families. */
  readonly allowFirstIp: boolean;
  readonly allowLastIp: boolean;
}

type GivenNetworks = Omit<PoolNetworks, 'allowFirstIp' | 'allowLastIp'>;

/** Entries and characters of an entry. */
const maxBlocksRead = { cidrs: 256, characters: 80 };
const maxSelector = 8192;

const skipMasqueradeAnnotation = 'ipam.cilium.io/skip-masquerade';

export function readCiliumPodIpPool(raw: JsonObject): CiliumPodIpPool {
  const [ipv4, ipv6] = [networksOf(raw, 'ipv4', 32), networksOf(raw, 'ipv6', 128)];
  const ends = { allowFirstIp: allows(raw, 'allowFirstIP'), allowLastIp: allows(raw, 'allowLastIP') };
  const [pods, namespaces] = [selectorOf(raw, 'podSelector'), selectorOf(raw, 'namespaceSelector')];
  return {
    ...readIdentity(raw),
    ipv4: ipv4.value && { ...ipv4.value, ...ends },
    ipv6: ipv6.value && { ...ipv6.value, ...ends },
    podSelector: pods.value,
    namespaceSelector: namespaces.value,
    skipsMasquerade:
      textAt(raw, 'metadata', 'annotations', skipMasqueradeAnnotation)?.toLowerCase() === 'true',
    problem: [ipv4, ipv6, pods, namespaces].find((each) => each.problem !== undefined)?.problem,
  };
}

/** Before `spec` had these fields, pools of Headwater had them in each family: then it counts if no family lacks it. */
function allows(raw: JsonObject, field: string): boolean {
  if (valueAt(raw, 'spec', field) === true) return true;
  const given = ['ipv4', 'ipv6'].map((family) => valueAt(raw, 'spec', family)).filter(isObject);
  return given.length > 0 && given.every((networks) => networks[field] === true);
}

interface FieldReading<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
}

function readable<T>(value: T | undefined): FieldReading<T> {
  return { value, problem: undefined };
}

function unreadable<T>(problem: string): FieldReading<T> {
  return { value: undefined, problem };
}

function networksOf(raw: JsonObject, family: string, width: number): FieldReading<GivenNetworks> {
  const found = valueAt(raw, 'spec', family) ?? null;
  if (found === null) return readable<GivenNetworks>(undefined);
  const field = `spec.${family}`;
  if (!isObject(found)) return unreadable(`${field} is ${shown(found)}: set its cidrs and its maskSize`);
  const { cidrs, maskSize } = found;
  const problem = cidrsProblem(cidrs);
  if (problem !== undefined) return unreadable(`${field}.cidrs ${problem}`);
  if (!isMaskSize(maskSize, width))
    return unreadable(`${field}.maskSize is ${shown(maskSize)}: set a whole number from 1 to ${width}`);
  return readable({ cidrs: cidrs as readonly string[], maskSize });
}

function shown(value: Json | undefined): string {
  return sanitizedText(JSON.stringify(value) ?? 'missing', maxBlocksRead.characters);
}

function cidrsProblem(cidrs: Json | undefined): string | undefined {
  if (!isList(cidrs)) return `is ${shown(cidrs)}: set a list of networks`;
  if (cidrs.length === 0) return 'is empty: name at least one network';
  const { cidrs: max, characters } = maxBlocksRead;
  if (cidrs.length > max) return `names ${cidrs.length} networks: name at most ${max}`;
  const isText = (entry: Json): boolean =>
    typeof entry === 'string' && entry !== '' && entry.length <= characters;
  const wrong = cidrs.find((entry) => !isText(entry));
  return wrong === undefined ? undefined : `holds ${shown(wrong)}, which is no CIDR: correct or remove it`;
}

function isMaskSize(value: Json | undefined, width: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= width;
}

function selectorOf(raw: JsonObject, field: 'podSelector' | 'namespaceSelector'): FieldReading<JsonObject> {
  const found = valueAt(raw, 'spec', field) ?? null;
  if (found === null) return readable<JsonObject>(undefined);
  if (!isObject(found)) return unreadable(`spec.${field} is ${shown(found)}: set a label selector`);
  const { length } = JSON.stringify(found);
  if (length > maxSelector)
    return unreadable(`spec.${field} has ${length} characters: use at most ${maxSelector}`);
  return readable(found);
}
