// Models that reject a request for stream usage, as learned from their providers.

/** Callers choose the names. */
const maxNames = 1000

export class UsageRefusals {
  readonly #names = new Set<string>()

  has(provider: string, model: string): boolean {
    return this.#names.size > 0 && this.#names.has(`${provider}/${model}`)
  }

  /** False if that was known. */
  add(provider: string, model: string): boolean {
    if (this.has(provider, model)) return false
    if (this.#names.size === maxNames) this.#names.delete(this.#names.values().next().value!)
    this.#names.add(`${provider}/${model}`)
    return true
  }
}
