// Which models do not accept that a stream is asked for its usage, as their providers have said.

/** How many are remembered: callers choose the names of models. */
const most = 1000

export class UsageRefusals {
  readonly #names = new Set<string>()

  /** Whether the model of a provider is known to refuse it. */
  has(provider: string, model: string): boolean {
    return this.#names.size > 0 && this.#names.has(`${provider}/${model}`)
  }

  /** Notes that it does; false where that was known. */
  add(provider: string, model: string): boolean {
    if (this.has(provider, model)) return false
    if (this.#names.size === most) this.#names.delete(this.#names.values().next().value!)
    this.#names.add(`${provider}/${model}`)
    return true
  }
}
