// Sanitizes text from outside for logs, Events, status and answers: bounded, on one line, without credentials. Apply it
// where text enters, so that later code need not care.

/** The length limit of a message. */
const maxCharacters = 1000;

/** Control characters, line and paragraph separators, and bidirectional overrides. */
// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/**
 * User info before the host of a URL: everything before the last @, since a password may contain unencoded
 * characters.
 */
const userInfo = /(:\/\/)\S*@/g;
/** Query and fragment of a URL. */
const query = /(:\/\/[^\s?#]*)[?#][^\s"']+/g;
/** A value after a name that marks it secret, in a header, a query or JSON. */
const named =
  /((?:password|passwd|secret|token|authorization|api[-_]?key|access[-_]?key)["']?[=:]["']?)[^\s"'&,;]+/gi;
const bearer = /\b(Bearer|Basic) [\w.~+/=-]{8,}/g;

/** `max`: maximum characters of `text` to keep. */
export function sanitizedText(text: string, max = maxCharacters): string {
  // Escapes lengthen the text: the first cut bounds the work, the last one the result.
  const shown = withoutSecrets(text.slice(0, 2 * max)).replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return shown.length > max || text.length > 2 * max ? `${shown.slice(0, max)}…` : shown;
}

/** The length limit of an error code and of a request id. */
const maxCodeCharacters = 100;

/** The error of a server, with each text sanitized. */
export function sanitizedAnswer(
  { code, requestId }: { readonly code: string; readonly requestId: string | undefined },
  message: string,
): { readonly code: string; readonly message: string; readonly requestId: string | undefined } {
  return {
    code: sanitizedText(code, maxCodeCharacters),
    message: sanitizedText(message),
    requestId: requestId === undefined ? undefined : sanitizedText(requestId, maxCodeCharacters),
  };
}

/** The text without recognisable credentials. */
function withoutSecrets(text: string): string {
  return text
    .replaceAll(userInfo, '$1…@')
    .replaceAll(query, '$1?…')
    .replaceAll(bearer, '$1 …')
    .replaceAll(named, '$1…');
}

/** Values whose form excludes a credential: an amount with its unit, a few words, a port, an address, a file path. */
const plain: readonly RegExp[] = [
  /^-?(\d{1,12}(\.\d{1,9})?(ns|us|µs|ms|[smhdw%])?){1,4}$/,
  /^[a-z]{1,16}((, |[ ,._-])([a-z]{1,16}|\d)){0,2}$/i,
  /^:\d{1,6}$/,
  /^(\d{1,3}\.){3}\d{1,3}([:/]\d{1,5})?$/,
  /^(?=.*:.*:)[\da-f:]{2,39}(\/\d{1,3})?$/i,
  /^\.{0,2}\/[\w./-]*$/,
];
const maxPlainCharacters = 200;

/**
 * A given value for an error message; undefined if it may be a misplaced credential. The message names its
 * source, where the user can read it.
 */
export function plainValue(text: string): string | undefined {
  return text.length <= maxPlainCharacters && plain.some((form) => form.test(text)) ? text : undefined;
}

/** Scheme and host of a URL; undefined if the host part is uncertain. */
export function urlInWords(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || url.host === '') return undefined;
  return `${url.pathname}${url.search}${url.hash}`.includes('@') ? undefined : `${url.protocol}//${url.host}`;
}
