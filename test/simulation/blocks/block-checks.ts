// What must hold in a cluster whose nodes get blocks: at each look, at each deletion, and at rest.
import { families, type Family, parseCidr, widthOf } from '../../../src/blocks/set/cidr.ts';
import type { OptionCommand } from '../../../src/config/option-scope.ts';
import { defaultLeaseTimings } from '../../../src/kubernetes/lease/lease-timings.ts';
import { sharedBlocks, type SharedBlock } from '../../../src/simulator/cluster/block-judge.ts';
import type { KubernetesRequest } from '../../../src/simulator/kubernetes/exchange.ts';
import { type JsonObject, parseObject, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import type { BlockReplica, BlockWorld, EffectiveWrite } from './block-world.ts';

/** Blocks of each family. */
export const capacity = 16;

/** Their prefix lengths. */
export function usualMaskSizes(command: OptionCommand): Readonly<Record<'ipv4' | 'ipv6', number>> {
  return { ipv4: 24, ipv6: command === 'nodeipam' ? 64 : 112 };
}

/** How long a process may not know of what an administrator restored: events that are late for several causes at once, and a write, in ms. */
const maxLag = 200_000;

/** What the run counted. */
export interface Happened {
  readonly changes: number;
  readonly faults: number;
}

export class BlockChecks {
  readonly violations = new Set<string>();
  protected readonly world: BlockWorld;
  readonly #place: readonly string[];
  readonly #usual: Readonly<Record<'ipv4' | 'ipv6', number>>;
  /** Blocks of each object at the last look, by uid. */
  #before = new Map<string, readonly string[]>();
  /** The blocks that an administrator gave an object once more, and when, by name. */
  readonly #restored = new Map<string, { readonly at: number; readonly blocks: readonly string[] }>();
  #restoredAll = -Infinity;
  /** Processes that may remember a block which an administrator took from its object: for them it stays held. */
  #remembering: ReadonlySet<string> = new Set();
  /** Those blocks, by uid. */
  readonly #remembered = new Map<string, Set<string>>();
  /**
   * Blocks that each process sent to objects, by uid. An object that waits, because the rest of its blocks cannot be had, keeps
   * those of a write without an answer.
   */
  readonly #sent = new Map<string, Map<string, readonly string[]>>();
  /** Blocks that objects showed at any look, by uid. */
  readonly #everShown = new Map<string, Set<string>>();
  /** Overlaps that come from what an administrator took. */
  #excused = new Set<string>();

  constructor(world: BlockWorld, command: OptionCommand) {
    this.world = world;
    this.#usual = usualMaskSizes(command);
    this.#place = command === 'nodeipam' ? ['spec', 'podCIDRs'] : ['spec', 'ipam', 'podCIDRs'];
  }

  /** An administrator brings an object back with the block that it had once. */
  noteRestored(name: string, blocks: readonly string[]): void {
    this.#restored.set(name, { at: this.world.clock.monotonic(), blocks });
  }

  /** An administrator brought everything back as it was once. */
  noteEverythingRestored(before: readonly JsonObject[], after: readonly JsonObject[]): void {
    this.#restoredAll = this.world.clock.monotonic();
    this.#before = new Map();
    this.#remembering = new Set(this.world.replicas.map(({ process }) => process.identity));
    for (const object of before) {
      const uid = textAt(object, 'metadata', 'uid');
      this.#remembered.set(uid, new Set([...(this.#remembered.get(uid) ?? []), ...this.blocksOf(object)]));
    }
    for (const object of after) this.noteRestored(textAt(object, 'metadata', 'name'), this.blocksOf(object));
  }

  blocksOf(object: JsonObject): readonly string[] {
    return textsAt(object, ...this.#place);
  }

  /** Whether a living object may show other blocks than before. */
  protected mayChange(before: readonly string[], now: readonly string[]): boolean {
    return before.every((block) => now.includes(block));
  }

  async look(): Promise<void> {
    const before = this.#before;
    const objects = await this.world.objects();
    if (before !== this.#before) return;
    this.#before = new Map();
    const holders = objects.map((object) => {
      const name = textAt(object, 'metadata', 'name');
      const uid = textAt(object, 'metadata', 'uid');
      const inUse = this.blocksOf(object);
      const earlier = before.get(uid) ?? [];
      if (!this.mayChange(earlier, inUse))
        this.violations.add(
          `the block of a living object changed: ${name}, ${earlier.join()} to ${inUse.join()}`,
        );
      this.#before.set(uid, inUse);
      const shownOnce = this.#everShown.get(uid) ?? new Set();
      for (const block of inUse) shownOnce.add(block);
      this.#everShown.set(uid, shownOnce);
      return { name, inUse };
    });
    const shared = [...sharedBlocks(holders), ...sharedBlocks(this.world.machines.values())];
    const excused = new Set(shared.filter((each) => this.#isExcused(each)).map(keyOf));
    for (const each of shared)
      if (!excused.has(keyOf(each))) this.violations.add(`by our doing, ${each.text}`);
    this.#excused = excused;
  }

  /** An object may share a block that an administrator brought back if it got it before that could be known. */
  #isExcused(shared: SharedBlock): boolean {
    const since = this.world.clock.monotonic() - maxLag;
    const isNew = shared.names.some((name, index) => {
      const restored = this.#restored.get(name);
      return (
        restored !== undefined && restored.at > since && restored.blocks.includes(shared.cidrs[index] ?? '')
      );
    });
    return isNew || this.#excused.has(keyOf(shared));
  }

  /** Whether an administrator just brought the object back. */
  protected isNewlyRestored(name: string): boolean {
    return (this.#restored.get(name)?.at ?? -Infinity) > this.world.clock.monotonic() - maxLag;
  }

  /** A CiliumNode is deleted only if its Node is gone. */
  checkDeletion({ method, path }: EffectiveWrite): void {
    if (method !== 'DELETE') return;
    const name = path.split('/').at(-1) ?? '';
    if (this.world.machines.has(name))
      this.violations.add(`the CiliumNode of a living machine was deleted: ${name}`);
  }

  /** A CiliumNode whose Node asks for a bigger block gets just that. The label of a Node with a block changes at will. */
  checkSize({ method, path, before, after }: EffectiveWrite): void {
    if (method !== 'PATCH' || path.endsWith('/status') || before === undefined || after === undefined) return;
    if (this.blocksOf(before).length === 0) this.#checkFirst(after);
  }

  #checkFirst(after: JsonObject): void {
    const name = textAt(after, 'metadata', 'name');
    if (this.world.machines.get(name)?.isOwned !== true) return;
    for (const block of this.blocksOf(after)) {
      const family = block.includes(':') ? 'ipv6' : 'ipv4';
      const asked = this.#askedBy(name, family);
      if (asked !== '' && !block.endsWith(`/${asked}`))
        this.violations.add(`${name} asked for /${asked} and got ${block}`);
    }
  }

  /** What a label of its Node asks for; empty if none does. A label may come after the block, and a backup before it. */
  #askedBy(name: string, family: Family): string {
    return textAt(
      this.world.model.get('nodes', name) ?? {},
      'metadata',
      'labels',
      `headwater/${family}-mask-size`,
    );
  }

  /** Only the holder of the Lease writes. After etcd was restored, a leader knows only of its own Lease until that ends. */
  checkSender(identity: string, request: KubernetesRequest): void {
    const { url } = request;
    this.#noteSent(identity, request);
    const { leaseHolder, clock } = this.world;
    const isNew = clock.monotonic() < this.#restoredAll + defaultLeaseTimings.leaseDuration;
    if (leaseHolder !== undefined && leaseHolder !== identity && !isNew)
      this.violations.add(`${identity} writes while ${leaseHolder} has the Lease: ${url}`);
  }

  #noteSent(identity: string, { method, body = '' }: KubernetesRequest): void {
    if (method !== 'PATCH') return;
    const patch = parseObject(body);
    const uid = textAt(patch, 'metadata', 'uid');
    const sent = this.#sent.get(identity) ?? new Map<string, readonly string[]>();
    sent.set(uid, [...(sent.get(uid) ?? []), ...this.blocksOf(patch)]);
    this.#sent.set(identity, sent);
  }

  async checkRest({ changes, faults }: Happened): Promise<void> {
    const { leader, machines, writes } = this.world;
    if (leader === undefined) {
      this.violations.add('no process leads');
      return;
    }
    const objects = await this.world.objects();
    const held = this.#checkCounts(objects, leader);
    const waiting = [...machines.values()].filter(
      ({ name, inUse }) =>
        inUse.length === 0 && !families.some((family) => this.#askedBy(name, family) !== ''),
    ).length;
    if (waiting > 0 && held.ipv4 < capacity && held.ipv6 < capacity)
      this.violations.add(
        `${waiting} machines wait, although only ${held.ipv4} and ${held.ipv6} of ${capacity} blocks are held`,
      );
    const gone = objects.map((object) => textAt(object, 'metadata', 'name'));
    const left = gone.filter((name) => name !== 'half' && !machines.has(name));
    if (left.length > 0) this.violations.add(`${left.length} objects of machines that are gone are left`);
    const max = 3 * (changes + faults) + 50;
    if (writes.length > max)
      this.violations.add(`${writes.length} writes follow ${changes} changes and ${faults} faults`);
  }

  /** Blocks that this process may remember to be of these objects, although they do not show them. */
  protected rememberedBy(identity: string, objects: readonly JsonObject[]): readonly string[] {
    const sent = this.#sent.get(identity);
    return objects.flatMap((object) => {
      const uid = textAt(object, 'metadata', 'uid');
      const shownOnce = this.#remembering.has(identity) ? (this.#remembered.get(uid) ?? []) : [];
      const unclear = (sent?.get(uid) ?? []).filter((block) => this.#everShown.get(uid)?.has(block) !== true);
      return [...shownOnce, ...unclear];
    });
  }

  /** No block counts as held that no object shows or may be remembered to have, and none is missing. Returns what counts. */
  #checkCounts(
    objects: readonly JsonObject[],
    { controller, process }: BlockReplica,
  ): Readonly<Record<'ipv4' | 'ipv6', number>> {
    const { pools = [] } = controller.status();
    const shown = objects.flatMap((object) => this.blocksOf(object));
    const remembered = this.rememberedBy(process.identity, objects);
    const held = { ipv4: 0, ipv6: 0 };
    for (const family of families) {
      const countOf = (blocks: readonly string[]): number =>
        new Set(blocks.flatMap((block) => blocksWithin(block, family, this.#usual[family]))).size;
      held[family] = pools.filter((pool) => pool.family === family).reduce((sum, pool) => sum + pool.held, 0);
      const [min, max] = [countOf(shown), countOf([...shown, ...remembered])];
      if (held[family] < min || held[family] > max)
        this.violations.add(
          `${held[family]} ${family} blocks count as held, objects show ${min}, and ${max - min} may be remembered`,
        );
    }
    return held;
  }
}

/** The blocks of the usual size that a CIDR of the family takes. */
function blocksWithin(text: string, family: Family, maskSize: number): readonly bigint[] {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid' || reading.cidr.family !== family) return [];
  const { base, length } = reading.cidr;
  const shift = BigInt(widthOf[family] - maskSize);
  const count = 2 ** Math.max(0, maskSize - length);
  return Array.from({ length: count }, (_, index) => (base >> shift) + BigInt(index));
}

function keyOf({ names, cidrs }: SharedBlock): string {
  return names
    .map((name, index) => `${name} ${cidrs[index]}`)
    .toSorted()
    .join(' ');
}
