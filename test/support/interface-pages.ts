// Answers to DescribeNetworkInterfaces as text, with everything that real ones have and more: odd characters, missing
// and empty members, and members that Headwater does not read.
import type { Random } from '../../src/runtime/random.ts';

const texts = [
  'Zürich',
  '漢字',
  '🚰 headwater',
  'a &amp; b',
  '&lt;none&gt;',
  '&quot;quoted&quot; &apos;too&apos;',
  '&#x65;&#101;',
  '&#xD83D;&#xDEB0;',
  'line\nbreak',
  'carriage\r\nreturn',
  '  around  ',
  ' ',
  '\n  ',
  '',
  'a]]b > c',
  '&#10;',
  '&#13;',
  'tab\there',
  'true',
  '0',
  '10.0.0.1',
  'aws:eks:cluster-name',
  '&amp;amp;',
  'é'.repeat(40),
];

export class InterfacePages {
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A page with this many interfaces; `token` as written in XML. */
  page(interfaces: number, token?: string): string {
    const items = Array.from({ length: interfaces }, () => this.#interface());
    return [
      '<?xml version="1.0" encoding="UTF-8"?>\n',
      '<DescribeNetworkInterfacesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">\n',
      '<requestId>fdcdcab1-ae5c-489e-9c33-4637c5dda355</requestId>\n',
      this.#set('networkInterfaceSet', items),
      token === undefined ? '' : `\n    <nextToken>${token}</nextToken>\n`,
      '</DescribeNetworkInterfacesResponse>',
    ].join('');
  }

  #interface(): string {
    const id = ++this.#count;
    return this.#random
      .shuffled([
        this.#leaf('networkInterfaceId', `eni-${id}`),
        this.#leaf('subnetId', `subnet-${id % 4}`),
        this.#leaf('vpcId', 'vpc-1'),
        this.#leaf('availabilityZone', `eu-central-1${'abc'[id % 3]}`),
        this.#leaf('description', this.#text()),
        this.#leaf('ownerId', '123456789012'),
        this.#leaf('requesterManaged', this.#random.pick(['true', 'false', 'TRUE'])),
        this.#leaf('status', 'in-use'),
        this.#leaf('macAddress', `02:00:00:00:${id % 100}:01`),
        this.#leaf('privateIpAddress', `10.0.0.${id}`),
        this.#leaf('interfaceType', this.#random.pick(['interface', 'efa', 'trunk', this.#text()])),
        this.#set(
          'groupSet',
          this.#some(3, () => this.#leaf('groupId', `sg-${id}`) + this.#leaf('groupName', this.#text())),
        ),
        this.#group('attachment', this.#attachment(id)),
        this.#group('association', this.#association()),
        this.#set(
          'tagSet',
          this.#some(4, () => this.#leaf('key', this.#text()) + this.#leaf('value', this.#text())),
        ),
        this.#set(
          'privateIpAddressesSet',
          this.#some(20, (index) => this.#address(id, index)),
        ),
        this.#set(
          'ipv4PrefixSet',
          this.#some(3, (index) => this.#leaf('ipv4Prefix', `10.1.${index}.0/28`)),
        ),
        this.#set(
          'ipv6AddressesSet',
          this.#some(2, (index) => this.#leaf('ipv6Address', `2001:db8::${index}`)),
        ),
        this.#set(
          'ipv6PrefixSet',
          this.#some(2, (index) => this.#leaf('ipv6Prefix', `2001:db8:${index}::/80`)),
        ),
        this.#leaf('memberOfTheFuture', this.#text()),
        '<!-- a <remark> -->',
      ])
      .join('\n');
  }

  #attachment(id: number): string {
    return this.#random
      .shuffled([
        this.#leaf('attachmentId', `eni-attach-${id}`),
        this.#leaf('instanceId', `i-${id}`),
        this.#leaf('deviceIndex', String(id % 4)),
        this.#leaf('networkCardIndex', this.#random.pick(['0', '1'])),
        this.#leaf('status', this.#random.pick(['attached', 'attaching', 'quantum'])),
        this.#leaf('deleteOnTermination', this.#random.pick(['true', 'false'])),
        this.#leaf('attachTime', '2026-01-02T03:04:05.000Z'),
        this.#group('enaSrdSpecification', this.#leaf('enaSrdEnabled', 'true')),
      ])
      .join('\n');
  }

  #association(): string {
    return (
      this.#leaf('publicIp', '3.0.0.1') +
      this.#leaf('ipOwnerId', 'amazon') +
      this.#leaf('publicDnsName', this.#text())
    );
  }

  #address(id: number, index: number): string {
    return this.#random
      .shuffled([
        this.#leaf('privateIpAddress', `10.${id % 200}.0.${index}`),
        this.#leaf('primary', index === 0 ? 'true' : 'false'),
        this.#leaf('privateDnsName', `ip-10-${id}-${index}.ec2.internal`),
        this.#group('association', this.#association()),
      ])
      .join('\n');
  }

  #leaf(name: string, content: string): string {
    if (this.#random.chance(1 / 12)) return '';
    if (content === '' && this.#random.chance(1 / 2)) return `<${name} />`;
    return `<${name}>${content}</${name}>`;
  }

  #group(name: string, content: string): string {
    if (this.#random.chance(1 / 8)) return '';
    return this.#random.chance(1 / 20) ? `<${name}/>` : `<${name}>\n  ${content}\n</${name}\n>`;
  }

  #set(name: string, items: readonly string[]): string {
    return this.#group(name, items.map((item) => `<item>${item}</item>`).join('\r\n'));
  }

  #some(max: number, make: (index: number) => string): string[] {
    return Array.from({ length: this.#random.integer(max + 1) }, (_, index) => make(index));
  }

  #text(): string {
    return this.#random.pick(texts);
  }
}
