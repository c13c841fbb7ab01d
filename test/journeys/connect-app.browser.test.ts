// The way of an app to a person's consent: a colleague is invited, an app is registered, they connect in a real browser; the app gets tokens, uses, refreshes and
// loses them. With both client libraries, on either store, in one process and in several.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'
import { consent, libraries, settle } from './app-town.ts'

const methods = ['client_secret_basic', 'client_secret_post', 'none'] as const

interface Place {
  readonly workers: number
  readonly env: (t: TestContext) => Promise<NodeJS.ProcessEnv>
}

/** The other pairs of store and workers have their tokens ended in access-tokens.test.ts, as these do. */
const places: Readonly<Record<string, Place>> = {
  'SQLite, one process': { workers: 0, env: async () => ({}) },
  'Redis, two workers': { workers: 2, env: async t => ({ STORE: (await startRedis(t)).url }) },
}

for (const [place, { workers, env }] of Object.entries(places).filter(([place]) =>
  thorough(true, place.startsWith('Redis')),
))
  test(`${place}: apps of each kind are connected, used, refreshed and revoked`, async t => {
    const town = await settle(t, { workers, env: await env(t) })
    const colleague = await town.invite('grace@example.com')
    for (const [name, library] of Object.entries(libraries))
      for (const method of methods)
        await t.test(`${name}, ${method}`, async () => {
          const title = `${name} ${method}`
          const app = await town.register(title, method)
          const used = await library(town, app, method)
          const back = await consent(colleague, used.url, title)
          const tokens = await used.exchange(back)
          assert.match(tokens.access_token, /^svco_/)
          assert.equal(await town.chat(tokens.access_token), 200)
          const fresh = await used.refresh(tokens.refresh_token!)
          assert.notEqual(fresh.access_token, tokens.access_token)
          assert.equal(await town.chat(fresh.access_token), 200)
          await used.revoke(fresh.refresh_token!)
          await until(async () => (await town.chat(fresh.access_token)) === 401)
        })
  })
