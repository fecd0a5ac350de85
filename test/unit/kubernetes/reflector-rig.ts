// A reflector of colored things against a scripted API server, in virtual time.
import { type JsonObject, textAt } from '../../../src/runtime/json.ts';
import type { Change } from '../../../src/kubernetes/watch/object-store.ts';
import { type Reflected, Reflector, type ReflectorState } from '../../../src/kubernetes/watch/reflector.ts';
import type { TransportRequest } from '../../../src/kubernetes/transport/transport.ts';
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Script, ScriptedTransport, type Server } from './scripted-transport.ts';

export interface Rig {
  readonly clock: VirtualClock;
  readonly transport: ScriptedTransport;
  readonly reflector: Reflector<string>;
  readonly changes: string[];
  readonly states: ReflectorState[];
  readonly bugs: unknown[];
  readonly stop: () => Promise<void>;
}

/** The transform keeps `spec.color` of an object; a missing color is a bug of the transform. */
export function rig(
  server: Server,
  onChange: (change: Change<string>) => void = () => undefined,
  options: Pick<Reflected<string>, 'verifyEmptyLists'> = {},
): Rig {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, server);
  const changes: string[] = [];
  const states: ReflectorState[] = [];
  const bugs: unknown[] = [];
  const transform = (raw: JsonObject): string => {
    const color = textAt(raw, 'spec', 'color');
    if (color === undefined) throw new Error('no color');
    return color;
  };
  const random = new Random('reflector');
  const reflector = new Reflector<string>(
    { transport, clock, random, onBug: (error) => bugs.push(error) },
    { path: '/things', ...options, transform },
    {
      onChange: (change) => {
        changes.push(`${change.type} ${change.key} ${change.previous ?? '-'}>${change.object}`);
        onChange(change);
      },
      onState: (state) => states.push(state),
    },
  );
  const stopping = new AbortController();
  const running = reflector.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('stop'));
    await running;
  };
  return { clock, transport, reflector, changes, states, bugs, stop };
}

export function thing(name: string, version: number | string, color?: string): JsonObject {
  return {
    metadata: { name, resourceVersion: String(version) },
    ...(color !== undefined && { spec: { color } }),
  };
}

export function listOf(version: number, ...items: readonly JsonObject[]): Script {
  return { status: 200, body: { metadata: { resourceVersion: String(version) }, items } };
}

export function event(type: string, object: JsonObject): { type: string; object: JsonObject } {
  return { type, object };
}

export const bookmark = (version: number): unknown => event('BOOKMARK', thing('', version));

/** Answers lists from one queue and watches from another; the last item of a queue repeats. */
export function serve(lists: readonly Script[], watches: readonly Script[]): Server {
  let list = 0;
  let watch = 0;
  return (request) => {
    const script = isWatch(request)
      ? watches[Math.min(watch++, watches.length - 1)]
      : lists[Math.min(list++, lists.length - 1)];
    return script ?? new Error('nothing is scripted');
  };
}

export function isWatch(request: TransportRequest): boolean {
  return request.path.includes('watch=true');
}

export function query(request: TransportRequest | undefined, name: string): string | null {
  return new URLSearchParams(request?.path.split('?')[1]).get(name);
}
