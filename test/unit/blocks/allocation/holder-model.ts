// A model of objects that hold blocks, behind the port of the allocator: it answers, loses answers and tells changes late.
import type {
  Assignment,
  BlockCondition,
  BlockHolders,
  BlockWriter,
  Holder,
  HolderReading,
} from '../../../../src/blocks/allocation/block-holders.ts';
import type { AllocatorEvent } from '../../../../src/blocks/allocation/allocator-event.ts';
import type { AllocationRefusal } from '../../../../src/blocks/allocation/block-allocator.ts';
import { Allocator } from '../../../../src/blocks/allocation/allocator.ts';
import { BlockOfEachFamily } from '../../../../src/blocks/allocation/block-of-each-family.ts';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { type Cidr, parseCidr } from '../../../../src/blocks/set/cidr.ts';
import { sleep } from '../../../../src/runtime/clock.ts';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

export function cidr(text: string): Cidr {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return reading.cidr;
}

/** What happens to a write. `lostLate`: it takes effect after its answer was lost. `busy`: come back in a second. */
export type Fate =
  | 'ok'
  | 'conflict'
  | 'lost'
  | 'lostBefore'
  | 'lostLate'
  | 'denied'
  | 'invalid'
  | 'pruned'
  | 'busy';

const never = new AbortController().signal;

export class HolderModel implements BlockHolders, BlockWriter {
  readonly canGrow: boolean;
  readonly clock = new VirtualClock();
  readonly live = new Map<string, Holder>();
  readonly conditions = new Map<string, BlockCondition>();
  readonly writes: string[] = [];
  readonly superseded: string[] = [];
  /** Blocks that the API server saw two live objects get by a write. */
  readonly duplicates: string[] = [];
  fate: (name: string) => Fate = () => 'ok';
  latency = 10;
  /** When a late write takes effect after it was sent, in ms. */
  lateness = 300;
  onChange: (name: string, holder: Holder | undefined) => void = () => undefined;
  #version = 0;
  #uids = 0;

  constructor(canGrow = true) {
    this.canGrow = canGrow;
  }

  create(name: string, blocks: readonly string[] = [], more: Partial<Holder> = {}): Holder {
    const holder = {
      name,
      uid: `uid-${this.#uids++}`,
      version: this.#nextVersion(),
      createdAt: this.#uids,
      isLeftAlone: false,
      blocks,
      ...more,
    };
    this.live.set(name, holder);
    this.onChange(name, holder);
    return holder;
  }

  delete(name: string): void {
    this.live.delete(name);
    this.onChange(name, undefined);
  }

  change(name: string, change: Partial<Holder>): void {
    const holder = this.live.get(name);
    if (holder === undefined) return;
    this.live.set(name, { ...holder, ...change, version: this.#nextVersion() });
    this.onChange(name, this.live.get(name));
  }

  async assign(holder: Holder, blocks: readonly string[], signal: AbortSignal): Promise<Assignment> {
    const fate = this.fate(holder.name);
    const { latency } = this;
    await sleep(this.clock, latency / 2, signal);
    const apply = (): Assignment => this.#apply(holder, fate === 'pruned' ? [] : blocks);
    if (fate === 'denied' || fate === 'invalid') return { kind: fate, message: `it is ${fate}` };
    if (fate === 'busy') return { kind: 'unavailable', message: 'busy', retryAfterMs: 1000 };
    if (fate === 'conflict') return { kind: 'conflict', message: 'it has another state' };
    const outcome = fate === 'lostBefore' || fate === 'lostLate' ? undefined : apply();
    if (fate === 'lostLate') void sleep(this.clock, this.lateness, never).then(apply);
    await sleep(this.clock, latency / 2, signal);
    if (outcome === undefined || fate === 'lost') return { kind: 'unavailable', message: 'no answer' };
    this.#tell(holder.name);
    return outcome;
  }

  #apply(holder: Holder, blocks: readonly string[]): Assignment {
    const now = this.live.get(holder.name);
    if (now === undefined) return { kind: 'gone' };
    if (now.uid !== holder.uid || now.version !== holder.version)
      return { kind: 'conflict', message: 'it has another state' };
    const others = [...this.live.values()].filter(({ uid }) => uid !== now.uid);
    for (const block of blocks)
      if (!now.blocks.includes(block) && others.some((each) => each.blocks.includes(block)))
        this.duplicates.push(`${block} of ${holder.name}`);
    this.writes.push(`${holder.name}: ${blocks.join(' ')}`);
    const written = { ...now, blocks, version: this.#nextVersion() };
    this.live.set(holder.name, written);
    // The watch is late.
    void sleep(this.clock, this.latency, never).then(() => this.#tell(written.name));
    return { kind: 'written', version: written.version };
  }

  #tell(name: string): void {
    this.onChange(name, this.live.get(name));
  }

  async supersede(holder: Holder, signal: AbortSignal): Promise<Assignment> {
    const fate = this.fate(holder.name);
    await sleep(this.clock, this.latency, signal);
    if (fate === 'denied') return { kind: fate, message: 'it is denied' };
    const now = this.live.get(holder.name);
    if (now === undefined) return { kind: 'gone' };
    if (now.uid !== holder.uid || now.version !== holder.version)
      return { kind: 'conflict', message: 'it has another state' };
    this.superseded.push(holder.name);
    const written = { ...now, version: this.#nextVersion() };
    this.live.set(holder.name, written);
    this.#tell(holder.name);
    return { kind: 'written', version: written.version };
  }

  async read(name: string, signal: AbortSignal): Promise<HolderReading> {
    await sleep(this.clock, this.latency, signal);
    if (!this.live.has(name)) return { kind: 'gone' };
    this.#tell(name);
    return { kind: 'found' };
  }

  isLeftAlone({ isLeftAlone }: Holder): boolean {
    return isLeftAlone;
  }

  report({ name, uid }: Holder, condition: BlockCondition | undefined): void {
    if (this.live.get(name)?.uid !== uid) return;
    if (condition === undefined) this.conditions.delete(name);
    else this.conditions.set(name, condition);
  }

  forget({ name }: Holder): void {
    this.conditions.delete(name);
  }

  #nextVersion(): string {
    return String(++this.#version);
  }
}

export interface AllocatorRig {
  readonly model: HolderModel;
  readonly ledger: BlockLedger;
  readonly allocator: Allocator<Holder>;
  readonly events: AllocatorEvent[];
  readonly bugs: unknown[];
  /** Names of objects whose condition was computed. */
  readonly looks: string[];
  refusal: AllocationRefusal | undefined;
}

export interface RigOptions {
  /** CIDR and mask size. */
  readonly pools: readonly (readonly [text: string, maskSize: number])[];
  readonly model?: HolderModel;
  readonly workers?: number;
  /** A write of a former leader may still be under way. */
  readonly mayFormerWrite?: boolean;
}

/** An allocator that has begun with what the model has. */
export function allocatorRig({
  pools,
  model = new HolderModel(),
  workers = 4,
  mayFormerWrite = false,
}: RigOptions): AllocatorRig {
  const read = pools.map(([text, maskSize]) => ({ pool: 'default', cidr: cidr(text), maskSize }));
  const ledger = new BlockLedger(read);
  const [events, bugs, looks]: [AllocatorEvent[], unknown[], string[]] = [[], [], []];
  const policy = new BlockOfEachFamily({
    ledger,
    writer: model,
    words: { object: 'CiliumNode', moreBlocks: 'add a CIDR' },
    canGrow: model.canGrow,
  });
  const conditionOf = policy.conditionOf.bind(policy);
  policy.conditionOf = (holder, facts) => {
    looks.push(holder.name);
    return conditionOf(holder, facts);
  };
  const rig: AllocatorRig = {
    looks,
    model,
    ledger,
    events,
    bugs,
    refusal: undefined,
    allocator: new Allocator(
      {
        workers,
        writeTime: 1000,
        refusal: () => rig.refusal,
        emit: (event) => events.push(event),
        clock: model.clock,
        random: new Random('allocator'),
        onBug: (error) => bugs.push(error),
      },
      policy,
      model,
    ),
  };
  model.onChange = (name, holder) => rig.allocator.apply(name, holder);
  rig.allocator.takeOverHolders(model.live.values(), mayFormerWrite);
  return rig;
}
