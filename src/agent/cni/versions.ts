// The versions of CNI, and which verbs each of them has: https://www.cni.dev/docs/spec/

export const cniVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

export type CniVersion = (typeof cniVersions)[number];

export const cniVerbs = ['ADD', 'DEL', 'CHECK', 'GC', 'STATUS'] as const;

/** VERSION is answered by the plugin itself. */
export type CniVerb = (typeof cniVerbs)[number];

const firstVersion: Readonly<Record<CniVerb, CniVersion>> = {
  ADD: '0.1.0',
  DEL: '0.1.0',
  CHECK: '0.4.0',
  GC: '1.1.0',
  STATUS: '1.1.0',
};

export function isAtLeast(version: CniVersion, min: CniVersion): boolean {
  return cniVersions.indexOf(version) >= cniVersions.indexOf(min);
}

export function hasVerb(version: CniVersion, verb: CniVerb): boolean {
  return isAtLeast(version, firstVersion[verb]);
}
