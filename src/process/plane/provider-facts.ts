// What the management API knows about AI providers.

import { systemClock } from '../../base/clock.ts'
import { withoutQuery } from '../../base/path/path.ts'
import type { KeyFact, ProviderFact, ProviderFacts, ProviderTest } from '../../admin/facts/provider-facts.ts'
import { type Provider, Providers } from '../../ai/providers/providers.ts'
import { pricedModels } from '../../ai/usage/prices.ts'
import type { Config } from '../../config/model/config.ts'
import { needsKey } from '../../config/settings/ai-rules.ts'
import type { ProviderChecker } from '../../edge/ai/provider-check.ts'
import type { MadeKeyInProcess, ProviderInProcess } from '../../edge/ai/provider-states.ts'
import type { ManagedPlane } from './managed-plane.ts'

interface ProviderFactsParts {
  readonly config: Pick<Config, 'ai'>
  readonly plane: Pick<ManagedPlane, 'providers'>
  readonly checker: Pick<ProviderChecker, 'check'>
}

const maxTested = 10
/** How long a test result is reused, in ms: however many callers ask, a provider gets few tests. */
const fresh = 5_000

export function providerFacts({ config: { ai }, plane, checker }: ProviderFactsParts): ProviderFacts {
  const byId = new Map<string, Provider>()
  const providers = new Providers(ai)
  for (const provider of providers.all) if (!byId.has(idOf(provider))) byId.set(idOf(provider), provider)
  const priced = pricedModels(ai.prices, ai.priceList)
  const tests = new Map<string, { readonly at: number; readonly test: Promise<ProviderTest> }>()
  return {
    hasModel: name => providers.model(name) !== null,
    all: async () => {
      const processes = await plane.providers()
      const places = new Map(ai.providers.map(({ name }, i) => [name as string, i]))
      return [...byId]
        .flatMap(([id, provider]) => {
          const views = processes.flatMap(all => all.find(one => idOf(one) === id) ?? [])
          return provider.config === null && views.length === 0 ? [] : factOf(provider, views, priced)
        })
        .sort((a, b) => (places.get(a.name) ?? Infinity) - (places.get(b.name) ?? Infinity) || 0)
    },
    test: async id => {
      const provider = byId.get(id)
      if (provider === undefined) return null
      const last = tests.get(id)
      const now = systemClock.monotonic()
      if (last !== undefined && now - last.at < fresh) return last.test
      const test = testAll(provider, ai, checker)
      tests.set(id, { at: now, test })
      return test
    },
  }
}

function idOf({ name, resource }: Pick<Provider, 'name' | 'resource'>): string {
  return resource === null ? name : `${name}.${resource}`
}

function factOf(
  provider: Provider,
  views: readonly ProviderInProcess[],
  priced: readonly string[],
): ProviderFact {
  const { name, resource, config, base, keys } = provider
  const latest = (of: (view: ProviderInProcess) => number) => Math.max(0, ...views.map(of))
  const worst = views.toSorted((a, b) => b.badAt - a.badAt)[0]
  const goodAt = latest(({ goodAt }) => goodAt)
  // Azure has the prices of OpenAI.
  const prefixes = name === 'azure-openai' ? [`${name}/`, 'openai/'] : [`${name}/`]
  return {
    id: idOf(provider),
    name,
    resource,
    isConfigured: config !== null,
    needsKey: needsKey(name, config?.url ?? null),
    origin: base.origin,
    keys: (config?.identity == null ? keys : [null]).map((_, i) =>
      keyOf(config!.keySources[i] ?? { kind: 'configuration' }, i, views),
    ),
    processes: views.length,
    lastAt: latest(({ lastAt }) => lastAt),
    goodAt,
    badAt: worst?.badAt ?? 0,
    badStatus: worst?.badStatus ?? 0,
    badError: worst?.badError ?? null,
    badCode: worst?.badCode ?? '',
    failures: views.filter(({ badAt }) => badAt > goodAt).reduce((sum, { failures }) => sum + failures, 0),
    pricedModels: prefixes.flatMap(prefix =>
      priced.flatMap(model => (model.startsWith(prefix) ? model.slice(prefix.length) : [])),
    ),
  }
}

function keyOf(source: KeyFact['source'], at: number, views: readonly ProviderInProcess[]): KeyFact {
  const resting = views.flatMap(({ keys }) => keys[at] ?? []).filter(({ restsUntil }) => restsUntil > 0)
  const last = resting.toSorted((a, b) => b.restsUntil - a.restsUntil)[0]
  return {
    source,
    resting: resting.length,
    restsUntil: last?.restsUntil ?? 0,
    status: last?.status ?? 0,
    made: madeOf(views.flatMap(({ keys }) => keys[at]?.made ?? [])),
  }
}

/** Of the processes that have one, the earliest end of it; and a failure if there is one anywhere. */
function madeOf(views: readonly MadeKeyInProcess[]): KeyFact['made'] {
  if (views.length === 0) return null
  const ends = views.flatMap(({ expiresAt }) => (expiresAt === 0 ? [] : expiresAt))
  const failures = views.flatMap(({ failure }) => failure ?? [])
  return {
    expiresAt: ends.length === 0 ? 0 : Math.min(...ends),
    failing: failures.length,
    failure: failures.at(-1) ?? null,
  }
}

async function testAll(
  provider: Provider,
  ai: Config['ai'],
  checker: ProviderFactsParts['checker'],
): Promise<ProviderTest> {
  // A key that is made has no text yet.
  const fixed = provider.config?.identity == null ? provider.keys : ['']
  const keys = fixed.length === 0 ? [null] : fixed.slice(0, maxTested)
  const results = await Promise.all(
    keys.map(async (key, i) => ({
      key: key === null ? null : i + 1,
      ...(await checker.check(provider, ai, key)),
    })),
  )
  const basePath = provider.base.pathname.replace(/\/$/, '')
  const path = withoutQuery(provider.check).slice(basePath.length)
  return { at: systemClock.now(), basePath, path, results }
}
