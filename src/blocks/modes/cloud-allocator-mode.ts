// The command nodeipam with CloudAllocator: the pod CIDRs of a Node are what a cloud routes to its instance.
import { BlockLedger } from '../allocation/block-ledger.ts';
import { AliasPolicy } from '../node-ipam/cloud/alias-policy.ts';
import type { AliasDraft, AliasHolder } from '../node-ipam/cloud/alias-node-holders.ts';
import { AliasReads } from '../node-ipam/cloud/alias-reads.ts';
import { blockSettings } from '../settings/block-pools.ts';
import { aborted } from '../../runtime/race-abort.ts';
import type { BlockBook } from './block-session.ts';
import type { CloudCallReport } from '../../controller/reporting/status-report.ts';
import type { AliasCloud, CloudDeps } from '../../controller/clouds/cloud.ts';
import { aliasMode, AliasParts } from './alias-parts.ts';
import type { BlockMode, BlockParts, BlockPorts } from './block-mode.ts';
import type { ModeDeps } from '../../controller/host.ts';

/** The pod CIDRs, then the condition. */
const writesInARow = 2;

/** Reasons of Events, as kube-controller-manager has them. */
const eventReasons = {
  AliasMissing: 'CIDRNotAvailable',
  ProviderIDUnreadable: 'CIDRNotAvailable',
  InstanceNotFound: 'CIDRNotAvailable',
  InstanceTerminated: 'CIDRNotAvailable',
  PodCIDRMismatch: 'CloudCIDRAllocatorMismatch',
  WriteRefused: 'CIDRAssignmentFailed',
} as const;

export function cloudAllocatorMode(
  deps: ModeDeps,
  composeCloud: (deps: CloudDeps) => AliasCloud,
): BlockMode<AliasHolder, AliasDraft> {
  return aliasMode(deps, (given, ports) => new CloudAllocatorParts(given, ports, composeCloud));
}

class CloudAllocatorParts extends AliasParts<AliasCloud> implements BlockParts<AliasHolder, AliasDraft> {
  readonly eventReasons = eventReasons;
  readonly normalReasons = ['PodCIDRMismatch'] as const;
  readonly #deps: ModeDeps;
  readonly #reads: AliasReads;

  constructor(deps: ModeDeps, ports: BlockPorts<AliasHolder>, composeCloud: (deps: CloudDeps) => AliasCloud) {
    super(deps, ports, composeCloud);
    this.#deps = deps;
    const { clock, random, onBug } = deps.host;
    this.#reads = new AliasReads({
      aliases: this.cloudInUse.aliases,
      clock,
      random: random.fork('aliases'),
      onAnswers: ports.resume,
      onBug,
    });
  }

  openBook(): BlockBook<AliasHolder, AliasDraft> {
    const { reserved } = blockSettings(this.#deps.host.options, 'nodeipam');
    const ledger = new BlockLedger([]);
    const policy = new AliasPolicy({
      ledger,
      reads: this.#reads,
      families: [...new Set(reserved.map(({ family }) => family))],
      services: reserved,
      words: this.cloudInUse.words,
    });
    return { ledger, policy, writesInARow, isOfCloud: true };
  }

  async whileLeading(signal: AbortSignal): Promise<void> {
    const { log } = this.#deps.host;
    log.info('reading what the cloud routes to the instances of Nodes', await this.cloudInUse.describe());
    this.#reads.beginAsking();
    await aborted(signal);
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await this.#reads.stop(deadline);
  }

  cloud(): CloudCallReport {
    return { denied: this.cloudInUse.denied(), buckets: this.cloudInUse.buckets() };
  }
}
