// Parses blocks in requests and refuses malformed ones.
import { refuse } from './cloud-refusal.ts';
import { type Ipv4Block, parseIpv4Block } from './ipv4.ts';
import { type Ipv6Block, parseIpv6Block } from './ipv6.ts';

/** The block that contains `text`; refuses malformed text. */
export function readBlock(text: string): Ipv4Block {
  return parseIpv4Block(text) ?? refuse({ kind: 'blockMalformed', block: text });
}

/** The same for IPv6. */
export function readIpv6Block(text: string): Ipv6Block {
  return parseIpv6Block(text) ?? refuse({ kind: 'blockMalformed', block: text });
}
