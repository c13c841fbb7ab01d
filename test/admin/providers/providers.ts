// The AI providers of a configuration as the management API sees them: over views of processes that a test gives, and with tests over real sockets.

import type { ProviderFacts } from '../../../src/admin/facts/provider-facts.ts'
import type { AiConfig, ProviderConfig } from '../../../src/config/model/config.ts'
import { ProviderChecker } from '../../../src/edge/ai/provider-check.ts'
import type { ProviderInProcess } from '../../../src/edge/ai/provider-states.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { providerFacts } from '../../../src/process/plane/provider-facts.ts'
import { providerOf } from '../../help/ai.ts'
import { edgeConfig } from '../../help/edge.ts'

/** There is none, until a test `configure`s some. */
export function testProviders(timeout?: number) {
  const bugs: unknown[] = []
  const { edge: metrics } = new Metrics('0')
  const checker = new ProviderChecker({
    metrics,
    crashed: bug => bugs.push(bug),
    ...(timeout !== undefined && { timeout: timeout }),
  })
  const given = {
    facts: null as unknown as ProviderFacts,
    views: [] as readonly (readonly ProviderInProcess[])[],
    bugs,
    checker,
    configure: (
      providers: Readonly<Record<string, Partial<ProviderConfig>>>,
      more: Partial<AiConfig> = {},
    ) => {
      const list = Object.entries(providers).map(providerOf)
      const { ai } = edgeConfig([], { ai: { hosts: ['ai.test'], ...more, providers: list } })
      given.facts = providerFacts({
        config: { ai },
        plane: { providers: async () => given.views },
        checker,
      })
    },
  }
  given.configure({})
  const providers: ProviderFacts = {
    all: () => given.facts.all(),
    test: id => given.facts.test(id),
    hasModel: name => given.facts.hasModel(name),
  }
  return { providers, providersGiven: given }
}

/** A provider as a process sees it that never called it. */
export function viewOf(name: string, members: Partial<ProviderInProcess> = {}): ProviderInProcess {
  return {
    name,
    resource: null,
    keys: [],
    lastAt: 0,
    goodAt: 0,
    badAt: 0,
    badStatus: 0,
    badError: null,
    badCode: '',
    failures: 0,
    ...members,
  }
}
