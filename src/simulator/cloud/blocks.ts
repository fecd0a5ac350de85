// Reading blocks that requests name; what is not one is refused.
import { refuse } from './cloud-refusal.ts';
import { type Ipv4Block, parseIpv4Block } from './ipv4.ts';
import { type Ipv6Block, parseIpv6Block } from './ipv6.ts';

/** The block that `text` lies in; refused where it is none. */
export function readBlock(text: string): Ipv4Block {
  return parseIpv4Block(text) ?? refuse({ kind: 'blockMalformed', block: text });
}

/** The same for IPv6. */
export function readIpv6Block(text: string): Ipv6Block {
  return parseIpv6Block(text) ?? refuse({ kind: 'blockMalformed', block: text });
}
