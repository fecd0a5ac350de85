// Invalid answers of EC2: each kind turns a valid answer into one that must not be believed.
import { gzipSync } from 'node:zlib';
import type { Random } from '../../src/runtime/random.ts';

/** What is sent in place of the valid answer. */
export interface Delivery {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * `cut`: the connection closes after the body. `drip`: piece by piece, without end. `endless`: the body again and
   * again.
   */
  readonly how?: 'cut' | 'drip' | 'endless';
}

/** A kind that does not change the answer does not apply to it. */
type Spoil = (answer: string, random: Random) => string | Buffer | Delivery;

/** Changes one match of the pattern. */
function atOne(pattern: RegExp, by: (match: string, random: Random) => string): Spoil {
  return (answer, random) => {
    const found = [...answer.matchAll(new RegExp(pattern, 'g'))];
    if (found.length === 0) return answer;
    const { 0: match, index } = random.pick(found);
    return answer.slice(0, index) + by(match, random) + answer.slice(index + match.length);
  };
}

/** Replaces the content of one element. */
function content(names: string, ...values: readonly string[]): Spoil {
  return atOne(new RegExp(`<(${names})>[^<]+<`), (match, random) =>
    match.replace(/>[^<]+</, () => `>${random.pick(values)}<`),
  );
}

/** Renames all elements with one of these names. */
function renamed(...names: readonly string[]): Spoil {
  return (answer, random) => {
    const known = names.filter((name) => answer.includes(`<${name}>`));
    if (known.length === 0) return answer;
    const name = random.pick(known);
    const upper = name.charAt(0).toUpperCase() + name.slice(1);
    const other = random.pick([upper, `${name}V2`, `x-${name}`, name.slice(0, -1), 'member']);
    return answer.replaceAll(`<${name}>`, `<${other}>`).replaceAll(`</${name}>`, `</${other}>`);
  };
}

/** Removes all elements with one of these names. */
function without(...names: readonly string[]): Spoil {
  return (answer, random) => {
    const known = names.filter((name) => answer.includes(`<${name}>`));
    if (known.length === 0) return answer;
    const name = random.pick(known);
    return answer.replaceAll(new RegExp(`<${name}>[^<]*</${name}>`, 'g'), '');
  };
}

function atSome(answer: string, random: Random): number {
  return 1 + random.integer(answer.length - 2);
}

const root = /<(\w+Response)[^>]*>/;

function withDoctype(subset: string, use: string): Spoil {
  return (answer) => {
    const declared = answer.replace(root, (tag) => `<!DOCTYPE r ${subset}>${tag}`);
    return use === '' ? declared : declared.replace(/<requestId>[^<]*/, `<requestId>${use}`);
  };
}

const laughs = Array.from(
  { length: 12 },
  (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
).join('');

const listNames =
  'networkInterfaceSet|subnetSet|vpcSet|routeTableSet|securityGroupInfo|instanceTypeSet|reservationSet';
const list = new RegExp(`<(${listNames})>.*</\\1>`, 's');

function inList(change: (items: string, random: Random) => string): Spoil {
  return (answer, random) =>
    answer.replace(list, (whole) => {
      const [, start = '', items = '', end = ''] = /^(<\w+>)(.*)(<\/\w+>)$/s.exec(whole) ?? [];
      return start + change(items, random) + end;
    });
}

const refusal = (code: string): string =>
  `<Response><Errors><Error><Code>${code}</Code><Message>no</Message></Error></Errors><RequestID>r-1</RequestID></Response>`;

const packed = gzipSync(Buffer.alloc(64 * 2 ** 20, ' '));
const megabyte = Buffer.alloc(2 ** 20, '<item></item>');

export const kinds: Readonly<Record<string, Spoil>> = {
  'in UTF-16, low byte first': (answer) => Buffer.from(`\uFEFF${answer}`, 'utf16le'),
  'in UTF-16, high byte first': (answer) => Buffer.from(`\uFEFF${answer}`, 'utf16le').swap16(),
  'in UTF-16 without a mark': (answer) => Buffer.from(answer, 'utf16le'),
  'behind a byte order mark': (answer) => `\uFEFF${answer}`,
  'with a byte that is no UTF-8': (answer, random) => {
    const body = Buffer.from(answer);
    body[atSome(answer, random)] = random.pick([0xff, 0xc0, 0x80, 0xed]);
    return body;
  },
  'declared to be in another encoding': (answer, random) =>
    answer.replace('UTF-8', random.pick(['UTF-16', 'ISO-8859-1', 'EBCDIC-CP-US', 'utf-7'])),
  'with a character that XML has not': content(
    '\\w+Id',
    'eni-\u0000',
    'i-\u0001a',
    'vpc-\u001b[2J',
    'subnet-&#0;',
  ),
  'of zero bytes': () => '',
  'of white space alone': (_, random) =>
    random.pick([' ', '\n', '\r\n\t ']).repeat(1 + random.integer(100_000)),
  'of text': (_, random) => random.pick(['upstream connect error', 'OK', 'null', '\u0000\u0001']),
  'of JSON': (_, random) => JSON.stringify({ NetworkInterfaces: [], at: random.next() }),
  'of HTML': (_, random) => `<html><body>sign in ${random.hex(8)}</body></html>`,
  'cut off, and its connection too': (answer, random) => ({
    body: Buffer.from(answer.slice(0, atSome(answer, random))),
    headers: { 'content-length': String(answer.length) },
    how: 'cut',
  }),
  'cut off': (answer, random) => answer.slice(0, atSome(answer, random)),
  'cut off behind an item': (answer) => answer.slice(0, answer.lastIndexOf('</item>') + 7),
  'twice in one': (answer) => answer + answer.replace(/^<\?xml[^>]*>\s*/, ''),
  'followed by something': (answer, random) =>
    answer + random.pick(['<more/>', 'x', '<!DOCTYPE x>', refusal('Oh')]),
  'with its list twice': (answer) => answer.replace(list, (whole) => whole + whole),
  'inside another one': (answer) =>
    answer.replace(root, (tag) => tag + tag).concat(`</${root.exec(answer)?.[1]}>`),
  'to something else': (answer, random) => {
    const other = random.pick(['DescribeImagesResponse', 'Response', 'describesubnetsresponse', 'html']);
    return answer.replaceAll(root.exec(answer)?.[1] ?? '', other);
  },
  'that says no with 200': (_, random) =>
    refusal(
      random.pick(['RequestLimitExceeded', 'UnauthorizedOperation', 'InternalError', 'InvalidParameter']),
    ),
  'with one thing twice': inList(
    (items, random) => items + (random.pick(items.split(/(?<=<\/item>)(?=<item>)/)) ?? ''),
  ),
  'with a tag that ends another': atOne(/<\/\w+>/, () => '</wrong>'),
  'with an end that is missing': atOne(/<\/\w+>/, () => ''),
  'with an attribute': atOne(
    /<item>/,
    (_, random) => `<item ${random.pick(['xsi:nil="true"', 'n=1', 'type="x"'])}>`,
  ),
  'with bare characters': atOne(
    />[^<]+</,
    (match, random) => random.pick(['>&', '>a&nbsp;', '>&#xfffffff;']) + match.slice(1),
  ),
  'with text as it is': atOne(/>[^<]+</, (match) => `><![CDATA[${match.slice(1, -1)}]]><`),
  'with entities of its own': withDoctype('[<!ENTITY l0 "ha">]', '&l0;'),
  'that expands to terabytes': withDoctype(`[<!ENTITY l0 "ha">${laughs}]`, '&l12;'),
  'with a document type inside another': withDoctype(
    '[<!ENTITY % a "<!DOCTYPE x [<!ENTITY b SYSTEM \'file:///etc/passwd\'>]>"> %a;]',
    '',
  ),
  'with a document type elsewhere': (answer) =>
    withDoctype('SYSTEM "http://127.0.0.1:1/x.dtd"', '')(answer, undefined as never),
  'nested for ever': inList((items, random) => '<item>'.repeat(5_000 + random.integer(100_000)) + items),
  'of more items than a page has': inList((items) =>
    items.repeat(Math.ceil(1001 / items.split(/(?<=<\/item>)(?=<item>)/).length)),
  ),
  'with a text of megabytes': content('\\w+', 'x'.repeat(2 ** 20)),
  'without an end': () => ({ body: megabyte, how: 'endless' }),
  'that says it has hundreds of megabytes': (answer, random) => ({
    body: Buffer.from(answer),
    headers: { 'content-length': String((200 + random.integer(800)) * 2 ** 20) },
  }),
  packed: (answer) => ({ body: gzipSync(answer), headers: { 'content-encoding': 'gzip' } }),
  'packed, of many megabytes': () => ({ body: packed, headers: { 'content-encoding': 'gzip' } }),
  'in a slow drip': (answer) => ({ body: Buffer.from(answer), how: 'drip' }),
  'with words for numbers': content(
    'deviceIndex|networkCardIndex|availableIpAddressCount|maximumNetworkInterfaces|ipv4AddressesPerInterface|code',
    'one',
    'NaN',
    '',
    '1e3',
    '0x10',
    ' 1',
    '1.5',
    'Infinity',
  ),
  'with numbers below zero': content(
    'deviceIndex|networkCardIndex|availableIpAddressCount|maximumNetworkInterfaces|ipv4AddressesPerInterface',
    '-1',
    '-2147483648',
  ),
  'with billions': content(
    'deviceIndex|networkCardIndex|availableIpAddressCount|maximumNetworkInterfaces|ipv4AddressesPerInterface',
    '4294967296',
    '9007199254740993',
    '4000000000',
    '99999999999999999999',
  ),
  'with words for yes and no': content(
    'primary|deleteOnTermination|requesterManaged|bareMetal',
    'maybe',
    '1',
    'yes',
    ' ',
    'truefalse',
  ),
  'with addresses that are none': content(
    'privateIpAddress|ipv4Prefix',
    '10.0.0.256',
    '010.0.0.4',
    'fd00::1',
    'ip-10-0-0-4',
    '10.0.0',
    '0.0.0.0',
    '224.0.0.1',
    '10.0.0.4/32',
  ),
  'with blocks that are none': content(
    'cidrBlock|ipv4Prefix',
    '10.0.0.0/33',
    '10.0.0.1/24',
    '10.0.0.0',
    'all',
    '10.0.0.0/-1',
  ),
  'with elements for texts': atOne(
    /<(\w+Id|privateIpAddress|macAddress|cidrBlock|instanceType)>[^<]+</,
    (match) => match.replace(/>([^<]+)</, '><value>$1</value><'),
  ),
  'with ids of another form': content(
    'networkInterfaceId|attachmentId|instanceId|subnetId|vpcId|groupId|routeTableId',
    '7',
    '[object Object]',
    'null',
    'ENI-1',
    'arn:aws:ec2:::eni/1',
    'eni_1',
    ' ',
  ),
  'with owners that nobody asked for': content(
    'vpcId|instanceId',
    'vpc-0ffffffffffffffff',
    'i-0ffffffffffffffff',
  ),
  'with ids by another name': renamed(
    'networkInterfaceId',
    'instanceId',
    'subnetId',
    'vpcId',
    'routeTableId',
    'instanceType',
    'attachmentId',
  ),
  'with addresses by another name': renamed(
    'privateIpAddress',
    'privateIpAddressesSet',
    'primary',
    'ipv4Prefix',
    'ipv4PrefixSet',
    'cidrBlock',
    'availableIpAddressCount',
  ),
  'with owners by another name': renamed(
    'attachment',
    'groupSet',
    'requesterManaged',
    'interfaceType',
    'instanceState',
    'instancesSet',
    'networkInfo',
  ),
  'with its list by another name': renamed(...listNames.split('|'), 'item'),
  'without what all have': without(
    'networkInterfaceId',
    'macAddress',
    'subnetId',
    'vpcId',
    'deviceIndex',
    'primary',
    'instanceType',
    'availabilityZone',
    'availableIpAddressCount',
  ),
  'with states that nothing has': atOne(
    /<status>(attached|attaching)<|<name>(running|pending)</,
    (match, random) => match.replace(/>\w+</, () => `>${random.pick(['quantum', '', 'ATTACHED', 'gone'])}<`),
  ),
  'with a state that contradicts itself': content('code', '48', '80', '7'),
};

/** Undefined if the kind has nothing to change in this answer. */
export function spoiled(kind: string, answer: string, random: Random): Delivery | undefined {
  const made = kinds[kind]?.(answer, random) ?? answer;
  if (made === answer) return undefined;
  if (typeof made === 'string') return { body: Buffer.from(made) };
  return Buffer.isBuffer(made) ? { body: made } : made;
}
