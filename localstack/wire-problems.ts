// What went over the wire between the controller and the server: whether it was said as EC2 wants it said, what was
// refused, and what was asked for. Functions that judge answer with what is wrong, in a line for each.
import { Ec2Refusal } from '../src/simulator/ec2/ec2-refusal.ts';
import { type SignatureCheck, verifySignature } from '../src/simulator/ec2/sigv4.ts';
import type { Problems } from './checks.ts';
import type { TappedCall } from './wire-tap.ts';

/** Neither server checks signatures: they are computed again here. */
export function signedWrongly(calls: readonly TappedCall[], check: SignatureCheck): Problems {
  return calls.flatMap((call) => {
    try {
      verifySignature(call, check);
      return [];
    } catch (error) {
      if (!(error instanceof Ec2Refusal)) throw error;
      return [`${call.action}: ${error.message}`];
    }
  });
}

/** Calls that are not said in EC2's query protocol of the version that its API has had since 2016. */
export function saidWrongly(calls: readonly TappedCall[]): Problems {
  return calls.flatMap(({ method, url, headers, action, parameters }) => {
    const type = headers['content-type'] ?? 'none';
    const version = parameters.get('Version') ?? 'none';
    const wrong = [
      ...(method === 'POST' && url === '/' ? [] : [`${method} ${url}`]),
      ...(type.startsWith('application/x-www-form-urlencoded') ? [] : [`content type ${type}`]),
      ...(version === '2016-11-15' ? [] : [`version ${version}`]),
    ];
    return wrong.map((text) => `${action || 'no action'}: ${text}`);
  });
}

/** Creations that carry no client token, or that of another one: only a repetition may. */
export function tokensTwice(calls: readonly TappedCall[]): Problems {
  const seen = new Set<string>();
  return calls
    .filter(({ action }) => action === 'CreateNetworkInterface')
    .flatMap((call) => {
      const token = call.parameters.get('ClientToken') ?? '';
      const wrong = token === '' || seen.has(token);
      seen.add(token);
      return wrong ? [`token ${token || 'missing'}: ${inWords(call)}`] : [];
    });
}

/** Calls that the server refused with another code than `expected`, or did not answer. */
export function refusedElse(calls: readonly TappedCall[], expected: string): Problems {
  return calls
    .filter(({ status, errorCode }) => status !== 200 && errorCode !== expected)
    .map(({ action, status, errorCode }) => `${action}: ${status ?? 'not answered'} ${errorCode ?? ''}`);
}

/** Secondary addresses that were asked for and granted. */
export function addressesAskedFor(calls: readonly TappedCall[]): number {
  return granted(calls).reduce(
    (sum, { parameters }) => sum + Number(parameters.get('SecondaryPrivateIpAddressCount') ?? 0),
    0,
  );
}

/** How often the server was told, by attachment, that the interface is to go with its instance. */
export function toldToGoWithInstance(calls: readonly TappedCall[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { action, parameters } of granted(calls)) {
    if (action !== 'ModifyNetworkInterfaceAttribute') continue;
    if (parameters.get('Attachment.DeleteOnTermination') !== 'true') continue;
    const id = parameters.get('Attachment.AttachmentId') ?? '';
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  return times;
}

const toldAgain = 'ModifyNetworkInterfaceAttribute';

/**
 * Calls that change what instances have. Telling that an interface goes with its instance is none: these servers never
 * show its effect, so that each controller must tell it again.
 */
export function changes(calls: readonly TappedCall[]): readonly TappedCall[] {
  return calls.filter(({ action }) => !/^(Describe|Get)/.test(action) && action !== toldAgain);
}

export function inWords({ action, parameters }: TappedCall): string {
  const said = [...parameters].filter(([name]) => name !== 'Action' && name !== 'Version');
  return `${action} ${said.map(([name, value]) => `${name}=${value}`).join(' ')}`;
}

/** `12 calls: 3 AttachNetworkInterface, ...` */
export function countsOf(calls: readonly TappedCall[]): string {
  const byAction = Map.groupBy(calls, ({ action }) => action);
  const parts = [...byAction].map(([action, same]) => `${same.length} ${action}`);
  return `${calls.length} calls: ${parts.toSorted().join(', ')}`;
}

function granted(calls: readonly TappedCall[]): readonly TappedCall[] {
  return calls.filter(({ status }) => status === 200);
}
