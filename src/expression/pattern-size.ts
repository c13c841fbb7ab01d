// The size of a compiled pattern, estimated from its text: compiling it could take seconds.

/** Returns why a pattern must not be compiled: too many repetitions, or Unicode classes. */
export function patternFlaw(text: string, maxParts: number): string | null {
  const parts = countParts(text)
  if (parts > maxParts) return 'the pattern has too many repetitions'
  const folds = /\(\?[A-Za-z]*i/.test(text)
  return countWide(text) * (folds ? 4 : 1) > maxWide ? 'the pattern has too many Unicode classes' : null
}

// Compiling a wide class takes about 0.2 ms, but 20 ms if case is ignored.
const maxWide = 8
const token =
  /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|\(\?(?:P?<\w*>|[A-Za-z-]*:?)|./gsu

function countParts(text: string): number {
  const outer: number[] = []
  let sum = 0
  let last = 0
  for (const [match, min, max] of text.matchAll(token)) {
    if (min !== undefined) {
      const times = Math.max(1, Number(min), Number(max ?? 0))
      sum += last * (times - 1)
      last *= times
    } else if (match.startsWith('(')) {
      outer.push(sum)
      sum = 0
    } else if (match === ')') {
      last = Math.max(1, sum)
      sum = (outer.pop() ?? 0) + last
    } else if (!'*+?|'.includes(match)) {
      last = 1
      sum++
    }
  }
  return sum + outer.reduce((total, part) => total + part, 0)
}

/** Counts the elements that may match very many characters beyond ASCII. */
function countWide(text: string): number {
  return text.match(/\\[pP]|(?:[^\0-\x7f]|\\x\{[^}]*\})-|-(?:[^\0-\x7f]|\\x\{)/gu)?.length ?? 0
}
