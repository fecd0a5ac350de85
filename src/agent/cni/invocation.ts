// Reads one invocation of the plugin: the verb, what the environment says of the container, and the network.
import type { AttachmentName } from '../ipam/holdings.ts';
import { cniCode, cniFailed, type CniError, type CniOutcome } from './cni-error.ts';
import { cniName, maxNameCharacters, type NetworkConf, parseNetworkConf, readFixed } from './network-conf.ts';
import { type CniVersion, isAtLeast } from './result.ts';
import { ok } from '../ipam/ipam-error.ts';

const cniVerbs = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS'] as const;

/** VERSION is answered by the plugin itself. */
type CniVerb = (typeof cniVerbs)[number];

/** The first version that has the verb: https://www.cni.dev/docs/spec/ */
const firstVersion: Readonly<Record<CniVerb, CniVersion>> = {
  ADD: '0.1.0',
  DEL: '0.1.0',
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
};

/** Variables as the runtime set them. */
export type CniEnvironment = Readonly<Record<string, string>>;

export interface Invocation {
  readonly verb: CniVerb;
  readonly conf: NetworkConf;
  /** Texts are empty for GC and STATUS, which are about a network. */
  readonly attachment: AttachmentName;
  readonly netns: string;
  readonly args: CniArgs;
}

export interface CniArgs {
  /** `namespace/name`; undefined if the runtime names no pod. */
  readonly pod: string | undefined;
  readonly uid: string | undefined;
  readonly ips: readonly string[];
}

export type ReadInvocation =
  | { readonly kind: 'invocation'; readonly invocation: Invocation }
  /** `verb` and `version` are for the answer. */
  | {
      readonly kind: 'refused';
      readonly verb: CniVerb | undefined;
      readonly version: CniVersion;
      readonly error: CniError;
    };

/** https://www.cni.dev/docs/spec/#parameters, without the command itself. */
const neededVariables: Readonly<Record<CniVerb, readonly string[]>> = {
  ADD: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  DEL: ['CNI_CONTAINERID', 'CNI_IFNAME', 'CNI_PATH'],
  CHECK: ['CNI_CONTAINERID', 'CNI_NETNS', 'CNI_IFNAME', 'CNI_PATH'],
  GC: ['CNI_PATH'],
  STATUS: ['CNI_PATH'],
};

export function readInvocation(environment: CniEnvironment, stdin: string): ReadInvocation {
  const read = parseNetworkConf(stdin);
  const version = read.kind === 'conf' ? read.conf.version : read.version;
  const command = environment['CNI_COMMAND'] ?? '';
  const verb = cniVerbs.find((each) => each === command);
  const refused = (error: CniError): ReadInvocation => ({ kind: 'refused', verb, version, error });
  if (verb === undefined)
    return refused({
      code: cniCode.environment,
      message: `CNI_COMMAND ${JSON.stringify(command)} is no verb`,
    });
  if (read.kind === 'refused') return refused(read.error);
  const problem = findProblem(verb, version, environment);
  if (problem !== undefined) return refused(problem);
  const args = readArgs(environment['CNI_ARGS'] ?? '');
  if (args.kind === 'failed') return refused(args.error);
  const { conf } = read;
  const named = (name: string): string => environment[name] ?? '';
  const attachment = {
    network: conf.network,
    container: named('CNI_CONTAINERID'),
    interface: named('CNI_IFNAME'),
  };
  const netns = named('CNI_NETNS');
  return { kind: 'invocation', invocation: { verb, conf, attachment, netns, args: args.value } };
}

function findProblem(verb: CniVerb, version: CniVersion, environment: CniEnvironment): CniError | undefined {
  return (
    findMissing(verb, environment) ??
    (isAtLeast(version, firstVersion[verb])
      ? undefined
      : { code: cniCode.incompatibleVersion, message: `CNI ${version} has no ${verb}` })
  );
}

function findMissing(verb: CniVerb, environment: CniEnvironment): CniError | undefined {
  const needed = neededVariables[verb];
  const missing = needed.filter((name) => (environment[name] ?? '') === '');
  if (missing.length > 0) {
    return { code: cniCode.environment, message: `required env variables [${missing.join(',')}] missing` };
  }
  const container = environment['CNI_CONTAINERID'] ?? '';
  if (
    needed.includes('CNI_CONTAINERID') &&
    !(cniName.test(container) && container.length <= maxNameCharacters)
  ) {
    const message = 'CNI_CONTAINERID: accepted are up to 256 letters, digits and characters of _ . -';
    return { code: cniCode.environment, message };
  }
  const name = environment['CNI_IFNAME'] ?? '';
  if (needed.includes('CNI_IFNAME') && !isInterfaceName(name)) {
    const message = 'CNI_IFNAME: accepted are 1 to 15 characters without slash, colon and blank';
    return { code: cniCode.environment, message };
  }
  return undefined;
}

function isInterfaceName(name: string): boolean {
  return /^[^/:\s]{1,15}$/.test(name) && name !== '.' && name !== '..';
}

/** Keys that runtimes send, and IP of the conventions: https://www.cni.dev/docs/conventions/ */
const knownArgs = [
  'IgnoreUnknown',
  'IP',
  'K8S_POD_NAMESPACE',
  'K8S_POD_NAME',
  'K8S_POD_INFRA_CONTAINER_ID',
  'K8S_POD_UID',
];

/** The length to which namespace, name and uid of a pod are cut, in characters. */
const maxArgCharacters = 512;

function readArgs(text: string): CniOutcome<CniArgs> {
  const pairs = text.split(';').filter((pair) => pair !== '');
  if (pairs.some((pair) => !pair.includes('=')))
    return cniFailed(cniCode.environment, 'CNI_ARGS: accepted is KEY=value;KEY=value');
  return checkedArgs(
    new Map(pairs.map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)])),
  );
}

function checkedArgs(args: ReadonlyMap<string, string>): CniOutcome<CniArgs> {
  const unknown = [...args.keys()].filter((key) => !knownArgs.includes(key));
  if (unknown.length > 0 && !/^(?:1|t|true)$/i.test(args.get('IgnoreUnknown') ?? ''))
    return cniFailed(cniCode.environment, `CNI_ARGS: unknown args ${JSON.stringify(unknown)}`);
  const ips = (args.get('IP') ?? '').split(',').filter((ip) => ip !== '');
  const fixed = ips.map(readFixed);
  if (fixed.includes(undefined)) return cniFailed(cniCode.environment, 'CNI_ARGS: IP is no address');
  return ok({ ...podIn(args), ips: fixed.filter((ip) => ip !== undefined) });
}

function podIn(args: ReadonlyMap<string, string>): Omit<CniArgs, 'ips'> {
  const named = (key: string): string => (args.get(`K8S_POD_${key}`) ?? '').slice(0, maxArgCharacters);
  const [namespace, name, uid] = [named('NAMESPACE'), named('NAME'), named('UID')];
  return {
    pod: namespace === '' || name === '' ? undefined : `${namespace}/${name}`,
    uid: uid === '' ? undefined : uid,
  };
}
