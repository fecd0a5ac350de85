// Finds the name of the cluster before the process stands for election, where cluster-name asks for that of a tag. Until it is
// found, the process is not ready and neither makes nor collects interfaces: there is no other name to begin with.
import { askedNameTag } from '../../config/cluster-name.ts';
import { excludedOwnTag, interfaceTags, belongingTags } from '../../config/interface-tags.ts';
import { warningsOnCollection } from '../../config/option-warnings.ts';
import type { Options } from '../../config/option-table.ts';
import { failureCondition } from '../../node/conditions/call-condition.ts';
import { presentable } from '../../node/conditions/node-condition.ts';
import type { AllocationImplementation, CallContext } from '../../providers/contract/cloud.ts';
import { CloudError } from '../../providers/contract/cloud-failure.ts';
import { randomWait } from '../../runtime/backoff.ts';
import { retry } from '../../runtime/retry.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { Host } from '../host.ts';
import { failureFields } from '../reporting/failure-fields.ts';
import type { StatusReport } from '../reporting/status-report.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { type ReadTag, type ShownClusterName, shownClusterName } from './shown-cluster-name.ts';

/** Pauses between attempts, in ms, for each call of an attempt: a large cluster spends no more of the account's limits. */
const pauses = { base: 1000, cap: 10_000 };

type NamingHost = Pick<Host, 'options' | 'clock' | 'random' | 'log' | 'audit'>;
type NamingCluster = Pick<ClusterCache, 'nodeNames' | 'clusterNodes' | 'identityProblem'>;
type TagReading = Pick<AllocationImplementation, 'readTag' | 'maxInstancesPerRefresh'>;
type Missing = Extract<ShownClusterName, { kind: 'none' }> & {
  readonly details?: Readonly<Record<string, unknown>>;
};

export class ClusterNaming {
  readonly #host: NamingHost;
  readonly #implementation: TagReading;
  readonly #cluster: NamingCluster;
  #missing: Missing | undefined;
  /** The tag, from the first attempt on until the name is found. */
  #asked: string | undefined;
  #report: Pick<StatusReport, 'cluster'> = {};
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
    return this.#report;
  }

  /** Why there is no name yet; undefined if there is one, or before the first attempt. */
  get problem(): string | undefined {
    if (this.#missing !== undefined) return `the name of the cluster is not known: ${inWords(this.#missing)}`;
    return this.#asked && `the name of the cluster is being read from the tag ${this.#asked}`;
  }

  /** The cloud, whose interfaces carry the name. */
  named(cloud: Cloud): Cloud {
    return this.#report.cluster === undefined ? cloud : cloudNamed(cloud, this.#options);
  }

  /** Resolves once the name is known, if it is to be read: attempts go on until then. Rejects with the signal's reason. */
  async find(signal: AbortSignal): Promise<void> {
    const { options, clock, random, log, audit } = this.#host;
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
    const { name, instances } = result;
    this.#missing = undefined;
    this.#asked = undefined;
    this.#options = { ...options, clusterName: name };
    const cluster = { name, tag: key, instances };
    this.#report = { cluster };
    audit?.belongsTo(name);
    log.info('the cluster has the name that its instances carry', { ...cluster });
    for (const { message, details } of warningsOnCollection(this.#options)) log.warn(message, details);
  }

  async #attempt(
    key: string,
    signal: AbortSignal,
  ): Promise<Missing | Extract<ShownClusterName, { kind: 'found' }>> {
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
