// The verbs of CNI, and what each means for the addresses of this node: https://www.cni.dev/docs/spec/. An attachment is
// named by network, container and interface, so a late DEL never reaches the address of a living pod.
import type { Clock } from '../../runtime/clock.ts';
import { raceAbort } from '../../runtime/race-abort.ts';
import {
  addressText,
  canonicalAddress,
  type Family,
  familyOf,
  parseAddress,
  widthOf,
} from '../../blocks/set/cidr.ts';
import type { PodNetwork } from '../allocators/allocator.ts';
import { attachmentKey, type AttachmentName, type Place } from '../ipam/holdings.ts';
import type { Demand, Ipam } from '../ipam/ipam.ts';
import { type IpamErrorKind, ok } from '../ipam/ipam-error.ts';
import { cniCode, type CniCode, cniFailed, type CniOutcome } from './cni-error.ts';
import type { Invocation } from './invocation.ts';
import type { IpamConf, NetworkConf } from './network-conf.ts';
import { type Dns, parseResolvConf, type ResultAddress, type ResultRoute, resultText } from './result.ts';

export interface VerbsOptions {
  readonly ipam: Ipam;
  readonly clock: Clock;
  /** Whether a pool may get addresses while a request waits. */
  readonly mayGrow: boolean;
  /** The condition that the agent waits for; undefined once it serves. */
  readonly waitingFor: () => string | undefined;
  /** Rejects with why it cannot be read. */
  readonly readDnsFile: (path: string) => Promise<string>;
}

/** The text that the plugin prints. */
export interface Printed {
  readonly out: string;
  /** For standard error, which runtimes log. */
  readonly note?: string;
}

const nothing: CniOutcome<Printed> = ok({ out: '' });

/** Kinds that time may mend. */
const mayPass: readonly IpamErrorKind[] = ['poolNotReady', 'exhausted'];

interface Tried {
  readonly outcome: CniOutcome<Printed>;
  /** Whether a change may serve it. */
  readonly mayPass: boolean;
}

export class Verbs {
  readonly #options: VerbsOptions;
  /** ADDs that wait, by attachment: its DEL ends them. */
  readonly #waiting = new Map<string, Set<AbortController>>();

  constructor(options: VerbsOptions) {
    this.#options = options;
  }

  /** `signal` ends a wait: the requester is gone, or the agent stops. */
  run(invocation: Invocation, signal: AbortSignal): CniOutcome<Printed> | Promise<CniOutcome<Printed>> {
    const { handedOn } = invocation.conf;
    switch (invocation.verb) {
      case 'ADD':
        return handedOn === undefined ? this.#add(invocation, signal) : ok({ out: handedOn });
      case 'DEL':
        // The main plugin has it released, once the interface is gone.
        return handedOn === undefined ? this.#del(invocation) : nothing;
      case 'CHECK':
        return this.#check(invocation);
      case 'GC':
        return this.#gc(invocation);
      case 'STATUS':
        return this.#status(invocation);
    }
  }

  #add(invocation: Invocation, signal: AbortSignal): CniOutcome<Printed> | Promise<CniOutcome<Printed>> {
    const { resolvConf } = invocation.conf.ipam;
    return resolvConf === undefined
      ? this.#addNow(invocation, undefined, signal)
      : this.#addWithDns(invocation, resolvConf, signal);
  }

  /** Its DEL finds it while the file is read. */
  async #addWithDns(invocation: Invocation, path: string, signal: AbortSignal): Promise<CniOutcome<Printed>> {
    const deleted = new AbortController();
    const forget = this.#remember(invocation.attachment, deleted);
    let dns: Dns;
    try {
      dns = parseResolvConf(await this.#options.readDnsFile(path));
    } catch (error) {
      return cniFailed(cniCode.config, `ipam.resolvConf: ${(error as Error).message}`);
    } finally {
      forget();
    }
    return deleted.signal.aborted || signal.aborted
      ? cniFailed(cniCode.tryAgain, 'gave up: the requester is gone')
      : this.#addNow(invocation, dns, signal);
  }

  #addNow(
    invocation: Invocation,
    dns: Dns | undefined,
    signal: AbortSignal,
  ): CniOutcome<Printed> | Promise<CniOutcome<Printed>> {
    const tryOnce = (): Tried => this.#tryAdd(invocation, dns);
    const tried = tryOnce();
    return tried.mayPass && invocation.conf.ipam.wait > 0
      ? this.#addLater(invocation, { tried, tryOnce }, signal)
      : tried.outcome;
  }

  #tryAdd(invocation: Invocation, dns: Dns | undefined): Tried {
    const { ipam, mayGrow } = this.#options;
    const { attachment, conf } = invocation;
    const held = ipam.holdings.attachment(attachment)?.places;
    const allocated = held === undefined ? ipam.allocate(this.#demand(invocation)) : ok(held);
    if (allocated.kind === 'ok') {
      const outcome = this.#result(conf, allocated.value, dns);
      // If that fails, the DEL that follows a failed ADD does it.
      if (outcome.kind === 'failed' && held === undefined) ipam.detach([attachment]);
      // After a restart, the record shows what a container holds before the CiliumNode shows its network.
      return { outcome, mayPass: mayGrow && held !== undefined && outcome.kind === 'failed' };
    }
    const { kind, message } = allocated.error;
    return {
      outcome: cniFailed(codeOf(kind), this.#why(kind, message)),
      mayPass: mayGrow && mayPass.includes(kind),
    };
  }

  /** Tries again at each change, until it has an answer or its time is over. Its DEL finds it until then. */
  async #addLater(
    invocation: Invocation,
    first: { readonly tried: Tried; readonly tryOnce: () => Tried },
    signal: AbortSignal,
  ): Promise<CniOutcome<Printed>> {
    const { ipam, clock } = this.#options;
    const late = new AbortController();
    const cancel = clock.schedule(invocation.conf.ipam.wait, () => late.abort());
    const deleted = new AbortController();
    const forget = this.#remember(invocation.attachment, deleted);
    const ended = AbortSignal.any([late.signal, deleted.signal, signal]);
    let { tried } = first;
    try {
      while (tried.mayPass) {
        await raceAbort(ipam.changed, ended);
        if (deleted.signal.aborted || signal.aborted) return gaveUp(tried);
        tried = first.tryOnce();
        if (late.signal.aborted) break;
      }
      return tried.outcome;
    } finally {
      cancel();
      forget();
    }
  }

  #remember(name: AttachmentName, deleted: AbortController): () => void {
    const key = attachmentKey(name);
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(deleted));
    return () => {
      waiting.delete(deleted);
      if (waiting.size === 0) this.#waiting.delete(key);
    };
  }

  #demand({ conf, attachment, args, netns }: Invocation): Demand {
    const { families, pool } = conf.ipam;
    const { uid, pod } = args;
    return {
      owner: pod ?? `${attachment.container}:${attachment.interface}`,
      ...(families !== undefined && { families }),
      ...(pool !== undefined && { pool }),
      fixed: [...new Set([...args.ips, ...conf.fixed])],
      attachment: {
        ...attachment,
        netns,
        since: this.#options.clock.wall(),
        ...(uid !== undefined && { uid }),
      },
    };
  }

  #why(kind: IpamErrorKind, message: string): string {
    const waitingFor = this.#options.waitingFor();
    return kind === 'poolNotReady' && waitingFor !== undefined && !message.includes(waitingFor)
      ? `${message}: waiting for ${waitingFor}`
      : message;
  }

  #del({ attachment, args: { pod, uid } }: Invocation): CniOutcome<Printed> {
    for (const waiting of this.#waiting.get(attachmentKey(attachment)) ?? []) waiting.abort();
    const detached = this.#detach([attachment]);
    if (detached.kind === 'failed' || pod === undefined || uid === undefined) return detached;
    const forgotten = this.#options.ipam.forgetPod(pod, uid);
    return forgotten.kind === 'ok' ? nothing : cniFailed(cniCode.tryAgain, forgotten.error.message);
  }

  #detach(names: readonly AttachmentName[]): CniOutcome<Printed> {
    const outcome = this.#options.ipam.detach(names);
    return outcome.kind === 'ok' ? nothing : cniFailed(cniCode.tryAgain, outcome.error.message);
  }

  #check({ attachment, conf }: Invocation): CniOutcome<Printed> {
    if (conf.previous === undefined) return cniFailed(cniCode.config, 'prevResult: CHECK needs one');
    const known = this.#options.ipam.holdings.attachment(attachment);
    if (known === undefined)
      return cniFailed(cniCode.unknownContainer, `container ${attachment.container} holds no address`);
    const held = known.places.map(({ ip }) => ip).toSorted();
    const shown = conf.previous.map((ip) => canonicalAddress(ip) ?? ip).toSorted();
    return held.join() === shown.join()
      ? nothing
      : cniFailed(
          cniCode.differs,
          `container ${attachment.container} holds ${held.join()}, and prevResult has ${shown.join() || 'none'}`,
        );
  }

  #gc({ conf }: Invocation): CniOutcome<Printed> {
    const { network, valid } = conf;
    if (valid === undefined)
      return ok({
        out: '',
        note: 'the configuration has no cni.dev/valid-attachments: nothing is released',
      });
    const isValid = new Set(valid.map(({ container, interface: name }) => `${container}/${name}`));
    const gone = [...this.#options.ipam.holdings.attachments()].filter(
      (each) => each.network === network && !isValid.has(`${each.container}/${each.interface}`),
    );
    return this.#detach(gone);
  }

  #status({ conf }: Invocation): CniOutcome<Printed> {
    const { ipam, waitingFor } = this.#options;
    const why = ipam.holdings.isRebuilding
      ? `not ready: waiting for ${waitingFor() ?? 'a block'}`
      : (ipam.unrecordable ?? this.#whyNoneIsFree(conf));
    return why === undefined ? nothing : cniFailed(cniCode.notAvailable, why);
  }

  #whyNoneIsFree({ ipam: { pool: named, families: asked } }: NetworkConf): string | undefined {
    const { pools } = this.#options.ipam;
    const pool = named ?? pools.defaultPool;
    const served = pools.servedFamilies(pool);
    if (served.length === 0) {
      const { kind, message } = pools.absence(pool).error;
      return this.#why(kind, message);
    }
    for (const family of asked ?? served) {
      const allocator = pools.allocator(family, pool);
      if (allocator === undefined || !served.includes(family))
        return `no ${family} addresses in the pool ${pool}`;
      if (BigInt(allocator.taken) >= allocator.capacity)
        return `no ${family} address is free: ${allocator.status()}`;
    }
    return undefined;
  }

  #result(conf: NetworkConf, places: readonly Place[], dns: Dns | undefined): CniOutcome<Printed> {
    const addresses: ResultAddress[] = [];
    for (const place of places) {
      const address = podAddress(conf.ipam, place.ip, this.#networkOf(place));
      if (address === undefined) return cniFailed(cniCode.config, unknownNetwork(place.ip));
      addresses.push(address);
    }
    addresses.sort((a, b) => (a.family < b.family ? -1 : 1));
    const routes = conf.ipam.routes ?? defaultRoutes(addresses.map(({ family }) => family));
    return ok({ out: resultText(conf.version, { addresses, routes, dns }) });
  }

  /** Undefined for an address of an earlier block. */
  #networkOf({ pool, ip }: Place): PodNetwork | undefined {
    const address = parseAddress(ip);
    const allocator = this.#options.ipam.pools.allocator(familyOf(ip), pool);
    return address !== undefined && allocator?.covers(address.value) === true
      ? allocator.networkOf(address.value)
      : undefined;
  }
}

function defaultRoutes(families: readonly Family[]): readonly ResultRoute[] {
  return families.map((family) => ({ dst: family === 'ipv4' ? '0.0.0.0/0' : '::/0', extra: {} }));
}

function gaveUp({ outcome }: Tried): CniOutcome<Printed> {
  return outcome.kind === 'ok' ? outcome : cniFailed(outcome.error.code, `gave up: ${outcome.error.message}`);
}

function codeOf(kind: IpamErrorKind): CniCode {
  switch (kind) {
    case 'unknownPool':
    case 'familyDisabled':
      return cniCode.config;
    // Only an address that is asked for by name can be any of these.
    case 'inUse':
    case 'outOfRange':
    case 'excluded':
      return cniCode.fixedAddress;
    default:
      return cniCode.tryAgain;
  }
}

/** Where a network has no router: as routers without an address of their own have. */
const linkLocalRouters: Readonly<Record<Family, string>> = { ipv4: '169.254.1.1', ipv6: 'fe80::1' };

/**
 * The answer of an ADD about an address: in which network it is, and by which gateway its pod reaches others.
 * Main plugins reach a gateway of IPv4 only in the network of the address: undefined if none is known, unless the configuration
 * wants no network at all.
 */
function podAddress(
  { prefixLength, gateway }: IpamConf,
  ip: string,
  network: PodNetwork | undefined,
): ResultAddress | undefined {
  const family = familyOf(ip);
  const shown = { ip: gatewayText(family, network), length: network?.length };
  const { ip: router, length = shown.length } = gateway?.family === family ? gateway : shown;
  if (prefixLength === 'host') return reached(ip, family, undefined, router);
  return family === 'ipv4' && (router === undefined || length === undefined)
    ? undefined
    : reached(ip, family, length, router);
}

function reached(
  ip: string,
  family: Family,
  length: number | undefined,
  router: string | undefined,
): ResultAddress {
  const address = `${ip}/${length ?? widthOf[family]}`;
  return { family, address, gateway: router ?? linkLocalRouters[family] };
}

function gatewayText(family: Family, network: PodNetwork | undefined): string | undefined {
  const value = network?.gateway;
  return value === undefined ? undefined : addressText({ family, value });
}

function unknownNetwork(ip: string): string {
  return `no gateway is known of the network of ${ip}: set ipam.gateway to one with its prefix length, such as "10.0.0.1/24", or ipam.prefixLength to "host"`;
}
