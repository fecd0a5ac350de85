// The aliases that Google Cloud routes to the instance of a Node: the alias IP ranges of its first interface, and a part of
// its IPv6 range.
import type {
  AliasAddition,
  AliasFailure,
  AliasNode,
  AliasReading,
  CloudAliases,
} from '../../blocks/node-ipam/cloud/cloud-aliases.ts';
import { cidrText, network, parseAddress, parseCidr } from '../../blocks/set/cidr.ts';
import { CloudError } from '../../providers/contract/cloud-failure.ts';
import type { AliasInterface } from '../../providers/gce/alias-interface.ts';
import type { ComputeSource } from '../../providers/gce/compute-api.ts';
import { ComputeClient, computeLimits } from '../../providers/gce/compute-client.ts';
import { failureOf } from '../../providers/gce/errors.ts';
import { type InstancePath, instancePathOf } from '../../providers/gce/ids.ts';
import { addRange, type RangeAddition } from '../../providers/gce/range-addition.ts';
import type { ChangeEnd } from '../../providers/gate/settled-change.ts';
import type { Caller } from '../../providers/contract/priority.ts';
import type { Clock } from '../../runtime/clock.ts';
import { aliasFailure, unclearAliasFailure, unreadableProviderId } from './alias-failure.ts';
import { composeCalls } from './cloud-calls.ts';
import type { AliasCloud, CloudDeps } from './cloud.ts';

/** Pods get the first part of this size of the IPv6 range of an interface. */
const ipv6Length = 112;

const providerIdWords = {
  instance: 'instance of Google Cloud',
  example: 'gce://my-project/us-central1-a/my-instance',
  manager: 'the cloud controller manager of Google Cloud',
};

const high: Caller = { priority: 'high' };

export function composeGceAliases(api: ComputeSource, deps: CloudDeps): AliasCloud {
  const { gate, ...reports } = composeCalls(
    { limits: computeLimits, failureOf: ({ name }, error) => failureOf(name, error) },
    deps,
  );
  return {
    ...reports,
    describe: () => Promise.resolve({ scope: deps.options.gceApiEndpoint }),
    aliases: new GceAliases(new ComputeClient(api, gate), deps.clock),
    words: {
      alias: 'alias IP range',
      carrier: 'the first interface of its instance',
      remedy:
        'have the template of its group assign one from a secondary range of the subnetwork, or assign it',
    },
  };
}

class GceAliases implements CloudAliases {
  readonly #client: ComputeClient;
  readonly #clock: Clock;

  constructor(client: ComputeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async aliasOf({ providerId }: AliasNode, signal: AbortSignal): Promise<AliasReading> {
    const path = instancePathOf(providerId);
    if (path === undefined) return unreadableProviderId(providerId, providerIdWords);
    try {
      return aliasesOn(await this.#client.readInterface(path, { caller: high, signal }));
    } catch (error) {
      if (error instanceof CloudError) return failureAt(path, error.failure);
      throw error;
    }
  }

  async addAlias({ name, providerId }: AliasNode, cidr: string, signal: AbortSignal): Promise<AliasAddition> {
    const path = instancePathOf(providerId);
    if (path === undefined) return unreadableProviderId(providerId, providerIdWords);
    const instanceId = `${path.project}/${path.zone}/${path.name}`;
    const { priority } = high;
    const change = { operation: { kind: 'addAlias', instanceId, cidr }, priority } as const;
    const context = { caller: high, signal, node: { name, instanceId }, change };
    const wanted = { path, range: { ipCidrRange: cidr }, clock: this.#clock };
    const followed = addRange(this.#client, wanted, context);
    const addition = await this.#client.reportEnd(context, { followed, read: endOf });
    if (addition.kind === 'added') return addition;
    return addition.kind === 'unclear'
      ? unclearAliasFailure(addition.failure)
      : failureAt(path, addition.failure);
  }
}

function endOf(addition: RangeAddition): ChangeEnd {
  if (addition.kind === 'added') return { kind: 'done', addresses: [] };
  return { kind: addition.kind === 'unclear' ? 'ambiguous' : 'failed', failure: addition.failure };
}

function aliasesOn({ ranges, ipv6 }: AliasInterface): AliasReading {
  const texts = ranges.map(({ ipCidrRange }) =>
    ipCidrRange.includes('/') ? ipCidrRange : `${ipCidrRange}/32`,
  );
  const readings = texts.map(parseCidr);
  const wrong = texts.find((_, index) => readings[index]?.kind === 'invalid');
  const base = ipv6 === undefined ? undefined : parseAddress(ipv6);
  if (wrong !== undefined || (ipv6 !== undefined && base === undefined))
    return {
      kind: 'transient',
      reason: 'CallFailed',
      message: `what Google Cloud shows of its instance cannot be used, and is read again: ${JSON.stringify((wrong ?? ipv6 ?? '').slice(0, 60))} is no network`,
    };
  const ofIpv4 = readings.flatMap((reading) => (reading.kind === 'cidr' ? [cidrText(reading.cidr)] : []));
  const ofIpv6 = base === undefined ? [] : [cidrText(network(base.family, base.value, ipv6Length))];
  return { kind: 'read', aliases: [...ofIpv4, ...ofIpv6] };
}

function failureAt({ project, zone, name }: InstancePath, failure: CloudError['failure']): AliasFailure {
  if (failure.kind !== 'instanceGone') return aliasFailure(failure);
  return {
    kind: 'notFound',
    reason: 'InstanceNotFound',
    message: `Google Cloud shows no instance ${name} in ${zone} of ${project}: delete the Node if its machine is gone`,
  };
}
