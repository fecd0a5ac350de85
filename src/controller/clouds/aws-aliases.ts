// The aliases that EC2 routes to the instance of a Node: the prefixes of its primary interface.
import type {
  AliasAddition,
  AliasFailure,
  AliasNode,
  AliasReading,
  CloudAliases,
} from '../../blocks/node-ipam/cloud/cloud-aliases.ts';
import { cidrText, parseCidr } from '../../blocks/set/cidr.ts';
import { instanceIdOf } from '../../providers/aws/ids.ts';
import type { InstancePrefixes } from '../../providers/aws/instance-prefixes.ts';
import type { PrefixReads } from '../../providers/aws/prefix-reads.ts';
import { CloudError } from '../../providers/contract/cloud-failure.ts';
import type { Clock } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import { aliasFailure, unreadableProviderId } from './alias-failure.ts';

const providerIdWords = {
  instance: 'EC2 instance',
  example: 'aws:///eu-west-1a/i-0123456789abcdef0',
  manager: '--cloud-provider=external and the cloud controller manager of AWS',
};

/** How long region and account are taken to be the same, in ms: any number of Nodes may need them at once. */
const placeLifetime = 300_000;

export class AwsAliases implements CloudAliases {
  readonly #reads: PrefixReads;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #askPlace: () => Promise<string>;
  #place: { readonly text: Promise<string>; readonly until: number } | undefined;

  /** `askPlace`: which region and account are used, for people. Never rejects. */
  constructor(reads: PrefixReads, clock: Pick<Clock, 'monotonic'>, askPlace: () => Promise<string>) {
    this.#reads = reads;
    this.#clock = clock;
    this.#askPlace = askPlace;
  }

  async aliasOf({ providerId }: AliasNode, signal: AbortSignal): Promise<AliasReading> {
    const id = instanceIdOf(providerId);
    if (id === undefined) return unreadableProviderId(providerId, providerIdWords);
    const reading = this.#reads.read(id);
    try {
      await raceAbort(reading, signal);
      signal.throwIfAborted();
      return await this.#aliasesIn(id, await reading);
    } catch (error) {
      if (error instanceof CloudError) return aliasFailure(error.failure);
      throw error;
    }
  }

  addAlias(): Promise<AliasAddition> {
    return Promise.resolve({
      kind: 'refused',
      reason: 'CallFailed',
      message:
        'EC2 chooses the prefixes of an interface from its subnet: use --cidr-allocator-type=CloudAllocator',
    });
  }

  #readPlace(): Promise<string> {
    const now = this.#clock.monotonic();
    if (this.#place === undefined || now >= this.#place.until)
      this.#place = { text: this.#askPlace(), until: now + placeLifetime };
    return this.#place.text;
  }

  async #aliasesIn(id: string, found: InstancePrefixes): Promise<AliasReading> {
    if (found.kind === 'missing')
      return {
        kind: 'notFound',
        reason: 'InstanceNotFound',
        message: `EC2 shows no instance ${id} in ${await this.#readPlace()}: check --aws-region and the account of Headwater's role, or delete the Node if its machine is gone`,
      };
    if (found.kind === 'terminated')
      return {
        kind: 'notFound',
        reason: 'InstanceTerminated',
        message: `EC2 shows its instance ${id} as terminated: delete the Node`,
      };
    if (found.kind === 'unclear') return unclear(id, found.problem);
    const readings = found.prefixes.map((text) => [text, parseCidr(text)] as const);
    const aliases = readings.flatMap(([, reading]) =>
      reading.kind === 'cidr' ? [cidrText(reading.cidr)] : [],
    );
    const wrong = readings.find(([, { kind }]) => kind === 'invalid')?.[0];
    if (wrong !== undefined) return unclear(id, `the prefix ${JSON.stringify(wrong.slice(0, 60))} is none`);
    return { kind: 'read', aliases };
  }
}

function unclear(id: string, problem: string): AliasFailure {
  return {
    kind: 'transient',
    reason: 'CallFailed',
    message: `what EC2 shows of instance ${id} cannot be used, and is read again: ${problem}`,
  };
}
