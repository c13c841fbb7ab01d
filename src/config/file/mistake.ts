// Mistakes in a configuration, and how they are printed.

export interface Place {
  readonly line: number
  readonly column: number
  readonly path: string // such as zones[0].routes[1].pool; empty for the whole file
}

/** One mistake, or one warning. */
export interface Mistake extends Place {
  readonly message: string
}

/** Collects mistakes, so that all of them can be reported at once. */
export class Findings {
  readonly #mistakes: Mistake[] = []
  readonly #warnings: Mistake[] = []
  readonly #paths = new Set<string>()

  /** Notes a mistake; returns undefined, so that a reader can give up in the same statement. */
  mistake({ line, column, path }: Place, message: string): undefined {
    this.#mistakes.push({ line, column, path, message })
    for (const { index } of path.matchAll(/[.[]/g)) this.#paths.add(path.slice(0, index))
    this.#paths.add(path)
  }

  /** Notes a mistake in a field, as a phrase that follows its name; also returns undefined. */
  flaw(place: Place, flaw: string): undefined {
    return this.mistake(place, `${fieldName(place.path)} ${flaw}`)
  }

  warn({ line, column, path }: Place, message: string): void {
    this.#warnings.push({ line, column, path, message })
  }

  /** Whether a mistake was noted at a path or below it, so that its consequences need not be reported. */
  concern(path: string): boolean {
    return this.#paths.has(path)
  }

  get mistakes(): readonly Mistake[] {
    return this.#mistakes.toSorted(byPlace)
  }

  get warnings(): readonly Mistake[] {
    return this.#warnings.toSorted(byPlace)
  }
}

/** Formats a mistake for editors and terminals: file, line and column first; a default has no line. */
export function formatMistake(file: string, { line, column, path, message }: Mistake): string {
  return [line === 0 ? `${file}:` : `${file}:${line}:${column}`, path && `${path}:`, message]
    .filter(Boolean)
    .join(' ')
}

/** Returns the last step of a path, as messages name the field. */
export function fieldName(path: string): string {
  return /[\w-]+(?:\[\d+\])*$/.exec(path)?.[0] ?? (path || 'the configuration')
}

/** Extends a path by a key, or by the index of a member. */
export function stepInto(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`
  if (!/^[\w-]{1,64}$/.test(step)) return `${path}[${quote(step)}]`
  return path === '' ? step : `${path}.${step}`
}

/** Quotes a value, cut to a length, and without the credentials of a URL, even of one without a scheme. */
export function quote(text: string): string {
  const shown = text.replace(/^((?:[^/]*\/\/)?).*@/s, '$1…@')
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 79)}…` : shown)
}

/** Suggests the known word that was probably meant, as a phrase to append; empty when none is similar. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const best = nearest(word, known)
  return best === null ? '' : `; did you mean ${best}?`
}

/** Returns the known word that was probably meant; null when none is similar. */
export function nearest(word: string, known: Iterable<string>): string | null {
  const most = word.length < 5 ? 1 : 2
  const [best] = [...known]
    .filter(candidate => Math.abs(candidate.length - word.length) <= most)
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
  return best?.candidate ?? null
}

function byPlace(a: Place, b: Place): number {
  return a.line - b.line || a.column - b.column
}

/** Counts letters to add, drop, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1, isSwap ? before[j - 2]! + 1 : Infinity))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
