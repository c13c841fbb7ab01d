// Responds with the models that a caller may call, in the shape of OpenAI or Anthropic.

import type { ListedModel } from '../../ai/providers/listed-models.ts'
import { pricedModelsOf } from '../../ai/providers/known-models.ts'
import { type OfferedModel, writeModel, writeModels } from '../../ai/providers/models-page.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { ModelsTarget } from '../../ai/target.ts'
import { guarded } from '../../base/guarded.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { firstValue } from '../../http1/fields/fields.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import type { EdgeAi } from '../snapshot/snapshot.ts'
import { respondWithJson } from './own-response.ts'
import { allowsName } from './token-limits.ts'

/** Ms that a caller waits for providers: Claude Code waits for three seconds. */
const maxWait = 1_500

/** Waits for lists that are not known yet, but not for long. */
export function respondWithModels(x: Exchange, ai: AiExchange, target: ModelsTarget): Decided {
  const isAnthropic = firstValue(x.head.fields, 'anthropic-version') !== null
  if (isAnthropic) x.audience = audienceOf(target, 'anthropic')
  const edgeAi = x.snapshot.ai!
  const asking = edgeAi.providers.usable.flatMap(([, provider]) => {
    const { models, asking } = listOf(x, edgeAi, provider)
    return models === null && asking !== null ? [asking] : []
  })
  const names = x.plane.ai!.routes.names(ai.gateway!)
  return Promise.all([names, asking.length === 0 ? null : within(maxWait, asking)]).then(([routes]) =>
    x.stage === 'none' ? respond(x, ai, target, { routes, isAnthropic }) : null,
  )
}

function within(ms: number, asking: readonly Promise<void>[]): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(guarded(resolve, reject), ms)
  return Promise.race([Promise.all(asking), promise]).finally(() => clearTimeout(timer))
}

interface Facts {
  readonly routes: readonly string[]
  readonly isAnthropic: boolean
}

function respond(
  x: Exchange,
  ai: AiExchange,
  { model, query }: ModelsTarget,
  { routes, isAnthropic }: Facts,
): Refusal | 'responded' {
  const models = modelsFor(x, ai, routes)
  const written =
    model === null ? writeModels(models, query, isAnthropic) : writeModel(models, model, isAnthropic)
  return typeof written === 'string' ? respondWithJson(x, written) : written
}

/** Aliases first, then dynamic routes, models by their names alone, and all with their provider. */
function modelsFor(x: Exchange, ai: AiExchange, routes: readonly string[]): readonly OfferedModel[] {
  const edgeAi = x.snapshot.ai!
  const names = [...edgeAi.aliases.names, ...routes].filter(name => allowsName(ai, name))
  const offered = names.map(id => ({ id, displayName: id, created: 0, owner: 'gateway' }))
  const bare: OfferedModel[] = []
  const full: OfferedModel[] = []
  for (const [prefix, provider] of edgeAi.providers.usable)
    for (const model of listedBy(x, edgeAi, provider)) {
      if (!allowsName(ai, `${provider.name}/${model.id}`)) continue
      const id = `${prefix}/${model.id}`
      const owned = { ...model, owner: provider.name }
      full.push({ ...owned, id })
      const [only, second] = edgeAi.providers.candidates(model.id)
      if (second === undefined && only === id) bare.push(owned)
    }
  const seen = new Map<string, OfferedModel>()
  for (const model of [...offered, ...bare, ...full]) if (!seen.has(model.id)) seen.set(model.id, model)
  return [...seen.values()]
}

function listOf(
  x: Exchange,
  { routeTo }: EdgeAi,
  provider: Provider,
): ReturnType<Exchange['plane']['models']['of']> {
  return x.plane.models.of(provider, routeTo(provider).pool.members[0]!.target.config)
}

/** What a provider does not say is known from its configuration and prices. */
function listedBy(x: Exchange, ai: EdgeAi, provider: Provider): readonly ListedModel[] {
  const { models } = listOf(x, ai, provider)
  const own = provider.config!.models?.filter(pattern => !pattern.includes('*'))
  const known = models === null ? (own ?? pricedModelsOf(provider.name)) : (own ?? [])
  const unlisted = known.filter(id => models?.some(model => model.id === id) !== true)
  return [...(models ?? []), ...unlisted.map(id => ({ id, displayName: id, created: 0 }))]
}
