// A test cluster whose Nodes have a label that selectors of releases choose by.
import { instance, testCloud } from './test-cloud.ts';
import { World } from './world.ts';

export class LabelledWorld extends World {
  constructor(count: number) {
    super({ cloud: testCloud({ instances: [instance({ count })] }) });
  }

  async label(index: number, network: string | null): Promise<void> {
    const { name } = this.machine(index);
    await this.call('PATCH', `/api/v1/nodes/${name}`, { metadata: { labels: { network } } });
  }

  /** Its Node and its CiliumNode appear, the Node with that label. */
  async join(index: number, network: string): Promise<void> {
    await this.register(this.machine(index));
    await this.label(index, network);
    await this.announceAlone(this.machine(index), { metadata: { ownerReferences: null } });
  }
}
