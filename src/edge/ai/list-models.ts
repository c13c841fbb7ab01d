// Responds with the models that a caller may call, in the shape of OpenAI or Anthropic.

import type { ListedModel, ModelList } from '../../ai/providers/listed-models.ts'
import { pricedModelsOf } from '../../ai/providers/known-models.ts'
import { type OfferedModel, writeModel, writeModels } from '../../ai/providers/models-page.ts'
import type { Provider, Providers } from '../../ai/providers/providers.ts'
import type { ModelsTarget } from '../../ai/target.ts'
import { guarded } from '../../base/guarded.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { firstValue } from '../../http1/fields/fields.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import type { Decided, Exchange } from '../exchange/exchange.ts'
import { respondWithJson } from './own-response.ts'
import { ownKeysFor } from './take-call.ts'
import { allowsName } from './token-limits.ts'

/** Ms that a caller waits for providers: Claude Code waits for three seconds. */
const maxWait = 1_500

/** Waits for lists that are not known yet, but not for long. */
export function respondWithModels(x: Exchange, ai: AiExchange, target: ModelsTarget): Decided {
  const isAnthropic = firstValue(x.head.fields, 'anthropic-version') !== null
  if (isAnthropic) x.audience = audienceOf(target, 'anthropic')
  const asking = usableFor(x, ai).flatMap(([, provider]) => {
    const { models, asking } = listOf(x, ai, provider)
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
  for (const [prefix, provider] of usableFor(x, ai))
    for (const model of listedBy(x, ai, provider)) {
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

/** Those for which the gateway has a key, and, unless it is byok_only, those of the configuration. */
function usableFor(x: Exchange, ai: AiExchange): Providers['usable'] {
  const { providers } = x.snapshot.ai!
  const { providerConfigs = [], byokOnly = false } = ai.gateway!
  const ofOperator = byokOnly ? [] : providers.usable
  if (providerConfigs.length === 0) return ofOperator
  const names = new Set(ofOperator.map(([prefix]) => prefix))
  return providers.known.filter(([prefix, provider]) => names.has(prefix) || hasOwnKey(x, ai, provider))
}

function hasOwnKey(x: Exchange, ai: AiExchange, provider: Provider): boolean {
  const own = ownKeysFor(x, ai, provider)
  return own !== null && !('error' in own)
}

/** Providers are asked with keys of the configuration, which some calls may not use. */
function listOf(x: Exchange, ai: AiExchange, provider: Provider): ModelList {
  const isOthers = ai.gateway!.byokOnly === true && provider.keys.length > 0
  if (provider.withoutKey !== null || isOthers) return noList
  return x.plane.models.of(provider, x.snapshot.ai!.routeTo(provider).pool.members[0]!.target.config)
}

const noList: ModelList = { models: null, asking: null }

/** What a provider does not say is known from its configuration and prices. */
function listedBy(x: Exchange, ai: AiExchange, provider: Provider): readonly ListedModel[] {
  const { models } = listOf(x, ai, provider)
  const own = provider.config?.models?.filter(pattern => !pattern.includes('*'))
  const known = models === null ? (own ?? pricedModelsOf(provider.name)) : (own ?? [])
  const unlisted = known.filter(id => models?.some(model => model.id === id) !== true)
  return [...(models ?? []), ...unlisted.map(id => ({ id, displayName: id, created: 0 }))]
}
