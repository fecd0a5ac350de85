// A cloud that routes blocks to instances besides their own addresses, in virtual time. It refuses a block of which another
// instance has any part, and fails as it is told.
import type { AliasCloud } from '../../../src/controller/clouds/cloud.ts';
import type {
  AliasAddition,
  AliasNode,
  AliasReading,
  CloudAliases,
} from '../../../src/blocks/node-ipam/cloud/cloud-aliases.ts';
import { overlaps, parseCidr } from '../../../src/blocks/set/cidr.ts';
import { type Clock, sleep } from '../../../src/runtime/clock.ts';

/** What becomes of a call. `lost`: it takes effect, and nobody learns of it. `late`: it takes effect after its answer was lost. */
export type AliasFate = 'ok' | 'transient' | 'refused' | 'lost' | 'lostBefore' | 'late';

export interface AliasCall {
  readonly at: number;
  readonly instance: string;
  readonly kind: 'add' | 'read';
}

/** How long a call takes, and how late a late one takes effect, in ms. */
const times = { latency: 50, lateness: 3000 };
const never = new AbortController().signal;
const notNow = { kind: 'transient', reason: 'Throttled', message: 'the cloud asks for fewer calls' } as const;
const noAnswer = { kind: 'unclear', reason: 'Unreachable', message: 'the cloud did not answer' } as const;

export class ModelAliasCloud implements CloudAliases {
  /** By provider ID, of instances that run. */
  readonly instances = new Map<string, string[]>();
  readonly calls: AliasCall[] = [];
  fate: (call: AliasCall) => AliasFate = () => 'ok';
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As modes get it. */
  readonly compose = (): AliasCloud => ({
    aliases: this,
    words: { alias: 'alias', carrier: 'its instance', remedy: 'add one' },
    describe: () => Promise.resolve({ scope: 'a model' }),
    showCalls: () => undefined,
    buckets: () => [],
    denied: () => [],
  });

  async aliasOf({ providerId }: AliasNode, signal: AbortSignal): Promise<AliasReading> {
    const fate = this.#note(providerId, 'read');
    await sleep(this.#clock, times.latency, signal);
    if (fate !== 'ok') return notNow;
    const aliases = this.instances.get(providerId);
    if (aliases !== undefined) return { kind: 'read', aliases: [...aliases] };
    return { kind: 'notFound', reason: 'InstanceNotFound', message: `there is no instance ${providerId}` };
  }

  async addAlias({ providerId }: AliasNode, cidr: string, signal: AbortSignal): Promise<AliasAddition> {
    const fate = this.#note(providerId, 'add');
    await sleep(this.#clock, times.latency / 2, signal);
    if (fate === 'transient') return notNow;
    if (fate === 'refused') return refused('the cloud refuses the block');
    if (fate === 'late')
      void sleep(this.#clock, times.lateness, never).then(() => this.#add(providerId, cidr));
    const addition = fate === 'late' || fate === 'lostBefore' ? noAnswer : this.#add(providerId, cidr);
    await sleep(this.#clock, times.latency / 2, signal);
    return fate === 'lost' ? noAnswer : addition;
  }

  #note(instance: string, kind: AliasCall['kind']): AliasFate {
    const call = { at: this.#clock.monotonic(), instance, kind };
    this.calls.push(call);
    return this.fate(call);
  }

  #add(providerId: string, cidr: string): AliasAddition {
    const own = this.instances.get(providerId);
    if (own === undefined)
      return { kind: 'notFound', reason: 'InstanceNotFound', message: `there is no instance ${providerId}` };
    if (own.includes(cidr)) return { kind: 'added' };
    for (const [other, aliases] of this.instances)
      if (other !== providerId && aliases.some((alias) => isShared(alias, cidr)))
        return refused(`${cidr} overlaps an alias of ${other}`);
    own.push(cidr);
    return { kind: 'added' };
  }
}

function refused(message: string): AliasAddition {
  return { kind: 'refused', reason: 'CallFailed', message };
}

function isShared(a: string, b: string): boolean {
  const [first, second] = [parseCidr(a), parseCidr(b)];
  return first.kind === 'cidr' && second.kind === 'cidr' && overlaps(first.cidr, second.cidr);
}
