// The watches of a mode of blocks. Nothing is given out before each is settled: a part of a list proves nothing.
import type { AllocatorOf, BlockAllocator } from '../allocation/block-allocator.ts';
import type { Holder } from '../allocation/block-holders.ts';
import { allLabels } from '../../kubernetes/object-identity.ts';
import type { Change } from '../../kubernetes/watch/object-store.ts';
import { type Reflected, Reflector } from '../../kubernetes/watch/reflector.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** The objects that a watch is about. */
export interface WatchedObjects<T> extends Pick<Reflected<T>, 'path' | 'transform'> {
  /** In plural. */
  readonly resource: string;
}

export abstract class BlockWatch<T> {
  readonly resource: string;
  /** The path of the collection in the API. */
  readonly path: string;
  readonly reflector: Reflector<T>;
  /** Whether there was a list. */
  wasListed = false;
  /** Whether all objects of the last list are known. */
  protected isListed = false;

  constructor(
    { host, kubernetes, reads }: ModeDeps,
    random: string,
    { resource, ...objects }: WatchedObjects<T>,
  ) {
    const { clock, onBug } = host;
    this.resource = resource;
    this.path = objects.path;
    this.reflector = new Reflector<T>(
      { transport: kubernetes, clock, random: host.random.fork(random), onBug },
      { ...objects, verifyEmptyLists: true },
      {
        onChange: (change) => this.applyChange(change),
        onList: (phase) => {
          this.isListed = phase === 'end';
          this.wasListed ||= this.isListed;
          if (this.isListed) this.endList();
        },
        onState: (state) => reads.note(resource.toLowerCase(), state),
      },
    );
  }

  /** Whether everything is known that has to be known before anything is given out. */
  get isSettled(): boolean {
    return this.isListed;
  }

  protected abstract applyChange(change: Change<T>): void;

  /** All of a list is known. */
  protected abstract endList(): void;
}

/** The objects that a mode serves, in plural. */
export type Served = 'CiliumNodes' | 'Nodes';

/** The watch of the objects that hold blocks, of which the allocator of a leader is told. */
export class HolderWatch<H extends Holder> extends BlockWatch<H> {
  readonly served: Served;
  readonly #scope: ModeDeps['scope'];
  #allocator: AllocatorOf<H> | undefined;

  constructor(deps: ModeDeps, served: Served, objects: Pick<Reflected<H>, 'path' | 'transform'>) {
    const { transform, ...place } = objects;
    super(deps, 'cache', {
      resource: served,
      ...place,
      transform: (raw) => {
        const holder = transform(raw);
        return deps.scope.isSelective ? { ...holder, labels: allLabels(raw) } : holder;
      },
    });
    this.served = served;
    this.#scope = deps.scope;
    deps.scope.onMove = (name) => this.reassess(name);
  }

  /** The objects as last read, by name. A live map. */
  get objects(): ReadonlyMap<string, H> {
    return this.reflector.objects;
  }

  /** The allocator of this leader; undefined while this process does not lead. */
  get allocator(): BlockAllocator | undefined {
    return this.#allocator;
  }

  /** Begins to tell an allocator, first of all objects that are known. Call it once, when all are. */
  serveBy(allocator: AllocatorOf<H>, mayFormerWrite: boolean): void {
    this.#allocator = allocator;
    allocator.takeOverHolders(
      [...this.objects.values()].map((holder) => this.#scoped(holder)),
      mayFormerWrite,
    );
  }

  /** Call it when the Node of an object shows something else, or the object moved between releases. */
  reassess(name: string): void {
    const holder = this.#scope.isSelective ? this.objects.get(name) : undefined;
    if (holder !== undefined) this.#allocator?.apply(name, this.#scoped(holder));
    this.#allocator?.reassess(name);
  }

  protected override applyChange({ type, key, object }: Change<H>): void {
    const isGone = type === 'deleted';
    const labels = isGone ? undefined : object.labels;
    if (this.served === 'Nodes') this.#scope.noteNode(key, labels);
    else this.#scope.noteCiliumNode(key, labels);
    this.#allocator?.apply(key, isGone ? undefined : this.#scoped(object));
  }

  /** An object of another release keeps what it holds, and gets nothing here. */
  #scoped(holder: H): H {
    return this.#scope.isOutside(holder.name) ? { ...holder, isLeftAlone: true, isIgnored: true } : holder;
  }

  /** An object late in a list that shows a block must have it before an object early in it gets one. */
  protected override endList(): void {
    this.#allocator?.resume();
  }
}
