// Reads the configuration of a network that a runtime passes on standard input. A member that is not usable is refused by
// its name, never guessed.
import {
  canonicalAddress,
  families as allFamilies,
  type Family,
  familyOf,
  parseAddress,
  parseCidr,
} from '../../blocks/set/cidr.ts';
import { parseGoDuration } from '../../config/go-duration.ts';
import type { AttachmentName } from '../ipam/holdings.ts';
import { cniCode, type CniError, type CniOutcome } from './cni-error.ts';
import { type CniVersion, cniVersions, type ResultRoute } from './result.ts';
import {
  isList,
  isObject,
  type JsonObject,
  listAt,
  objectAt,
  objectIn,
  valueAt,
} from '../../runtime/json.ts';
import { ok } from '../ipam/ipam-error.ts';

export interface NetworkConf {
  readonly version: CniVersion;
  readonly network: string;
  readonly ipam: IpamConf;
  /** Addresses of prevResult; undefined without one. */
  readonly previous: readonly string[] | undefined;
  /** The result of the main plugin before this one in the list, to be passed on unchanged; undefined without one. */
  readonly handedOn: string | undefined;
  /** Attachments that `cni.dev/valid-attachments` lists; undefined without the key. */
  readonly valid: readonly Omit<AttachmentName, 'network'>[] | undefined;
  readonly fixed: readonly string[];
}

export interface IpamConf {
  readonly pool: string | undefined;
  readonly families: readonly Family[] | undefined;
  readonly prefixLength: 'block' | 'host';
  /** Default: that of the network of an address. */
  readonly gateway: NamedGateway | undefined;
  readonly routes: readonly ResultRoute[] | undefined;
  /** In ms. */
  readonly wait: number;
  readonly resolvConf: string | undefined;
}

export interface NamedGateway {
  readonly family: Family;
  readonly ip: string;
  /** The prefix length of the network of pods and gateway, if the configuration says it. */
  readonly length: number | undefined;
}

export interface RefusedConf {
  readonly kind: 'refused';
  /** For the answer. */
  readonly version: CniVersion;
  readonly error: CniError;
}

/** https://www.cni.dev/docs/spec/#section-1-network-configuration-format */
export const cniName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
/** The length limit of a name, in characters: every line of the record contains the name. */
export const maxNameCharacters = 256;

const ownType = 'headwater-ipam';
const maxWait = 60_000;
const defaultWait = 10_000;

export function parseNetworkConf(
  stdin: string,
): { readonly kind: 'conf'; readonly conf: NetworkConf } | RefusedConf {
  const fields = objectIn(stdin);
  if (fields === undefined)
    return refused('1.1.0', cniCode.decoding, 'the network configuration is no JSON object');
  // libcni reads an empty or missing version as 0.1.0, too.
  const given = fields['cniVersion'] || '0.1.0';
  const version = cniVersions.find((each) => each === given);
  if (version === undefined) {
    const message = `cniVersion ${JSON.stringify(given)} is not supported; there is ${cniVersions.join(', ')}`;
    return refused('1.1.0', cniCode.incompatibleVersion, message);
  }
  const read = readConf(version, fields);
  return read.kind === 'ok'
    ? { kind: 'conf', conf: read.value }
    : { kind: 'refused', version, error: read.error };
}

function refused(version: CniVersion, code: CniError['code'], message: string): RefusedConf {
  return { kind: 'refused', version, error: { code, message } };
}

/** Thrown and caught in this file: a refusal ends the reading wherever it is found. */
class Refusal extends Error {
  readonly error: CniError;

  constructor(message: string, code: CniError['code'] = cniCode.config) {
    super(message);
    this.error = { code, message };
  }
}

function readConf(version: CniVersion, fields: JsonObject): CniOutcome<NetworkConf> {
  try {
    const network = fields['name'];
    if (typeof network !== 'string' || network === '') throw new Refusal('name: the network has none');
    if (!cniName.test(network) || network.length > maxNameCharacters)
      throw new Refusal('name: accepted are up to 256 letters, digits and characters of _ . -');
    return ok({
      version,
      network,
      ipam: readIpam(fields),
      previous: previousAddresses(fields['prevResult']),
      handedOn: handedOn(version, fields),
      valid: validAttachments(fields),
      fixed: fixedAddresses(fields),
    });
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'failed', error: error.error };
    throw error;
  }
}

function readIpam(conf: JsonObject): IpamConf {
  const ipam = objectAt(conf, 'ipam');
  return {
    pool: optionalText(ipam, 'pool'),
    families: readFamilies(ipam['families']),
    prefixLength: oneOf(ipam, 'prefixLength', ['block', 'host']),
    gateway: readGateway(optionalText(ipam, 'gateway')),
    routes: readRoutes(ipam['routes']),
    wait: readWait(ipam['wait']),
    resolvConf: optionalText(ipam, 'resolvConf'),
  };
}

function optionalText(fields: JsonObject, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw new Refusal(`ipam.${name}: it is no text`);
  return value;
}

function oneOf<const T extends string>(fields: JsonObject, name: string, values: readonly [T, ...T[]]): T {
  const value = fields[name] ?? values[0];
  const known = values.find((each) => each === value);
  if (known === undefined) throw new Refusal(`ipam.${name}: accepted are ${values.join(' and ')}`);
  return known;
}

function readFamilies(value: unknown): readonly Family[] | undefined {
  if (value === undefined) return undefined;
  const list = isList(value) ? value : [];
  const known = allFamilies.filter((family) => list.includes(family));
  if (known.length === 0 || !list.every((item) => known.some((family) => family === item)))
    throw new Refusal('ipam.families: accepted is a list of ipv4 and ipv6');
  return known;
}

function readGateway(text: string | undefined): NamedGateway | undefined {
  if (text === undefined || text === 'auto') return undefined;
  const ip = readFixed(text);
  const network = text.includes('/') ? parseCidr(text) : undefined;
  if (ip === undefined || network?.kind === 'invalid')
    throw new Refusal('ipam.gateway: accepted are auto and an address, perhaps with a prefix length');
  return { family: familyOf(ip), ip, length: network?.cidr.length };
}

/** Members of a route since 1.1.0: https://www.cni.dev/docs/spec/#add-success */
const routeNumbers = ['mtu', 'advmss', 'priority', 'table', 'scope'] as const;

function readRoutes(value: unknown): readonly ResultRoute[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new Refusal('ipam.routes: it is no list');
  return value.map((item: unknown): ResultRoute => {
    const { dst, gw, ...rest } = isObject(item) ? item : {};
    if (typeof dst !== 'string' || parseCidr(dst).kind !== 'cidr')
      throw new Refusal('ipam.routes: each needs a network in dst');
    if (gw !== undefined && (typeof gw !== 'string' || parseAddress(gw) === undefined))
      throw new Refusal('ipam.routes: gw is no address');
    const extra = Object.fromEntries(
      routeNumbers.flatMap((name) => {
        const number = rest[name];
        return typeof number === 'number' ? [[name, number]] : [];
      }),
    );
    return { dst, ...(gw !== undefined && { gw }), extra };
  });
}

function readWait(value: unknown): number {
  if (value === undefined) return defaultWait;
  const wait = typeof value === 'string' ? parseGoDuration(value) : undefined;
  if (wait === undefined || wait < 0 || wait > maxWait)
    throw new Refusal('ipam.wait: accepted is a duration from 0s to 60s, such as 10s');
  return wait;
}

/** If called for IPAM, the plugin gets the type of the main plugin. Only a main plugin's result names interfaces. */
function handedOn(version: CniVersion, { type, prevResult: result }: JsonObject): string | undefined {
  if (type !== ownType || !isObject(result) || !Array.isArray(result['interfaces'])) return undefined;
  return `${JSON.stringify({ ...result, cniVersion: version })}\n`;
}

/** Addresses without prefix lengths, of any version's result. */
function previousAddresses(value: unknown): readonly string[] | undefined {
  if (!isObject(value)) return undefined;
  const listed = listAt(value, 'ips').map((item) => valueAt(item, 'address'));
  const single = ['ip4', 'ip6'].map((name) => valueAt(value, name, 'ip'));
  return [...listed, ...single].flatMap((text) =>
    typeof text === 'string' ? [text.slice(0, text.includes('/') ? text.indexOf('/') : undefined)] : [],
  );
}

/** libcni also writes the older key: https://github.com/containernetworking/cni/issues/1101 */
const listKeys = ['cni.dev/valid-attachments', 'cni.dev/attachments'] as const;

/** An empty slice of Go is null: nothing is valid. Without a key, nothing is said. */
function validAttachments(fields: JsonObject): NetworkConf['valid'] {
  const key = listKeys.find((each) => fields[each] !== undefined);
  if (key === undefined) return undefined;
  const value = fields[key] ?? [];
  const refusal = 'cni.dev/valid-attachments: it is no list of containerID and ifname';
  if (!Array.isArray(value)) throw new Refusal(refusal, cniCode.decoding);
  return value.map((item: unknown) => {
    const { containerID: container, ifname: name } = isObject(item) ? item : {};
    if (typeof container !== 'string' || typeof name !== 'string')
      throw new Refusal(refusal, cniCode.decoding);
    return { container, interface: name };
  });
}

/** https://www.cni.dev/docs/conventions/ */
function fixedAddresses(fields: JsonObject): readonly string[] {
  const ofArgs = valueAt(fields, 'args', 'cni', 'ips');
  const ofRuntime = valueAt(fields, 'runtimeConfig', 'ips');
  return [...addressList(ofArgs, 'args.cni.ips'), ...addressList(ofRuntime, 'runtimeConfig.ips')];
}

function addressList(value: unknown, name: string): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Refusal(`${name}: it is no list of addresses`);
  return value.map((item: unknown) => {
    const read = typeof item === 'string' ? readFixed(item) : undefined;
    if (read === undefined) throw new Refusal(`${name}: it is no list of addresses`);
    return read;
  });
}

/** An address, perhaps with a prefix length, in its canonical text. */
export function readFixed(text: string): string | undefined {
  const [alone = '', ...rest] = text.trim().split('/');
  return rest.length > 1 ? undefined : canonicalAddress(alone);
}
