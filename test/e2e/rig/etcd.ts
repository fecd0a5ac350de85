// An etcd of our own, on loopback, in a given directory.
import { RigChild } from '../../../rig/child-process.ts';
import { callJson } from '../../../rig/http.ts';

interface EtcdPlace {
  readonly directory: string;
  readonly clientPort: number;
  readonly peerPort: number;
}

export class Etcd {
  readonly child: RigChild;
  readonly url: string;

  constructor({ directory, clientPort, peerPort }: EtcdPlace) {
    this.url = `http://127.0.0.1:${clientPort}`;
    const peerUrl = `http://127.0.0.1:${peerPort}`;
    this.child = new RigChild({
      name: 'etcd',
      command: 'etcd',
      args: [
        `--data-dir=${directory}`,
        `--listen-client-urls=${this.url}`,
        `--advertise-client-urls=${this.url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=default=${peerUrl}`,
      ],
      bound: true,
    });
  }

  /** `3.4.23`. */
  async version(signal: AbortSignal): Promise<string> {
    const { etcdserver } = await callJson<{ etcdserver: string }>(
      'GET',
      `${this.url}/version`,
      undefined,
      signal,
    );
    return etcdserver;
  }

  /** Compacts everything before the present revision. */
  async compact(signal: AbortSignal): Promise<void> {
    const range = { key: 'AA==' };
    const { header } = await callJson<{ header: { revision: string } }>(
      'POST',
      `${this.url}/v3/kv/range`,
      range,
      signal,
    );
    const { revision } = header;
    await callJson('POST', `${this.url}/v3/kv/compaction`, { revision, physical: true }, signal);
  }
}
