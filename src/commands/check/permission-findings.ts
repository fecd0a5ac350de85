// Whether the cloud would permit what Headwater changes there. Pure.
import type { CloudDescriptor } from '../../config/clouds/cloud-descriptor.ts';
import { chooseSecurityGroups } from '../../node/allocate/security-group-choice.ts';
import { type NodeRequirements, requirementsIn } from '../../node/demand/node-requirements.ts';
import { remedyFor } from '../../node/conditions/call-condition.ts';
import {
  isPrimaryInterface,
  type NetworkInterface,
  type Tags,
} from '../../providers/contract/network-interface.ts';
import type { CloudTraits } from '../../providers/contract/cloud.ts';
import type { Observation } from '../../providers/contract/facts.ts';
import type { Infrastructure } from '../../providers/contract/infrastructure.ts';
import type { Rehearsal, Rehearsals, RehearsedNode } from '../../providers/contract/rehearsal.ts';
import { instanceTag, ownershipTags } from '../../providers/orphans/ownership-tags.ts';
import { type CloudAround, interfacesIn } from './cloud-facts.ts';
import { type Finding, rowsAbout } from './finding.ts';

const rows = rowsAbout('permissions in the cloud');

export interface RehearsalQuestion extends Pick<CloudAround, 'nodes' | 'infrastructure'> {
  readonly observations: readonly Observation[];
  /** Tags of every interface that Headwater makes. */
  readonly tags: Tags;
  readonly traits: Pick<CloudTraits, 'interfaces'>;
}

/**
 * Nodes that changes can be asked about: those whose primary interface is known, and the security groups of the next one where
 * Headwater makes interfaces.
 */
export function rehearsedNodes(question: RehearsalQuestion): readonly RehearsedNode[] {
  const { nodes, observations, infrastructure, tags, traits } = question;
  const byInstance = interfacesIn(observations);
  const own = [...byInstance.values()].flat().find(isOurs);
  return nodes.flatMap(({ instanceId, requirements, object }) => {
    const interfaces = byInstance.get(instanceId) ?? [];
    const primary = interfaces.find(isPrimaryInterface);
    if (primary === undefined) return [];
    const asked = requirementsIn(primary.networkId, requirements);
    const groups = chooseSecurityGroups(asked, infrastructure, { interfaces });
    if (groups.kind !== 'chosen' && traits.interfaces === 'made') return [];
    return [
      {
        instanceId,
        interfaces,
        own,
        subnetId: subnetIn(asked, infrastructure) ?? primary.subnetId,
        securityGroupIds: groups.kind === 'chosen' ? groups.ids : [],
        tags: { ...tags, ...ownershipTags(instanceId, 'headwater-check') },
        publicAddressTags: object.ipam.staticIpTags,
      },
    ];
  });
}

/** Undefined where the instance has an interface in the network of new ones. */
function subnetIn(
  { networkId, podNetworkId, zone }: NodeRequirements,
  { subnets }: Infrastructure,
): string | undefined {
  if (podNetworkId === undefined) return undefined;
  return [...subnets.values()].find((each) => each.networkId === networkId && each.zone === zone)?.id;
}

function isOurs(item: NetworkInterface): boolean {
  return !isPrimaryInterface(item) && item.tags[instanceTag] !== undefined;
}

/** A controller that may not ask may still be permitted to change: shipped roles have no permission that only a question needs. */
const refusals = {
  denied: { verdict: 'problem', words: 'is denied' },
  unasked: { verdict: 'warning', words: 'may not be asked about' },
  unanswered: { verdict: 'unknown', words: 'was not answered' },
} as const;

export function rehearsalFindings({ witness, unshown, answers }: Rehearsals): readonly Finding[] {
  const refused = answers.flatMap(({ action, answer }) =>
    typeof answer === 'string' ? [] : [{ action, ...answer }],
  );
  const actions = (wanted: Rehearsal['answer']): string =>
    answers.flatMap(({ action, answer }) => (answer === wanted ? [action] : [])).join(', ');
  const [permitted, unasked] = [actions('permitted'), actions('unasked')];
  const rest = [
    ...(unasked === '' ? [] : [`not asked, because it could change something: ${unasked}`]),
    ...(unshown === undefined ? [] : [unshown]),
  ];
  return [
    ...refused.map(({ action, kind, failure }) => {
      const { verdict, words } =
        refusals[kind === 'unanswered' && failure.kind === 'notAuthorized' ? 'unasked' : kind];
      return rows[verdict](`${action} ${words}: ${failure.code}: ${failure.message}`, remedyFor(failure));
    }),
    ...(permitted === '' ? [] : [rows.ok([`${witness} ${permitted}`, ...rest].join('; '))]),
  ];
}

/** The reason why the question was not asked. */
export interface Unrehearsed {
  /** Where the cloud has no such question. */
  readonly policy: CloudDescriptor<never>['policy'];
  /** Calls that were answered. */
  readonly answered: ReadonlySet<string>;
  /** Reads that failed, by their calls. */
  readonly failed: readonly string[];
  /** Whether a CiliumNode names an instance. */
  readonly hasNodes: boolean;
}

/** Where the cloud has no such question, or no node to ask it about. */
export function unrehearsed({ policy, answered, failed, hasNodes }: Unrehearsed): Finding {
  const reads = [...answered].toSorted().join(', ');
  const permitted = reads === '' ? '' : `reads that are permitted: ${reads}; `;
  if (policy !== undefined) {
    const { file, permissions } = policy;
    const asked = [...answered, ...failed].map((action) => `:${action}`);
    const rest = permissions.filter((each) => !asked.some((action) => each.endsWith(action))).join(', ');
    const why = `this cloud tells whether a change is permitted only by making it: compare the policy of its role with ${file}`;
    return rows.ok(`${permitted}not asked: ${rest}; ${why}`);
  }
  if (failed.length > 0)
    return rows.unknown(`changes were not asked about, because ${failed.join(', ')} failed`);
  if (hasNodes)
    return rows.unknown(
      'changes were not asked about: of each node, the primary interface or the security groups of a new one are not known',
    );
  return rows.ok(`${permitted}changes are asked about once a CiliumNode names an instance`);
}
