// A code that processes of their own exchange at once: one wins, and what it got is ended by the others, whichever of them is killed.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { endDigestOf, familyOf } from '../../src/oauth/grants/token-family.ts'
import { digestOf } from '../../src/tokens/token.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'
import { type App, codeOf, refresh, type Tokens, userinfo, visit } from './app.ts'
import { type Site, startSite } from './site.ts'

const stores: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${join(quickFolder(t, 'oauth'), 'store.db')}`,
  Redis: async t => (await startRedis(t, { aof: 'always' })).url,
}

interface Response {
  readonly status: number
  readonly body: Tokens & { readonly error?: string; readonly error_description?: string }
}

interface Rival {
  readonly child: ChildProcess
  exchange(app: App, code: string): void
  readonly responses: AsyncIterator<Response>
}

async function startRival(t: TestContext, url: string): Promise<Rival> {
  const script = join(import.meta.dirname, 'rival-site.ts')
  const child = spawn(process.execPath, [script, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  assert.equal((await lines.next()).value, 'ready')
  const responses = (async function* () {
    for await (const line of { [Symbol.asyncIterator]: () => lines }) yield JSON.parse(line) as Response
  })()
  const exchange = (app: App, code: string) => void child.stdin!.write(`${JSON.stringify({ app, code })}\n`)
  return { child, exchange, responses }
}

async function take({ responses }: Rival, count: number): Promise<Response[]> {
  const taken: Response[] = []
  while (taken.length < count) taken.push((await responses.next()).value)
  return taken
}

const isReplay = ({ body }: Response) =>
  body.error_description?.startsWith('the code was used before') === true

async function assertEnded(site: Site, app: App, { access_token, refresh_token }: Tokens): Promise<void> {
  assert.equal((await userinfo(site, access_token)).status, 401)
  assert.equal(await site.verifier.verify(access_token, null, 'ai'), 'unknown')
  assert.equal((await refresh(site, app, refresh_token)).status, 400)
}

for (const [name, open] of Object.entries(stores))
  test(`${name}: two processes get a code at once`, async t => {
    const url = await open(t)
    const site = await startSite(t, { url })
    const rivals = await Promise.all([startRival(t, url), startRival(t, url)])
    const { app, browser } = await visit(site)

    await t.test(
      'of 20 parallel exchanges one succeeds, and its tokens are revoked once all are done',
      async () => {
        for (let round = 0; round < 3; round++) {
          const code = await codeOf(site, browser, app.client)
          for (const rival of rivals) rival.exchange(app, code)
          const responses = (await Promise.all(rivals.map(rival => take(rival, 10)))).flat()
          const won = responses.filter(({ status }) => status === 200)
          assert.equal(won.length, 1)
          for (const { status, body } of responses.filter(({ status }) => status !== 200))
            assert.deepEqual([status, body.error], [400, 'invalid_grant'])
          assert.ok(responses.some(isReplay))
          await assertEnded(site, app, won[0]!.body)
        }
      },
    )

    await t.test(
      'a replay whose process is killed with its response has ended what the code gave',
      async () => {
        const code = await codeOf(site, browser, app.client)
        for (const rival of rivals) rival.exchange(app, code)
        const [[own], [first, ...before]] = await Promise.all([
          take(rivals[0]!, 10).then(all => all.filter(({ status }) => status === 200)),
          untilReplay(rivals[1]!),
        ])
        const kept = await site.store.credentials.get('authorization_code', digestOf(code))
        assert.ok(await site.store.credentials.hasEnded(endDigestOf(familyOf(kept!)!)))
        assert.ok(isReplay(first!))
        for (const { body, status } of [own, ...before].filter(response => response !== undefined))
          if (status === 200) await assertEnded(site, app, body)
      },
    )
  })

/** Kills a rival at its first response to a replay, and returns that and what came before. */
async function untilReplay(rival: Rival): Promise<Response[]> {
  const before: Response[] = []
  for (;;) {
    const { value } = await rival.responses.next()
    if (!isReplay(value)) {
      before.push(value)
      continue
    }
    rival.child.kill('SIGKILL')
    await once(rival.child, 'exit')
    return [value, ...before]
  }
}
