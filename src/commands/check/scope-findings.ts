// Which nodes the release would serve by its selector, and which of them another release chooses, too.
import type { Options } from '../../config/option-table.ts';
import { NodeScope } from '../../controller/node-scope.ts';
import { otherReleases, selectorAnnotation } from '../../controller/release-leases.ts';
import { allLabels, readIdentity } from '../../kubernetes/object-identity.ts';
import { type JsonObject, textAt } from '../../runtime/json.ts';
import { sanitizedText } from '../../network/untrusted-text.ts';
import { systemClock as clock } from '../../runtime/system-clock.ts';
import type { ReadCluster } from './cluster-facts.ts';
import { type Fact, known, mapped, valueOf } from './fact.ts';
import { countedNames, type Finding, rowsAbout } from './finding.ts';

type ScopedObjects = Pick<ReadCluster, 'nodes' | 'ciliumNodes'>;

interface Scoped extends ScopedObjects {
  readonly findings: readonly Finding[];
}

const rows = rowsAbout('node-selector');

/** Only the objects of our nodes, and what is wrong with the choice. */
export function scoped(
  { nodes, ciliumNodes }: ScopedObjects,
  leases: Fact<readonly JsonObject[]>,
  options: Pick<Options, 'nodeSelector' | 'k8sNamespace' | 'leaderElectionLeaseName'>,
): Scoped {
  const scope = new NodeScope(options.nodeSelector, 0, clock);
  const nameOf = (raw: JsonObject): string => readIdentity(raw).name;
  for (const raw of valueOf(ciliumNodes, [])) scope.noteCiliumNode(nameOf(raw), allLabels(raw));
  for (const raw of valueOf(nodes, [])) scope.noteNode(nameOf(raw), allLabels(raw));
  const isOurs = (raw: JsonObject): boolean => !scope.isOutside(nameOf(raw));
  const ofScope = (fact: Fact<readonly JsonObject[]>): Fact<readonly JsonObject[]> =>
    fact.kind === 'known' ? known(fact.value.filter(isOurs)) : fact;
  const own = { nodes: ofScope(nodes), ciliumNodes: ofScope(ciliumNodes) };
  if (options.nodeSelector === undefined) return { ...own, findings: [] };
  const chosen = mapped(own.nodes, (raw) => sanitizedText(nameOf(raw)));
  return { ...own, findings: [choiceFinding(chosen, scope), ...overlapFindings(scope, leases, options)] };
}

function choiceFinding(chosen: Fact<readonly string[]>, scope: NodeScope): Finding {
  const { nodeSelector = '', leftToOthers = 0 } = scope.report() ?? {};
  if (chosen.kind === 'unknown')
    return rows.unknown(
      `Nodes cannot be read, so it is not known which of them ${nodeSelector} chooses: ${chosen.problem}`,
      'let the user list nodes',
    );
  const names = chosen.value;
  if (names.length === 0)
    return rows.warning(`${nodeSelector} chooses no Node`, 'compare it with kubectl get nodes --show-labels');
  return rows.ok(
    `${nodeSelector} chooses ${countedNames(names, 'Node')}, and leaves ${leftToOthers} to others`,
  );
}

/** A finding for each release that chooses some of our nodes, whichever of both serves them. */
function overlapFindings(
  scope: NodeScope,
  leases: Fact<readonly JsonObject[]>,
  { k8sNamespace, leaderElectionLeaseName: own }: Pick<Options, 'k8sNamespace' | 'leaderElectionLeaseName'>,
): readonly Finding[] {
  if (leases.kind === 'unknown')
    return [
      rows.unknown(
        `Leases cannot be read: ${leases.problem}`,
        'let the user list leases, or compare the selectors of all releases yourself',
      ),
    ];
  const isOwn = (raw: JsonObject): boolean =>
    readIdentity(raw).name === own && textAt(raw, 'metadata', 'namespace') === k8sNamespace;
  const others = leases.value.filter((raw) => !isOwn(raw));
  return others.flatMap((raw) => {
    const found = otherReleases([raw], '', selectorAnnotation('CiliumNodes')).map((each) => ({
      ...each,
      isOlder: false,
    }));
    scope.setOthers(found);
    const nodes = scope.overlaps().map(({ node }) => sanitizedText(node));
    const [other] = found;
    if (other === undefined || nodes.length === 0) return [];
    const chosen =
      other.selector === undefined
        ? 'it has no node-selector'
        : `node-selector ${sanitizedText(other.selector.text)}`;
    return rows.problem(
      `the release of the Lease ${other.lease} (${chosen}) chooses ${countedNames(nodes, 'node')}, too`,
      `make the selectors disjoint, or delete the Lease ${other.lease} if that release is gone`,
    );
  });
}
