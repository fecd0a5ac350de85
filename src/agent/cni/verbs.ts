// What each verb of CNI means for the addresses of this node: https://www.cni.dev/docs/spec/. An attachment is named by
// network, container and interface, so a late DEL never reaches the address of a living pod.
import { type Clock, sleep } from '../../runtime/clock.ts';
import { type Family, widthOf } from '../../cidr/set/cidr.ts';
import type { Allocator } from '../allocators/allocator.ts';
import { addressText, familyOf, parseAddress } from '../ipam/address.ts';
import type { AttachmentName, Place } from '../ipam/holdings.ts';
import { defaultPool, type Demand, type Ipam } from '../ipam/ipam.ts';
import type { IpamErrorKind } from '../ipam/ipam-error.ts';
import { cniCode, type CniCode, cniFailed, cniOk, type CniOutcome } from './cni-error.ts';
import type { Invocation } from './invocation.ts';
import { parseResolvConf } from './resolv-conf.ts';
import { type ResultAddress, type ResultRoute, resultText } from './result.ts';

export interface VerbsOptions {
  readonly ipam: Ipam;
  readonly clock: Clock;
  /** Whether a pool may get addresses while a request waits. */
  readonly mayGrow: boolean;
  /** What the agent waits for; undefined once it serves. */
  readonly waitingFor: () => string | undefined;
  /** Throws what Node.js throws. */
  readonly readFile: (path: string) => string;
}

/** What the plugin prints. */
export interface Printed {
  readonly out: string;
  /** For standard error, which runtimes log. */
  readonly note?: string;
}

const nothing: CniOutcome<Printed> = cniOk({ out: '' });

/** Kinds that time may mend. */
const mayPass: readonly IpamErrorKind[] = ['poolNotReady', 'exhausted'];

export class Verbs {
  readonly #options: VerbsOptions;
  /** ADDs that wait, by attachment: its DEL ends them. */
  readonly #waiting = new Map<string, Set<AbortController>>();

  constructor(options: VerbsOptions) {
    this.#options = options;
  }

  /** `signal` ends a wait: the requester is gone, or the agent stops. */
  run(invocation: Invocation, signal: AbortSignal): CniOutcome<Printed> | Promise<CniOutcome<Printed>> {
    switch (invocation.verb) {
      case 'ADD':
        return this.#add(invocation, signal);
      case 'DEL':
        return this.#del(invocation);
      case 'CHECK':
        return this.#check(invocation);
      case 'GC':
        return this.#gc(invocation);
      case 'STATUS':
        return this.#status(invocation);
    }
  }

  async #add(invocation: Invocation, signal: AbortSignal): Promise<CniOutcome<Printed>> {
    const { ipam, clock } = this.#options;
    const deadline = clock.monotonic() + invocation.conf.ipam.wait;
    for (;;) {
      const known = ipam.holdings.attachment(invocation.attachment);
      if (known !== undefined) return this.#print(invocation, known.places);
      const printable = this.#print(invocation, []);
      if (printable.kind === 'failed') return printable;
      const outcome = ipam.allocate(this.#demand(invocation));
      if (outcome.kind === 'ok') return this.#print(invocation, outcome.value);
      const { kind, message } = outcome.error;
      const left = deadline - clock.monotonic();
      const waits = this.#options.mayGrow && mayPass.includes(kind) && left > 0;
      if (!waits) return cniFailed(codeOf(kind, invocation), this.#why(kind, message));
      if ((await this.#wait(invocation.attachment, left, signal)) === 'ended')
        return cniFailed(cniCode.tryAgain, `gave up: ${this.#why(kind, message)}`);
    }
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
    return kind === 'poolNotReady' && waitingFor !== undefined
      ? `${message}: waiting for ${waitingFor}`
      : message;
  }

  async #wait(name: AttachmentName, most: number, signal: AbortSignal): Promise<'changed' | 'ended'> {
    const key = `${name.network}/${name.container}/${name.interface}`;
    const own = new AbortController();
    const ended = AbortSignal.any([own.signal, signal]);
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting.add(own));
    try {
      await Promise.race([this.#options.ipam.changed, sleep(this.#options.clock, most, ended)]);
      return 'changed';
    } catch (error) {
      if (!ended.aborted) throw error;
      return 'ended';
    } finally {
      waiting.delete(own);
      if (waiting.size === 0) this.#waiting.delete(key);
      own.abort();
    }
  }

  #del({ attachment }: Invocation): CniOutcome<Printed> {
    const { network, container, interface: name } = attachment;
    for (const waiting of this.#waiting.get(`${network}/${container}/${name}`) ?? []) waiting.abort();
    return this.#detach([attachment]);
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
    const shown = conf.previous.map(canonical).toSorted();
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
      return cniOk({
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
    const { pool = defaultPool, families = ipam.servedFamilies(pool) } = conf.ipam;
    if (families.length === 0)
      return cniFailed(cniCode.notAvailable, `not ready: waiting for ${waitingFor() ?? 'a block'}`);
    for (const family of families) {
      const allocator = ipam.allocator(family, pool);
      if (allocator === undefined)
        return cniFailed(cniCode.notAvailable, `no ${family} addresses in the pool ${pool}`);
      if (BigInt(allocator.taken) >= allocator.capacity)
        return cniFailed(cniCode.notAvailable, `no ${family} address is free: ${allocator.status()}`);
    }
    return nothing;
  }

  #print({ conf }: Invocation, places: readonly Place[]): CniOutcome<Printed> {
    const { resolvConf, routes } = conf.ipam;
    const dns = resolvConf === undefined ? cniOk(undefined) : this.#dns(resolvConf);
    if (dns.kind === 'failed') return dns;
    const addresses = places
      .map((place) => this.#address(conf.ipam, place))
      .toSorted((a, b) => (a.family < b.family ? -1 : 1));
    const result = {
      addresses,
      routes: routes ?? defaultRoutes(addresses.map(({ family }) => family)),
      dns: dns.value,
    };
    return cniOk({ out: resultText(conf.version, result) });
  }

  #address(ipam: Invocation['conf']['ipam'], { pool, ip }: Place): ResultAddress {
    const family = familyOf(ip);
    const block = this.#blockOf(pool, ip);
    const length = ipam.prefixLength === 'block' ? block?.prefixLength : undefined;
    return {
      family,
      address: `${ip}/${length ?? widthOf[family]}`,
      gateway: ipam.gateways[family] ?? routerOf(block) ?? routers[family],
    };
  }

  /** Undefined for an address of an earlier block. */
  #blockOf(pool: string, ip: string): Allocator | undefined {
    const address = parseAddress(ip);
    const allocator = this.#options.ipam.allocator(familyOf(ip), pool);
    return address !== undefined && allocator?.covers(address.value) === true ? allocator : undefined;
  }

  #dns(path: string): CniOutcome<ReturnType<typeof parseResolvConf>> {
    try {
      return cniOk(parseResolvConf(this.#options.readFile(path)));
    } catch (error) {
      return cniFailed(cniCode.config, `ipam.resolvConf: ${(error as Error).message}`);
    }
  }
}

/** Where a block has no router: link-local, as routers without an address of their own have. */
const routers: Readonly<Record<Family, string>> = { ipv4: '169.254.1.1', ipv6: 'fe80::1' };

function routerOf(block: Allocator | undefined): string | undefined {
  return block?.router === undefined ? undefined : addressText({ family: block.family, value: block.router });
}

function defaultRoutes(families: readonly Family[]): readonly ResultRoute[] {
  return families.map((family) => ({ dst: family === 'ipv4' ? '0.0.0.0/0' : '::/0', extra: {} }));
}

function canonical(ip: string): string {
  const address = parseAddress(ip);
  return address === undefined ? ip : addressText(address);
}

function codeOf(kind: IpamErrorKind, { args, conf }: Invocation): CniCode {
  const isFixed = args.ips.length + conf.fixed.length > 0;
  switch (kind) {
    case 'unknownPool':
    case 'familyDisabled':
      return cniCode.config;
    case 'inUse':
    case 'outOfRange':
    case 'excluded':
      return isFixed ? cniCode.fixedAddress : cniCode.tryAgain;
    default:
      return cniCode.tryAgain;
  }
}
