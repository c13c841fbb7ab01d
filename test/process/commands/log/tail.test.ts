// `gatehouse log tail` against a real management API, and against one that goes away.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { LogEntry } from '../../../../src/store/records/records.ts'
import { batchOf } from '../../../../src/store/log-batch/batch.ts'
import { entryWith, keepEntries } from '../../../admin/ai-logs/log-entries.ts'
import { startApi } from '../../../admin/api.ts'
import { gatehouse } from '../../../help/command.ts'
import { main } from '../../../help/gateway.ts'
import { account } from '../../../tokens/token-with.ts'

/** A command that runs on, and all that it has written so far. */
class Tail {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  stdout = ''
  stderr = ''

  constructor(t: TestContext, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [main, 'log', 'tail', ...args], { env: { ...process.env, ...env } })
    t.after(() => this.child.kill('SIGKILL'))
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exited = once(this.child, 'close').then(([code]) => code)
  }

  /** Resolves once a stream has what matches; rejects if the command ends before. */
  async shows(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    const ended = this.exited.then(() => true)
    for (let isOver = false; !pattern.test(this[stream]); ) {
      if (isOver) assert.fail(`it ended: ${this.stdout}${this.stderr}`)
      isOver = await Promise.race([once(this.child[stream]!, 'data').then(() => false), ended])
    }
  }

  async interrupt(): Promise<number | null> {
    this.child.kill('SIGINT')
    return this.exited
  }
}

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const tail = (...args: readonly string[]) => new Tail(t, [...args, '--url', api.origin], env)
  assert.equal((await api.ask('POST', '/ai-gateway/gateways', { body: { id: 'support' } })).status, 200)
  /** Keeps an entry of a gateway. */
  const keep = async (gateway: string, n: number, members: Partial<LogEntry> = {}) => {
    const entries = [entryWith(n, { gateway, ...members })]
    await api.kept.logs.append(account, gateway, batchOf(entries), {
      maxEntries: 1_000,
      strategy: 'DELETE_OLDEST',
    })
  }
  return { ...api, tail, keep, env }
}

test('the latest entries of all gateways come first, in their order, and then what is new, until Ctrl-C', async t => {
  const { tail, keep, kept } = await start(t)
  await keepEntries(kept, [entryWith(1), entryWith(2), entryWith(4, { cost: 0.00125, tokenName: 'laptop' })])
  await keep('support', 3, { model: 'steer\u001b[2J' })
  const following = tail('--last', '3')
  await following.shows(/laptop/)
  const [head, ...lines] = following.stdout.trimEnd().split('\n')
  assert.match(head!, /^TIME +GATEWAY +STATUS +DURATION +MODEL +TOKENS +COST +CALLER$/)
  assert.deepEqual(
    lines.map(line => line.replaceAll(/ {2,}/g, ' ')),
    [
      '2026-01-01T00:00:02.000Z default 200 12 ms openai/gpt-5 10+20 - -',
      '2026-01-01T00:00:03.000Z support 200 12 ms openai/steer\\u{1b}[2J 10+20 - -',
      '2026-01-01T00:00:04.000Z default 200 12 ms openai/gpt-5 10+20 $0.00125 laptop',
    ],
  )
  await keep('support', 5, { status: 429, success: false, error: 'rate_limited' })
  await following.shows(/^2026-01-01T00:00:05.000Z {2}support +429 .*: rate_limited$/m)
  const saved = { tokensIn: 10, tokensOut: 20, cost: 0.00125 }
  await keep('support', 6, { cached: true, cost: 0, tokensIn: 0, tokensOut: 0, saved })
  await following.shows(/^2026-01-01T00:00:06.000Z .* 0\+0 +\(\$0\.00125\) +-$/m)
  assert.deepEqual([await following.interrupt(), following.stderr], [0, ''])
})

test('with --json, each entry is an object in a line of its own, with its gateway', async t => {
  const { tail, keep, ask } = await start(t)
  await keep('support', 1)
  const following = tail('support', '--json')
  await following.shows(/\n/)
  await keep('default', 2)
  await keep('support', 3)
  await following.shows(/\n.*\n/)
  const found = following.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const { json } = await ask('GET', '/ai-gateway/gateways/support/logs?order_by_direction=asc')
  assert.deepEqual(
    found,
    json.result.map((entry: object) => ({ gateway: 'support', ...entry })),
  )
  assert.equal(await following.interrupt(), 0)
})

test('only what matches is shown, however much does not', async t => {
  const { tail, keep, kept } = await start(t)
  await keepEntries(kept, [entryWith(1), entryWith(2, { success: false })])
  const following = tail('--failed', '--where', 'duration gt 100', '--model', 'gpt-5')
  await following.shows(/^TIME/)
  const others = Array.from({ length: 900 }, (_, i) => entryWith(10 + i))
  await keepEntries(kept, others)
  await keep('default', 2000, { success: false, duration: 101 })
  await following.shows(/00:33:20/)
  assert.deepEqual(following.stdout.match(/^2026\S+/gm), ['2026-01-01T00:33:20.000Z'])
  assert.equal(await following.interrupt(), 0)
})

test('it ends silently once nobody reads its output', async t => {
  const { tail, keep } = await start(t)
  await keep('default', 1)
  const following = tail()
  await following.shows(/00:00:01/)
  following.child.stdout!.destroy()
  await keep('default', 2)
  assert.deepEqual([await following.exited, following.stderr], [0, ''])
})

test('wrong arguments, an unknown gateway and a token that may not are reported, and it ends', async t => {
  const { origin, env, keepToken } = await start(t)
  const weak = await keepToken(['AI Gateway Run'])
  for (const [args, token, code, sentence] of [
    [['--last', '101'], env.GATEHOUSE_TOKEN, 2, /^gatehouse: --last must be a number from 0 to 100\n$/],
    [['--where', 'duration'], env.GATEHOUSE_TOKEN, 2, /^gatehouse: --where must be 'KEY OPERATOR VALUE'/],
    [['--where', 'colour eq red'], env.GATEHOUSE_TOKEN, 1, /key must be one of id, created_at/],
    [['A B'], env.GATEHOUSE_TOKEN, 2, /^gatehouse: the id of a gateway has 1 to 64 lower-case /],
    [['nobody'], env.GATEHOUSE_TOKEN, 1, /^gatehouse: Gateway not found/],
    [[], weak.value, 1, /AI Gateway Read/],
  ] as const) {
    const asked = ['log', 'tail', ...args, '--url', origin]
    const outcome = await gatehouse(asked, { ...env, GATEHOUSE_TOKEN: token })
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], args.join(' '))
    assert.match(outcome.stderr, sentence)
  }
})

test('an unreachable gateway is reported once, and tailing continues where it was', async t => {
  const cursors: (string | null)[] = []
  const server = createServer(({ url }, response) => {
    const cursor = new URL(url!, 'http://a').searchParams.get('cursor')
    cursors.push(cursor)
    const isNew = cursor === 'first' && cursors.filter(one => one === 'first').length > 1
    const shown = {
      created_at: '2026-01-01T00:00:00.000Z',
      provider: 'p',
      model: 'm',
      duration: 1,
      cost: null,
    }
    const result =
      cursor === null ? [] : isNew ? [{ ...shown, id: 'a', tokens_in: null, tokens_out: null }] : []
    const info = { cursor: isNew || cursor === 'second' ? 'second' : 'first' }
    response.end(JSON.stringify({ success: true, errors: [], messages: [], result, result_info: info }))
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  t.after(() => server.close())
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: 'svct_SECRET' }
  const following = new Tail(t, ['default', '--url', `http://127.0.0.1:${port}`], env)
  await following.shows(/^TIME/)
  while (cursors.at(-1) !== 'first') await once(server, 'request')
  server.closeAllConnections()
  server.close()
  await following.shows(/; trying again\n/, 'stderr')
  cursors.length = 0
  cursors.push('first')
  await listen(port)
  await following.shows(/connected again\n/, 'stderr')
  await following.shows(/p\/m/)
  assert.ok(!cursors.includes(null), 'nothing is read from the start again')
  assert.equal(await following.interrupt(), 0)
  assert.match(
    following.stderr,
    /^gatehouse: http:\/\/127\.0\.0\.1:\d+ (refuses connections|closed the connection); trying again\ngatehouse: connected again\n$/,
  )
})
