// Models that reject a request for stream usage, as learned from their providers.

import type { Provider } from './providers/providers.ts'

/** Accounts may have providers of the same name, and one must not keep the usage of others out of the log. */
type Place = Pick<Provider, 'name' | 'base'>

/** Callers choose the names. */
const maxNames = 1000

export class UsageRefusals {
  readonly #names = new Set<string>()

  has(provider: Place, model: string): boolean {
    return this.#names.size > 0 && this.#names.has(nameOf(provider, model))
  }

  /** False if that was known. */
  add(provider: Place, model: string): boolean {
    if (this.has(provider, model)) return false
    if (this.#names.size === maxNames) this.#names.delete(this.#names.values().next().value!)
    this.#names.add(nameOf(provider, model))
    return true
  }
}

function nameOf({ name, base }: Place, model: string): string {
  return `${base.href} ${name}/${model}`
}
