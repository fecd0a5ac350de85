// Steps through an XML document in a buffer without building a tree or a string of the whole. It supports the
// plain XML of cloud APIs. It rejects CDATA, DOCTYPE and custom entities, other encodings, malformed markup
// and a second document. What it reads, it reads as the AWS SDK does.

/** The document contains something that the cursor does not support. */
export class NotUnderstood extends Error {}

/** Deeper than any answer of EC2. */
const maxDepth = 64;
/** Longest text to read, in bytes: longer than any EC2 text, page tokens included. */
const maxText = 8192;

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const exclamation = 0x21;
const doubleQuote = 0x22;
const ampersand = 0x26;
const singleQuote = 0x27;
const slash = 0x2f;
const less = 0x3c;
const equals = 0x3d;
const greater = 0x3e;
const question = 0x3f;

const nothingRefused: ReadonlySet<number> = new Set();

export class XmlCursor {
  /** Hash of the last entered element's name: see `nameHash`. */
  hash = 0;
  readonly #bytes: Buffer;
  #at = 0;
  #nameStart = 0;
  #nameEnd = 0;
  /** The last entered element is self-closing. */
  #isClosed = false;
  /** Positions of the names of open elements: pairs of start and end. */
  readonly #open: number[] = [];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Enters the root element. Skips its attributes if they only declare namespaces. */
  enterRoot(): void {
    for (;;) {
      this.#skipSpace();
      if (this.#bytes[this.#at] !== less) throw new NotUnderstood('no element at the start');
      this.#checkEncoding();
      if (!this.#skipWarning()) break;
    }
    this.#enter('namespaces');
  }

  /** Call it after leaving the root element: only comments and processing instructions may follow. */
  expectEnd(): void {
    for (;;) {
      this.#skipSpace();
      if (this.#at >= this.#bytes.length) return;
      if (this.#bytes[this.#at] !== less || !this.#skipWarning())
        throw new NotUnderstood('more than one answer');
    }
  }

  /** A declaration may name only the supported encoding. */
  #checkEncoding(): void {
    const head = this.#bytes.toString('latin1', this.#at, this.#at + 200);
    const [, encoding = 'utf-8'] = /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(head) ?? [];
    if (encoding.toLowerCase() !== 'utf-8') throw new NotUnderstood('another encoding than UTF-8');
  }

  /** Whether the last entered element has this name. */
  isNamed(name: readonly number[]): boolean {
    const bytes = this.#bytes;
    let at = this.#nameStart;
    if (this.#nameEnd - at !== name.length) return false;
    for (const byte of name) if (bytes[at++] !== byte) return false;
    return true;
  }

  /** Name of the last entered element. */
  name(): string {
    return this.#bytes.toString('latin1', this.#nameStart, this.#nameEnd);
  }

  /** Enters the next child of the current element; at its end, leaves it and returns false. */
  enterChild(): boolean {
    if (this.#leaveIfClosed()) return false;
    for (;;) {
      this.#skipBlank();
      if (this.#bytes[this.#at] !== less) throw new NotUnderstood('text between elements');
      if (this.#bytes[this.#at + 1] === slash) {
        this.#leave();
        return false;
      }
      if (!this.#skipWarning()) break;
    }
    this.#enter('none');
    return true;
  }

  /** The text of the current element, which it leaves; the element must contain only text. */
  text(): string {
    if (this.#leaveIfClosed()) return '';
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    let plain = 1;
    for (let byte = bytes[at]; byte !== less; byte = bytes[++at]) {
      if (byte === undefined) throw new NotUnderstood('the end is missing');
      // Bitwise, because this loop covers most of a page.
      plain &= Number(byte < 0x80 && byte !== ampersand && byte >= space);
    }
    this.#at = at;
    if (bytes[at + 1] !== slash) throw new NotUnderstood('more than text in an element');
    if (at - start > maxText) throw new NotUnderstood('a text that is too long');
    this.#leave();
    return plain === 1 ? bytes.toString('latin1', start, at) : decoded(bytes.toString('utf8', start, at));
  }

  /** Leaves the current element and skips its content, which must not contain an element with a hash in `refused`. */
  skip(refused: ReadonlySet<number> = nothingRefused): void {
    if (this.#leaveIfClosed()) return;
    const depth = this.#open.length;
    while (this.#open.length >= depth) {
      this.#at = this.#find(less);
      if (this.#bytes[this.#at + 1] === slash) this.#leave();
      else if (!this.#skipWarning()) {
        this.#enter('any');
        if (refused.has(this.hash)) throw new NotUnderstood('a known member inside an unknown one');
        this.#leaveIfClosed();
      }
    }
  }

  #enter(attributes: 'none' | 'namespaces' | 'any'): void {
    const bytes = this.#bytes;
    const start = this.#at + 1;
    let at = start;
    let hash = 0;
    let byte = bytes[at];
    while (isNameByte(byte)) {
      hash = stirred(hash, byte);
      byte = bytes[++at];
    }
    if (at === start) throw new NotUnderstood('an element without a name');
    this.hash = hash;
    this.#nameStart = start;
    this.#nameEnd = at;
    this.#isClosed = false;
    this.#at = at + 1;
    if (byte !== greater) this.#readTagEnd(at, attributes);
    if (this.#open.length >= 2 * maxDepth) throw new NotUnderstood('too deep');
    this.#open.push(start, at);
  }

  #readTagEnd(from: number, attributes: 'none' | 'namespaces' | 'any'): void {
    this.#at = from;
    for (;;) {
      const before = this.#at;
      this.#skipSpace();
      const byte = this.#bytes[this.#at];
      if (byte === greater || byte === slash) {
        this.#isClosed = byte === slash;
        this.#at += this.#isClosed ? 2 : 1;
        if (this.#bytes[this.#at - 1] !== greater) throw new NotUnderstood('a tag that does not end');
        return;
      }
      if (this.#at === before || attributes === 'none') throw new NotUnderstood('an attribute');
      const name = this.#readAttribute();
      if (attributes === 'namespaces' && !/^xmlns(:|$)/.test(name)) throw new NotUnderstood('an attribute');
    }
  }

  /** Returns its name. */
  #readAttribute(): string {
    const bytes = this.#bytes;
    const start = this.#at;
    while (isNameByte(bytes[this.#at])) this.#at++;
    const name = bytes.toString('latin1', start, this.#at);
    this.#skipSpace();
    if (name === '' || bytes[this.#at] !== equals) throw new NotUnderstood('an attribute without a value');
    this.#at++;
    this.#skipSpace();
    const quote = bytes[this.#at];
    if (quote !== doubleQuote && quote !== singleQuote)
      throw new NotUnderstood('an attribute without quotes');
    this.#at++;
    this.#at = this.#find(quote) + 1;
    return name;
  }

  /** Leaves the current element if it is self-closing. */
  #leaveIfClosed(): boolean {
    if (!this.#isClosed) return false;
    this.#isClosed = false;
    this.#open.length -= 2;
    return true;
  }

  /** Consumes the end tag of the current element at the cursor. */
  #leave(): void {
    const bytes = this.#bytes;
    const end = this.#open.pop() ?? 0;
    const start = this.#open.pop() ?? 0;
    let at = this.#at + 2;
    for (let name = start; name < end; name++)
      if (bytes[at++] !== bytes[name]) throw new NotUnderstood('the end of another element');
    while (isSpace(bytes[at])) at++;
    if (bytes[at] !== greater) throw new NotUnderstood('the end of another element');
    this.#at = at + 1;
  }

  /** Skips a comment or processing instruction; false if there is none here. */
  #skipWarning(): boolean {
    const next = this.#bytes[this.#at + 1];
    if (next !== exclamation && next !== question) return false;
    const [begin, end] = next === question ? ['<?', '?>'] : ['<!--', '-->'];
    if (this.#bytes.toString('latin1', this.#at, this.#at + begin.length) !== begin)
      throw new NotUnderstood('a declaration, or text as it is');
    const found = this.#bytes.indexOf(end, this.#at, 'latin1');
    if (found === -1) throw new NotUnderstood('the end is missing');
    this.#at = found + end.length;
    return true;
  }

  /**
   * Skips whitespace between elements. The SDK treats whitespace without a line break as the text of the
   * enclosing element and ignores its children.
   */
  #skipBlank(): void {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    let endsLine = false;
    for (let byte = bytes[at]; isSpace(byte); byte = bytes[++at])
      endsLine ||= byte === lineFeed || byte === carriageReturn;
    this.#at = at;
    if (at > start && !endsLine) throw new NotUnderstood('space that is text');
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (isSpace(bytes[at])) at++;
    this.#at = at;
  }

  #find(byte: number): number {
    const found = this.#bytes.indexOf(byte, this.#at);
    if (found === -1) throw new NotUnderstood('the end is missing');
    return found;
  }
}

/** The `hash` of an element name. Other names may share it: `isNamed` decides. */
export function nameHash(name: string): number {
  return Buffer.from(name).reduce(stirred, 0);
}

function stirred(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

function isSpace(byte: number | undefined): boolean {
  return byte === space || byte === lineFeed || byte === tab || byte === carriageReturn;
}

/** Letters, digits, and `_ - . :`. */
function isNameByte(byte: number | undefined): byte is number {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) || (byte >= 0x2d && byte <= 0x3a && byte !== slash) || byte === 0x5f
  );
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

// oxlint-disable-next-line no-control-regex
const illegal = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

function decoded(raw: string): string {
  if (illegal.test(raw)) throw new NotUnderstood('a character that XML does not have');
  const text = raw
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(
      /&(?:#x([0-9a-fA-F]{1,6});|#(\d{1,7});|([a-z]+);|)/g,
      (_, hex?: string, decimal?: string, name?: string) => {
        if (name !== undefined && Object.hasOwn(named, name)) return named[name] ?? '';
        const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
        if (!(code > 0 && code <= 0x10ffff))
          throw new NotUnderstood('a character that is not known by this name');
        // A surrogate may come as a number of its own.
        return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
      },
    );
  return text.trim() === '' && text.includes('\n') ? '' : text;
}
