// Agents of Azure mode: `spec.azure` and `status.azure`. From Cilium 1.21 on they speak the multi-pool protocol. Fields of
// addresses are typed there: a single malformed one makes the whole object unreadable.
import type { InterfaceStatus } from '../interface-status.ts';
import { parseAddress, parseCidr } from '../ipv4.ts';
import { type Json, type JsonObject, isObject, listAt, objectAt, textAt, valueAt } from '../json.ts';
import type { Protocol } from '../node-facts.ts';
import type { AgentCloud } from './agent-cloud.ts';

export const azure: AgentCloud = {
  providerIdOf: ({ instanceId }) => `azure://${asTheCloudSpells(instanceId)}`,
  announced: ({ azure: { interfaceName } = {} }) =>
    interfaceName === undefined ? {} : { azure: { 'interface-name': interfaceName } },
  isReadable: (node) => listAt(node, 'status', 'azure', 'interfaces').every(isDecodable),
  interfacesOf: (node, protocol) =>
    listAt(node, 'status', 'azure', 'interfaces').map((entry) => interfaceOf(entry, protocol)),
  exclusionOf: () => ({ firstInterfaceIndex: undefined, tags: new Map() }),
  firstInterfaceIndexOf: () => 0,
  usesPrimaryAddresses: false,
  writtenBack,
  setUpObstacle: () => undefined,
  awaitsCidr: true,
  networkOf: (node) => {
    const [first] = listAt(node, 'status', 'azure', 'interfaces');
    const subnet = textAt(first, 'subnet', 'id') || textAt(listAt(first, 'addresses')[0], 'subnet');
    return subnet.toLowerCase().replace(/\/subnets\/[^/]*$/, '');
  },
};

const spellings = ['resourceGroups', 'Microsoft.Compute', 'virtualMachineScaleSets', 'virtualMachines'];

/** Agents write the id in lower case; the Node has it as the cloud spells it. */
function asTheCloudSpells(id: string): string {
  return spellings.reduce((text, word) => text.replace(`/${word.toLowerCase()}/`, `/${word}/`), id);
}

/** Agents of both protocols number no interface. */
function interfaceOf(entry: Json, protocol: Protocol): InterfaceStatus {
  const [mac, gateway] = [textAt(entry, 'mac'), textAt(entry, 'gateway')];
  const isAsked = protocol === 'crd-allocator';
  const cidr = isAsked ? textAt(entry, 'cidr') : textAt(entry, 'subnet', 'cidr');
  const isRouted = parseCidr(cidr) !== undefined;
  const gaps = { 'MAC address': mac === '', gateway: gateway === '', 'subnet CIDR': !isAsked && !isRouted };
  return {
    id: textAt(entry, 'id'),
    mac,
    number: 0,
    gateway,
    cidrs: isRouted ? [cidr] : [],
    lacks: Object.entries(gaps).find(([, isMissing]) => isMissing)?.[0],
    addresses: listAt(entry, 'addresses')
      .filter((address) => textAt(address, 'state') === 'succeeded')
      .map((address) => textAt(address, 'ip')),
    prefixes: [],
    ipv6Prefixes: [],
    tags: new Map(),
  };
}

function isDecodable(entry: Json): boolean {
  const addresses = [
    ...[entry, ...listAt(entry, 'addresses')].map((holder) => valueAt(holder, 'ip')),
    valueAt(entry, 'gateway'),
  ];
  const cidrs = [valueAt(entry, 'cidr'), valueAt(entry, 'subnet', 'cidr')];
  return (
    addresses.every((text) => isText(text, parseAddress)) && cidrs.every((text) => isText(text, parseCidr))
  );
}

/** Whether a value is a text of this form. An absent or empty one is the zero of its type. */
function isText(value: Json | undefined, parse: (text: string) => unknown): boolean {
  if (value === undefined || value === '') return true;
  return typeof value === 'string' && parse(value) !== undefined;
}

/** Agents before 1.20 know neither the address nor the subnet of an interface. */
function writtenBack(status: JsonObject, protocol: Protocol): JsonObject {
  const interfaces = listAt(status, 'azure', 'interfaces');
  if (protocol === 'multi-pool' || interfaces.length === 0) return status;
  const known = interfaces.map((entry) =>
    isObject(entry) ? { ...entry, ip: undefined, subnet: undefined } : entry,
  );
  return { ...status, azure: { ...objectAt(status, 'azure'), interfaces: known } };
}
