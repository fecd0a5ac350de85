// Which VMs an answer of Azure tells about. Each scale set and each group has a list of its own.
import { groupOf, keyOf, machinePath, nameOf, ownerOf } from '../../../src/simulator/arm/resource-path.ts';
import { type JsonObject, textAt } from '../../../src/simulator/workload/json.ts';

/** The VM that has an interface, by the key of the interface. */
export type HostOf = (key: string) => string | undefined;

/** The VM in a URL: of a scale set, of its own, or with the interface; empty if there is none. */
export function machineIn(url: string, hostOf: HostOf): string {
  const path = pathIn(url);
  return machineInPath(path) ?? hostOf(path) ?? '';
}

/** The VM whose interfaces this URL lists; for a list of many VMs, `*` in place of their names. */
export function machinesListed(url: string): string {
  const path = pathIn(url);
  const owner = ownerOf(path);
  // The list of a group lacks the interfaces of scale sets that have lists of their own.
  const isOfGroup = nameOf(owner) === 'microsoft.network';
  return (
    machineInPath(path) ?? (isOfGroup ? keyOf(machinePath(groupOf(path), '*')) : `${owner}/virtualmachines/*`)
  );
}

/**
 * Reads of single interfaces. A VM of its own names its interfaces, and those are read next. Before a change, a controller
 * reads the interface alone, and takes in nothing of what that has lost.
 */
export class ReadsOfOne {
  readonly #hostOf: HostOf;
  /** By process: VMs that named their interfaces, and of which none is read yet. */
  readonly #named = new Set<string>();

  constructor(hostOf: HostOf) {
    this.#hostOf = hostOf;
  }

  /** The VM whose interfaces this answer completes; empty if there is none. `output`: empty if the request failed. */
  read({ identity, action, url, output }: AnsweredRead): string {
    const machine = machineIn(url, this.#hostOf);
    const key = `${identity} ${machine}`;
    const isRead = textAt(output, 'id') !== '';
    if (action === 'VirtualMachines.Get' && isRead) this.#named.add(key);
    return action === 'Interfaces.Get' && this.#named.delete(key) && isRead ? machine : '';
  }
}

export interface AnsweredRead {
  readonly identity: string;
  readonly action: string;
  readonly url: string;
  readonly output: JsonObject;
}

function machineInPath(path: string): string | undefined {
  return /^.*\/virtualmachines\/[^/]+/.exec(path)?.[0];
}

function pathIn(url: string): string {
  return keyOf(url.replace(/\?.*$/, '').replace(/^https?:\/\/[^/]+/, ''));
}
