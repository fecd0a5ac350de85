// Which instances the lists that a process reads have lacked interfaces of. It examines all of these at once. So reads of
// single instances may lack interfaces, too, once these are so many that the withdrawal brake holds: before that, the few
// that are read for another reason would rightly lose what they lack.
import { isObject, type Json, textAt } from '../../src/simulator/workload/json.ts';

/** An answer of a cloud, as far as it says whether it is the last page of a list. */
export interface Answer {
  readonly NextToken?: string;
  /** On Azure. */
  readonly body?: Json;
}

/** A read by a process, with the answer of the cloud. */
export interface InterfaceRead {
  readonly identity: string;
  readonly action: string;
  readonly input: object;
  readonly output: Answer;
}

interface Reader {
  readonly lacked: Set<string>;
  /** When a read of single instances last showed an instance. */
  readonly shownAt: Map<string, number>;
  /** The list of which it has read some pages; undefined if it has read its last one. */
  list: { readonly startedAt: number; readonly lacked: Set<string> } | undefined;
}

/** Longer than the first page of a list takes, in ms. */
const maxFirstPage = 2000;

export class LackingLists {
  readonly #now: () => number;
  readonly #readers = new Map<string, Reader>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The instances of which whole lists have lacked interfaces for the process. */
  lackedFor(identity: string): ReadonlySet<string> {
    return this.#reader(identity).lacked;
  }

  /**
   * A page of a list lacks interfaces of these instances. They count with its last page: a list that fails after some pages
   * is not used. `isExamined`: whether what lists lack of the instance is examined now.
   */
  noteList(
    read: InterfaceRead,
    instanceIds: Iterable<string>,
    isExamined: (instanceId: string) => boolean,
  ): void {
    const reader = this.#reader(read.identity);
    if (isFirstPage(read)) reader.list = { startedAt: this.#now() - maxFirstPage, lacked: new Set() };
    const { list } = reader;
    if (list === undefined) return;
    for (const id of instanceIds) list.lacked.add(id);
    if (!isLastPage(read)) return;
    reader.list = undefined;
    // A list does not examine what another read showed after the list began.
    const isOlder = (id: string): boolean => (reader.shownAt.get(id) ?? -Infinity) < list.startedAt;
    for (const id of list.lacked) if (isOlder(id) && isExamined(id)) reader.lacked.add(id);
  }

  /** A read of single instances shows all interfaces of these. */
  noteShown(identity: string, instanceIds: Iterable<string>): void {
    const { lacked, shownAt } = this.#reader(identity);
    for (const id of instanceIds) {
      lacked.delete(id);
      shownAt.set(id, this.#now());
    }
  }

  /** Forgets what lists have lacked: it is shown again. */
  clear(): void {
    for (const reader of this.#readers.values()) {
      reader.lacked.clear();
      reader.list = undefined;
    }
  }

  #reader(identity: string): Reader {
    const known = this.#readers.get(identity);
    if (known !== undefined) return known;
    const reader: Reader = { lacked: new Set(), shownAt: new Map(), list: undefined };
    this.#readers.set(identity, reader);
    return reader;
  }
}

/** Whether the action reads interfaces. */
export function isOfInterfaces({ action }: InterfaceRead): boolean {
  return action === 'DescribeNetworkInterfaces' || action.startsWith('Interfaces.');
}

/** Whether it reads the interfaces of all that is served, or of a scale set or group. */
export function isList({ action, input }: InterfaceRead): boolean {
  if (action === 'Interfaces.List' || action === 'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces')
    return true;
  return action === 'DescribeNetworkInterfaces' && JSON.stringify(input).includes('"in-use"');
}

function isFirstPage({ input }: InterfaceRead): boolean {
  return !/NextToken|skiptoken/.test(JSON.stringify(input));
}

function isLastPage({ output: { NextToken, body } }: InterfaceRead): boolean {
  return (NextToken ?? '') === '' && (!isObject(body) || textAt(body, 'nextLink') === '');
}
