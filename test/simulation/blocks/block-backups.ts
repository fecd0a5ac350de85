// What administrators bring back in a cluster whose nodes get blocks: one object with the block that it had once, or all of etcd.
import type { Random } from '../../../src/runtime/random.ts';
import { type JsonObject, objectAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { BlockChecks } from './block-checks.ts';
import type { BlockWorld } from './block-world.ts';

/** How long a restored Node without a machine stays until somebody notices, in ms. */
const unnoticed = 180_000;

export class BlockBackups {
  readonly #world: BlockWorld;
  readonly #checks: BlockChecks;
  readonly #random: Random;
  /** Objects as they were, without what the API server sets. */
  readonly #kept = new Map<string, JsonObject>();
  #restoreAll: (() => void) | undefined;

  constructor(world: BlockWorld, checks: BlockChecks, random: Random) {
    this.#world = world;
    this.#checks = checks;
    this.#random = random;
  }

  async keep(): Promise<void> {
    for (const object of await this.#world.objects()) {
      const name = textAt(object, 'metadata', 'name');
      if (
        /^(half|slow-.*)$/.test(name) ||
        this.#checks.blocksOf(object).length === 0 ||
        this.#random.chance(0.5)
      )
        continue;
      const { form } = this.#world;
      const apiVersion = form === 'Node' ? 'v1' : 'cilium.io/v2';
      this.#kept.set(name, { apiVersion, kind: form, metadata: { name }, spec: objectAt(object, 'spec') });
    }
    this.#restoreAll = this.#world.model.backUp();
  }

  /** Brings one object back: that of a machine that is gone, or of one that was drained for it. */
  async restoreOne(): Promise<void> {
    const [name, object] = this.#random.pick([...this.#kept, ['', {}] as const]);
    if (name === '') return;
    const world = this.#world;
    const isAlive = world.machines.has(name);
    if (isAlive) await world.leave(name);
    else await world.ask('DELETE', `${world.path}/${name}`);
    this.#checks.noteRestored(name, this.#checks.blocksOf(object));
    await world.ask('POST', world.path, object);
    if (isAlive) world.join(name);
    else if (world.form === 'Node') world.clock.schedule(unnoticed, () => void this.#notice(name));
  }

  async #notice(name: string): Promise<void> {
    if (!this.#world.machines.has(name)) await this.#world.ask('DELETE', `${this.#world.path}/${name}`);
  }

  /** Brings etcd back. Machines of which it does not know what their pods use are drained and register again. */
  async restoreEverything(): Promise<void> {
    if (this.#restoreAll === undefined) return;
    const world = this.#world;
    const used = new Map(world.machines);
    const restore = this.#restoreAll;
    this.#restoreAll = undefined;
    for (const machine of world.machines.values()) machine.stop();
    const before = await world.objects();
    restore();
    const objects = await world.objects();
    this.#checks.noteEverythingRestored(before, objects);
    const shown = new Map(
      objects.map((object) => [textAt(object, 'metadata', 'name'), this.#checks.blocksOf(object)] as const),
    );
    for (const [name, before] of used) {
      const { isOwned, labels, inUse } = before;
      const isKnown = inUse.length > 0 && inUse.every((block) => shown.get(name)?.includes(block));
      world.machines.delete(name);
      const machine = world.join(name, isOwned, labels);
      if (isKnown) machine.continueAs(before);
    }
    // What takes Nodes of machines away that are gone notices that these are.
    for (const name of shown.keys())
      if (name !== 'half' && !used.has(name)) {
        await world.endDeletion(name);
        await world.ask('DELETE', `/api/v1/nodes/${name}`);
      }
  }
}
