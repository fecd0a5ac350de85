// One copy in memory of texts that many places hold. The addresses of a node come with every listing, every answer and
// every event of a watch, as new texts each time, and are kept in half a dozen places. V8 keeps one copy of each name that
// a property has or had: to make a name of a text is to get that copy, which goes when the last holder does.

/** The same text: the one copy that all get who ask for it here, or parse it as a name of JSON. */
export function oneCopy(text: string): string {
  const named = Object.create(null) as Record<string, true>;
  named[text] = true;
  for (const name in named) return name;
  return text;
}
