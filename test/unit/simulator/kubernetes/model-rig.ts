// A model in virtual time, and short ways to call it.
import { Random } from '../../../../src/runtime/random.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import type { KubernetesResponse } from '../../../../src/simulator/kubernetes/exchange.ts';
import {
  KubernetesModel,
  type KubernetesModelOptions,
} from '../../../../src/simulator/kubernetes/kubernetes-model.ts';

export const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
}

/** Parsed JSON of a shape that the test knows. */
export interface Body {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly items?: readonly Body[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: Body;
}

export interface Watched {
  readonly events: WatchEvent[];
  /** The whole text so far. */
  readonly text: () => string;
  readonly stop: () => void;
  /** Settles as the stream ended. */
  readonly ended: Promise<'ended' | Error>;
}

export interface Rig {
  readonly model: KubernetesModel;
  readonly clock: VirtualClock;
  readonly send: (
    method: string,
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Reply>;
  readonly watch: (url: string) => Promise<Watched>;
}

const patchType = 'application/merge-patch+json';

export function rig(options: Partial<KubernetesModelOptions> = {}): Rig {
  const clock = new VirtualClock();
  const model = new KubernetesModel({ clock, random: new Random('rig'), crds: [ciliumNodeCrd], ...options });
  const never = new AbortController().signal;
  return {
    model,
    clock,
    send: async (method, url, body, headers = {}) => {
      const type = method === 'PATCH' ? patchType : 'application/json';
      const request = { method, url, headers: { 'content-type': type, ...headers } };
      const sent = body === undefined ? request : { ...request, body: JSON.stringify(body) };
      return replyOf(await model.handle(sent, never));
    },
    watch: async (url) => {
      const stop = new AbortController();
      const separator = url.includes('?') ? '&' : '?';
      const request = { method: 'GET', url: `${url}${separator}watch=1`, headers: {} };
      return watched(await model.handle(request, stop.signal), () => stop.abort());
    },
  };
}

function replyOf({ status, headers, body }: KubernetesResponse): Reply {
  if (typeof body !== 'string') throw new Error('expected a whole answer, got a stream');
  return { status, headers, body: parsed(body) };
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return { message: text };
  }
}

function watched({ body }: KubernetesResponse, stop: () => void): Watched {
  if (typeof body === 'string') throw new Error(`expected a stream, got ${body}`);
  const events: WatchEvent[] = [];
  let text = '';
  const ended = (async () => {
    try {
      for await (const piece of body) {
        text += piece;
        events.push(...eventsIn(piece));
      }
      return 'ended' as const;
    } catch (error) {
      return error as Error;
    }
  })();
  return { events, text: () => text, stop, ended };
}

export function ciliumNode(name: string, metadata: object = {}, spec: object = {}): object {
  return { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name, ...metadata }, spec };
}

/** The whole lines of a piece. */
function eventsIn(piece: string): readonly WatchEvent[] {
  const lines = piece.split('\n').filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as WatchEvent);
}

/** An event in short: `ADDED a1`. */
export function inShort(events: readonly WatchEvent[]): readonly string[] {
  return events.map(({ type, object }) => {
    const name = object.metadata?.['name'];
    return typeof name === 'string' ? `${type} ${name}` : type;
  });
}
