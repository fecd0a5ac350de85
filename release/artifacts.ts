// What a release consists of, made from a checkout into a directory. The same commit makes the same bytes, but for the chart's
// archive, in which helm writes when it was made.
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { carryOut, type Programs } from './programs.ts';

export interface Making {
  readonly checkout: string;
  readonly version: string;
  /** In seconds since 1970: what every file of the archives is dated to. */
  readonly date: string;
  /** The commit that the image names. */
  readonly revision: string;
  readonly programs: Programs;
  /** Where the artifacts go. */
  readonly out: string;
}

/** What could not be made, and how it is made elsewhere. */
export interface NotMade {
  readonly what: string;
  readonly because: string;
  readonly remedy: string;
}

export function makeArtifacts(making: Making): readonly NotMade[] {
  const notMade = [chart(making), layer(making), image(making)].filter((each) => each !== undefined);
  checksums(making.out);
  return notMade;
}

/** What the image adds to its base, as one archive to be unpacked at the root; the texts it holds lie beside it as well. */
function layer({ checkout, version, date, out }: Making): undefined {
  const root = join(out, 'root');
  carryOut(checkout, process.execPath, 'image/root-file-system.ts', root);
  const archive = join(out, `headwater-${version}-image-layer.tar`);
  const order = ['--sort=name', `--mtime=@${date}`, '--owner=0', '--group=0', '--numeric-owner'];
  carryOut(root, 'tar', '--create', '--file', archive, ...order, '--format=gnu', 'opt/headwater');
  carryOut(out, 'gzip', '--no-name', '--best', archive);
  for (const name of ['THIRD-PARTY-NOTICES', 'sbom.cdx.json']) {
    copyFileSync(join(root, 'opt/headwater', name), join(out, `headwater-${version}-${name}`));
  }
  carryOut(out, 'chmod', '-R', 'u+w', root);
  carryOut(out, 'rm', '-r', root);
}

function chart({ checkout, programs, out }: Making): NotMade | undefined {
  const from = 'charts/headwater';
  if (programs.helm === undefined) {
    return {
      what: 'the archive of the chart',
      because: 'no helm is on the PATH, and HEADWATER_HELM names none',
      remedy: `helm package ${from}`,
    };
  }
  carryOut(checkout, programs.helm, 'package', from, '--destination', out);
  return undefined;
}

const platforms = 'linux/amd64,linux/arm64';

function image({ checkout, version, revision, programs, out }: Making): NotMade | undefined {
  const labels = ['--label', `org.opencontainers.image.revision=${revision}`];
  const build = ['buildx', 'build', '--file', 'image/Dockerfile', '--platform', platforms, ...labels];
  const named = ['--tag', `headwater:${version}`];
  if (programs.docker === undefined) {
    return {
      what: 'the image',
      because: 'no Docker engine answers',
      remedy: `docker ${[...build, ...named].join(' ')} .`,
    };
  }
  const archive = join(out, `headwater-${version}-image.oci.tar`);
  carryOut(checkout, programs.docker, ...build, ...named, '--output', `type=oci,dest=${archive}`, '.');
  return undefined;
}

/** As `sha256sum --check` reads them. */
function checksums(out: string): void {
  const lines = readdirSync(out)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}
