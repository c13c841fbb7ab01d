// What was acknowledged is there after kill -9: a consent with its code, and tokens.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'
import { type App, exchange, refresh, type Tokens, tokensIn, userinfo } from './app.ts'
import { startSite } from './site.ts'

interface Given {
  readonly app: App
  readonly tokens: Tokens
  readonly code: string
}

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${join(quickFolder(t, 'oauth'), 'store.db')}`,
  Redis: async t => (await startRedis(t, { aof: 'always' })).url,
}

/** Kills a process as soon as it has said a line, and returns that. */
async function lastWordOf(child: ChildProcess): Promise<Given> {
  for await (const line of createInterface(child.stdout!)) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    return JSON.parse(line)
  }
  throw new Error('it ended without a word')
}

for (const [name, open] of Object.entries(stores))
  test(`${name}: kill -9 between consent and exchange loses nothing that was acknowledged`, async t => {
    const url = await open(t)
    const script = join(import.meta.dirname, 'kill-site.ts')
    const child = spawn(process.execPath, [script, url], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const { app, tokens, code } = await lastWordOf(child)
    const site = await startSite(t, { url })
    const { access_token } = await tokensIn(await exchange(site, app, code))
    for (const token of [tokens.access_token, access_token])
      assert.equal((await userinfo(site, token)).status, 200)
    await tokensIn(await refresh(site, app, tokens.refresh_token))
  })
