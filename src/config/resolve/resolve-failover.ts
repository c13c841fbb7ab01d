// The aliases of models: what their settings must agree on, and the form in which they are compiled.

import { didYouMean } from '../../base/text/nearest.ts'
import { type Findings, quote } from '../file/mistake.ts'
import { providerNames } from '../model/config.ts'
import type { AliasConfig, AliasStep, FailoverConfig, ProviderConfig } from '../model/config.ts'
import type { FailoverSettings, ModelsSettings } from '../settings/failover-settings.ts'
import type { Placed } from '../shape/shape.ts'

type Aliases = ReadonlyMap<string, ModelsSettings | null>

/** Records unknown providers, aliases that lead to themselves, and weights beyond 100. */
export function resolveModels(
  aliases: Aliases,
  providers: readonly ProviderConfig[],
  findings: Findings,
): readonly AliasConfig[] {
  const isWhole = !findings.concern('ai.providers')
  const configs = [...aliases].flatMap(([name, models]) => {
    if (models === null) return []
    refuseWeights(models, findings)
    for (const { value } of models.value)
      if (value.model !== null) refuseModel(value.model, { aliases, providers, isWhole }, findings)
    return { name, steps: models.value.flatMap(({ value }) => stepOf(value) ?? []) }
  })
  refuseCircles(aliases, findings)
  return configs
}

/** Returns when a call goes on to the next model. */
export function resolveFailover({ statuses, ...rest }: FailoverSettings): FailoverConfig {
  const all = statuses.flatMap(range =>
    Array.from({ length: range.most - range.least + 1 }, (_, i) => range.least + i),
  )
  return {
    statuses: all,
    maxAttempts: rest.max_attempts,
    deadline: rest.deadline,
    retryWithin: rest.retry_within,
  }
}

function stepOf(step: ModelsSettings['value'][number]['value']): AliasStep | null {
  const { model, timeout, retries, weight } = step
  if (model === null) return null
  return {
    model: model.value,
    timeout: timeout?.value ?? null,
    retries: retries?.value ?? 0,
    weight: weight?.value ?? null,
  }
}

interface Known {
  readonly aliases: Aliases
  readonly providers: readonly ProviderConfig[]
  /** Whether the providers were read without a mistake, so that a missing one is one. */
  readonly isWhole: boolean
}

function refuseModel(
  model: Placed<string>,
  { aliases, providers, isWhole }: Known,
  findings: Findings,
): void {
  const [provider, resource, ...rest] = model.value.split('/') as [string, ...string[]]
  if (resource === undefined) {
    if (aliases.has(provider)) return
    const hint = didYouMean(provider, aliases.keys())
    return findings.flaw(
      model,
      `is neither PROVIDER/MODEL nor the name of an alias; got ${model.shown}${hint}`,
    )
  }
  const config = providers.find(({ name }) => name === provider)
  const isBuiltIn = (providerNames as readonly string[]).includes(provider)
  if (config === undefined && !isBuiltIn) {
    if (!isWhole) return
    const names = [...providerNames, ...providers.map(({ name }) => name)]
    return findings.flaw(model, `names an unknown provider, ${quote(provider)}${didYouMean(provider, names)}`)
  }
  if (provider !== 'azure-openai') return
  if (rest.length === 0 || config?.resources.includes(resource) !== true)
    findings.flaw(
      model,
      'must be azure-openai/RESOURCE/MODEL, with one of ai.providers.azure-openai.resources',
    )
}

/** Refuses weights that leave no share for the models without one, or share out less than all calls. */
function refuseWeights({ value: steps, ...place }: ModelsSettings, findings: Findings): void {
  const weights = steps.flatMap(({ value }) => value.weight ?? [])
  const sum = weights.reduce((sum, { value }) => sum + value, 0)
  if (weights.length === 0) return
  if (weights.length === steps.length) {
    if (sum !== 100) findings.flaw(place, `must have weights that add up to 100; they add up to ${sum}`)
  } else if (sum >= 100)
    findings.flaw(weights.at(-1)!, `leaves nothing for the models without one: the weights add up to ${sum}`)
  for (const { value } of steps)
    if (value.weight !== null && value.model !== null && !value.model.value.includes('/'))
      findings.flaw(value.weight, 'is for a model, not for an alias')
}

/** Refuses each alias that leads back to itself, at the name that closes the circle. */
function refuseCircles(aliases: Aliases, findings: Findings): void {
  const finished = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    if (finished.has(name)) return
    for (const { value } of aliases.get(name)?.value ?? []) {
      const next = value.model?.value
      if (next === undefined || !aliases.has(next)) continue
      if (next === name || path.includes(next))
        findings.flaw(
          value.model!,
          `leads back to itself: ${[...path, name, next].slice([...path, name].indexOf(next)).join(' → ')}`,
        )
      else visit(next, [...path, name])
    }
    finished.add(name)
  }
  for (const name of aliases.keys()) visit(name, [])
}
