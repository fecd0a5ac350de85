// What the tests on a real API server need of the machine, and how to get what is not there.
import { execFile } from 'node:child_process';

interface Piece {
  readonly command: readonly [program: string, ...args: string[]];
  readonly advice: string;
  /** Whether what the command says is good enough; anything if not given. */
  readonly fits?: (output: string) => boolean;
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
    'no Go 1.23 or newer is on the PATH, and kube-apiserver is not built yet: install one (https://go.dev/dl)',
  fits: isGoNewEnough,
};

/** One line of advice for each piece that is missing. */
export async function missingPieces(needs: { readonly go: boolean }): Promise<readonly string[]> {
  const pieces = [etcd, setpriv, ...(needs.go ? [go] : [])];
  const found = await Promise.all(pieces.map(runs));
  return pieces.filter((_, index) => found[index] === false).map(({ advice }) => advice);
}

function runs({ command: [program, ...args], fits = () => true }: Piece): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, (error, output) => resolve(error === null && fits(output)));
  });
}

/** Whether it can build kube-apiserver, by what `go version` says. */
export function isGoNewEnough(output: string): boolean {
  const [, minor = '0'] = /\bgo1\.(\d+)/.exec(output) ?? [];
  return Number(minor) >= 23;
}
