// Whether something else listens where a controller with these options would, in the network of hosts. Pure.
import { type Json, type JsonObject, listAt, textAt, valueAt } from '../../runtime/json.ts';
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from '../../observability/listen-address.ts';
import { countedNames, type Finding, rowsAbout } from './finding.ts';
import { shownPod } from './program-findings.ts';
import type { CiliumConfig } from './settings-findings.ts';

const rows = rowsAbout('ports');

/** A port of a host that a pod takes. */
export interface TakenPort {
  /** The pod, with its namespace. */
  readonly pod: string;
  readonly address: ListenAddress;
}

/** An attempt to listen. `ofHeadwater`: a controller listens there already. */
export type PortTrial =
  | { readonly kind: 'free' | 'ofHeadwater' }
  | { readonly kind: 'refused'; readonly why: string };

export interface PortQuestion {
  readonly serveAddr: ListenAddress;
  /** The options of Cilium. */
  readonly config: CiliumConfig;
  /** How many nodes have pods that were read, and the ports that these pods take; undefined if pods cannot be read. */
  readonly pods: { readonly nodes: number; readonly taken: readonly TakenPort[] } | undefined;
  /** The node that this process runs on, in its network, and whether the port is free there; undefined if it runs on none. */
  readonly trial: { readonly node: string; readonly outcome: PortTrial } | undefined;
}

const remedy = 'set another port: --serve-addr, or serve.port of the chart';

export function portFindings({ serveAddr, config, pods, trial }: PortQuestion): readonly Finding[] {
  // The system chooses a free one.
  if (serveAddr.port === 0) return [];
  const own = `${formatListenAddress(serveAddr)} (serve-addr)`;
  const takers = [...takersOfCilium(serveAddr, config), ...takingPods(serveAddr, pods?.taken ?? [])];
  const refused =
    trial?.outcome.kind === 'refused'
      ? [
          rows.problem(
            `nothing can listen on ${own} of ${trial.node}, where this runs: ${trial.outcome.why}`,
            remedy,
          ),
        ]
      : [];
  if (takers.length > 0)
    return [
      ...refused,
      rows.warning(
        `${own} is taken in the network of hosts by ${takers.join(', and by ')}`,
        `${remedy}; outside the network of hosts, it is free`,
      ),
    ];
  if (refused.length > 0) return refused;
  const free =
    pods === undefined
      ? 'is not taken by the options of Cilium'
      : `is taken neither by the options of Cilium nor by a pod, as far as those of ${pods.nodes} ${pods.nodes === 1 ? 'node' : 'nodes'} show`;
  return [rows.ok(`${own} ${free}`)];
}

/** Where Cilium listens on hosts. Without a default: only if the option is set. */
const portsOfCilium = {
  'agent-health-port': '9879',
  'cluster-health-port': '4240',
  'hubble-listen-address': undefined,
  'hubble-metrics-server': undefined,
  'operator-api-serve-addr': '127.0.0.1:9234',
  'operator-prometheus-serve-addr': undefined,
  'prometheus-serve-addr': undefined,
  'proxy-prometheus-port': undefined,
} as const;

function takersOfCilium(own: ListenAddress, config: CiliumConfig): readonly string[] {
  // Defaults count only where Cilium runs.
  if (Object.keys(config).length === 0) return [];
  return Object.entries(portsOfCilium).flatMap(([option, otherwise]) => {
    const value = config[option] ?? otherwise ?? '';
    const address = parseListenAddress(value.includes(':') ? value : `:${value}`);
    if (address === undefined || !collide(own, address)) return [];
    return [`Cilium (${option}=${value})`];
  });
}

function takingPods(own: ListenAddress, taken: readonly TakenPort[]): readonly string[] {
  const pods = taken.filter(({ address }) => collide(own, address)).map(({ pod }) => pod);
  return pods.length === 0 ? [] : [countedNames([...new Set(pods)], 'pod')];
}

const everyAddress: ReadonlySet<string | undefined> = new Set([undefined, '0.0.0.0', '::']);

function collide(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port) return false;
  return everyAddress.has(a.host) || everyAddress.has(b.host) || hostOf(a) === hostOf(b);
}

function hostOf({ host }: ListenAddress): string | undefined {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Ports of its host that a pod takes by TCP. A controller of Headwater takes its own, and no other one starts beside it. */
export function takenPorts(raw: JsonObject): readonly TakenPort[] {
  const isOnHost = valueAt(raw, 'spec', 'hostNetwork') === true;
  const containers = ['initContainers', 'containers'].flatMap((list) => listAt(raw, 'spec', list));
  const phase = textAt(raw, 'status', 'phase');
  const { name: pod, words } = shownPod(raw);
  const isOurs = words.includes('headwater');
  if (phase === 'Succeeded' || phase === 'Failed' || (isOurs && !agentWord.test(words))) return [];
  const declared = containers
    .flatMap((each) => listAt(each, 'ports'))
    .flatMap((port) => declaredPort(port, isOnHost))
    .map((address) => ({ pod, address }));
  return isOurs && isOnHost ? [...declared, ...portsOfAgent(pod, words)] : declared;
}

function declaredPort(port: Json, isOnHost: boolean): readonly ListenAddress[] {
  const number = valueAt(port, 'hostPort') ?? (isOnHost ? valueAt(port, 'containerPort') : undefined);
  const protocol = textAt(port, 'protocol') ?? 'TCP';
  if (typeof number !== 'number' || protocol !== 'TCP') return [];
  const host = textAt(port, 'hostIP') ?? '';
  return [{ host: host === '' ? undefined : host, port: number }];
}

const agentWord = /(?:^|\s)agent(?:\s|$)/;

/** The agent of Headwater declares no ports: its arguments name them. */
function portsOfAgent(pod: string, words: string): readonly TakenPort[] {
  const given = words.matchAll(/--(?:prometheus-serve-addr|agent-health-port)[= ](\S+)/g);
  return Array.from(given, ([, value = '']) => value).flatMap((value) => {
    const address = parseListenAddress(value.includes(':') ? value : `127.0.0.1:${value}`);
    return address === undefined ? [] : [{ pod, address }];
  });
}
