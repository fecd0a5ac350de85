// What the tests on a real API server need of the machine, and how to get what is not there.
import { execFile } from 'node:child_process';

interface Piece {
  readonly command: readonly [program: string, ...args: string[]];
  readonly advice: string;
}

const etcd: Piece = {
  command: ['etcd', '--version'],
  advice: 'etcd is not on the PATH: apt-get install etcd-server',
};
const setpriv: Piece = {
  command: ['setpriv', '--version'],
  advice: 'setpriv is not on the PATH: apt-get install util-linux',
};
const go: Piece = {
  command: ['go', 'version'],
  advice:
    'go is not on the PATH, and kube-apiserver is not built yet: install Go 1.23 or newer (https://go.dev/dl)',
};

/** One line of advice for each piece that is missing. */
export async function missingPieces(needs: { readonly go: boolean }): Promise<readonly string[]> {
  const pieces = [etcd, setpriv, ...(needs.go ? [go] : [])];
  const found = await Promise.all(pieces.map(runs));
  return pieces.filter((_, index) => found[index] === false).map(({ advice }) => advice);
}

function runs({ command: [program, ...args] }: Piece): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, (error) => resolve(error === null));
  });
}
