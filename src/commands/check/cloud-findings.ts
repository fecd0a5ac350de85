// Whether the cloud answers, lets Headwater read, and shows the instances that the cluster names. Pure.
import { remedyFor } from '../../node/conditions/call-condition.ts';
import type { CloudWords } from '../../providers/contract/cilium-node-section.ts';
import type { ReadCloud, CloudRead } from './cloud-facts.ts';
import { type Finding, finding, ok } from './finding.ts';
import { countedNames } from './names-in-words.ts';

const what = 'cloud';

/** `collects`: whether a controller with these options deletes them. */
export function orphanFindings(
  { detached, others }: Pick<ReadCloud, 'detached' | 'others'>,
  collects: boolean,
): readonly Finding[] {
  if (detached.kind !== 'read' || detached.value.length === 0) return [];
  const names = countedNames(
    detached.value.map(({ id }) => id),
    'interface',
  );
  const found = `${names} with the tags of this cluster ${detached.value.length === 1 ? 'is' : 'are'} attached to no instance`;
  const elsewhere = others.kind === 'read' ? others.value : [];
  if (elsewhere.length > 0)
    return [
      finding(
        'warning',
        'orphans',
        `${found}; some were made for ${countedNames(elsewhere, 'instance')}, which run and are no nodes of this cluster: another cluster may have the same tags`,
        'set --cluster-name, or --eni-gc-tags, to what no other cluster of the account has: interfaces with these tags are used again or deleted',
      ),
    ];
  return [
    collects
      ? ok('orphans', `${found}: Headwater uses them again, or deletes them`)
      : finding('warning', 'orphans', found, 'delete them, or let Headwater do it: see --eni-gc-interval'),
  ];
}

export function cloudFindings(facts: ReadCloud, words: CloudWords): readonly Finding[] {
  const { place, reached, instances } = facts;
  if (reached.kind === 'failed') return [failed(reached)];
  return [
    ok(what, `it answers: ${place}`),
    ...onceEach(failuresIn(facts)).map(failed),
    ...instanceFindings(instances, words),
  ];
}

type FailedRead = Extract<CloudRead<unknown>, { kind: 'failed' }>;

/** Parts of a cloud that answers which could not be read. */
export function failuresIn({
  infrastructure,
  instances,
  limits,
  detached,
}: Omit<ReadCloud, 'place' | 'reached'>): readonly FailedRead[] {
  const failures = [infrastructure, instances, limits, detached].filter((read) => read.kind === 'failed');
  return [...failures, ...deniedParts(infrastructure)];
}

/** Several reads take the same call. */
function onceEach(failures: readonly FailedRead[]): readonly FailedRead[] {
  const groups = Map.groupBy(failures, ({ failure: { action, code, kind } }) => `${action} ${code} ${kind}`);
  return [...groups.values()].flatMap(([first]) => first ?? []);
}

/** A denial is certain; anything else may pass. */
function failed({ failure, remedy }: FailedRead): Finding {
  const { action, code, message, permission, kind } = failure;
  const isDenied = kind === 'notAuthorized';
  const found = `${action} failed: ${code}: ${message}`;
  return finding(
    isDenied ? 'problem' : 'unknown',
    permission === undefined ? what : 'permissions in the cloud',
    found,
    remedy,
  );
}

/** Facts that few nodes need may be denied while everything else is read. */
function deniedParts(infrastructure: ReadCloud['infrastructure']): readonly FailedRead[] {
  if (infrastructure.kind !== 'read') return [];
  const { denied = {}, unreadNetworks, unreadTags } = infrastructure.value;
  const parts = [denied.routeTables, denied.securityGroups, unreadNetworks, unreadTags];
  const failures = parts.flatMap((part) => [...(part?.values() ?? [])].slice(0, 1));
  return failures.map((failure) => ({
    kind: 'failed',
    failure,
    remedy: failure.permission === undefined ? undefined : remedyFor(failure),
  }));
}

function instanceFindings(
  instances: ReadCloud['instances'],
  { remedies, options }: CloudWords,
): readonly Finding[] {
  if (instances.kind !== 'read') return [];
  const found = instances.value.flatMap((each) => (each.kind === 'instance' ? [each.instance] : []));
  const shown = new Set(
    instances.value.flatMap((each) =>
      each.kind === 'interface' ? [each.interface.attachment?.instanceId ?? ''] : [],
    ),
  );
  const gone = found.filter(
    ({ state, id, managed }) => state === 'terminated' || (state === 'unknown' && managed && !shown.has(id)),
  );
  const outside = found.filter(({ managed }) => !managed);
  const ids = (of: typeof found): readonly string[] => of.map(({ id }) => id);
  return [
    ...(gone.length === 0
      ? []
      : [
          finding(
            'problem',
            'instances',
            `the cloud does not show ${countedNames(ids(gone), 'instance')} that CiliumNodes name`,
            remedies.unseenInstance,
          ),
        ]),
    ...(outside.length === 0
      ? []
      : [
          finding(
            'warning',
            'instances',
            `${countedNames(ids(outside), 'instance')} ${outside.length === 1 ? 'is' : 'are'} not served: each ${options.exclusion}`,
          ),
        ]),
    ...(gone.length === 0 && shown.size > 0
      ? [ok('instances', `the cloud shows the ${shown.size} that were looked at`)]
      : []),
  ];
}
