// Which VMs an answer of Azure tells about. Each scale set and each group has a list of its own.
import { groupOf, keyOf, machinePath, nameOf, ownerOf } from '../../../src/simulator/arm/resource-path.ts';

/** The VM that has an interface, by the key of the interface. */
export type HostOf = (key: string) => string | undefined;

/** The VM in a URL: of a scale set, of its own, or with the interface; empty if there is none. */
export function machineIn(url: string, hostOf: HostOf): string {
  const path = pathIn(url);
  const [vm = ''] = /^.*\/virtualmachines\/[^/]+/.exec(path) ?? [];
  return vm === '' ? (hostOf(path) ?? '') : vm;
}

/** The VM whose interfaces this URL reads; for a list of many VMs, `*` in place of their names. Empty if it reads none. */
export function machinesRead(url: string, hostOf: HostOf): string {
  const machine = machineIn(url, hostOf);
  const path = pathIn(url);
  if (machine !== '' || nameOf(path) !== 'networkinterfaces') return machine;
  const owner = ownerOf(path);
  // The list of a group lacks the interfaces of scale sets that have lists of their own.
  const isOfGroup = nameOf(owner) === 'microsoft.network';
  return isOfGroup ? keyOf(machinePath(groupOf(path), '*')) : `${owner}/virtualmachines/*`;
}

function pathIn(url: string): string {
  return keyOf(url.replace(/\?.*$/, '').replace(/^https?:\/\/[^/]+/, ''));
}
