// Decides which of two states of one object is newer.
//
// Resource versions of one resource are growing decimal numbers:
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions. On a server with other versions, only
// equality is meaningful.

export type Age = 'older' | 'same' | 'newer' | 'unknown';

/** The age of `version` relative to `other`. */
export function ageOf(version: string, other: string): Age {
  if (version === other) return 'same';
  if (!isDecimal(version) || !isDecimal(other)) return 'unknown';
  if (version.length !== other.length) return version.length < other.length ? 'older' : 'newer';
  return version < other ? 'older' : 'newer';
}

function isDecimal(version: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(version);
}
