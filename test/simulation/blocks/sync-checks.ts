// What must hold in a cluster whose Nodes and cloud are brought into accord, besides what holds for every block.
import { type JsonObject, listAt, textAt } from '../../../src/simulator/workload/json.ts';
import type { ModelAliasCloud } from './alias-cloud.ts';
import { BlockChecks, type Happened } from './block-checks.ts';
import type { BlockWorld } from './block-world.ts';

/** Maximum number of calls about one instance within so many ms: each loop waits longer and longer, and begins anew with each process. */
const calls = { within: 60_000, max: 60 };

export class SyncChecks extends BlockChecks {
  readonly #cloud: ModelAliasCloud;
  readonly #providerIdOf: (machine: string) => string;

  constructor(world: BlockWorld, cloud: ModelAliasCloud, providerIdOf: (machine: string) => string) {
    super(world, 'nodeipam');
    this.#cloud = cloud;
    this.#providerIdOf = providerIdOf;
  }

  override async look(): Promise<void> {
    await super.look();
    this.#checkCalls();
  }

  #checkCalls(): void {
    const since = this.world.clock.monotonic() - calls.within;
    const counts = new Map<string, number>();
    for (let index = this.#cloud.calls.length - 1; index >= 0; index--) {
      const call = this.#cloud.calls[index];
      if (call === undefined || call.at < since) break;
      counts.set(call.instance, (counts.get(call.instance) ?? 0) + 1);
    }
    for (const [instance, count] of counts)
      if (count > calls.max) this.violations.add(`more than ${calls.max} calls a minute about ${instance}`);
  }

  override async checkRest({ changes, faults }: Happened): Promise<void> {
    const { leader, machines, writes } = this.world;
    if (leader === undefined) {
      this.violations.add('no process leads');
      return;
    }
    const objects = await this.world.objects();
    for (const object of objects)
      if (machines.has(textAt(object, 'metadata', 'name'))) this.#checkAccord(object);
    for (const { held, free } of leader.controller.status().pools ?? []) {
      const shown = new Set(objects.flatMap((object) => this.blocksOf(object)));
      // The addresses of Services take one.
      if (held - 1 < shown.size || free < 0)
        this.violations.add(`${held - 1} blocks count as held, and objects show ${shown.size}`);
    }
    const max = 4 * (changes + faults) + 50;
    if (writes.length > max)
      this.violations.add(`${writes.length} writes follow ${changes} changes and ${faults} faults`);
  }

  /** The Node has what the cloud routes to its instance, and its network counts as available. */
  #checkAccord(node: JsonObject): void {
    const name = textAt(node, 'metadata', 'name');
    const [block, ...more] = this.blocksOf(node);
    const aliases = this.#cloud.instances.get(this.#providerIdOf(name)) ?? [];
    if (block === undefined || more.length > 0 || aliases[0] !== block)
      this.violations.add(`${name} has ${block}, and the cloud routes ${aliases.join()} to it`);
    const isReady = listAt(node, 'status', 'conditions').some(
      (each) => textAt(each, 'type') === 'NetworkUnavailable' && textAt(each, 'status') === 'False',
    );
    if (!isReady) this.violations.add(`the network of ${name} does not count as available`);
  }
}
