// A container runtime and its pods: it adds and deletes attachments by the plugin, late, twice, or not at all.
import type { Family } from '../../../src/blocks/set/cidr.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import type { Random } from '../../../src/runtime/random.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import type { AgentChecks } from './agent-checks.ts';
import type { NodeCluster } from './node-cluster.ts';
import type { CniClient, CniResult } from './cni-client.ts';

export interface PodRuntimeOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly client: CniClient;
  readonly checks: AgentChecks;
  readonly families: readonly Family[];
  /** Undefined: there are no pools. */
  readonly drawPool: (() => PodPool) | undefined;
  /** Undefined: there are no pods in any API server. */
  readonly api: Pick<NodeCluster, 'createPod' | 'deletePod'> | undefined;
}

/** How a pod gets to its pool: by the name of the pod, by that of its network, or because it is the default. */
export interface PodPool {
  readonly pool: string;
  readonly podName?: string;
  readonly isInConf?: boolean;
}

interface Container {
  readonly id: string;
  readonly network: string;
  /** The name that the plugin learns, if any. */
  pod: string | undefined;
  /** The uid of the container's pod, if the agent knows only the address that the pod shows. */
  uid: string | undefined;
  isDeleted: boolean;
  readonly pool: PodPool | undefined;
  /** The result that ADD printed. */
  result: object | undefined;
}

const never = new AbortController().signal;
const networks = ['pods', 'other'];

export class PodRuntime {
  /** Containers that nothing will delete: only a GC that does not name them. */
  readonly forgotten = new Set<string>();
  /** Pods and repetitions that have not ended. */
  active = 0;
  readonly #options: PodRuntimeOptions;
  /** Containers that the runtime knows, by id. */
  readonly #known = new Map<string, Container>();
  #count = 0;
  /** The boot of the machine. Pods of an earlier boot are gone. */
  #boot = 0;
  #isCalm = false;
  #collecting = Promise.resolve();

  constructor(options: PodRuntimeOptions) {
    this.#options = options;
  }

  /** From now on, it forgets nothing more. */
  calm(): void {
    this.#isCalm = true;
  }

  reboot(): void {
    this.#boot++;
    for (const container of this.#known.values()) {
      container.isDeleted = true;
      void this.#deletePod(container);
    }
    this.#known.clear();
    this.forgotten.clear();
    this.#options.checks.endAll();
  }

  /** The agent lost what it knew: from now on it knows what pods show. */
  async showPods(): Promise<void> {
    const { api, checks } = this.#options;
    const shown = [...checks.holders].flatMap(({ name, addresses }) => {
      const container = this.#known.get(name);
      return container === undefined ? [] : [{ container, addresses }];
    });
    for (const { container } of shown) container.pod = `of-${container.id}`;
    for (const { container, addresses } of shown) {
      const uid = await api?.createPod(`of-${container.id}`, addresses);
      container.uid = uid;
      if (container.isDeleted) await this.#deletePod(container);
    }
  }

  /** Plays a pod from its first container to the last repetition of its deletion. */
  async pod(): Promise<void> {
    const { random } = this.#options;
    const [index, boot] = [this.#count++, this.#boot];
    // Names come back, as those of a StatefulSet do.
    const name = random.chance(0.5) ? `stateful-${random.integer(4)}` : `pod-${index}`;
    const pool = this.#options.drawPool?.();
    const pod = pool === undefined ? name : pool.podName;
    this.active++;
    for (let attempt = 0; attempt < 4 && boot === this.#boot; attempt++) {
      const container: Container = {
        id: `c${index}-${attempt}`,
        network: random.chance(0.8) ? 'pods' : 'other',
        pod,
        uid: undefined,
        isDeleted: false,
        pool,
        result: undefined,
      };
      if (await this.#live(container, boot)) break;
      await this.#wait(5000);
    }
    this.active--;
  }

  /** Releases what belongs to no known container, by network. No ADD may begin meanwhile: https://www.cni.dev/docs/spec/#gc-garbage-collect-attachments */
  collect(): Promise<void> {
    this.#collecting = this.#collect();
    return this.#collecting;
  }

  async #collect(): Promise<void> {
    for (const network of networks) {
      const valid = [...this.#known.values()]
        .filter((each) => each.network === network)
        .map(({ id }) => ({ containerID: id, ifname: 'eth0' }));
      await this.#run('GC', { network }, { 'cni.dev/valid-attachments': valid });
    }
  }

  /** A runtime that knows no GC asks for nothing. */
  async collectNothing(): Promise<void> {
    await this.#run('GC', { network: 'pods' });
  }

  /** Whether it lived. */
  async #live(container: Container, boot: number): Promise<boolean> {
    const { random, checks } = this.#options;
    const { id } = container;
    for (let last: Promise<void> | undefined; last !== this.#collecting; ) {
      last = this.#collecting;
      await last;
    }
    if (boot !== this.#boot) return true;
    this.#known.set(id, container);
    const added = await this.#add(container, boot);
    if (boot !== this.#boot) return true;
    if (added === undefined && !this.#isCalm && random.chance(0.15)) {
      // The runtime crashed before it wrote down what it began.
      this.#known.delete(id);
      this.forgotten.add(id);
      return false;
    }
    if (added !== undefined) await this.#use(container, boot);
    if (boot !== this.#boot) return true;
    checks.end(id);
    await this.#wait(500);
    await this.#delete(container, boot);
    this.#known.delete(id);
    if (random.chance(0.3)) void this.#repeatDelete(container, boot);
    return added !== undefined;
  }

  /** Resolves to what it got, unless the plugin failed or its answer is lost. */
  async #add(container: Container, boot: number): Promise<object | undefined> {
    const { checks, families, random } = this.#options;
    const answer = await this.#run('ADD', container);
    if (boot !== this.#boot || answer?.exit !== 0) return undefined;
    container.result = JSON.parse(answer.out) as object;
    const wanted = { families, pool: container.pool?.pool };
    checks.begin(container.id, addressesIn(container.result), wanted);
    if (random.chance(0.1)) {
      const again = await this.#run('ADD', container);
      if (boot === this.#boot && container.uid === undefined && again?.exit === 0)
        checks.begin(container.id, addressesIn(JSON.parse(again.out) as object), wanted);
    }
    return container.result;
  }

  async #use(container: Container, boot: number): Promise<void> {
    const { checks } = this.#options;
    await this.#wait(60_000);
    if (boot !== this.#boot) return;
    const checked = container.uid === undefined ? await this.#run('CHECK', container) : undefined;
    const code = checked?.exit === 1 ? (JSON.parse(checked.out) as { code: number }).code : 0;
    if (boot === this.#boot && container.uid === undefined && (code === 3 || code === 101))
      checks.violations.add(`CHECK of ${container.id}, which lives, says: ${checked?.out}`);
    await this.#wait(30_000);
  }

  async #delete(container: Container, boot: number): Promise<void> {
    while (boot === this.#boot) {
      const answer = await this.#run('DEL', container);
      if (answer?.exit === 0) {
        container.isDeleted = true;
        return this.#deletePod(container);
      }
      await this.#wait(3000);
    }
  }

  async #deletePod({ uid, pod }: Container): Promise<void> {
    if (uid !== undefined && pod !== undefined) await this.#options.api?.deletePod(pod);
  }

  /** Deletes a container again, when another pod may have its address. */
  async #repeatDelete(container: Container, boot: number): Promise<void> {
    this.active++;
    await this.#wait(120_000);
    if (boot === this.#boot) await this.#run('DEL', container);
    this.active--;
  }

  #run(
    verb: string,
    { id = '', network, pod, uid, pool, result }: Partial<Container> & { readonly network: string },
    more: object = {},
  ): Promise<CniResult | undefined> {
    const names = { CNI_CONTAINERID: id, CNI_IFNAME: 'eth0', CNI_NETNS: `/var/run/netns/${id}` };
    const podNames = pod === undefined ? '' : `;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`;
    const args = `IgnoreUnknown=1${podNames}${uid === undefined ? '' : `;K8S_POD_UID=${uid}`}`;
    const named = pool?.isInConf === true && { pool: pool.pool };
    const attachment = verb === 'GC' ? {} : { ...names, CNI_ARGS: args };
    return this.#options.client.run(
      { CNI_COMMAND: verb, ...attachment },
      {
        cniVersion: '1.1.0',
        name: network,
        type: 'ptp',
        // Some modes know no network of an address.
        ipam: { type: 'headwater-ipam', prefixLength: 'host', ...named },
        ...(verb !== 'ADD' && result !== undefined && { prevResult: result }),
        ...more,
      },
    );
  }

  /** Up to so many ms. */
  #wait(max: number): Promise<void> {
    return sleep(this.#options.clock, this.#options.random.integer(max), never);
  }
}

function addressesIn(result: object): readonly string[] {
  const { ips = [] } = result as { readonly ips?: readonly { readonly address: string }[] };
  return ips.map(({ address }) => address.split('/')[0] ?? '');
}
