// A model behind its HTTP server, for tests over real connections.
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../../../../src/simulator/kubernetes/kubernetes-model.ts';
import {
  type KubernetesServer,
  startKubernetesServer,
} from '../../../../src/simulator/kubernetes/kubernetes-server.ts';

export const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';

export interface Served {
  readonly model: KubernetesModel;
  readonly clock: VirtualClock;
  readonly server: KubernetesServer;
}

export async function served(): Promise<Served> {
  const clock = new VirtualClock();
  const model = new KubernetesModel({ clock, random: new Random('served'), crds: [ciliumNodeCrd] });
  return { model, clock, server: await startKubernetesServer({ model, clock, port: 0 }) };
}

export function ciliumNode(name: string): object {
  return { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name }, spec: {} };
}

export interface Opened {
  readonly outgoing: ClientRequest;
  readonly incoming: IncomingMessage;
}

/** Sends a request on a connection of its own; resolves with the head of the answer. */
export function open(url: string, method = 'GET', body?: object): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request(url, { method, headers, agent: false }, (incoming) =>
      resolve({ outgoing, incoming }),
    );
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The whole body, and how it ended. */
export async function wholeBody(
  incoming: IncomingMessage,
): Promise<{ readonly text: string; readonly cut: boolean }> {
  let text = '';
  try {
    for await (const piece of incoming) text += String(piece);
    return { text, cut: false };
  } catch {
    return { text, cut: true };
  }
}

/** Waits until `holds`, checking again after each turn of the event loop. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
