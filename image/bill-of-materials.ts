// What the image says of what it holds: node image/bill-of-materials.ts package|notices|sbom
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

/** CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): the same for the same packages. */
export function sbom(own: OwnPackage, packages: readonly BundledPackage[]): string {
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...component(own) } },
    components: packages.map((each) => ({
      type: 'library',
      ...component(each),
      ...(each.integrity !== undefined && { hashes: [hashOf(each.integrity)] }),
    })),
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
    default:
      throw new Error(`there is no ${what}; accepted: package, notices, sbom`);
  }
}

if (import.meta.main) process.stdout.write(main(process.argv[2]));
