// What expressions may call, of all that the language has, and what of it can fail.

/** Holds for each of our functions whether it can fail. */
export const functions: ReadonlyMap<string, boolean> = new Map([
  ['bool', true],
  ['contains', false],
  ['double', true],
  ['endsWith', false],
  ['has', true],
  ['hasValue', false],
  ['indexOf', true],
  ['int', true],
  ['join', false],
  ['lastIndexOf', true],
  ['lowerAscii', false],
  ['matches', false],
  ['orValue', false],
  ['size', false],
  ['split', false],
  ['startsWith', false],
  ['string', false],
  ['substring', true],
  ['trim', false],
  ['uint', true],
  ['upperAscii', false],
])
/** Holds the operators that can fail. */
export const failingOperators: ReadonlySet<string> = new Set(['[]', '[?]', '+', '-', '*', '/', '%', '-_'])
