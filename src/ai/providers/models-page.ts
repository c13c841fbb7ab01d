// Writes lists of models, a page at a time for callers of Anthropic's API.

import { refuseCall } from '../../errors/catalogue/api-faults.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { ListedModel } from './listed-models.ts'

export interface OfferedModel extends ListedModel {
  readonly owner: string
}

/** Refuses a page that cannot be (400). */
export function writeModels(
  models: readonly OfferedModel[],
  query: string,
  isAnthropic: boolean,
): string | Refusal {
  if (!isAnthropic) return JSON.stringify({ object: 'list', data: models.map(ofOpenai) })
  const page = pageOf(models, new URLSearchParams(query))
  if ('error' in page) return page
  const data = page.models.map(ofAnthropic)
  return JSON.stringify({
    data,
    has_more: page.hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  })
}

/** Refuses a model that is not among them (404). */
export function writeModel(
  models: readonly OfferedModel[],
  id: string,
  isAnthropic: boolean,
): string | Refusal {
  const model = models.find(model => model.id === id)
  if (model === undefined) return refuseCall('no_listed_model', id.slice(0, 100))
  return JSON.stringify(isAnthropic ? ofAnthropic(model) : ofOpenai(model))
}

function ofOpenai({ id, created, owner }: OfferedModel) {
  return { id, object: 'model', created, owned_by: owner }
}

function ofAnthropic({ id, displayName, created }: OfferedModel) {
  const createdAt = `${new Date(created * 1000).toISOString().slice(0, 19)}Z`
  return { type: 'model', id, display_name: displayName, created_at: createdAt }
}

interface ModelPage {
  readonly models: readonly OfferedModel[]
  readonly hasMore: boolean
}

function pageOf(models: readonly OfferedModel[], query: URLSearchParams): ModelPage | Refusal {
  const limit = query.get('limit') ?? `${usualLimit}`
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  const size = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (size < 1 || size > maxLimit)
    return refuseCall('invalid', 'limit', `must be a whole number from 1 to ${maxLimit}`)
  if (after !== null && before !== null)
    return refuseCall('invalid', 'before_id', 'cannot be combined with after_id')
  const at = models.findIndex(({ id }) => id === (after ?? before))
  if ((after ?? before) !== null && at === -1)
    return refuseCall(
      'invalid',
      after === null ? 'before_id' : 'after_id',
      'must be the id of a model of this list',
    )
  if (before !== null) {
    const start = Math.max(0, at - size)
    return { models: models.slice(start, at), hasMore: start > 0 }
  }
  return { models: models.slice(at + 1, at + 1 + size), hasMore: at + 1 + size < models.length }
}

const usualLimit = 20
const maxLimit = 1000
