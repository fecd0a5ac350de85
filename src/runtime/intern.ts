// Interns strings that many places hold. Every listing, answer and watch event delivers a node's addresses as new
// strings, and half a dozen places keep them. V8 holds a single copy of each property name, so a string used as a
// property name yields that copy. V8 frees it with the last reference.

/** The same text, as the single copy that every caller and every JSON property name shares. */
export function intern(text: string): string {
  const named = Object.create(null) as Record<string, true>;
  named[text] = true;
  for (const name in named) return name;
  return text;
}
