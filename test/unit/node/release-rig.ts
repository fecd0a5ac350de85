// A releaser with a small cloud whose answers a test scripts, and a CiliumNode that is published as soon as
// it changes, in virtual time. The answers of the cloud go into a real inventory.
import type { CiliumNode } from '../../../src/kubernetes/cilium-node/cilium-node.ts';
import type { PodReading } from '../../../src/kubernetes/watch/shown-pods.ts';
import type { JsonObject } from '../../../src/runtime/json.ts';
import type { Release } from '../../../src/node/release/release-state.ts';
import type { ReleasableFacts } from '../../../src/node/release/release-plan.ts';
import { ReleaseStore } from '../../../src/node/release/release-store.ts';
import { GrantedReleases } from '../../../src/node/release/release-turns.ts';
import { PodUse } from '../../../src/node/release/pod-use.ts';
import { Releaser } from '../../../src/node/release/releaser.ts';
import type { FinishedRelease } from '../../../src/node/release/unassignments.ts';
import { podAddresses } from '../../../src/node/demand/capacity.ts';
import { Inventory } from '../../../src/providers/inventory/inventory.ts';
import { expandBlock } from '../../../src/providers/contract/ipv4.ts';
import type { CloudTraits } from '../../../src/providers/contract/cloud.ts';
import type { Operation, Outcome } from '../../../src/providers/contract/operations.ts';
import type { NetworkInterface } from '../../../src/providers/contract/network-interface.ts';
import { TaskGroup } from '../../../src/runtime/task-group.ts';
import { sleep } from '../../../src/runtime/clock.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { requirements } from './allocation-facts.ts';
import { nodeOf } from './cilium-nodes.ts';
import { done } from './outcomes.ts';
import { traits } from '../providers/scripted-implementation.ts';

export interface ReleaseSetup {
  readonly protocol: Release['protocol'];
  readonly interfaces: readonly NetworkInterface[];
  /** CIDRs that the agent holds, or addresses that it uses. */
  readonly holds?: readonly string[];
  /** Addresses that the node needs, used ones included; by default those that it holds. */
  readonly keep?: number;
  readonly enabled?: boolean;
  /** The answer of an asked agent about an address; undefined: none yet. */
  readonly answer?: (address: string) => 'ready-for-release' | 'do-not-release' | undefined;
  /** The outcome of an operation; undefined: it succeeds. The first operation is number 0. */
  readonly outcome?: (operation: Operation, number: number) => Outcome | undefined;
  /** What one call changes; an interface by default. */
  readonly change?: CloudTraits['change'];
  /** Duration of each call, in ms. */
  readonly duration?: number;
  /** Runs during the last read of the CiliumNode; false: the CiliumNode cannot be read. */
  readonly onRead?: (rig: ReleaseRig) => boolean | undefined;
  /** What the pods of the node show; nothing by default. */
  readonly pods?: () => PodReading;
}

export const policy = { delay: 180_000, hiddenFor: 75_000, idleDelay: undefined };
export const timing = { callTimeout: 10_000, consistencyWindow: 30_000 };
const never = new AbortController().signal;

export class ReleaseRig {
  readonly clock = new VirtualClock();
  readonly inventory = new Inventory({ consistencyWindow: timing.consistencyWindow });
  readonly tasks = new TaskGroup({
    clock: this.clock,
    onBug: (error) => this.bugs.push(error),
    onEnd: () => this.wake(),
  });
  readonly releases = new ReleaseStore();
  readonly podUse: PodUse;
  readonly grantedReleases = new GrantedReleases();
  /** When pods were read, in ms. */
  readonly podReads: number[] = [];
  readonly releaser: Releaser;
  /** `eni-0 10.0.0.10,10.0.0.11@ms`: unassignments as they are sent. */
  readonly calls: string[] = [];
  readonly finished: FinishedRelease[] = [];
  readonly bugs: unknown[] = [];
  /** When something about the instance became unclear. */
  readonly invalidations: number[] = [];
  /** Tokens that were taken and refunded. */
  refunds = 0;
  /** Interfaces to which addresses are being added. */
  readonly growing = new Set<string>();
  holds: Set<string>;
  keep: number;
  protocol: Release['protocol'];
  /** Whether the CiliumNode follows the desired state. */
  published = true;
  /** Time of the last write. */
  writtenAt = -Infinity;
  /** Until when one may still take effect. */
  writeOpenUntil = -Infinity;
  readonly #setup: ReleaseSetup;
  #shown: ReadonlySet<string> = new Set();
  #handshake: JsonObject = {};
  #endWait: () => void = () => undefined;

  constructor(setup: ReleaseSetup) {
    this.#setup = setup;
    this.protocol = setup.protocol;
    this.holds = new Set(setup.holds);
    this.keep = setup.keep ?? [...this.holds].flatMap(membersOf).length;
    this.inventory.track('i-1');
    this.refresh();
    const read = (): Promise<PodReading> => {
      this.podReads.push(this.clock.monotonic());
      return Promise.resolve(setup.pods?.() ?? { kind: 'read', shown: [] });
    };
    this.podUse = new PodUse(read, { clock: this.clock, random: new Random('pods') });
    this.releaser = new Releaser(
      {
        instanceId: 'i-1',
        implementation: {
          traits: { ...traits, change: setup.change ?? traits.change },
          admit: () => Promise.resolve(() => void this.refunds++),
          perform: (operation) => this.#perform(operation),
        },
        releases: this.releases,
        podUse: this.podUse,
        grantedReleases: this.grantedReleases,
        forRelease: () => this.#facts(),
        reread: () => Promise.resolve(setup.onRead?.(this) ?? true),
        applyAnswer: (answer) => void this.inventory.applyAnswer(answer, this.clock.monotonic()),
        invalidate: (from) => void this.invalidations.push(from),
        refusal: () => undefined,
        tell: (event) => event.kind === 'release' && this.finished.push(event.release),
      },
      { clock: this.clock, random: new Random('release'), tasks: this.tasks },
      { timing, release: { ...policy, enabled: setup.enabled ?? true } },
    );
    this.#show();
  }

  /** Evaluates, then advances time. */
  async run(ms: number): Promise<void> {
    this.wake();
    await this.clock.advance(ms);
  }

  /** The cloud shows everything as it was at first. */
  refresh(): void {
    const now = this.clock.monotonic();
    const observations = this.#setup.interfaces.map(
      (item) => ({ kind: 'interface', interface: item }) as const,
    );
    this.inventory.applyRefresh({ startedAt: now, endedAt: now, instanceIds: ['i-1'], observations });
  }

  wake(): void {
    this.clock.schedule(0, () => {
      this.#endWait();
      const { requeueAfter } = this.releaser.step(this.clock.monotonic());
      if (requeueAfter !== undefined) this.#endWait = this.clock.schedule(requeueAfter, () => this.wake());
      if (this.published) this.#publish();
    });
  }

  /** Addresses that the CiliumNode shows. */
  get shown(): readonly string[] {
    return [...this.#shown].toSorted();
  }

  /** `status.ipam.release-ips`. */
  get handshake(): JsonObject {
    return this.#handshake;
  }

  /** Addresses that the interfaces have now. */
  get held(): readonly string[] {
    const view = this.inventory.view('i-1');
    return view === undefined ? [] : [...podAddresses(view, requirements()).keys()].toSorted();
  }

  #facts(): ReleasableFacts | undefined {
    const view = this.inventory.view('i-1');
    if (view === undefined) return undefined;
    const staying = this.held.filter((address) => !this.releases.outgoing.has(address)).length;
    return {
      node: this.#node(),
      view,
      requirements: requirements(),
      excess: Math.max(0, staying - this.keep),
      wanted: Math.max(0, this.keep - staying),
      retired: [],
      lastWrite: { at: this.writtenAt, openUntil: this.writeOpenUntil },
      growing: this.growing,
    };
  }

  #node(): CiliumNode {
    const entry = { resource: 'eni-0' };
    const pool = Object.fromEntries(this.shown.map((address) => [address, entry]));
    const used = Object.fromEntries([...this.holds].map((address) => [address, entry]));
    if (this.protocol === 'crd') return nodeOf({ pool, used, handshake: this.#handshake });
    return nodeOf({ pool, allocated: [...this.holds], handshake: this.#handshake });
  }

  #publish(): void {
    const before = JSON.stringify([this.shown, this.#handshake]);
    this.#show();
    this.#handshake = this.#answered();
    if (JSON.stringify([this.shown, this.#handshake]) === before) return;
    this.writtenAt = this.clock.monotonic();
    this.wake();
  }

  #show(): void {
    this.#shown = new Set(this.held.filter((address) => !this.releases.outgoing.has(address)));
  }

  /** The agent answers release requests, and deletes released addresses from the handshake. */
  #answered(): JsonObject {
    const known = new Map(this.#node().status.releaseIps);
    const wanted = this.releases.handshake(known) ?? known;
    const states = [...wanted].flatMap(([address, state]) => {
      if (state === 'released') return [];
      const answer = state === 'marked-for-release' ? this.#setup.answer?.(address) : undefined;
      return [[address, answer ?? state] as const];
    });
    return Object.fromEntries(states);
  }

  async #perform(operation: Operation): Promise<Outcome> {
    if (operation.kind !== 'releaseIPs' && operation.kind !== 'releasePrefixes')
      throw new Error(`${operation.kind} is not the releaser's`);
    const { interfaceId, instanceId } = operation;
    const holdings = operation.kind === 'releaseIPs' ? operation.addresses : operation.prefixes;
    const number = this.calls.length;
    this.calls.push(`${interfaceId} ${holdings.join()}@${Math.round(this.clock.monotonic())}`);
    await sleep(this.clock, this.#setup.duration ?? 0, never);
    const outcome = this.#setup.outcome?.(operation, number);
    return outcome ?? done({ kind: 'released', interfaceId, instanceId, holdings });
  }
}

function membersOf(cidr: string): string[] {
  return cidr.includes('/') ? expandBlock(cidr) : [cidr];
}
