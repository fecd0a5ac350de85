// The half that the modes which give blocks to CiliumNodes share: how CiliumNodes are written, where errors are shown,
// which CiliumNodes are deleted, and their definition.
import { writeTimeoutOf } from '../../config/release-window.ts';
import { type CiliumNodeHolder, CiliumNodeHolders } from '../cluster-pool/cilium-node-holders.ts';
import type { Holder } from '../allocation/block-holders.ts';
import type { BlockLedger } from '../allocation/block-ledger.ts';
import type { LeftHoldings } from '../allocation/left-holdings.ts';
import { NodeClaims } from '../allocation/node-claims.ts';
import {
  firstHeld,
  firstHeldAnnotation,
  firstHeldText,
  type WideHolding,
} from '../cluster-pool/first-held.ts';
import { leftAnnotation, leftIn, leftText } from '../cluster-pool/left-annotation.ts';
import { LeftBlocks, type LeftBlocksEvent } from '../cluster-pool/left-blocks.ts';
import { cidrText } from '../set/cidr.ts';
import type { AccessScope } from '../../kubernetes/access/needed-access.ts';
import { BlockedErrors } from '../../kubernetes/cilium-node/blocked-errors.ts';
import { CiliumNodeWriter } from '../../kubernetes/cilium-node/cilium-node-writer.ts';
import { ciliumNodeDefinition } from '../../kubernetes/crd/cilium-definitions.ts';
import { ensureDefinition } from '../../kubernetes/crd/ensure-definition.ts';
import type { EventSubject } from '../../kubernetes/events/event-object.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { ClusterNodes } from '../../kubernetes/watch/cluster-nodes.ts';
import type { Reflector } from '../../kubernetes/watch/reflector.ts';
import { ShownPods } from '../../kubernetes/watch/shown-pods.ts';
import type { BlockSession } from './block-session.ts';
import { NotStartable } from '../../controller/clouds/cloud.ts';
import { WatchCounters } from '../../controller/reporting/watch-counters.ts';
import type { BlockMode } from './block-mode.ts';
import type { HolderWatch } from './block-watch.ts';
import { mayWrite } from './own-lease.ts';
import { agentTaintOf, agentTaints } from '../../controller/agent-taints.ts';
import { ciliumNodeCollection } from '../../controller/cilium-node-collection.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** CiliumNodes as last read, and who allocates to them. */
export interface ServedCiliumNodes
  extends Pick<HolderWatch<CiliumNodeHolder>, 'allocator' | 'objects' | 'reassess'> {
  readonly reflector: Pick<Reflector<CiliumNodeHolder>, 'observe'>;
}

export abstract class CiliumNodeMode implements BlockMode {
  abstract readonly access: AccessScope;
  abstract readonly objects: BlockMode['objects'];
  readonly holders: CiliumNodeHolders;
  protected readonly deps: ModeDeps;
  readonly #writer: CiliumNodeWriter;
  readonly #served: ServedCiliumNodes;
  /** The Nodes of the cluster. */
  protected readonly nodes: ClusterNodes;
  protected readonly pods: ShownPods;
  readonly #errors: BlockedErrors;
  readonly #counters = new WatchCounters();
  #nodesAreListed = false;
  /** Whether all Nodes were known once, or cannot be read: their labels and their presence count at the first assignment. */
  #isInformed = false;
  #claims: NodeClaims | undefined;
  #left: LeftBlocks | undefined;
  #isDenialTold = false;
  #gc: ReturnType<typeof ciliumNodeCollection>;
  readonly #taints: ReturnType<typeof agentTaints>;

  /** `keptLabels`: labels of Nodes that count. */
  constructor(deps: ModeDeps, served: ServedCiliumNodes, keptLabels: readonly string[] = []) {
    this.deps = deps;
    this.#served = served;
    const { kubernetes, leadership } = deps;
    const { options, clock, random, log, onBug } = deps.host;
    const { permission } = leadership;
    const mayWriteNow = (): boolean => mayWrite(deps);
    const known = served.reflector;
    this.#writer = new CiliumNodeWriter(kubernetes, mayWriteNow, writeTimeoutOf(options));
    const mayWriteErrors = (): boolean => permission.refusal('publish') === undefined && mayWriteNow();
    const errorPorts = { clock, random: random.fork('errors'), onBug };
    this.#errors = new BlockedErrors(errorPorts, this.#writer, known, mayWriteErrors);
    permission.onChange(() => this.#errors.resume());
    const agentTaint = agentTaintOf(options);
    this.pods = new ShownPods(kubernetes, clock);
    const ports = { transport: kubernetes, clock, random: random.fork('nodes'), onBug };
    this.nodes = new ClusterNodes(ports, {
      instanceIdOf: () => undefined,
      keptLabels: deps.scope.isSelective ? 'all' : keptLabels,
      ...(agentTaint !== undefined && { agentTaint }),
      onChange: (name, node) => {
        deps.scope.noteNode(name, node?.labels);
        if (node !== undefined) this.#noteNode(name);
        served.reassess(name);
        if (this.nodes.nodes.size === 1) this.#decideClaims();
      },
      onAccess: (problem) => {
        if (problem !== undefined)
          log.warn('cannot read Nodes: CiliumNodes of machines that are gone stay', { problem });
        else log.info('reading Nodes again');
        if (problem === undefined) deps.scope.noteNodes(this.nodes.nodes);
        for (const name of this.nodes.nodes.keys()) {
          this.#noteNode(name);
          served.reassess(name);
        }
      },
      onState: (state) => {
        if (state.kind !== 'denied') deps.reads.note('nodes', state);
        this.#nodesAreListed = state.kind === 'watching';
        if (this.#nodesAreListed) this.#decideClaims();
      },
    });
    this.#taints = agentTaints({ ...deps, nodes: () => this.nodes.nodes });
    const { nodes } = this;
    const isIgnored = (name: string): boolean => nodes.isIgnored(name) || deps.scope.isOutside(name);
    this.holders = new CiliumNodeHolders({
      writer: this.#writer,
      errors: this.#errors,
      nodes: { isIgnored },
      known,
    });
    deps.scope.onMove = (name) => {
      served.reassess(name);
      this.#taints?.noteNode(name);
    };
    void nodes.settled.then(() => {
      this.#isInformed = true;
      served.allocator?.resume();
    });
  }

  abstract lead(session: BlockSession, signal: AbortSignal): Promise<void> | undefined;

  #noteNode(name: string): void {
    this.#gc?.noteNode(name);
    this.#taints?.noteNode(name);
  }

  hasNode(name: string): boolean {
    return this.nodes.nodes.has(name);
  }

  get isInformed(): boolean {
    return this.#isInformed;
  }

  get leadingProblem(): string | undefined {
    const { problem } = this.nodes.reflector;
    return this.#isInformed || problem === undefined
      ? undefined
      : `it waits for a list of all Nodes: ${problem}`;
  }

  /**
   * Starts to bound the blocks that a CiliumNode may hold without a Node, and to keep released blocks whose pods may
   * still run.
   */
  protected openHoldings(ledger: BlockLedger): { readonly claims: NodeClaims; readonly left?: LeftHoldings } {
    const { maxBlocksWithoutNode: bound, releasePodCheck } = this.deps.host.options;
    this.#claims = new NodeClaims(ledger, bound, (name) => this.#hasNodeForSure(name));
    if (!releasePodCheck) return { claims: this.#claims };
    const { clock, random, onBug } = this.deps.host;
    const ports = { clock, random: random.fork('left blocks'), onBug };
    this.#left = new LeftBlocks(ports, ledger, this.pods, (event) => this.#noteLeft(event));
    const { holdings } = this.#left;
    for (const { name, cidr } of leftIn(this.deps.leadership.lease?.annotation(leftAnnotation)))
      holdings.remember(name, cidr);
    return { claims: this.#claims, left: holdings };
  }

  /** Holds whole what stood there before Headwater first led. `networks`: what blocks come from. `wide`: what they show now. */
  protected holdFirst(ledger: BlockLedger, networks: string, wide: readonly WideHolding[]): void {
    const { lease } = this.deps.leadership;
    const first = firstHeld(networks, lease?.annotation(firstHeldAnnotation), wide);
    for (const { uid, cidr } of first) ledger.trust(uid, cidr);
    lease?.annotate(firstHeldAnnotation, firstHeldText(networks, first));
  }

  #noteLeft(event: LeftBlocksEvent): void {
    const { log } = this.deps.host;
    this.deps.leadership.lease?.annotate(leftAnnotation, leftText(this.#left?.holdings.inUse() ?? []));
    if (event.kind === 'looked') this.#served.allocator?.reassess(event.name);
    else if (event.kind === 'freed') this.#served.allocator?.resume(event.others);
    else if (event.kind === 'inUse')
      log.warn('blocks of a deleted CiliumNode are in use by pods, and no other node gets them', {
        node: event.name,
        blocks: event.blocks.map(cidrText),
        remedy:
          'delete the pods, or restart the Cilium agent of the node, which creates the CiliumNode again',
      });
    else if (!this.#isDenialTold) {
      this.#isDenialTold = true;
      log.warn(
        'pods may not be read: the blocks of a deleted CiliumNode are free at once, although pods may use them',
        {
          problem: event.problem,
        },
      );
    }
  }

  /** Undefined if unknown. A list without a single Node proves nothing: it is wrong, or the cluster is new. */
  #hasNodeForSure(name: string): boolean | undefined {
    if (this.hasNode(name)) return true;
    return !this.#nodesAreListed || this.nodes.nodes.size === 0 ? undefined : false;
  }

  #decideClaims(): void {
    for (const name of this.#claims?.undecided ?? []) this.#served.allocator?.reassess(name);
  }

  get background(): readonly { run(signal: AbortSignal): Promise<void> }[] {
    return [this.nodes.reflector];
  }

  /** Throws NotStartable if the definition is absent and may not be created. */
  async prepare(signal: AbortSignal): Promise<void> {
    if (await this.ensure(ciliumNodeDefinition, signal))
      this.deps.host.log.warn(
        'agents of Cilium wait for its other definitions, too: they come from cilium-operator or its chart',
      );
  }

  /** Whether it was changed. Throws NotStartable. */
  protected async ensure(definition: JsonObject, signal: AbortSignal): Promise<boolean> {
    const { kubernetes, leadership } = this.deps;
    const { options, clock, log } = this.deps.host;
    const mayCreate = !options.skipCrdCreation && leadership.permission.refusal('publish') === undefined;
    const outcome = await ensureDefinition({ definition, transport: kubernetes, clock, mayCreate }, signal);
    if (outcome.kind === 'absent') throw new NotStartable(outcome.problem);
    if (outcome.kind === 'present') return false;
    const kind = textAt(definition, 'spec', 'names', 'kind') ?? '';
    log.info(`${outcome.kind} the definition of ${kind}s`, { version: outcome.version });
    return true;
  }

  /** Deletes CiliumNodes of machines that are gone, and opens Nodes whose agent is ready, while this process leads. */
  protected async serveNodes(signal: AbortSignal): Promise<void> {
    this.#gc = ciliumNodeCollection(this.deps, {
      ciliumNodes: () => this.#served.objects.values(),
      nodeNames: () => this.#nodeNames(),
      writer: this.#writer,
    });
    await Promise.all([this.#gc?.run(signal), this.#taints?.run(signal)]);
  }

  get collection(): ReturnType<typeof ciliumNodeCollection> {
    return this.#gc;
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all([this.#left?.stop(deadline), this.#errors.stop(deadline)]);
  }

  subjects({ name, uid, nodeUid }: Holder): readonly EventSubject[] {
    return [
      { kind: 'CiliumNode', name, uid },
      { kind: 'Node', name, uid: this.nodes.nodes.get(name)?.uid ?? nodeUid },
    ];
  }

  show(): void {
    this.#counters.show(this.deps.host.registry.metrics, 'nodes', this.nodes.reflector.figures());
  }

  /** Undefined while the list of Nodes may be incomplete. */
  #nodeNames(): ReadonlySet<string> | undefined {
    return this.#nodesAreListed ? new Set(this.nodes.nodes.keys()) : undefined;
  }
}
