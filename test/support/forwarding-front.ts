// Stands in for the part of an API server that forwards ports of pods: WebSockets to any port of this machine, as the kubelet
// speaks them (v4.channel.k8s.io). Every other request gets what the test answers.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Certificate } from '../../src/simulator/certificates.ts';
import type { Answer } from './loopback-server.ts';

export interface ForwardingFront {
  readonly url: string;
  /** The path of each port that was forwarded. */
  readonly forwarded: readonly string[];
  readonly close: () => Promise<void>;
}

/** `answer` also gets requests to upgrade for which `mayForward` is false. */
export async function forwardingFront(
  answer: Answer,
  mayForward: (request: IncomingMessage) => boolean = () => true,
  tls?: Certificate,
): Promise<ForwardingFront> {
  const options = { shouldUpgradeCallback: mayForward };
  const server =
    tls === undefined ? createServer(options, answer) : createTlsServer({ ...options, ...tls }, answer);
  const forwarded: string[] = [];
  const open = new Set<Duplex>();
  server.on('upgrade', (request, socket) => {
    forwarded.push(request.url ?? '');
    open.add(socket.on('error', () => undefined));
    accept(request, socket);
    forward(socket, Number(/\bports?=(\d+)/.exec(request.url ?? '')?.[1]));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwarded,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2 */
function accept({ headers }: IncomingMessage, socket: Duplex): void {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${createHash('sha1').update(key).digest('base64')}\r\nsec-websocket-protocol: ${headers['sec-websocket-protocol']}\r\n\r\n`,
  );
}

function forward(socket: Duplex, port: number): void {
  const send = (channel: number, bytes: Buffer): boolean =>
    socket.write(messageOf(Buffer.concat([Buffer.of(channel), bytes])));
  for (const channel of [0, 1]) send(channel, Buffer.of(port % 256, port >> 8));
  const target: Socket = connect(port, '127.0.0.1');
  target.on('data', (bytes) => send(0, bytes));
  target.on('error', ({ message }) => {
    const words = message.includes('ECONNREFUSED') ? 'connect: connection refused' : message;
    send(1, Buffer.from(`error forwarding port ${port} to pod 1234, uid : ${words}`));
  });
  target.on('close', () => socket.end(Buffer.of(0x88, 0)));
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let frame = firstFrame(received); frame !== undefined; frame = firstFrame(received)) {
      received = received.subarray(frame.length);
      if (frame.opcode === 2) target.write(frame.payload.subarray(1));
      if (frame.opcode === 8) target.end();
    }
  });
  socket.on('close', () => target.destroy());
}

/** A binary message of a server. */
function messageOf(payload: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head[0] = 0x82;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  if (payload.length > 65_535) return Buffer.concat([head, payload]);
  if (payload.length < 126) return Buffer.concat([Buffer.of(0x82, payload.length), payload]);
  return Buffer.concat([Buffer.of(0x82, 126, payload.length >> 8, payload.length % 256), payload]);
}

/** The first whole frame of a client, unmasked. Clients of tests send short ones. */
function firstFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly payload: Buffer; readonly length: number } | undefined {
  if (bytes.length < 6) return undefined;
  const [first = 0, second = 0] = bytes;
  const isLonger = (second & 127) === 126;
  const start = isLonger ? 8 : 6;
  if (bytes.length < start) return undefined;
  const size = isLonger ? bytes.readUInt16BE(2) : second & 127;
  if (bytes.length < start + size) return undefined;
  const mask = bytes.subarray(start - 4, start);
  const payload = Buffer.from(
    bytes.subarray(start, start + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0)),
  );
  return { opcode: first & 15, payload, length: start + size };
}
