// What tokens cost: code exchanges and refreshes per second and per second of CPU of the authorization server, with durable writes, on SQLite and Redis.
// Usage: node bench/micro/oauth-server/token.ts [codes]
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { digestOf } from '../../../src/tokens/token.ts'
import { codeOf, visit } from '../../../test/oauth-server/app.ts'
import { callback, startSite } from '../../../test/oauth-server/site.ts'
import { freePort } from '../../../test/help/free-port.ts'
import { cpuTime } from '../../load/proc.ts'

/** Apps that wait for a response at once. */
const atOnce = 64
const many = Number(process.argv[2] ?? 4_000)

/** What the server tells of the app. */
interface Told {
  readonly port: number
  readonly authorization: string
  readonly codes: readonly string[]
}

/** Runs in a process of its own, so that its CPU is its own. */
async function serve(url: string, scope: string): Promise<Told> {
  const never = { after: () => {} } as unknown as TestContext
  const site = await startSite(never, { url })
  const { app, browser } = await visit(site)
  const first = await codeOf(site, browser, app.client, { scope })
  const { credentials } = site.store
  const kept = (await credentials.get('authorization_code', digestOf(first)))!
  // Each as the first one, and of a family of its own.
  const codes = Array.from({ length: many }, () => randomBytes(32).toString('base64url'))
  for (let at = 0; at < many; at += 500)
    await credentials.putAll(
      codes.slice(at, at + 500).map(code => ({
        ...kept,
        digest: digestOf(code),
        data: { ...(kept.data as object), family: randomBytes(16).toString('hex') },
        expiresAt: Date.now() + 600_000,
      })),
    )
  const authorization = `Basic ${Buffer.from(`${app.client.id}:${app.secret}`).toString('base64')}`
  return { port: Number(new URL(site.issuer).port), authorization, codes }
}

/** Asks once, and returns the refresh token of the response. */
function ask({ port, authorization }: Told, agent: Agent, form: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = {
    authorization,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': form.length,
  }
  const sent = request({ port, path: '/oauth2/token', method: 'POST', agent, headers }, response => {
    let text = ''
    response.setEncoding('latin1')
    response.on('data', piece => {
      text += piece
    })
    response.on('end', () => {
      const found = /"refresh_token":"([^"]+)"/.exec(text)?.[1]
      if (found === undefined) reject(new Error(text))
      else resolve(found)
    })
  })
  sent.on('error', reject).end(form)
  return promise
}

async function measure(name: string, told: Told, pids: readonly number[], forms: readonly string[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const cpu = () => pids.map(cpuTime)
  const before = cpu()
  const began = performance.now()
  const tokens: string[] = []
  let next = 0
  const work = async () => {
    while (next < forms.length) tokens.push(await ask(told, agent, forms[next++]!))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const took = (performance.now() - began) / 1_000
  const [own = 0, theirs] = cpu().map((now, i) => (now - before[i]!) / forms.length)
  agent.destroy()
  const rate = (number: number) => Math.round(number).toLocaleString('en').padStart(6)
  const redis = theirs === undefined ? '' : `, and ${rate(theirs)} µs of Redis`
  console.log(
    `  ${name.padEnd(10)} ${rate(forms.length / took)}/s ${rate(1e6 / own)}/s a core ${rate(own)} µs CPU each${redis}`,
  )
  return tokens
}

async function measureStore(name: string, url: string, redis: ChildProcess | null): Promise<void> {
  for (const [what, scope] of [
    ['with an ID token', 'openid offline_access ai_gateway.run'],
    ['without one', 'offline_access ai_gateway.run'],
  ] as const) {
    const child = fork(import.meta.filename, [String(many)], {
      env: { ...process.env, URL_OF_STORE: url, SCOPE: scope },
    })
    const [told] = (await once(child, 'message')) as [Told]
    const pids = [child.pid!, ...(redis === null ? [] : [redis.pid!])]
    console.log(`${name}, ${what}`)
    const uri = encodeURIComponent(callback)
    const codes = told.codes.map(code => `grant_type=authorization_code&code=${code}&redirect_uri=${uri}`)
    // The first ones are compiled on the way.
    await measure('warm-up', told, pids, codes.splice(0, many / 4))
    let tokens = await measure('exchange', told, pids, codes)
    for (let round = 0; round < 2; round++)
      tokens = await measure(
        'refresh',
        told,
        pids,
        tokens.map(token => `grant_type=refresh_token&refresh_token=${token}`),
      )
    child.kill()
    await once(child, 'exit')
  }
}

const { URL_OF_STORE, SCOPE } = process.env
if (URL_OF_STORE !== undefined) process.send!(await serve(URL_OF_STORE, SCOPE!))
else {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  await measureStore('SQLite', `sqlite:${join(folder, 'store.db')}`, null)
  const port = await freePort()
  const args = ['--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'yes']
  const redis = spawn('redis-server', args, { stdio: 'ignore' })
  await new Promise(resolve => setTimeout(resolve, 500))
  await measureStore('Redis', `redis://127.0.0.1:${port}`, redis)
  redis.kill()
  await once(redis, 'exit')
  rmSync(folder, { recursive: true })
}
