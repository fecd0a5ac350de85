// Whether the API server has what Headwater needs: an answer, permissions, and definitions with its fields. Pure.
import type { NeededAccess } from '../../kubernetes/access/needed-access.ts';
import type { ReviewedAccess } from '../../kubernetes/access/access-review.ts';
import type { SchemaSource, ServedSchema } from '../../kubernetes/cilium-node/served-schema.ts';
import type { Fact } from './fact.ts';
import { type Finding, rowsAbout } from './finding.ts';

const api = rowsAbout('API server');

export function versionFinding(server: string, version: Fact<string>): Finding {
  if (version.kind === 'unknown')
    return api.unknown(version.problem, 'check the kubeconfig, and the network path to the API server');
  const { value } = version;
  return api.ok(value === '' ? `${server} answers` : `${server} answers, version ${value}`);
}

const permissions = rowsAbout('permissions in Kubernetes');

/** `user`: whose permissions they are. */
export function accessFindings(access: readonly ReviewedAccess[], user: Fact<string>): readonly Finding[] {
  const name = user.kind === 'known' ? ` of ${user.value}` : '';
  const by = (verdict: ReviewedAccess['verdict']): readonly NeededAccess[] =>
    access.flatMap((each) => (each.verdict === verdict ? [each.access] : []));
  const [denied, unanswered] = [by('denied'), by('unanswered')];
  if (denied.length === access.length)
    return [
      permissions.problem(
        `all ${access.length}${name} are missing`,
        'bind the roles of the chart to the service account (rbac.create)',
      ),
    ];
  const missing = denied.map(({ verb, resource, without }) =>
    permissions.problem(
      `may not ${verb} ${resource}${name}: ${without}`,
      `let a role grant ${verb} on ${resource}, as those of the chart do`,
    ),
  );
  if (unanswered.length > 0)
    return [
      ...missing,
      permissions.unknown(
        `the API server does not say whether ${unanswered.length} of ${access.length}${name} are granted`,
        'let the user create selfsubjectaccessreviews of authorization.k8s.io, as everyone may by default',
      ),
    ];
  return missing.length > 0 ? missing : [permissions.ok(`all ${access.length}${name} are granted`)];
}

const definition = rowsAbout('definition of CiliumNodes');

/** `missing`: fields that Headwater has to write. */
export function schemaFinding(source: SchemaSource, missing: readonly string[]): Finding {
  if (source.kind === 'assumed')
    return definition[source.mayPass ? 'unknown' : 'problem'](
      source.reason,
      'install the definitions of Cilium, and let Headwater read them',
    );
  if (missing.length > 0)
    return definition.problem(
      `it lacks ${missing.join(', ')}: what Headwater writes there is dropped`,
      'install the definitions of a version of Cilium whose agents serve this mode',
    );
  return definition.ok('it has the fields that Headwater writes');
}

/** The fields that agents of a cloud read, as far as the definition lacks them. */
export function missingFields(schema: Pick<ServedSchema, 'knows'>, section: string): readonly string[] {
  return [
    ['spec', 'ipam', 'pool'],
    ['status', section],
    ['status', 'ipam', 'operator-status', 'error'],
  ]
    .filter((path) => !schema.knows(path))
    .map((path) => path.join('.'));
}
