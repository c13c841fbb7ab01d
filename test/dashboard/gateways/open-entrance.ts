// The dashboard with an edge before it that has the same store, and a provider on loopback.

import type { TestContext } from 'node:test'
import { AiEndpoint } from '../../../src/process/side-port/ai-endpoint.ts'
import { type AiSettings, completion, startAi } from '../../help/ai.ts'
import { type Reply, say, startProvider } from '../../help/provider.ts'
import { openDashboard, type RoleName } from '../site.ts'

/** Starts both; the provider says a chat completion unless told otherwise. */
export async function openWithEdge(
  t: TestContext,
  role?: RoleName,
  reply: Reply = (_, response) => say(response, completion),
  ai: AiSettings['ai'] = {},
) {
  const site = await openDashboard(t, role)
  const provider = await startProvider(t, reply)
  const providers = { openai: { url: provider.url, keys: ['sk-test'] } }
  const { edge, logs } = await startAi(t, providers, {
    given: { store: site.kept, account: site.account },
    ai,
  })
  const config = {
    ai: {
      hosts: ['ai.test'],
      providers: [{ name: 'openai', url: provider.url, keys: ['sk-test'] }],
      models: [],
    },
    oauth: { issuer: null },
    publicPort: null,
  }
  const endpoints = [{ host: '127.0.0.1', port: edge.port }]
  const entrance = new AiEndpoint(() => ({ config, endpoints }) as never)
  site.edge.entrance = entrance.current
  return { ...site, provider, logs, port: edge.port }
}
