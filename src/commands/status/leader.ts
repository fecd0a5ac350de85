// Finds the leader by its Lease, and reads its status over a connection to its pod through the API server.
import { optionTable } from '../../config/option-table.ts';
import { defaultsIn } from '../../config/option-scope.ts';
import { LeaseClient } from '../../kubernetes/lease/lease-client.ts';
import type { LeaseRecord } from '../../kubernetes/lease/lease-record.ts';
import type { ForwardingTransport } from '../../kubernetes/port-forward/pod-port.ts';
import { ask } from '../../kubernetes/transport/api-reply.ts';
import { type Json, listAt, textAt, valueAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import { argumentOf, inWords, placeOf, PodWay } from './pod-way.ts';
import { type Question, readStatus, type Served } from './served-report.ts';

export interface LeaderPlace {
  readonly namespace: string;
  /** Name of its Lease. Default: those of the commands run and nodeipam. */
  readonly lease: string | undefined;
}

interface NamedLease {
  readonly name: string;
  readonly record: LeaseRecord;
}

const leaseOption = 'leader-election-lease-name';
const usualLeases = [optionTable, defaultsIn.nodeipam].flatMap(({ [leaseOption]: row }) =>
  typeof row?.default === 'string' ? [row.default] : [],
);

/** The pods of the chart that lead. */
const selector = 'app.kubernetes.io/name in (headwater,headwater-nodeipam)';
const usualPort = 9966;
/** Time limit of one request, in ms. */
const timeoutMs = 10_000;

export class LeaderReader {
  readonly #transport: ForwardingTransport;
  readonly #namespace: string;
  /** Names of Leases. */
  readonly #names: readonly string[];
  readonly #question: Question;
  readonly #signal = new AbortController().signal;

  constructor(transport: ForwardingTransport, { namespace, lease }: LeaderPlace, question: Question) {
    this.#transport = transport;
    this.#namespace = namespace;
    this.#names = lease === undefined ? usualLeases : [lease];
    this.#question = question;
  }

  /** Resolves to why nothing is read, if so. */
  async read(): Promise<Served | string> {
    const found = await this.#leases();
    if (typeof found === 'string') return found;
    let gone: string | undefined;
    for (const lease of found) {
      const read = await this.#leader(lease);
      if (typeof read !== 'string') return read;
      gone ??= read;
    }
    return (
      gone ??
      `there is no Lease ${this.#names.join(' or ')} in ${this.#namespace}: name that of the controller with --k8s-namespace and --${leaseOption}, or give --address`
    );
  }

  /** The first Lease of these names that somebody renews; if there is none, all that exist. */
  async #leases(): Promise<readonly NamedLease[] | string> {
    const leases: NamedLease[] = [];
    for (const name of this.#names) {
      const client = new LeaseClient(this.#transport, this.#namespace, name);
      const reply = await client.read({ timeoutMs, signal: this.#signal });
      if (reply.kind === 'failed') {
        const what = `read the Lease ${this.#namespace}/${name}`;
        return inWords(what, 'get on leases of coordination.k8s.io', reply.problem);
      }
      if (reply.kind !== 'lease') continue;
      const lease = { name, record: reply.lease };
      if (lease.record.holder !== '' && lateness(lease.record) === undefined) return [lease];
      leases.push(lease);
    }
    return leases;
  }

  async #leader({ name, record }: NamedLease): Promise<Served | string> {
    const { holder } = record;
    const where = `the Lease ${this.#namespace}/${name}`;
    if (holder === '')
      return `no process leads: ${where} has no holder; read the logs of the pods of Headwater in ${this.#namespace}`;
    const read = await this.#holder(holder);
    const late = lateness(record);
    if (typeof read !== 'string' || late === undefined) return read;
    // Our clock may be wrong, so only a holder that cannot be read counts as gone.
    return `no process leads: ${sanitizedText(holder)} has not renewed ${where} for ${late} s; ${read}`;
  }

  /** The status of the process that holds the Lease. */
  async #holder(holder: string): Promise<Served | string> {
    const namespace = this.#namespace;
    const host = holder.replace(/-[\da-f]+$/, '');
    // Pods that the chart did not make, or under another name, are those of the host that say where they serve.
    for (const query of [
      { labelSelector: selector },
      { fieldSelector: `spec.nodeName=${host}` },
      { fieldSelector: `metadata.name=${host}` },
    ]) {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?limit=200&${new URLSearchParams(query).toString()}`;
      const reply = await ask(this.#transport, { method: 'GET', path, timeoutMs }, this.#signal);
      if (reply.kind !== 'ok') return inWords(`list the pods of ${namespace}`, 'list on pods', reply);
      const otherwise = 'labelSelector' in query ? usualPort : undefined;
      const candidates = candidatesIn(listAt(reply.object, 'items'), host, otherwise);
      const read = await this.#first(holder, candidates);
      if (read !== undefined) return read;
    }
    return `the pod of the leader ${sanitizedText(holder)} is gone, or not in ${namespace}; if it runs elsewhere, forward its port and give --address`;
  }

  /** Undefined if none of them holds the Lease. */
  async #first(holder: string, candidates: readonly Candidate[]): Promise<Served | string | undefined> {
    let problem: string | undefined;
    for (const pod of candidates) {
      const read = await this.#pod(pod);
      if (typeof read === 'string') problem = read;
      else if (read.report.identity === sanitizedText(holder)) return read;
    }
    return problem;
  }

  async #pod({ name: pod, port }: Candidate): Promise<Served | string> {
    const at = { namespace: this.#namespace, pod, port };
    const way = new PodWay(this.#transport, at, this.#signal);
    const read = await readStatus(way.open, this.#question);
    if (typeof read !== 'string') return read;
    if (way.refusal !== undefined) return way.refusal;
    return /connection refused/i.test(read)
      ? `${placeOf(at)} refuses port ${port} of its loopback address: let --serve-addr (of the chart: serve.bind) include that address, or give --address`
      : `cannot read ${placeOf(at)}: ${read}`;
  }
}

/** For how many seconds the Lease is not renewed, if it has ended by our clock. */
function lateness({ renewTime, duration = 0 }: LeaseRecord): number | undefined {
  const age = clock.wall() - Date.parse(renewTime);
  return age > duration ? Math.round(age / 1000) : undefined;
}

interface Candidate {
  readonly name: string;
  readonly port: number;
  /** Whether its host has the name that the identity begins with. */
  readonly isNamed: boolean;
}

/**
 * Pods that may have an identity that begins with `host`, likely ones first: it may be the name of their machine, which no
 * object shows. `otherwise`: the port of those that do not say where they serve; without it, they do not count.
 */
function candidatesIn(
  pods: readonly Json[],
  host: string,
  otherwise: number | undefined,
): readonly Candidate[] {
  return pods
    .filter((pod) => textAt(pod, 'status', 'phase') === 'Running')
    .flatMap((pod) => {
      const name = textAt(pod, 'metadata', 'name') ?? '';
      const isOfHost = valueAt(pod, 'spec', 'hostNetwork') === true;
      const hostname = isOfHost ? (textAt(pod, 'spec', 'nodeName') ?? '') : name;
      const port = portOf(pod) ?? otherwise;
      return port === undefined ? [] : [{ name, port, isNamed: hostname.startsWith(host) }];
    })
    .toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed));
}

/** The port of its argument --serve-addr. */
function portOf(pod: Json): number | undefined {
  const port = argumentOf(pod, /(?:^|\s)--serve-addr[=\s]\S*?:(\d+)(?:\s|$)/);
  return port === undefined ? undefined : Number(port);
}
