// Responds with the models that a caller may call, in the shape of OpenAI or Anthropic.

import type { ListedModel, ModelList } from '../../ai/providers/listed-models.ts'
import { pricedModelsOf } from '../../ai/providers/known-models.ts'
import { type OfferedModel, writeModel, writeModels } from '../../ai/providers/models-page.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import type { ModelsTarget } from '../../ai/target.ts'
import { guarded } from '../../base/guarded.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { firstValue } from '../../http1/fields/fields.ts'
import type { AiExchange } from '../ai-call/ai-exchange.ts'
import { audienceOf } from '../ai-call/audience-of-call.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { addOwnProviders, providersOf } from './own-providers.ts'
import { wouldAllow } from '../ai-call/policies.ts'
import { respondWithJson } from './own-response.ts'
import { ownKeysFor } from './take-call.ts'
import { allowsName } from './token-limits.ts'

/** Ms that a caller waits for providers: Claude Code waits for three seconds. */
const maxWait = 1_500

/** Waits for lists that are not known yet, but not for long. */
export async function respondWithModels(
  x: Exchange,
  ai: AiExchange,
  target: ModelsTarget,
): Promise<Refusal | 'responded' | null> {
  const isAnthropic = firstValue(x.head.fields, 'anthropic-version') !== null
  if (isAnthropic) x.audience = audienceOf(target, 'anthropic')
  const [routes] = await Promise.all([x.plane.ai!.routes.names(ai.gateway!), addOwnProviders(x, ai)])
  const asking = offersFor(x, ai).flatMap(offer => {
    const { models, asking } = listOf(x, offer)
    return models === null && asking !== null ? [asking] : []
  })
  if (asking.length > 0) await within(maxWait, asking)
  return x.stage === 'none' ? respond(x, ai, target, { routes, isAnthropic }) : null
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
  for (const offer of offersFor(x, ai)) {
    const { prefix, provider } = offer
    for (const model of listedBy(x, offer)) {
      if (!allowsName(ai, `${provider.name}/${model.id}`) || !wouldAllow(ai, provider, model.id)) continue
      const id = `${prefix}/${model.id}`
      const owned = { ...model, owner: provider.name }
      full.push({ ...owned, id })
      const [only, second] = edgeAi.providers.candidates(model.id)
      if (second === undefined && only === id) bare.push(owned)
    }
  }
  const seen = new Map<string, OfferedModel>()
  for (const model of [...offered, ...bare, ...full]) if (!seen.has(model.id)) seen.set(model.id, model)
  return [...seen.values()]
}

/** A provider that calls can use, and the key of theirs with which it is asked for its models. */
interface Offer {
  readonly prefix: string
  readonly provider: Provider
  readonly key: string | null
}

/** Those for which the gateway has a key, and, unless it is byok_only, those that need none of its own. */
function offersFor(x: Exchange, ai: AiExchange): readonly Offer[] {
  const { byokOnly = false } = ai.gateway!
  return providersOf(x, ai).entries.flatMap(([prefix, provider]) => {
    const own = ownKeysFor(x, ai, provider)
    if (own !== null && 'error' in own) return []
    if (own !== null) return [{ prefix, provider, key: own.ring.all[0]!.value }]
    const isUsable = !byokOnly && provider.config !== null && provider.withoutKey === null
    return isUsable ? [{ prefix, provider, key: provider.keys[0] ?? null }] : []
  })
}

function listOf({ plane, snapshot }: Exchange, { provider, key }: Offer): ModelList {
  // The operator has not set it up: only calls go there.
  if (provider.withoutKey !== null) return noList
  const [member] = snapshot.ai!.routeTo(provider).pool.members
  return plane.models.of(provider, key, member!.target.config)
}

const noList: ModelList = { models: null, asking: null }

/** What a provider does not say is known from its configuration and prices. */
function listedBy(x: Exchange, offer: Offer): readonly ListedModel[] {
  const { models } = listOf(x, offer)
  const { provider } = offer
  const own = provider.config?.models?.filter(pattern => !pattern.includes('*'))
  const ids = models === null ? (own ?? pricedModelsOf(provider.name)) : (own ?? [])
  const unlisted = ids.filter(id => models?.some(model => model.id === id) !== true)
  return [...(models ?? []), ...unlisted.map(id => ({ id, displayName: id, created: 0 }))]
}
