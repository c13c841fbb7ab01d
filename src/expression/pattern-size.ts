// The size of a compiled pattern, estimated from its text: compiling it could take seconds.

/** Returns why a pattern must not be compiled: too many repetitions, or Unicode classes. */
export function patternFlaw(text: string, maxParts: number): string | null {
  const parts = countParts(text)
  if (parts > maxParts) return 'the pattern has too many repetitions'
  return countWide(text) * (ignoresCase(text) ? 4 : 1) > maxWide
    ? 'the pattern has too many Unicode classes'
    : null
}

/** Characters of ranges that ignore case, at most: the package folds each on its own, in 0.1 µs. */
export function countFolded(text: string): number {
  if (!ignoresCase(text)) return 0
  let count = 0
  for (const [, fromHex, from, toHex, to] of text.matchAll(range)) {
    const [low, high] = [codeOf(fromHex, from), codeOf(toHex, to)]
    if (low <= minFold && high >= maxFold) continue
    count += Math.max(0, Math.min(high, maxFold) - Math.max(low, minFold) + 1)
  }
  return count
}

function ignoresCase(text: string): boolean {
  return /\(\?[A-Za-z]*i/.test(text)
}

/** The first and the last character that has another case; a range with both is not folded. */
const [minFold, maxFold] = [0x41, 0x1e943]
/** Wherever one may be; other escapes than these stand for small numbers. */
const range = /(?=(?:\\x\{([\da-f]+)\}|(?<!\\x\{[\da-f]{0,8})(.))-(?:\\x\{([\da-f]+)\}|\\?(.)))/gisu

function codeOf(hex: string | undefined, character: string | undefined): number {
  return hex === undefined ? character!.codePointAt(0)! : Number.parseInt(hex, 16)
}

// Compiling a class of Unicode takes about 0.2 ms.
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
