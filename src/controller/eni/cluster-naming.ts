// Finds the name of the cluster before the process stands for election, where cluster-name asks for that of a tag. Until it is
// found, the process is not ready and neither makes nor collects interfaces: there is no other name to begin with. A process that
// begins to lead reads it again, because it may have stood by for a month, and once an hour from then on, because the first Node may
// have named a wrong instance. While that does not confirm the name, nodes are served under it, and nothing is deleted by it.
import { askedNameTag } from '../../config/cluster-name.ts';
import { excludedOwnTag, interfaceTags, belongingTags } from '../../config/interface-tags.ts';
import { warningsOnCollection } from '../../config/option-warnings.ts';
import type { Options } from '../../config/option-table.ts';
import { failureCondition } from '../../node/conditions/call-condition.ts';
import { presentable } from '../../node/conditions/node-condition.ts';
import type { AllocationImplementation, CallContext } from '../../providers/contract/cloud.ts';
import { CloudError } from '../../providers/contract/cloud-failure.ts';
import { Backoff, randomWait } from '../../runtime/backoff.ts';
import { sleep } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { retry } from '../../runtime/retry.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { Host } from '../host.ts';
import { failureFields } from '../reporting/failure-fields.ts';
import type { ClusterNameReport, StatusReport } from '../reporting/status-report.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { type ReadTag, type ShownClusterName, shownClusterName } from './shown-cluster-name.ts';

/** Pauses between attempts, in ms, for each call of an attempt: a large cluster spends no more of the account's limits. */
const pauses = { base: 1000, cap: 10_000 };
/** The same for a process that leads, which needs the name only to delete. */
const leaderPauses = { base: 1000, cap: 300_000 };
/** Between two reads of a leader whose name is confirmed, in ms. */
const confirmedFor = 3_600_000;
/** How long a new leader waits for the first answer, in ms: others wait for what it serves. */
const maxRenewal = 10_000;

type NamingHost = Pick<Host, 'options' | 'clock' | 'random' | 'log' | 'audit' | 'onBug'>;
type NamingCluster = Pick<ClusterCache, 'nodeNames' | 'clusterNodes' | 'identityProblem'>;
type TagReading = Pick<AllocationImplementation, 'readTag' | 'maxInstancesPerRefresh'>;
type Missing = Extract<ShownClusterName, { kind: 'none' }> & {
  readonly details?: Readonly<Record<string, unknown>>;
};
type Shown = Missing | Extract<ShownClusterName, { kind: 'found' }>;

export class ClusterNaming {
  readonly #host: NamingHost;
  readonly #implementation: TagReading;
  readonly #cluster: NamingCluster;
  #missing: Missing | undefined;
  /** The tag, from the first attempt on until the name is found. */
  #asked: string | undefined;
  /** The name that was read. */
  #found: ClusterNameReport | undefined;
  /** Why the name that was read is not confirmed; undefined while it is. */
  #doubt: string | undefined;
  #isDoubtTold = false;
  #isLeading = false;
  readonly #leads = Promise.withResolvers<void>();
  readonly #renewed = Promise.withResolvers<void>();
  /** Whether interfaces are made under the name, which stays as long as this process leads. */
  #isKept = false;
  #options: Options;

  constructor(host: NamingHost, implementation: TagReading, cluster: NamingCluster) {
    this.#host = host;
    this.#implementation = implementation;
    this.#cluster = cluster;
    this.#options = host.options;
  }

  /** The options, with the name once it is found. */
  get options(): Options {
    return this.#options;
  }

  /** The name that was read, and from where; empty if the option says it, or before it is found. */
  get report(): Pick<StatusReport, 'cluster'> {
    if (this.#found === undefined) return {};
    return { cluster: { ...this.#found, ...(this.#doubt !== undefined && { doubt: this.#doubt }) } };
  }

  /** Why nothing may be deleted by the name; undefined if it may. */
  get doubt(): string | undefined {
    return this.#doubt;
  }

  /** Why there is no name yet; undefined if there is one, or before the first attempt. */
  get problem(): string | undefined {
    if (this.#missing !== undefined) return `the name of the cluster is not known: ${inWords(this.#missing)}`;
    return this.#asked && `the name of the cluster is being read from the tag ${this.#asked}`;
  }

  /** The cloud, whose interfaces carry the name. */
  named(cloud: Cloud): Cloud {
    return this.#found === undefined ? cloud : { ...cloudNamed(cloud, this.#options), naming: this };
  }

  /** Resolves once the name is known, if it is to be read: attempts go on until then. Rejects with the signal's reason. */
  async find(signal: AbortSignal): Promise<void> {
    const { options, clock, random, log } = this.#host;
    const key = askedNameTag(options);
    if (key === undefined) return;
    this.#asked = key;
    const result = await retry(
      { clock, signal },
      () => this.#attempt(key, signal),
      (each, tries) => {
        if (each.kind === 'found') return undefined;
        this.#note(each);
        return randomWait(pauses, tries, random) * this.#callsOfAttempt();
      },
    );
    if (result.kind !== 'found') return;
    this.#missing = undefined;
    this.#asked = undefined;
    this.#take(key, result);
    log.info('the cluster has the name that its instances carry', { ...this.#found });
    this.#warnOnCollection();
  }

  #warnOnCollection(): void {
    for (const { message, details } of warningsOnCollection(this.#options))
      this.#host.log.warn(message, details);
  }

  #take(tag: string, { name, instances }: Pick<ClusterNameReport, 'name' | 'instances'>): void {
    this.#options = { ...this.#host.options, clusterName: name };
    this.#found = { name, tag, instances };
    this.#host.audit?.belongsTo(name);
  }

  /** Begins to read the name again, as a new leader does. Resolves once that has ended, after 10 s at the latest. */
  async renew(signal: AbortSignal): Promise<void> {
    if (this.#found === undefined) return;
    this.#beginRenewals();
    await Promise.race([this.#renewed.promise, sleep(this.#host.clock, maxRenewal, signal)]);
  }

  /** Interfaces are made under the name from now on. */
  keep(): void {
    this.#isKept = true;
    this.#beginRenewals();
  }

  #beginRenewals(): void {
    if (this.#found !== undefined && !this.#isLeading)
      this.#doubt = `it is being read again from the tag ${this.#found.tag}`;
    this.#isLeading = true;
    this.#leads.resolve();
  }

  /** Reads the name again and again once this process begins to lead. Resolves once `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (askedNameTag(this.#host.options) === undefined) return;
    await raceAbort(this.#leads.promise, signal);
    await this.#readAgain(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#host.onBug(error);
    });
  }

  async #readAgain(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#host;
    const backoff = new Backoff(leaderPauses, { clock, random: random.fork('renewals') });
    while (this.#found !== undefined && !signal.aborted) {
      this.#compare(this.#found, await this.#attempt(this.#found.tag, signal));
      if (this.#doubt === undefined) backoff.forget();
      await sleep(
        clock,
        this.#doubt === undefined ? confirmedFor : backoff.fail() * this.#callsOfAttempt(),
        signal,
      );
    }
  }

  /** `before`: what was read before. */
  #compare(before: ClusterNameReport, shown: Shown): void {
    const { log } = this.#host;
    if (shown.kind === 'none') return this.#doubtIt(inWords(shown), shown.details);
    const { name, instances } = shown;
    const isOther = name !== before.name;
    if (isOther && this.#isKept)
      return this.#doubtIt(
        `its instances now carry ${JSON.stringify(name)} in the tag ${before.tag}: restart Headwater to take that name, and delete detached interfaces that carry the former one`,
      );
    this.#take(before.tag, { name, instances });
    if (isOther) {
      log.warn('the cluster has another name than before: its instances carry it', {
        ...this.#found,
        before: before.name,
        remedy: 'delete detached interfaces that carry the former name',
      });
      this.#warnOnCollection();
    } else if (this.#isDoubtTold) log.info('the name of the cluster is confirmed again', { name });
    this.#isDoubtTold = false;
    this.#doubt = undefined;
    this.#renewed.resolve();
  }

  #doubtIt(why: string, details?: Missing['details']): void {
    const message = 'the name of the cluster is in doubt: no orphaned interface is deleted meanwhile';
    const isNews = why !== this.#doubt;
    this.#doubt = why;
    this.#isDoubtTold = true;
    this.#host.log[isNews ? 'warn' : 'debug'](message, { name: this.#found?.name, why, ...details });
  }

  async #attempt(key: string, signal: AbortSignal): Promise<Shown> {
    const { identityProblem } = this.#cluster;
    const { options } = this.#host;
    if (identityProblem !== undefined)
      return missing(`Nodes cannot be read: ${identityProblem}`, 'allow Headwater to list and watch nodes');
    // A list that is not complete may lack the Node that contradicts.
    if (this.#cluster.nodeNames() === undefined)
      return missing('Nodes are not listed yet', 'wait for the API server');
    const asked = this.#namedInstances();
    try {
      const context = { caller: { priority: 'normal' }, signal } as const;
      return await readClusterName(this.#implementation, { key, asked, options }, context);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      const { message } = presentable(failureCondition(error.failure));
      const { message: _, ...details } = failureFields(error.failure);
      return { ...missing(`the tag ${key} cannot be read`, message), details };
    }
  }

  #namedInstances(): readonly string[] {
    return [...this.#cluster.clusterNodes.values()].flatMap(({ instanceId }) => instanceId ?? []);
  }

  #callsOfAttempt(): number {
    return Math.max(
      1,
      Math.ceil(this.#namedInstances().length / this.#implementation.maxInstancesPerRefresh),
    );
  }

  #note(each: Missing): void {
    const isNews = this.#missing === undefined || inWords(this.#missing) !== inWords(each);
    this.#missing = each;
    const { problem: why, remedy, details } = each;
    this.#host.log[isNews ? 'warn' : 'debug']('the name of the cluster is not known yet: trying again', {
      why,
      remedy,
      ...details,
    });
  }
}

/** The cloud with the tags of a name that was not known when it was composed. */
export function cloudNamed(cloud: Cloud, options: Options): Cloud {
  return { ...cloud, interfaceTags: interfaceTags(options), belongingTags: belongingTags(options) };
}

/** Reads the name that these instances give their cluster, if the options do not exclude it. Rejects with a CloudError. */
export async function readClusterName(
  implementation: TagReading,
  { key, asked, options }: Pick<ReadTag, 'key' | 'asked'> & { readonly options: Options },
  context: CallContext,
): Promise<ShownClusterName> {
  const ids = [...new Set(asked)];
  const shown = ids.length === 0 ? undefined : await implementation.readTag?.(ids, key, context);
  const found = shownClusterName({ key, asked: ids, shown: shown ?? new Map() });
  return found.kind === 'found' ? unlessExcluded(found, options) : found;
}

/** A name that the option says is compared when options are loaded. */
function unlessExcluded(
  found: Extract<ShownClusterName, { kind: 'found' }>,
  options: Options,
): ShownClusterName {
  const excluded = excludedOwnTag({ ...options, clusterName: found.name });
  if (excluded === undefined) return found;
  return missing(
    `the interfaces that Headwater creates would carry ${JSON.stringify(excluded.join('='))}, which exclude-interface-tags has`,
    'set --exclude-interface-tags to tags of other interfaces',
  );
}

function missing(problem: string, remedy: string): Missing {
  return { kind: 'none', problem, remedy };
}

function inWords({ problem, remedy }: Missing): string {
  return `${problem}: ${remedy}`;
}
