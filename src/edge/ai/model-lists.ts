// What providers list as their models, asked with a key that calls would use, and again in the background.

import type { Clock } from '../../base/clock.ts'
import { type ListedModel, type ModelList, readModels } from '../../ai/providers/listed-models.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { ProviderChecker } from './provider-check.ts'

/** Ms until a list is asked for again, and after a failure. */
const fresh = 5 * 60_000
const pause = 30_000
const timeout = 10_000
const maxBody = 4 * 1024 * 1024
/** Configurations change rarely. */
const maxLists = 200

interface ListState extends ModelList {
  models: readonly ListedModel[] | null
  asking: Promise<void> | null
  dueAt: number
}

interface ModelListsParts {
  readonly clock: Clock
  readonly get: ProviderChecker['get']
}

export class ModelLists {
  readonly #clock: Clock
  readonly #get: ProviderChecker['get']
  readonly #lists = new Map<string, ListState>()

  constructor({ clock, get }: ModelListsParts) {
    this.#clock = clock
    this.#get = get
  }

  /** Returns the list as far as it is known, and asks the provider if that is due: one request at a time. */
  of(provider: Provider, key: string | null, origin: Parameters<ProviderChecker['get']>[0]): ModelList {
    const { name, base, list: path, defaultFields } = provider
    if (path === null) return unlisted
    const id = JSON.stringify([name, base.href, path, key, defaultFields])
    const list = this.#lists.get(id) ?? this.#add(id)
    if (list.asking === null && this.#clock.monotonic() >= list.dueAt) {
      const ask = { path, key, timeout, maxBody }
      const asking = this.#get(origin, provider, ask).then(outcome => {
        if (list.asking !== asking) return
        const { status = 0, body = null } = 'status' in outcome ? outcome : {}
        const models = status === 200 && body !== null ? readModels(body) : null
        list.models = models ?? list.models
        list.dueAt = this.#clock.monotonic() + (models === null ? pause : fresh)
        list.asking = null
      })
      list.asking = asking
    }
    return list
  }

  /** Has each list asked for again when it is used next: the way to its provider may be another one now. */
  expire(): void {
    for (const list of this.#lists.values()) {
      list.asking = null
      list.dueAt = Number.NEGATIVE_INFINITY
    }
  }

  #add(id: string): ListState {
    const list = { models: null, asking: null, dueAt: Number.NEGATIVE_INFINITY }
    if (this.#lists.size >= maxLists) this.#lists.delete(this.#lists.keys().next().value!)
    this.#lists.set(id, list)
    return list
  }
}

const unlisted: ModelList = { models: null, asking: null }
