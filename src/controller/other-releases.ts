// Finds the other releases of a cluster, by an annotation of their Leases in the same namespace, and which of their nodes are
// ours, too. Of two releases that choose one node, the one with the older Lease serves it: both see the same order.
import { type NodeSelector, parseNodeSelector } from '../config/node-selector.ts';
import { ask } from '../kubernetes/transport/api-reply.ts';
import { Backoff } from '../runtime/backoff.ts';
import { sleep } from '../runtime/clock.ts';
import type { Pauses } from '../providers/gate/mutation-permission.ts';
import type { ModeDeps } from './host.ts';
import { settleTimeOf } from './node-scope.ts';
import {
  type FoundRelease,
  formerAnnotation,
  listIn,
  nodesChosenBy,
  noNode,
  otherReleases,
  selectorAnnotation,
  unlisted,
} from './release-leases.ts';

/** Between two looks, in ms: soon once, because two releases may start at one time. */
const pauses = { first: 10_000, selective: 60_000, whole: 600_000 };
/** Between two attempts to look before anything is served, in ms. */
const attempts = { base: 500, cap: 5000 };
/** How long Leases are waited for before anything is served, in ms. */
const maxAttempts = 60_000;
/** The same as `pauses` after a look that failed and may not fail again. */
const retries = { base: 10_000, cap: 60_000 };
/** After that pause, another release has looked and ended what it serves no longer, in ms. */
const lookTime = 10_000;
/** `others`: undefined if they cannot be read. */
interface Look {
  readonly others: readonly FoundRelease[] | undefined;
  /** Why not, if that may pass. */
  readonly problem?: string;
}

/** Whether all nodes of the cluster may be served. */
type Verdict =
  | { readonly kind: 'free' }
  | { readonly kind: 'refused'; readonly why: string }
  /** It is not known which nodes the release of that Lease chooses. `problem`: why. */
  | {
      readonly kind: 'unknown';
      readonly problem: string;
      readonly lease: string;
      readonly nodeSelector: string;
    };

type Deps = Pick<ModeDeps, 'host' | 'kubernetes' | 'leadership' | 'scope' | 'events'> & {
  readonly served: 'CiliumNodes' | 'Nodes';
};

export class OtherReleases {
  readonly #deps: Deps;
  readonly #refused = Promise.withResolvers<'refused'>();
  #isDenialTold = false;
  /** Not while this process waits for the Lease, which says what the former leader chose. */
  #isAnnounced = false;
  /** Set while a dry run is to end; aborted if it is not to end any longer. */
  #ending: AbortController | undefined;
  /** Other releases are read before it ends. */
  #isEnding = false;
  /** Ends the pause before the next look. */
  #wake = new AbortController();
  /** Overlaps that were told, as texts. */
  #told: ReadonlySet<string> = new Set();
  #waitsFor: string | undefined;
  /** From then on younger releases have seen our selector, and nothing that they began takes effect, in monotonic ms. */
  #seenAt = Infinity;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.leadership.permission.onChange(() => {
      if (this.#isAnnounced) this.announce();
    });
  }

  /** Lets other releases know on our Lease which nodes we choose; not in a dry run, which changes nothing. */
  announce(): void {
    this.#isAnnounced = true;
    const { leadership, host, served } = this.#deps;
    const text = this.#isDry ? undefined : (host.options.nodeSelector?.text ?? '');
    leadership.lease?.annotate(selectorAnnotation(served), text);
  }

  /** Not any longer when the dry run is about to end. */
  get #isDry(): boolean {
    return this.#deps.leadership.permission.pauses.dryRun && !this.#isEnding;
  }

  /**
   * Pauses what is asked. While this process leads, a dry run ends only once the other releases are known, as it begins to lead only
   * then.
   */
  setPauses(asked: Pick<Pauses, 'dryRun' | 'pause'>): void {
    const { permission, lease } = this.#deps.leadership;
    const waits = !asked.dryRun && permission.pauses.dryRun && this.#isAnnounced && lease !== undefined;
    this.#ending?.abort();
    this.#ending = waits ? new AbortController() : undefined;
    this.#isEnding = false;
    permission.change({ ...asked, dryRun: asked.dryRun || waits });
    if (this.#isAnnounced) this.announce();
    if (waits) this.#wake.abort();
  }

  /** The condition that `lookFirst` waits for, or the other one. */
  waitsFor(otherwise: string): string {
    return this.#waitsFor ?? otherwise;
  }

  /**
   * Looks before anything is served. Waits for a list of Leases for a minute at most, and for one of Nodes as long as another
   * release may choose some. Returns why nothing may be served; undefined if it may. Rejects only with the signal's reason.
   */
  async lookFirst(signal: AbortSignal): Promise<string | undefined> {
    const former = this.#keepFormer();
    this.announce();
    const { others, refusal } = await this.#firstVerdict(signal);
    if (refusal === undefined) await this.#awaitYounger(former, others, signal);
    this.#waitsFor = undefined;
    return refusal;
  }

  /** Reads the Leases again for each list of Nodes: the Lease of a release that is gone may be deleted meanwhile. */
  async #firstVerdict(
    signal: AbortSignal,
  ): Promise<{ readonly others: readonly FoundRelease[] | undefined; readonly refusal: string | undefined }> {
    const { clock, random, log } = this.#deps.host;
    const backoff = new Backoff(attempts, { clock, random: random.fork('nodes of other releases') });
    let others: readonly FoundRelease[] | undefined;
    for (;;) {
      others = (await this.#firstAnswer(signal)) ?? others;
      const verdict = await this.#refusal(others ?? [], signal);
      if (verdict.kind === 'free') return { others, refusal: undefined };
      if (verdict.kind === 'refused') return { others, refusal: verdict.why };
      const { problem, lease, nodeSelector } = verdict;
      this.#waitsFor = problem;
      if (backoff.failures === 0)
        log.warn('cannot list Nodes: nothing is served before it is known which are its own', {
          problem,
          lease,
          nodeSelector,
          remedy: `let this release list Nodes, or delete the Lease ${lease} if that release is gone`,
        });
      await sleep(clock, backoff.fail(), signal);
    }
  }

  /** The selector that younger releases know of, which the next leader must know, too, if this one ends before they look. */
  #keepFormer(): string | undefined {
    const { leadership, served } = this.#deps;
    const { lease } = leadership;
    const kept = lease?.annotation(formerAnnotation(served));
    const former = kept ?? lease?.annotation(selectorAnnotation(served)) ?? noNode;
    lease?.annotate(formerAnnotation(served), former);
    return former === noNode ? undefined : former;
  }

  #forgetFormer(): void {
    const { leadership, served } = this.#deps;
    leadership.lease?.annotate(formerAnnotation(served), undefined);
  }

  /** Undefined if there is none. */
  async #firstAnswer(signal: AbortSignal): Promise<readonly FoundRelease[] | undefined> {
    const { clock, random, log } = this.#deps.host;
    const backoff = new Backoff(attempts, { clock, random: random.fork('other releases') });
    const end = clock.monotonic() + maxAttempts;
    for (;;) {
      const { others, problem } = await this.#look(signal);
      if (problem === undefined) return others;
      this.#waitsFor = `reads Leases, to know which nodes other releases choose: ${problem}`;
      const isOver = clock.monotonic() >= end;
      if (isOver) log.warn('cannot read Leases: serving without knowing other releases', { problem });
      else if (backoff.failures === 0)
        log.warn('cannot read Leases: nothing is served before other releases are known', { problem });
      if (isOver) return others;
      await sleep(clock, backoff.fail(), signal);
    }
  }

  /**
   * A younger release serves nodes that the former leader of this one did not choose, until it has looked.
   * `former`: the selector of the former leader. `others`: undefined if they are not known.
   */
  async #awaitYounger(
    former: string | undefined,
    others: readonly FoundRelease[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { host, scope } = this.#deps;
    if (others === undefined) {
      // There may be one that is not known: the next leader has to wait for it.
      this.#seenAt = host.clock.monotonic() + pauses.whole + lookTime + settleTimeOf(host.options);
      return;
    }
    const younger = this.#younger(former, others);
    if (younger === undefined) {
      this.#forgetFormer();
      return;
    }
    // Without a selector, it looks rarely, unless it knows of an older release with one.
    const isRare = former === undefined && younger.selector === undefined;
    const seenWithin = (isRare ? pauses.whole : pauses.selective) + lookTime;
    const wait = seenWithin + settleTimeOf(host.options);
    this.#seenAt = host.clock.monotonic() + wait;
    if (scope.isSelective) {
      scope.awaitYounger(former === undefined ? undefined : parseNodeSelector(former), seenWithin);
      return;
    }
    const { lease } = younger;
    this.#waitsFor = `waits until the release of the Lease ${lease} has seen that this one has no node-selector`;
    host.log.info('waiting until a younger release has seen that this one serves all nodes', { lease });
    await sleep(host.clock, wait, signal);
  }

  /** A younger release that may serve what the former leader of this one did not choose: one that looks least often. */
  #younger(former: string | undefined, others: readonly FoundRelease[]): FoundRelease | undefined {
    const { host, scope } = this.#deps;
    const { text = '' } = host.options.nodeSelector ?? {};
    if (former === text || former === '') return undefined;
    // Two releases without a selector are two writers, as below: neither leaves anything to the other.
    const mayLeave = ({ selector }: FoundRelease): boolean => scope.isSelective || selector !== undefined;
    const younger = others.filter((other) => !other.isOlder && other.isHeld && mayLeave(other));
    return younger.find(({ selector }) => selector === undefined) ?? younger[0];
  }

  /** Resolves once nothing may be served any longer, because a release that leads has begun to choose nodes, too. */
  get refused(): Promise<'refused'> {
    return this.#refused.promise;
  }

  async #refusal(others: readonly FoundRelease[], signal: AbortSignal): Promise<Verdict> {
    // Two releases without a selector are two writers, which writes tell: a Lease may be left of a former name.
    const older = others.find(({ isOlder, selector }) => isOlder && selector !== undefined);
    if (this.#deps.scope.isSelective || older?.selector === undefined) return { kind: 'free' };
    return this.#refusalOf(older.lease, older.selector, signal);
  }

  async #look(signal: AbortSignal): Promise<Look> {
    const { leadership, scope } = this.#deps;
    const isActing = leadership.lease !== undefined && !this.#isDry;
    const look = isActing ? await this.#read(signal) : { others: [] };
    if (look.others === undefined) return look;
    scope.setOthers(look.others);
    this.#tell();
    return look;
  }

  /** Why every node of the cluster is too many: another release chooses some. */
  async #refusalOf(lease: string, selector: NodeSelector, signal: AbortSignal): Promise<Verdict> {
    const { host, kubernetes, leadership, served } = this.#deps;
    const chosen = await nodesChosenBy(selector, kubernetes, signal);
    if (chosen.kind === 'unknown') return { ...chosen, lease, nodeSelector: selector.text };
    const { names } = chosen;
    if (names.length === 0) return { kind: 'free' };
    // A release that never starts chooses nothing: its Lease must not stand in the way of others.
    leadership.lease?.annotate(selectorAnnotation(served), undefined);
    host.log.error('another release serves nodes of this cluster, and this one has no node-selector', {
      lease,
      nodeSelector: selector.text,
      nodes: names.slice(0, 20),
      remedy: `set node-selector in both releases, or delete the Lease ${lease} if that release is gone`,
    });
    const why = `the release of the Lease ${lease} serves nodes of this cluster, and this one has no node-selector`;
    return { kind: 'refused', why };
  }

  /** Looks again and again while this process leads. Resolves once `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#follow(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#deps.host.onBug(error);
    });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { host, leadership } = this.#deps;
    const backoff = new Backoff(retries, { clock: host.clock });
    let pause = pauses.first;
    for (;;) {
      await this.#pause(pause, signal);
      if (!leadership.leads()) continue;
      const next =
        this.#ending === undefined ? this.#lookAgain(backoff, signal) : this.#endDryRun(this.#ending, signal);
      const outcome = await next;
      if (outcome === 'refused') return this.#refused.resolve('refused');
      pause = outcome;
    }
  }

  /** Resolves to the pause before the next look, in ms. */
  async #lookAgain(backoff: Backoff, signal: AbortSignal): Promise<number | 'refused'> {
    const { host, scope } = this.#deps;
    if (host.clock.monotonic() >= this.#seenAt) this.#forgetFormer();
    const { others = [], problem } = await this.#look(signal);
    const choosing = others.filter(({ isOlder, selector }) => isOlder && selector !== undefined);
    // A release that does not run serves nothing meanwhile, and this one need not end.
    const running = choosing.filter(({ isHeld }) => isHeld);
    const verdict = await this.#refusal(running, signal);
    if (verdict.kind === 'refused') return 'refused';
    if (problem !== undefined || verdict.kind === 'unknown') return backoff.fail();
    backoff.forget();
    return scope.isSelective || choosing.length > 0 ? pauses.selective : pauses.whole;
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(this.#deps.host.clock, ms, AbortSignal.any([signal, this.#wake.signal])).catch(() =>
      signal.throwIfAborted(),
    );
    this.#wake = new AbortController();
  }

  /** Ends a dry run as a new leader begins. Resolves to the pause before the next look, in ms. */
  async #endDryRun({ signal: unwanted }: AbortController, signal: AbortSignal): Promise<number | 'refused'> {
    const { host, leadership } = this.#deps;
    host.log.info('the dry run ends once the other releases of the cluster are known');
    this.#isEnding = true;
    const looked = this.lookFirst(AbortSignal.any([signal, unwanted]));
    const refusal = await looked.catch((error: unknown) => {
      signal.throwIfAborted();
      if (!unwanted.aborted) throw error;
    });
    if (unwanted.aborted) return pauses.first;
    if (refusal !== undefined) return 'refused';
    leadership.permission.change({ dryRun: false });
    this.#ending = undefined;
    this.#isEnding = false;
    return pauses.first;
  }

  async #read(signal: AbortSignal): Promise<Look> {
    const { host, kubernetes, served } = this.#deps;
    const { k8sNamespace: namespace, leaderElectionLeaseName: name } = host.options;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
    const reply = await ask(kubernetes, { method: 'GET', path }, signal);
    const leases = listIn(reply);
    if (leases !== undefined) return { others: otherReleases(leases, name, selectorAnnotation(served)) };
    if (reply.kind === 'unavailable' || reply.kind === 'ok')
      return { others: undefined, problem: unlisted(reply) };
    if (!this.#isDenialTold && host.options.nodeSelector !== undefined) {
      this.#isDenialTold = true;
      host.log.warn('cannot read Leases: an overlap with the nodes of another release is not seen', {
        problem: reply.message,
      });
    }
    return { others: undefined };
  }

  /** Tells each overlap once until it changes: in the log, and by an Event on the Node. */
  #tell(): void {
    const { host, scope, events } = this.#deps;
    const overlaps = scope.overlaps();
    const news = overlaps.filter(({ node, why }) => !this.#told.has(`${node} ${why}`));
    this.#told = new Set(overlaps.map(({ node, why }) => `${node} ${why}`));
    if (news.length > 0)
      host.log.warn('nodes are chosen by two releases: the one with the older Lease serves them', {
        reason: 'NodeSelectorsOverlap',
        nodes: news.slice(0, 20).map(({ node }) => node),
        count: news.length,
        why: news[0]?.why,
      });
    for (const { node: name, reason, why } of news)
      events.record({ kind: 'Node', name, uid: name }, { type: 'Warning', reason, message: why });
  }
}
