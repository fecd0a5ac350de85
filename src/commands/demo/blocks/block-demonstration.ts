// The demonstration of blocks to nodes: an embedded Kubernetes API and machines in this process, the controller in its own,
// and a judge that looks only at what pods use.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../../runtime/clock.ts';
import { Random } from '../../../runtime/random.ts';
import { systemClock as clock } from '../../../runtime/system-clock.ts';
import { sharedBlocks } from '../../../simulator/cluster/block-judge.ts';
import { ciliumNodeCrd } from '../../../simulator/kubernetes/ciliumnode-crd.ts';
import { ciliumPodIpPoolCrd } from '../../../simulator/kubernetes/ciliumpodippool-crd.ts';
import { KubernetesModel } from '../../../simulator/kubernetes/kubernetes-model.ts';
import { kubeConfigFor, startKubernetesServer } from '../../../simulator/kubernetes/kubernetes-server.ts';
import { BlockMachine } from '../../../simulator/workload/block-machine.ts';
import { KubernetesClient } from '../../../simulator/workload/kubernetes-client.ts';
import { PoolMachine } from '../../../simulator/workload/pool-machine.ts';
import { exitCode } from '../../exit-code.ts';
import { type ControllerEnd, ControllerLog, ControllerProcess, endInWords } from '../controller-process.ts';
import { burdenOfMachine, Progress, tooSlow } from '../progress.ts';

export interface BlockChapter {
  readonly title: string;
  readonly play: () => Promise<void>;
}

export interface BlockDemonstrationOptions {
  readonly mode: 'cluster-pool' | 'multi-pool' | 'nodeipam';
  readonly nodes: number;
  readonly seed: string;
  readonly printLine: (text: string) => void;
  readonly interrupt: AbortSignal;
}

const poolsPath = '/apis/cilium.io/v2alpha1/ciliumpodippools';
/** Between two looks of the judge, in ms. */
const lookInterval = 100;

class ControllerEnded extends Error {
  readonly isStarved: boolean;

  constructor(end: ControllerEnd) {
    super(endInWords(end));
    this.name = 'ControllerEnded';
    this.isStarved = end.lostLease !== undefined;
  }
}

export class BlockDemonstration {
  readonly options: BlockDemonstrationOptions;
  readonly machines = new Map<string, BlockMachine>();
  readonly violations = new Set<string>();
  readonly #model: KubernetesModel;
  readonly #client: KubernetesClient;
  readonly #random: Random;
  readonly #startedAt = clock.monotonic();
  readonly #ending = new AbortController();
  /** Blocks that machines had at the last look, by machine. */
  readonly #before = new Map<BlockMachine, readonly string[]>();
  #controller: ControllerProcess | undefined;
  #kubeconfig = '';
  #log: ControllerLog | undefined;

  constructor(options: BlockDemonstrationOptions) {
    this.options = options;
    this.#random = new Random(options.seed);
    this.#model = new KubernetesModel({
      clock,
      random: this.#random.fork('api'),
      crds: [ciliumNodeCrd, ciliumPodIpPoolCrd],
      collectGarbage: true,
    });
    this.#client = new KubernetesClient(this.#model.handle, 'agent');
  }

  get isCiliumNodes(): boolean {
    return this.options.mode !== 'nodeipam';
  }

  /** Whether a change of networks needs no other start of the controller. */
  get hasPools(): boolean {
    return this.options.mode === 'multi-pool';
  }

  /** Resolves to the exit code of the process. Call it once. */
  async run(chapters: readonly BlockChapter[]): Promise<number> {
    const { interrupt, printLine } = this.options;
    const directory = await mkdtemp(join(tmpdir(), 'headwater-demo-'));
    const server = await startKubernetesServer({ model: this.#model, clock, port: 0 });
    this.#kubeconfig = join(directory, 'kubeconfig');
    this.#log = await ControllerLog.create();
    await writeFile(this.#kubeconfig, kubeConfigFor({ url: server.url }));
    printLine(`embedded Kubernetes API: ${this.#kubeconfig}`);
    printLine(`log of the controller: ${this.#log.path}`);
    const stop = (): void => this.#ending.abort(interrupt.aborted ? 'interrupted' : 'standstill');
    interrupt.addEventListener('abort', stop, { once: true });
    const progress = new Progress({ clock, burden: burdenOfMachine, onStandstill: stop });
    const judging = this.#judge(progress);
    try {
      for (const chapter of chapters) {
        progress.note(chapter.title);
        printLine(`\n${Math.round(this.elapsed / 1000)} s  ${chapter.title}`);
        await chapter.play();
      }
      return this.#verdict();
    } catch (error) {
      if (error instanceof ControllerEnded && error.isStarved) {
        printLine(error.message);
        return exitCode.tooSlow;
      }
      if (!this.#ending.signal.aborted) throw error;
      if (interrupt.aborted) return exitCode.interrupted;
      this.#reportViolations();
      if (this.violations.size > 0) return exitCode.failure;
      printLine(tooSlow('a part of the demonstration did not end'));
      return exitCode.tooSlow;
    } finally {
      progress.lift();
      this.#ending.abort();
      await judging;
      for (const machine of this.machines.values()) machine.stop();
      await this.#controller?.stop();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Ms since the start. */
  get elapsed(): number {
    return clock.monotonic() - this.#startedAt;
  }

  /** Starts the controller with these networks, and waits until it leads. */
  async startController(networks: string): Promise<void> {
    const isCilium = this.isCiliumNodes;
    if (this.hasPools) await this.setPool(networks);
    const flags: Readonly<Record<BlockDemonstrationOptions['mode'], readonly string[]>> = {
      'cluster-pool': [`--cluster-pool-ipv4-cidr=${networks}`],
      'multi-pool': [],
      nodeipam: [`--cluster-cidr=${networks}`],
    };
    const { mode } = this.options;
    const own = [...flags[mode], ...(isCilium ? [`--ipam=${mode}`, '--nodes-gc-interval=10s'] : [])];
    const lease = [
      '--leader-election-lease-duration=5s',
      '--leader-election-renew-deadline=3s',
      '--leader-election-retry-period=1s',
    ];
    let isLeading = false;
    this.#controller = new ControllerProcess({
      command: isCilium ? 'run' : 'nodeipam',
      flags: [...own, ...lease, `--k8s-kubeconfig-path=${this.#kubeconfig}`, '--serve-addr=127.0.0.1:0'],
      onLine: ({ message }) => {
        isLeading ||= message === 'leading';
      },
      onText: (text) => this.#log?.write(text),
    });
    const ended = this.#controller.ended.then((end) => {
      throw new ControllerEnded(end);
    });
    ended.catch(() => undefined);
    await Promise.race([this.until(() => isLeading), ended]);
  }

  /** Gives the pool these networks. */
  async setPool(networks: string): Promise<void> {
    const spec = { ipv4: { cidrs: networks.split(','), maskSize: 24 } };
    const { signal } = this.#ending;
    const pool = {
      apiVersion: 'cilium.io/v2alpha1',
      kind: 'CiliumPodIPPool',
      metadata: { name: 'default' },
      spec,
    };
    const made = await this.#client.create(poolsPath, pool, signal);
    if (made.kind === 'refused') await this.#client.mergePatch(`${poolsPath}/default`, { spec }, signal);
  }

  /** Ends the controller as its operating system would, or as a machine that loses power. */
  async endController(how: 'kill' | 'stop'): Promise<void> {
    if (how === 'kill') this.#controller?.kill();
    else await this.#controller?.stop();
    await this.#controller?.ended;
  }

  join(name: string): void {
    const machine = new (this.hasPools ? PoolMachine : BlockMachine)({
      name,
      form: this.isCiliumNodes ? 'CiliumNode' : 'Node',
      client: this.#client,
      clock,
      random: this.#random.fork(`${name} ${this.elapsed}`),
      isOwned: false,
    });
    if (machine instanceof PoolMachine) machine.pods = new Map([['default', 1]]);
    this.machines.set(name, machine);
    void machine.run();
  }

  /** `leavesObject`: its CiliumNode stays. */
  async leave(name: string, leavesObject = false): Promise<void> {
    const machine = this.machines.get(name);
    this.machines.delete(name);
    await machine?.end(leavesObject);
  }

  /** Names of objects that hold blocks or wait for one. */
  async objects(): Promise<readonly string[]> {
    const path = this.isCiliumNodes ? '/apis/cilium.io/v2/ciliumnodes' : '/api/v1/nodes';
    const answer = await this.#client.get(path, this.#ending.signal);
    const items = answer.kind === 'ok' ? (answer.object['items'] as { metadata: { name: string } }[]) : [];
    return items.map(({ metadata }) => metadata.name);
  }

  /** The answer of /status. */
  async status(): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`http://${this.#controller?.address}/status`);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  }

  get unserved(): number {
    return [...this.machines.values()].filter(({ inUse }) => inUse.length === 0).length;
  }

  async until(isReached: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await isReached())) await sleep(clock, lookInterval, this.#ending.signal);
  }

  pause(ms: number): Promise<void> {
    return sleep(clock, ms, this.#ending.signal);
  }

  async #judge(progress: Progress): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      this.#look();
      progress.note(JSON.stringify([...this.machines].map(([name, { inUse }]) => [name, inUse])));
      await sleep(clock, lookInterval, signal).catch(() => undefined);
    }
  }

  #look(): void {
    for (const { text } of sharedBlocks(this.machines.values())) this.violations.add(text);
    for (const machine of this.machines.values()) {
      const before = this.#before.get(machine) ?? [];
      if (before.some((block) => !machine.inUse.includes(block)))
        this.violations.add(`${machine.name} lost ${before.join(', ')}`);
      this.#before.set(machine, machine.inUse);
    }
  }

  #reportViolations(): void {
    this.#look();
    for (const violation of this.violations) this.options.printLine(`broken: ${violation}`);
  }

  #verdict(): number {
    const { printLine } = this.options;
    this.#reportViolations();
    const { unserved } = this;
    if (unserved > 0) printLine(`broken: ${unserved} nodes have no block`);
    if (this.violations.size > 0 || unserved > 0) return exitCode.failure;
    printLine(
      `\n${this.machines.size} nodes use ${this.machines.size} blocks, none of them shared, and no block has changed: ${Math.round(this.elapsed / 1000)} s`,
    );
    return exitCode.fine;
  }
}
