// The embedded model as a target of the script: in process, and behind its own HTTP server. Both keep virtual time.
import { Random } from '../../../src/runtime/random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { ciliumNodeCrd } from '../../../src/simulator/kubernetes/ciliumnode-crd.ts';
import { KubernetesModel } from '../../../src/simulator/kubernetes/kubernetes-model.ts';
import type { Target, WireAnswer, WireRequest } from './run-script.ts';
import type { Sender } from './step.ts';

export interface ModelInTime {
  readonly model: KubernetesModel;
  readonly clock: VirtualClock;
}

const tokens: Readonly<Record<Sender, string>> = {
  admin: 'token-of-admin',
  reader: 'token-of-reader',
  stranger: 'token-of-nobody',
};

export function modelInTime(): ModelInTime {
  const clock = new VirtualClock();
  const model = new KubernetesModel({
    clock,
    random: new Random('conformance'),
    crds: [ciliumNodeCrd],
    tokens: { [tokens.admin]: 'admin', [tokens.reader]: 'reader' },
    authorize: ({ user }) => user === 'admin',
  });
  return { model, clock };
}

/** The model, reached through `send`. */
export function modelTarget({ model, clock }: ModelInTime, send: Target['send']): Target {
  return {
    send,
    tokenOf: (sender) => tokens[sender],
    pass: (seconds) => clock.advance(seconds * 1000),
    expireHistory: () => Promise.resolve(model.faults.expireHistory()),
  };
}

/** Calls the handler directly. */
export async function sendInProcess(model: KubernetesModel, request: WireRequest): Promise<WireAnswer> {
  const { method, path, headers, body } = request;
  const wire = { method, url: path, headers };
  const answer = await model.handle(
    body === undefined ? wire : { ...wire, body },
    new AbortController().signal,
  );
  const text = typeof answer.body === 'string' ? Promise.resolve(answer.body) : joined(answer.body);
  return { status: answer.status, headers: answer.headers, text: () => text };
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}
