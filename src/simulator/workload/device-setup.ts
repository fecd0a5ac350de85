// Which interfaces of its machine an agent has set up. Packets of pods pass no other.
import type { AgentCloud } from './clouds/agent-cloud.ts';
import type { InterfaceStatus } from './interface-status.ts';
import type { JsonObject } from './json.ts';

export class DeviceSetup {
  readonly #done: Set<string>;
  readonly #cloud: Pick<AgentCloud, 'setUpObstacle'>;

  /** `done`: the interfaces that earlier agents of the machine have set up. */
  constructor(done: Set<string>, cloud: Pick<AgentCloud, 'setUpObstacle'>) {
    this.#done = done;
    this.#cloud = cloud;
  }

  /** Sets up what is new, all of it or nothing. An interface that is detached and attached again is new. */
  observe(node: JsonObject, interfaces: readonly InterfaceStatus[]): void {
    const shown = new Set(interfaces.map(({ id }) => id));
    for (const id of this.#done) if (!shown.has(id)) this.#done.delete(id);
    if (shown.size === this.#done.size || this.#cloud.setUpObstacle(node) !== undefined) return;
    for (const id of shown) this.#done.add(id);
  }

  isDone(interfaceId: string): boolean {
    return this.#done.has(interfaceId);
  }
}
