// Checks of the calls between the controller and the server: their form, the refusals, and what they asked for. Functions
// that check return one line for each problem.
import { Ec2Refusal } from '../src/simulator/ec2/ec2-refusal.ts';
import { type SignatureCheck, verifySignature } from '../src/simulator/ec2/sigv4.ts';
import type { Problems } from './checks.ts';
import type { TappedCall } from './wire-tap.ts';

const modify = 'ModifyNetworkInterfaceAttribute';

/** Neither server checks signatures, so they are computed again here. */
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

/** Calls that do not use EC2's query protocol in the version of 2016. */
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

/** Creations without a client token, or with the token of another one: no call of this run is repeated. */
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

/** How often delete-on-termination was set, by attachment. */
export function deleteOnTerminationCalls(calls: readonly TappedCall[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { action, parameters } of granted(calls)) {
    if (action !== modify) continue;
    if (parameters.get('Attachment.DeleteOnTermination') !== 'true') continue;
    const id = parameters.get('Attachment.AttachmentId') ?? '';
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  return times;
}

/**
 * Calls that change what instances have. Setting delete-on-termination does not count: these servers never show its
 * effect, so each controller sets it again.
 */
export function changes(calls: readonly TappedCall[]): readonly TappedCall[] {
  return calls.filter(({ action }) => !/^(Describe|Get)/.test(action) && action !== modify);
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
