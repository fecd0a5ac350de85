// The ports of one controller process: to the cloud's model and to the embedded Kubernetes API, each call with moments at
// which the process can be killed or frozen, or the world changed.
import { InProcessTransport } from '../../src/kubernetes/transport/in-process-transport.ts';
import type {
  KubernetesTransport,
  StreamLine,
  TransportRequest,
} from '../../src/kubernetes/transport/transport.ts';
import type { Ec2Api } from '../../src/providers/aws/ec2-api.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import { portCalls } from './draw-faults.ts';
import type { SimulatedProcess } from './process.ts';
import type { CallPhase, PortCall } from './scenario.ts';

/** One call of a process, as those hear of it who wait for such a call. */
export interface CallInProgress {
  readonly process: SimulatedProcess;
  readonly call: PortCall;
  /** Of the cloud: its input; of Kubernetes: path and body. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type CallListener = (phase: CallPhase, progress: CallInProgress) => void;

const portCallNames: ReadonlySet<string> = new Set(portCalls);

export interface CloudListeners {
  readonly hear: CallListener;
  /** What the process is shown of an answer. */
  readonly show: <T extends object>(
    process: string,
    call: { readonly action: string; readonly input: object },
    output: T,
  ) => T;
  /** The process takes an answer in: for one that was frozen, later than the cloud gave it. */
  readonly take: (process: string, action: string, output: object) => void;
}

/** The cloud as the process reaches it. */
export function cloudPort(
  process: SimulatedProcess,
  api: Ec2Api,
  { hear, show, take }: CloudListeners,
): Ec2Api {
  return {
    send: async (action, input, sending) => {
      const send = async () => {
        const output = await api.send(action, input, sending);
        return action.startsWith('Describe') ? show(process.identity, { action, input }, output) : output;
      };
      const output = await (portCallNames.has(action)
        ? watched({ process, call: action as PortCall, input: { ...input } }, send, hear)
        : through(process, send));
      take(process.identity, action, output);
      return output;
    },
  };
}

/** The Kubernetes API as the process reaches it. */
export function kubernetesPort(
  process: SimulatedProcess,
  handler: KubernetesHandler,
  hear: CallListener,
): KubernetesTransport {
  const connections = new AbortController();
  process.onKill(() => connections.abort());
  const named: KubernetesHandler = (request, signal) => {
    const headers = {
      ...request.headers,
      'user-agent': process.identity,
      'sent-at': String(process.monotonic()),
    };
    // What was sent arrives also where its sender is dead by then, within 20 s; only its watches end.
    const isWatch = request.method === 'GET' && request.url.includes('watch=');
    return handler({ ...request, headers }, isWatch ? AbortSignal.any([signal, connections.signal]) : signal);
  };
  const inner = new InProcessTransport(named, process);
  return {
    stream: async (request, signal) => {
      const answer = await through(process, () => inner.stream(request, signal));
      return answer.kind === 'refused' ? answer : { kind: 'open', lines: passing(process, answer.lines) };
    },
    send: (request, signal) => {
      const send = () => inner.send(request, signal);
      const call = callOf(request);
      if (call === undefined) return through(process, send);
      const { path, body } = request;
      return watched({ process, call, input: { path, body } }, send, hear);
    },
  };
}

function callOf({ method, path }: TransportRequest): PortCall | undefined {
  if (path.includes('/leases')) return 'lease';
  const part = /^\/apis\/cilium\.io\/v2\/ciliumnodes\/[^/?]+(\/status)?$/.exec(path);
  if (part === null) return undefined;
  if (method === 'GET') return 'read node';
  return part[1] === undefined ? 'patch spec' : 'patch status';
}

async function through<T>(process: SimulatedProcess, send: () => Promise<T>): Promise<T> {
  if (process.isDead) return never();
  try {
    return await process.pass(await send());
  } catch (error) {
    await process.pass(undefined);
    throw error;
  }
}

async function watched<T>(progress: CallInProgress, send: () => Promise<T>, hear: CallListener): Promise<T> {
  const { process } = progress;
  if (process.isDead) return never();
  hear('before it is sent', progress);
  if (progress.process.isDead) return never();
  const answer = send();
  hear('once it is sent', progress);
  try {
    const value = await answer;
    hear('before its answer is taken in', progress);
    return await process.pass(value);
  } catch (error) {
    hear('before its answer is taken in', progress);
    await process.pass(undefined);
    throw error;
  }
}

async function* passing(
  process: SimulatedProcess,
  lines: AsyncIterable<StreamLine>,
): AsyncGenerator<StreamLine> {
  for await (const line of lines) yield process.isFrozen || process.isDead ? await process.pass(line) : line;
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
