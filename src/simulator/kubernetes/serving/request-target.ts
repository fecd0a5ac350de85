// Parses a path as the server does before it knows any resource.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris

export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty if the path names none. */
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** Whether the path continues after the subresource. */
  readonly deeper: boolean;
}

/** Subresources of a namespace, as opposed to resources in it. */
const namespaceSubresources: readonly string[] = ['status', 'finalize'];

/** The resource that a path names; undefined if it names none. */
export function resourceTargetOf(path: string): ResourceTarget | undefined {
  const [prefix = '', ...rest] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeSegment);
  if (prefix === 'api') return targetIn('', rest);
  const [group = '', ...inGroup] = rest;
  return prefix === 'apis' ? targetIn(group, inGroup) : undefined;
}

function targetIn(group: string, [version = '', ...rest]: readonly string[]): ResourceTarget | undefined {
  if (rest.length === 0) return undefined;
  const [resource = '', name = '', subresource = '', ...deeper] = isInNamespace(rest) ? rest.slice(2) : rest;
  const namespace = rest[0] === 'namespaces' ? (rest[1] ?? '') : '';
  return { group, version, resource, namespace, name, subresource, deeper: deeper.length > 0 };
}

/** `namespaces/a/pods` names pods, `namespaces/a/status` the namespace. */
function isInNamespace([first, , third]: readonly string[]): boolean {
  return first === 'namespaces' && third !== undefined && !namespaceSubresources.includes(third);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The verb for authorization. */
export function verbOf(method: string, name: string, watch: boolean): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get';
      return watch ? 'watch' : 'list';
    default:
      return '';
  }
}
