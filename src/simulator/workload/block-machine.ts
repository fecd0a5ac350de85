// A machine whose pods take their addresses from a block that somebody writes into its CiliumNode, or its Node. As a real
// agent does, it reads the block when it starts, takes the first CIDR of each family, and keeps to it until it starts again.
import { type Clock, sleep } from '../../runtime/clock.ts';
import { untilAborted } from '../../runtime/race-abort.ts';
import type { Random } from '../../runtime/random.ts';
import { insist } from './insist.ts';
import { type JsonObject, objectAt, textAt } from './json.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import { ciliumNodesPath } from './own-node.ts';

export interface BlockMachineOptions {
  readonly name: string;
  /** The object that names the block. */
  readonly form: 'CiliumNode' | 'Node';
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether its CiliumNode has its Node as owner. */
  readonly isOwned: boolean;
  /** The labels of the Node. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The `spec.providerID` of the Node. Default: none. */
  readonly providerId?: string;
}

const nodesPath = '/api/v1/nodes';
/** The time between two reads of the own object, in ms. */
const pause = 500;

export class BlockMachine {
  readonly name: string;
  readonly isOwned: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Blocks that its pods use; empty until it has them. */
  inUse: readonly string[] = [];
  protected readonly options: BlockMachineOptions;
  readonly #ending = new AbortController();

  constructor(options: BlockMachineOptions) {
    this.options = options;
    this.name = options.name;
    this.isOwned = options.isOwned;
    this.labels = options.labels ?? {};
  }

  /** Registers, and serves pods as soon as it has its block, until `end`. */
  async run(): Promise<void> {
    const { signal } = this.#ending;
    await untilAborted(signal, async () => {
      await this.#register(signal);
      await this.serve(signal);
    });
  }

  /** Restarts the agent. Pods keep their addresses, and new addresses come from the block that the agent reads now. */
  async restart(): Promise<void> {
    const { signal } = this.#ending;
    await untilAborted(signal, () => this.serve(signal));
  }

  /** Takes over the pods of the same machine from before its objects were replaced. Call it before the agent reads them. */
  continueAs({ inUse }: BlockMachine): void {
    this.inUse = inUse;
  }

  /** Does nothing more; its objects stay. */
  stop(): void {
    this.#ending.abort();
  }

  /** The machine is gone, its pods with it. `leaves`: its CiliumNode stays for somebody else to delete. */
  async end(leaves: boolean): Promise<void> {
    this.#ending.abort();
    this.inUse = [];
    const { client, clock, form, name } = this.options;
    const signal = new AbortController().signal;
    const remove = (path: string): Promise<void> =>
      insist(
        () => client.delete(`${path}/${name}`, { apiVersion: 'v1', kind: 'DeleteOptions' }, signal),
        404,
        clock,
        signal,
      );
    await remove(nodesPath);
    if (form === 'CiliumNode' && !leaves) await remove(ciliumNodesPath);
  }

  async #register(signal: AbortSignal): Promise<void> {
    const { client, clock, form, name, isOwned, labels = {}, providerId = '' } = this.options;
    const spec = providerId === '' ? {} : { providerID: providerId };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec };
    await insist(() => client.create(nodesPath, node, signal), 409, clock, signal);
    if (form === 'Node') return;
    const uid = textAt(await this.read(nodesPath, signal), 'metadata', 'uid');
    const ownerReferences = isOwned ? [{ apiVersion: 'v1', kind: 'Node', name, uid }] : [];
    const own = {
      apiVersion: 'cilium.io/v2',
      kind: 'CiliumNode',
      metadata: { name, ownerReferences },
      spec: { ipam: {} },
    };
    await insist(() => client.create(ciliumNodesPath, own, signal), 409, clock, signal);
    await this.#describeItself(signal);
  }

  /** An agent writes its addresses soon after it has created its object: others' writes then meet another version. */
  async #describeItself(signal: AbortSignal): Promise<void> {
    const { client, clock, random, name } = this.options;
    for (let write = 0; write < 2; write++) {
      await sleep(clock, random.integer(40), signal);
      const own = await this.read(ciliumNodesPath, signal);
      const addresses = [{ type: 'InternalIP', ip: `192.168.0.${write}` }];
      const spec = { ...objectAt(own, 'spec'), addresses };
      await client.replace(`${ciliumNodesPath}/${name}`, { ...own, spec }, signal);
    }
  }

  /** Runs once the machine has registered. */
  protected async serve(signal: AbortSignal): Promise<void> {
    const { clock, form } = this.options;
    for (;;) {
      const own = await this.read(form === 'Node' ? nodesPath : ciliumNodesPath, signal);
      const cidrs = form === 'Node' ? listOf(own, 'spec') : listOf(own, 'spec', 'ipam');
      if (cidrs.length > 0) {
        const isIpv6 = (cidr: string): boolean => cidr.includes(':');
        const first = [cidrs.find((cidr) => !isIpv6(cidr)), cidrs.find(isIpv6)];
        const read = first.filter((cidr) => cidr !== undefined);
        this.inUse = [...new Set([...this.inUse, ...read])];
        return;
      }
      await sleep(clock, pause, signal);
    }
  }

  protected async read(path: string, signal: AbortSignal): Promise<JsonObject> {
    const { client, clock, name } = this.options;
    for (;;) {
      const answer = await client.get(`${path}/${name}`, signal);
      if (answer.kind === 'ok') return answer.object;
      await sleep(clock, pause, signal);
    }
  }
}

function listOf(object: JsonObject, ...path: readonly string[]): readonly string[] {
  const list = objectAt(object, ...path)['podCIDRs'];
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string') : [];
}
