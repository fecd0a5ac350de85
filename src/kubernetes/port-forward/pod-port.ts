// Connects to a port of a pod through the API server, as `kubectl port-forward` does: also to a port of its loopback address.
//
// The kubelet serves the protocol v4.channel.k8s.io. The first byte of a message is its channel: 0 data, 1 what went wrong. The
// first message of each channel repeats the number of the port.
// https://github.com/kubernetes/kubernetes/blob/v1.34.0/staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { type ApiRefusal, ask, withoutAnswer } from '../transport/api-reply.ts';
import { KubernetesError } from '../transport/kubernetes-error.ts';
import type { KubernetesTransport } from '../transport/transport.ts';
import type { UpgradeRequest } from '../transport/undici-transport.ts';
import { clientFrame, MessageReader, opcodes } from './web-socket-frames.ts';

export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

export type OpenedPort =
  | { readonly kind: 'open'; readonly connection: Duplex }
  /** `verb`: of pods/portforward, which our identity may not use. */
  | (Extract<ApiRefusal, { kind: 'denied' }> & { readonly verb: string })
  | Exclude<ApiRefusal, { kind: 'denied' }>;

export interface ForwardingTransport extends KubernetesTransport {
  upgrade(request: UpgradeRequest, signal: AbortSignal): Promise<Duplex>;
}

/** Time limit of each request, in ms. */
const timeoutMs = 10_000;

const channels = { data: 0, error: 1 } as const;

/**
 * A connection that fails with a KubernetesError in the words of the kubelet if nothing listens on the port. Rejects only with
 * the signal's reason.
 */
export async function openPodPort(
  transport: ForwardingTransport,
  { namespace, pod, port }: PodPort,
  signal: AbortSignal,
): Promise<OpenedPort> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward?ports=${port}`;
  const headers = {
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': 'v4.channel.k8s.io',
  };
  try {
    return {
      kind: 'open',
      connection: portOver(await transport.upgrade({ path, headers, timeoutMs }, signal)),
    };
  } catch (error) {
    // An API server that is silent would be so again.
    const isSilent = error instanceof KubernetesError && error.code === 'KUBERNETES_TIMEOUT';
    return whyClosed(transport, path, { failure: withoutAnswer(error), asks: isSilent ? [] : asks, signal });
  }
}

function portOver(socket: Duplex): Duplex {
  const reader = new MessageReader();
  const known = new Set<number>();
  const port = new Duplex({
    read: () => undefined,
    write: (piece: Buffer, _, done) => {
      const payload = Buffer.concat([Buffer.of(channels.data), piece]);
      socket.write(clientFrame({ opcode: opcodes.binary, payload }), done);
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const take = (message: Buffer): void => {
    const [channel = -1] = message;
    const content = message.subarray(1);
    const isFirst = !known.has(channel);
    known.add(channel);
    if (isFirst || content.length === 0) return;
    if (channel === channels.data) port.push(content);
    else port.destroy(new KubernetesError('KUBERNETES_UNREACHABLE', content.toString('utf8')));
  };
  const end = (): void => void (port.readableEnded || port.push(null));
  socket.on('data', (bytes: Buffer) => {
    for (const { opcode, payload } of reader.read(bytes)) {
      if (port.destroyed) return;
      if (opcode === opcodes.ping) socket.write(clientFrame({ opcode: opcodes.pong, payload }));
      else if (opcode === opcodes.close) socket.end();
      else take(payload);
    }
  });
  socket.on('error', (error) => port.destroy(error)).on('close', end);
  return port;
}

/** The method and verb of each request that can be refused. */
type Asks = readonly (readonly ['GET' | 'POST', string])[];

const asks: Asks = [
  ['GET', 'get'],
  ['POST', 'create'],
];

/** An upgrade that is refused shows no reason, and newer API servers want the right to create as well. */
async function whyClosed(
  transport: KubernetesTransport,
  path: string,
  {
    failure,
    asks,
    signal,
  }: { readonly failure: ApiRefusal; readonly asks: Asks; readonly signal: AbortSignal },
): Promise<OpenedPort> {
  for (const [method, verb] of asks) {
    const reply = await ask(transport, { method, path, timeoutMs }, signal);
    if (reply.kind === 'denied') return { ...reply, verb };
    if (reply.kind === 'gone') return reply;
  }
  return failure.kind === 'denied' ? { ...failure, verb: 'get' } : failure;
}
