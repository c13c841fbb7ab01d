// The models that a provider lists, in the shape of OpenAI or Anthropic.

import { isObject } from '../../base/text/json.ts'

export interface ListedModel {
  readonly id: string
  readonly displayName: string
  /** Seconds since 1970; 0 if that is unknown. */
  readonly created: number
}

/** What is known of a provider's list. */
export interface ModelList {
  /** Null before the first. */
  readonly models: readonly ListedModel[] | null
  /** Settles when the provider has responded, or failed to; never rejects. Null if it is not being asked. */
  readonly asking: Promise<void> | null
}

const maxModels = 5_000
const idForm = /^[!-~]{1,256}$/
/** Google writes it before its models, and its callers need not. */
const resource = 'models/'

/** Leaves out what is no model; null if the body is no list. */
export function readModels(body: Buffer): readonly ListedModel[] | null {
  const list = parse(body.toString())
  if (!isObject(list) || !Array.isArray(list.data)) return null
  const models = new Map<string, ListedModel>()
  for (const item of list.data) {
    const model = modelOf(item)
    if (model !== null && !models.has(model.id)) models.set(model.id, model)
    if (models.size === maxModels) break
  }
  return [...models.values()]
}

function modelOf(item: unknown): ListedModel | null {
  if (!isObject(item) || typeof item.id !== 'string') return null
  const id = item.id.startsWith(resource) ? item.id.slice(resource.length) : item.id
  if (!idForm.test(id)) return null
  const { created, created_at: createdAt, display_name: name } = item
  const seconds = typeof createdAt === 'string' ? Date.parse(createdAt) / 1000 : created
  return {
    id,
    displayName: typeof name === 'string' && name !== '' ? name.slice(0, maxName) : id,
    created:
      Number.isSafeInteger(seconds) && (seconds as number) > 0 && (seconds as number) < maxTime
        ? (seconds as number)
        : 0,
  }
}

const maxName = 256
/** Of a Date that JSON can hold with a year of four digits. */
const maxTime = 253_402_300_800

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
