// Where a release writes its version, and which versions may follow which. Plain texts in, plain texts out.

/** `major.minor.patch`, or with a suffix for what is tried out first, such as 1.2.0-rc.1. */
const form = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([a-z]+)\.(0|[1-9]\d*))?$/;

/** What is wrong with releasing `version` where the files say `current`; undefined if nothing is. */
export function versionProblem(
  version: string,
  { current, tags }: { readonly current: string; readonly tags: readonly string[] },
): string | undefined {
  if (!form.test(version)) {
    return `"${version}" is no version: name one such as 1.2.0, or 1.2.0-rc.1, without a "v"`;
  }
  if (tags.includes(tagOf(version))) return `${tagOf(version)} is tagged already: name a later version`;
  if (compareVersions(version, current) < 0) {
    return `${version} comes before ${current}, which the files say: name a later version`;
  }
  return undefined;
}

export function tagOf(version: string): string {
  return `v${version}`;
}

/** Negative where `one` comes before `other`. A version with a suffix comes before the one without. */
export function compareVersions(one: string, other: string): number {
  const [ours, theirs] = [partsOf(one), partsOf(other)];
  for (const [index, part] of ours.entries()) {
    const their = theirs[index] ?? 0;
    if (part !== their) return part < their ? -1 : 1;
  }
  return 0;
}

/** The suffixes are compared as words: alpha, beta, rc. What has none comes after all of them. */
function partsOf(version: string): readonly (number | string)[] {
  const [, major, minor, patch, suffix = '~', count = '0'] = form.exec(version) ?? [];
  return [Number(major), Number(minor), Number(patch), suffix, Number(count)];
}

interface VersionedFile {
  /** From the root of the checkout. */
  readonly path: string;
  /** Each stands there exactly once; its first group stays. */
  readonly places: readonly RegExp[];
}

export const versionedFiles: readonly VersionedFile[] = [
  { path: 'package.json', places: [/^( {2}"version": ")[^"]+/m] },
  {
    path: 'package-lock.json',
    places: [/^( {2}"version": ")[^"]+/m, /^( {4}"": \{\n {6}"name": "headwater",\n {6}"version": ")[^"]+/m],
  },
  { path: 'charts/headwater/Chart.yaml', places: [/^(version: ).+/m, /^(appVersion: ).+/m] },
  // What their readers build and install.
  {
    path: 'docs/install-eks.md',
    places: [/(--tag registry\.example\.com\/headwater:)[^ ]+/m, /^(image: \{ .*\btag: )[^ ]+/m],
  },
  { path: 'docs/install-self-managed-aws.md', places: [/^(image: \{ .*\btag: )[^ ]+/m] },
  { path: 'docs/upgrade.md', places: [/(--set image\.tag=).+/m] },
  { path: 'image/Dockerfile', places: [/^(LABEL org\.opencontainers\.image\.version=")[^"]+/m] },
];

/** The text of one of these files with another version. Throws where the file is no longer as it is known here. */
export function withVersion({ path, places }: VersionedFile, text: string, version: string): string {
  return places.reduce((rest, place) => {
    const found = rest.match(new RegExp(place, 'gm')) ?? [];
    if (found.length !== 1) throw new Error(`${path} has ${found.length} lines for ${place.source}, not one`);
    return rest.replace(place, (_, before: string) => `${before}${version}`);
  }, text);
}
