// Records the instances whose interfaces were missing in lists that a process read. The process examines all of them at
// once. So reads of single instances may lack interfaces, too, once enough are missing for the withdrawal brake to hold:
// before that, the few instances that are read for another reason would rightly lose theirs. Throttled calls may delay
// the other reads, and the process may have begun a list long before its first page. So no instance lacks interfaces
// twice before such reads have lacked those of as many instances.
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
  /** Instances of which whole lists have lacked interfaces. */
  readonly lacked: Set<string>;
  /** Instances of which reads of single instances have lacked interfaces, and whether the process suspects them since. */
  lackedAlone: ReadonlyMap<string, boolean>;
  /** When a read of single instances last showed an instance. */
  readonly shownAt: Map<string, number>;
  /** The list of which the process has read some pages; undefined between lists. */
  list: { readonly startedAt: number; readonly lacked: Set<string> } | undefined;
}

/** How the withdrawal brake and the process treat instances that lack interfaces. */
export interface Examination {
  /** The most instances whose missing interfaces the withdrawal brake withdraws. */
  readonly max: number;
  /** Whether the instance has anything to lack. */
  readonly isAble: (instanceId: string) => boolean;
  /** Whether what a read lacks of the instance is examined now. */
  readonly isExamined: (instanceId: string) => boolean;
}

/** Longer than the first page of a list takes, in ms. */
const maxFirstPage = 2000;

export class LackingLists {
  readonly #now: () => number;
  readonly #readers = new Map<string, Reader>();

  constructor(now: () => number) {
    this.#now = now;
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

  /**
   * A read of single instances would lack interfaces of these. Returns whether it may, and notes it then: lists have lacked
   * interfaces of more than `max`, and if it has lacked any of these before, so have such reads.
   */
  lackAlone(
    identity: string,
    instanceIds: readonly string[],
    { max, isAble, isExamined }: Examination,
  ): boolean {
    const reader = this.#reader(identity);
    const { lacked, lackedAlone } = reader;
    if ([...lacked].filter(isAble).length <= max) return false;
    const next = new Map(lackedAlone);
    for (const id of instanceIds) next.set(id, next.get(id) === true || isExamined(id));
    const suspected = [...next].filter(([id, isSuspected]) => isSuspected && isAble(id));
    if (suspected.length <= max && instanceIds.some((id) => lackedAlone.has(id))) return false;
    reader.lackedAlone = next;
    return true;
  }

  /** A read of single instances shows all interfaces of these. */
  noteShown(identity: string, instanceIds: Iterable<string>): void {
    const reader = this.#reader(identity);
    const shown = new Set(instanceIds);
    reader.lackedAlone = new Map([...reader.lackedAlone].filter(([id]) => !shown.has(id)));
    for (const id of shown) {
      reader.lacked.delete(id);
      reader.shownAt.set(id, this.#now());
    }
  }

  /** Forgets what reads have lacked: it is shown again. */
  clear(): void {
    for (const reader of this.#readers.values()) {
      reader.lacked.clear();
      reader.lackedAlone = new Map();
      reader.list = undefined;
    }
  }

  #reader(identity: string): Reader {
    const known = this.#readers.get(identity);
    if (known !== undefined) return known;
    const reader: Reader = {
      lacked: new Set(),
      lackedAlone: new Map(),
      shownAt: new Map(),
      list: undefined,
    };
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
