// The ports of one controller process: to the cloud model and to the embedded Kubernetes API. Each call has phases in
// which a fault can kill or freeze the process, or change the cluster.
import { InProcessTransport } from '../support/in-process-transport.ts';
import type {
  KubernetesTransport,
  StreamLine,
  TransportRequest,
} from '../../src/kubernetes/transport/transport.ts';
import type { Ec2Api } from '../../src/providers/aws/ec2-api.ts';
import type { KubernetesHandler } from '../../src/simulator/kubernetes/exchange.ts';
import type { RigHooks } from './clouds/cloud-rig.ts';
import { azurePortCalls } from './draw-azure.ts';
import { portCalls } from './draw-faults.ts';
import type { CallInProgress, PhaseListener, SimulatedProcess } from './process.ts';
import type { PortCall } from './scenario.ts';

const portCallNames: ReadonlySet<string> = new Set([...portCalls, 'AssignIpv6Addresses', ...azurePortCalls]);

/** The cloud as the process reaches it. */
export function cloudPort(
  process: SimulatedProcess,
  api: Ec2Api,
  { onPhase, filterAnswer, onAnswerApplied }: Omit<RigHooks, 'onCallEnded'>,
): Ec2Api {
  return {
    send: async (action, input, sending) => {
      const send = async () => {
        const output = await api.send(action, input, sending);
        return action.startsWith('Describe')
          ? filterAnswer(process.identity, { action, input }, output)
          : output;
      };
      const output = await passCall({ process, action, input: { ...input } }, send, onPhase);
      onAnswerApplied(process.identity, action, output);
      return output;
    },
  };
}

/** Passes a call of the cloud, with its phases if faults know it. */
export function passCall<T>(
  { process, action, input }: Omit<CallInProgress, 'call'> & { readonly action: string },
  send: () => Promise<T>,
  onPhase: PhaseListener,
): Promise<T> {
  return portCallNames.has(action)
    ? withPhases({ process, call: action as PortCall, input }, send, onPhase)
    : passThrough(process, send);
}

/** The Kubernetes API as the process reaches it. */
export function kubernetesPort(
  process: SimulatedProcess,
  handler: KubernetesHandler,
  onPhase: PhaseListener,
): KubernetesTransport {
  const connections = new AbortController();
  process.onKill(() => connections.abort());
  const handlerOfProcess: KubernetesHandler = (request, signal) => {
    const headers = {
      ...request.headers,
      'user-agent': process.identity,
      'sent-at': String(process.monotonic()),
    };
    // A sent request arrives within 20 s even if its sender is dead; only watches end.
    const isWatch = request.method === 'GET' && request.url.includes('watch=');
    return handler({ ...request, headers }, isWatch ? AbortSignal.any([signal, connections.signal]) : signal);
  };
  const inner = new InProcessTransport(handlerOfProcess, process);
  return {
    stream: async (request, signal) => {
      const answer = await passThrough(process, () => inner.stream(request, signal));
      return answer.kind === 'refused' ? answer : { kind: 'open', lines: passLines(process, answer.lines) };
    },
    send: (request, signal) => {
      const send = () => inner.send(request, signal);
      const call = callOf(request);
      if (call === undefined) return passThrough(process, send);
      const { path, body } = request;
      return withPhases({ process, call, input: { path, body } }, send, onPhase);
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

async function passThrough<T>(process: SimulatedProcess, send: () => Promise<T>): Promise<T> {
  if (process.isDead) return never();
  try {
    return await process.pass(await send());
  } catch (error) {
    await process.pass(undefined);
    throw error;
  }
}

async function withPhases<T>(
  progress: CallInProgress,
  send: () => Promise<T>,
  onPhase: PhaseListener,
): Promise<T> {
  const { process } = progress;
  if (process.isDead) return never();
  onPhase('before it is sent', progress);
  if (progress.process.isDead) return never();
  const answer = send();
  onPhase('once it is sent', progress);
  try {
    const value = await answer;
    onPhase('before its answer is taken in', progress);
    return await process.pass(value);
  } catch (error) {
    onPhase('before its answer is taken in', progress);
    await process.pass(undefined);
    throw error;
  }
}

async function* passLines(
  process: SimulatedProcess,
  lines: AsyncIterable<StreamLine>,
): AsyncGenerator<StreamLine> {
  for await (const line of lines) yield process.isFrozen || process.isDead ? await process.pass(line) : line;
}

function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}
