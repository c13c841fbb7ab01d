// Programs of RE2, as an automaton is made of them: what their instructions are, which bytes they tell apart, and the conditions of empty matches.

/** One instruction; `arg` is the other way of a fork, or the conditions of an empty match. */
export interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly runes: readonly number[]
  matchRune(rune: number): boolean
}

/** Instructions and conditions, as RE2 numbers them; all from `rune` on take a character. */
export const op = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, match: 6, nop: 7, rune: 8 }
export const when = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
}

/** What stands before a place in a text, or behind it. */
export const kind = { edge: 0, newline: 1, word: 2, other: 3 }

/** Texts of requests are bytes; any other character is looked at without a table. */
export const bytes = 256

/** Finds the bytes that no instruction tells apart: the class of each, and a sample of each class. */
export function classify(instructions: readonly Instruction[]): {
  readonly classes: Uint8Array
  readonly samples: readonly number[]
} {
  const hasConditions = instructions.some(({ op: code }) => code === op.emptyWidth)
  const classes = new Uint8Array(bytes)
  for (let byte = 0; byte < bytes; byte++) classes[byte] = hasConditions ? kindOf(byte) : 0
  let samples = renumber(classes)
  const seen = new Set<string>()
  for (const instruction of instructions) {
    if (instruction.op < op.rune) continue
    // Repetitions are written out.
    const shown = `${instruction.arg} ${instruction.runes.join()}`
    if (seen.has(shown)) continue
    seen.add(shown)
    const split = Uint16Array.from(
      classes,
      (known, byte) => 2 * known + (instruction.matchRune(byte) ? 1 : 0),
    )
    samples = renumber(split)
    classes.set(split)
    if (samples.length === bytes) break
  }
  return { classes, samples }
}

/** Numbers classes from 0 on, in place; gives a byte of each. */
function renumber(classes: Uint8Array | Uint16Array): readonly number[] {
  const numbers = new Map<number, number>()
  const samples: number[] = []
  for (const [byte, known] of classes.entries()) {
    let number = numbers.get(known)
    if (number === undefined) {
      number = samples.length
      numbers.set(known, number)
      samples.push(byte)
    }
    classes[byte] = number
  }
  return samples
}

/** Returns what a character is to conditions. */
export function kindOf(rune: number): number {
  if (rune === 0x0a) return kind.newline
  const lower = rune | 0x20
  const isWord = (rune >= 0x30 && rune <= 0x39) || (lower >= 0x61 && lower <= 0x7a) || rune === 0x5f
  return isWord && rune < 0x80 ? kind.word : kind.other
}

/** Returns the conditions that hold between what stands before and behind a place. */
export function conditionsBetween(before: number, behind: number): number {
  const isBoundary = (before === kind.word) !== (behind === kind.word)
  let holding = isBoundary ? when.wordBoundary : when.noWordBoundary
  if (before === kind.edge) holding |= when.beginText | when.beginLine
  if (before === kind.newline) holding |= when.beginLine
  if (behind === kind.edge) holding |= when.endText | when.endLine
  if (behind === kind.newline) holding |= when.endLine
  return holding
}
