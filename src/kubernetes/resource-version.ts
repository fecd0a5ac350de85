// Which of two states of one object is newer.
//
// Resource versions of one resource are decimal numbers that grow:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions. Where a server makes them otherwise,
// only equality says anything.

export type Age = 'older' | 'same' | 'newer' | 'unknown';

/** How old `version` is compared with `other`. */
export function ageOf(version: string, other: string): Age {
  if (version === other) return 'same';
  if (!isDecimal(version) || !isDecimal(other)) return 'unknown';
  if (version.length !== other.length) return version.length < other.length ? 'older' : 'newer';
  return version < other ? 'older' : 'newer';
}

function isDecimal(version: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(version);
}
