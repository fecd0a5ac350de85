// An image with nothing but a static busybox, for containers that need no registry.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { must, run } from './node-machine.ts';

/** The name of the image. */
export const busyboxImage = 'localhost/busybox:1';

/** Packs the image into a tar file below `directory`, https://github.com/opencontainers/image-spec. Resolves to its path. */
export async function packImage(directory: string): Promise<string> {
  const [root, layout] = [join(directory, 'rootfs'), join(directory, 'layout')];
  for (const name of ['bin', 'dev', 'etc', 'proc', 'sys', 'tmp'])
    await mkdir(join(root, name), { recursive: true });
  const busybox = (await run('which', ['busybox'])).out.trim();
  await copyFile(busybox, join(root, 'bin/busybox'));
  for (const name of ['sh', 'ip', 'ping', 'sleep']) await symlink('busybox', join(root, 'bin', name));
  await must('tar', '-C', root, '-cf', join(directory, 'layer.tar'), '.');
  await mkdir(join(layout, 'blobs/sha256'), { recursive: true });
  const add = async (mediaType: string, content: Buffer | string) => {
    const digest = createHash('sha256').update(content).digest('hex');
    await writeFile(join(layout, 'blobs/sha256', digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(content) };
  };
  const type = 'application/vnd.oci.image';
  const layer = await add(`${type}.layer.v1.tar`, await readFile(join(directory, 'layer.tar')));
  const config = await add(
    `${type}.config.v1+json`,
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Env: ['PATH=/bin'], Cmd: ['sleep', '3600'] },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
  );
  const manifestType = `${type}.manifest.v1+json`;
  const manifest = { schemaVersion: 2, mediaType: manifestType, config, layers: [layer] };
  const annotations = { 'io.containerd.image.name': busyboxImage };
  const manifests = [{ ...(await add(manifestType, JSON.stringify(manifest))), annotations }];
  await writeFile(join(layout, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(layout, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  const image = join(directory, 'image.tar');
  await must('tar', '-C', layout, '-cf', image, '.');
  return image;
}
