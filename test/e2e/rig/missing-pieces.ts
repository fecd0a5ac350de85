// What the tests on a real API server need on the machine, and how to get missing pieces.
import { execFile } from 'node:child_process';

export interface Piece {
  readonly command: readonly [program: string, ...args: string[]];
  readonly advice: string;
  /** Whether the output of the command is acceptable; any output by default. */
  readonly fits?: (output: string) => boolean;
}

export const etcd: Piece = {
  command: ['etcd', '--version'],
  advice: 'etcd is not on the PATH: apt-get install etcd-server',
};
export const setpriv: Piece = {
  command: ['setpriv', '--version'],
  advice: 'setpriv is not on the PATH: apt-get install util-linux',
};
export const containerd: Piece = {
  command: ['containerd', '--version'],
  advice: 'containerd is not on the PATH: apt-get install containerd',
};
export const runc: Piece = { ...containerd, command: ['runc', '--version'] };
export const busybox: Piece = {
  command: ['busybox', 'true'],
  advice: 'busybox is not on the PATH: apt-get install busybox-static',
};
export const go: Piece = {
  command: ['go', 'version'],
  advice:
    'no Go 1.23 or newer is on the PATH, and kube-apiserver is not built yet: install one (https://go.dev/dl)',
  fits: (output) => isGoNewEnough(output),
};

/** One line of advice for each missing piece. */
export async function missingPieces(pieces: readonly Piece[]): Promise<readonly string[]> {
  const found = await Promise.all(pieces.map(runs));
  return pieces.filter((_, index) => found[index] === false).map(({ advice }) => advice);
}

function runs({ command: [program, ...args], fits = () => true }: Piece): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, (error, output) => resolve(error === null && fits(output)));
  });
}

/** Whether the output of `go version` is Go 1.23 or newer, or 1.`min`. */
export function isGoNewEnough(output: string, min = 23): boolean {
  const [, minor = '0'] = /\bgo1\.(\d+)/.exec(output) ?? [];
  return Number(minor) >= min;
}
