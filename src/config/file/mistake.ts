// Mistakes in a configuration, and how they are printed.

export interface Place {
  readonly line: number
  readonly column: number
  readonly path: string // such as zones[0].routes[1].pool; empty for the whole file
}

export interface Mistake extends Place {
  readonly message: string
}

/** Collects mistakes, so that all of them can be reported at once. */
export class Findings {
  readonly #mistakes: Mistake[] = []
  readonly #warnings: Mistake[] = []
  readonly #seen = new Set<string>()
  readonly #paths = new Set<string>()

  /** Records a mistake; returns undefined, so that a reader can give up in the same statement. */
  mistake({ line, column, path }: Place, message: string): undefined {
    // A node behind several aliases is read several times.
    const seen = `${line}:${column}:${path}:${message}`
    if (!this.#seen.has(seen)) this.#mistakes.push({ line, column, path, message })
    this.#seen.add(seen)
    for (const { index } of path.matchAll(/[.[]/g)) this.#paths.add(path.slice(0, index))
    this.#paths.add(path)
  }

  /** Records a mistake in a field, as a phrase that follows its name; also returns undefined. */
  flaw(place: Place, flaw: string): undefined {
    return this.mistake(place, `${fieldName(place.path)} ${flaw}`)
  }

  warn({ line, column, path }: Place, message: string): void {
    this.#warnings.push({ line, column, path, message })
  }

  /** Whether a mistake was recorded at a path or below it, so that its consequences need not be reported. */
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

/** Formats a mistake for editors and terminals; a default has no line, an override no file. */
export function formatMistake(file: string, { line, column, path, message }: Mistake): string {
  if (isOutside(path)) return message
  return [line === 0 ? `${file}:` : `${file}:${line}:${column}`, path && `${path}:`, message]
    .filter(Boolean)
    .join(' ')
}

/** Whether a path is that of an option (--listen) or a variable (PORT) in place of a setting. */
export function isOutside(path: string): boolean {
  return path.startsWith('--') || /^[A-Z]+$/.test(path)
}

/** The name of the field in messages. */
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

function byPlace(a: Place, b: Place): number {
  return a.line - b.line || a.column - b.column
}
