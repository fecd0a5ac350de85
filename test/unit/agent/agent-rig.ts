// An address layer in virtual time with a record in memory, and calls of the plugin on it.
import { cidrOf, parseCidr } from '../../../src/blocks/set/cidr.ts';
import { HostScopeAllocator } from '../../../src/agent/allocators/host-scope-allocator.ts';
import { Answerer, type CniAnswer } from '../../../src/agent/cni/answerer.ts';
import { Verbs } from '../../../src/agent/cni/verbs.ts';
import { type Change, Holdings } from '../../../src/agent/ipam/holdings.ts';
import { Ipam, type IpamEvent, type IpamOptions } from '../../../src/agent/ipam/ipam.ts';
import { type Exclusion, onlyDefault } from '../../../src/agent/ipam/pools.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export interface RigOptions {
  readonly blocks?: readonly string[];
  readonly enabled?: IpamOptions['pools']['enabled'];
  readonly holdings?: Holdings;
  /** Instead of one in memory. */
  readonly record?: IpamOptions['record'];
  readonly mayGrow?: boolean;
  readonly seed?: string;
  /** In ms. */
  readonly cooldown?: number;
  /** Called as a call of the plugin is answered. */
  readonly onAnswer?: () => void;
}

export function blockOf(text: string, seed = 'block'): HostScopeAllocator {
  const reading = parseCidr(text);
  if (reading.kind === 'invalid') throw new Error(reading.why);
  return new HostScopeAllocator(reading.cidr, new Random(seed));
}

/** Text of an address or a network. */
export function excluded(text: string, pool?: string): Exclusion {
  const network = cidrOf(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
  if (network === undefined) throw new Error(text);
  return { network, owner: 'excluded', ...(pool !== undefined && { pool }) };
}

export const environment = {
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/var/run/netns/one',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
};

export class AgentRig {
  readonly clock = new VirtualClock();
  readonly changes: Change[] = [];
  readonly events: IpamEvent[] = [];
  readonly ipam: Ipam;
  readonly answerer: Answerer;
  readonly figures: string[] = [];
  /** Why the record cannot be written. */
  recordProblem: string | undefined;
  waitingFor: string | undefined;
  readonly files = new Map<string, string>();

  constructor(options: RigOptions = {}) {
    const { blocks = ['10.0.0.0/24'], enabled = { ipv4: undefined, ipv6: undefined } } = options;
    const { seed = 'rig', mayGrow = false } = options;
    this.ipam = new Ipam({
      clock: this.clock,
      random: new Random(seed),
      holdings: options.holdings ?? new Holdings(),
      record: options.record ?? {
        write: (change) => {
          if (this.recordProblem === undefined) this.changes.push(change);
          return this.recordProblem;
        },
        full: () => this.recordProblem,
      },
      pools: { enabled, directory: onlyDefault },
      cooldown: options.cooldown ?? 30_000,
      isShown: () => false,
      onEvent: (event) => this.events.push(event),
    });
    for (const block of blocks) this.ipam.serve(blockOf(block, seed));
    this.ipam.start();
    const verbs = new Verbs({
      ipam: this.ipam,
      clock: this.clock,
      mayGrow,
      waitingFor: () => this.waitingFor,
      readDnsFile: (path) => {
        const text = this.files.get(path);
        return text === undefined ? Promise.reject(new Error(`there is no ${path}`)) : Promise.resolve(text);
      },
    });
    this.answerer = new Answerer(verbs, this.clock, ({ verb, code }) => {
      this.figures.push(`${verb} ${code}`);
      options.onAnswer?.();
    });
  }

  get held(): readonly string[] {
    return [...this.ipam.holdings.held()].map(({ ip }) => ip).toSorted();
  }

  call(
    verb: string,
    { conf = {}, env = {}, ipam = {}, signal = new AbortController().signal }: CallOptions = {},
  ): Promise<CniAnswer> {
    const stdin = JSON.stringify({
      cniVersion: '1.1.0',
      name: 'pods',
      type: 'ptp',
      ipam: { type: 'headwater-ipam', ...ipam },
      ...conf,
    });
    return this.answerer.answer({ env: { ...environment, CNI_COMMAND: verb, ...env }, stdin }, signal);
  }
}

export interface CallOptions {
  readonly conf?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly ipam?: object;
  readonly signal?: AbortSignal;
}

export function printed(answer: CniAnswer): Readonly<Record<string, unknown>> {
  return JSON.parse(answer.out) as Readonly<Record<string, unknown>>;
}
