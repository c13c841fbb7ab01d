// How large a pattern would become, told from its text: to compile it could take seconds.

/** Returns what is wrong with a pattern that is not to be compiled: too many repetitions, or classes of Unicode. */
export function patternFlaw(text: string, mostParts: number): string | null {
  const parts = countParts(text)
  if (parts > mostParts) return 'the pattern has too many repetitions'
  const folds = /\(\?[A-Za-z]*i/.test(text)
  return countWide(text) * (folds ? 4 : 1) > mostWide ? 'the pattern has too many Unicode classes' : null
}

// To compile a wide class takes some 0.2 ms, but where case is ignored 20.
const mostWide = 8
const token =
  /\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|\(\?(?:P?<\w*>|[A-Za-z-]*:?)|./gsu

/** Counts at least one for each thing that a text has to match, as often as it is repeated. */
function countParts(text: string): number {
  const outer: number[] = []
  let sum = 0
  let last = 0
  for (const [shown, least, most] of text.matchAll(token)) {
    if (least !== undefined) {
      const times = Math.max(1, Number(least), Number(most ?? 0))
      sum += last * (times - 1)
      last *= times
    } else if (shown.startsWith('(')) {
      outer.push(sum)
      sum = 0
    } else if (shown === ')') {
      last = Math.max(1, sum)
      sum = (outer.pop() ?? 0) + last
    } else if (!'*+?|'.includes(shown)) {
      last = 1
      sum++
    }
  }
  return sum + outer.reduce((total, part) => total + part, 0)
}

/** Counts what may stand for very many characters beyond ASCII. */
function countWide(text: string): number {
  return text.match(/\\[pP]|(?:[^\0-\x7f]|\\x\{[^}]*\})-|-(?:[^\0-\x7f]|\\x\{)/gu)?.length ?? 0
}
