// What the image says of what it holds: node image/bill-of-materials.ts package|notices|sbom|image-sbom
//
// The last lists the base of the image as well: it runs where that base is, which is Debian with Node.js.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledPackage, bundledPackages } from './bundled-packages.ts';

interface OwnPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** Each text once, below those that it holds for. */
export function notices(packages: readonly BundledPackage[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, version, license, texts } of packages) {
    const key = texts.length === 0 ? `(${license}; the package holds no text of it)` : texts.join('\n\n');
    byText.set(key, [...(byText.get(key) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return ['The bundle of Headwater holds these packages.\n', ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

/** A part of the base of the image. */
export interface BasePart {
  readonly name: string;
  readonly version: string;
  /** https://github.com/package-url/purl-spec */
  readonly purl: string;
}

/** The lines of `dpkg-query` as packages of Debian. */
export function debianPackages(lines: string): readonly BasePart[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .map(([name = '', version = '', architecture = '']) => ({
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
    }));
}

/** CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the same for the same packages. */
export function sbom(
  own: OwnPackage,
  packages: readonly BundledPackage[],
  base: readonly BasePart[] = [],
): string {
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...component(own) } },
    components: [
      ...packages.map((each) => ({
        type: 'library',
        ...component(each),
        ...(each.integrity !== undefined && { hashes: [hashOf(each.integrity)] }),
      })),
      ...base.map((each) => ({ type: 'application', 'bom-ref': each.purl, ...each })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function component({ name, version, license }: OwnPackage): Record<string, unknown> {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  // An expression such as "(MIT OR Apache-2.0)" is no id.
  const licenses = /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
  return { 'bom-ref': purl, name, version, purl, licenses };
}

function hashOf(integrity: string): { readonly alg: string; readonly content: string } {
  const [, bits = '', base64 = ''] = /^sha(\d+)-(.*)$/.exec(integrity) ?? [];
  return { alg: `SHA-${bits}`, content: Buffer.from(base64, 'base64').toString('hex') };
}

function base(): readonly BasePart[] {
  const { node } = process.versions;
  const format = '--showformat=${Package} ${Version} ${Architecture}\\n';
  const listed = execFileSync('dpkg-query', ['--show', format], { encoding: 'utf8' });
  return [{ name: 'node', version: node, purl: `pkg:generic/node@${node}` }, ...debianPackages(listed)];
}

function main(what: string | undefined): string {
  const root = join(import.meta.dirname, '..');
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as OwnPackage;
  const { name, version, license } = own;
  switch (what) {
    case 'package':
      return `${JSON.stringify({ name, version, license, type: 'module' }, undefined, 2)}\n`;
    case 'notices':
      return notices(bundledPackages(root));
    case 'sbom':
      return sbom({ name, version, license }, bundledPackages(root));
    case 'image-sbom':
      return sbom({ name, version, license }, bundledPackages(root), base());
    default:
      throw new Error(`there is no ${what}; accepted: package, notices, sbom, image-sbom`);
  }
}

if (import.meta.main) process.stdout.write(main(process.argv[2]));
