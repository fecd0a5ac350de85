// A cluster in the mode multi-pool, whose objects are written as agents and administrators write them.
import { type JsonObject, listAt, textAt, textsAt } from '../../../src/simulator/workload/json.ts';
import { BlockWorld, type BlockWorldOptions } from '../../simulation/blocks/block-world.ts';

export const pools = '/apis/cilium.io/v2alpha1/ciliumpodippools';
export const nodes = '/apis/cilium.io/v2/ciliumnodes';

/** The embedded API server, without agents: objects are written as agents write them. */
export class PoolWorld extends BlockWorld {
  constructor(flags: Readonly<Record<string, string>> = {}, more: Partial<BlockWorldOptions> = {}) {
    super({ seed: 'one', command: 'run', flags: { ipam: 'multi-pool', ...flags }, ...more });
  }

  async pool(name: string, spec: JsonObject): Promise<void> {
    await this.ask('POST', pools, {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name },
      spec,
    });
  }

  /** `asked`: addresses by pool. */
  async node(
    name: string,
    asked: Readonly<Record<string, number | readonly [number, number]>> = {},
  ): Promise<void> {
    await this.ask('POST', nodes, {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name },
      spec: { ipam: { pools: { requested: requested(asked) } } },
    });
  }

  async request(
    name: string,
    asked: Readonly<Record<string, number | readonly [number, number]>>,
  ): Promise<void> {
    await this.ask('PATCH', `${nodes}/${name}`, {
      spec: { ipam: { pools: { requested: requested(asked) } } },
    });
  }

  /** What the agent lists from now on. */
  async list(name: string, blocks: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const allocated = Object.entries(blocks).map(([pool, cidrs]) => ({ pool, cidrs }));
    await this.ask('PATCH', `${nodes}/${name}`, { spec: { ipam: { pools: { allocated } } } });
  }

  async blocks(name: string): Promise<Record<string, readonly string[]>> {
    const node = await this.ask('GET', `${nodes}/${name}`);
    return Object.fromEntries(
      listAt(node, 'spec', 'ipam', 'pools', 'allocated').map((entry) => [
        textAt(entry, 'pool'),
        textsAt(entry, 'cidrs'),
      ]),
    );
  }

  async error(name: string): Promise<string> {
    return textAt(await this.ask('GET', `${nodes}/${name}`), 'status', 'ipam', 'operator-status', 'error');
  }

  async events(): Promise<readonly string[]> {
    return listAt(await this.ask('GET', '/api/v1/events'), 'items').map(
      (event) =>
        `${textAt(event, 'involvedObject', 'kind')} ${textAt(event, 'involvedObject', 'name')} ${textAt(event, 'reason')}`,
    );
  }

  reasonOf(name: string): unknown {
    const report = this.leader?.controller.node(name);
    return report?.known === true ? report.reason : report;
  }

  held(): unknown {
    const { pools: reported } = this.leader?.controller.status() ?? {};
    return reported?.map(({ pool, cidr, held }) => `${pool} ${cidr} ${held}`);
  }
}

export function requested(asked: Readonly<Record<string, number | readonly [number, number]>>): JsonObject[] {
  return Object.entries(asked).map(([pool, needed]) => {
    const [ipv4, ipv6] = typeof needed === 'number' ? [needed, 0] : needed;
    return { pool, needed: { 'ipv4-addrs': ipv4, ...(ipv6 > 0 && { 'ipv6-addrs': ipv6 }) } };
  });
}

export const ipv4 = (maskSize: number, ...cidrs: string[]): JsonObject => ({ ipv4: { cidrs, maskSize } });

/** Two pools and a leader. */
export async function usual(flags: Readonly<Record<string, string>> = {}): Promise<PoolWorld> {
  const world = new PoolWorld(flags);
  await world.pool('blue', ipv4(26, '10.1.0.0/24'));
  await world.pool('default', ipv4(27, '10.0.0.0/24'));
  world.startReplica();
  await world.until('it leads', () => world.leader !== undefined);
  return world;
}
