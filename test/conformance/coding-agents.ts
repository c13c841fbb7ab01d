// Claude Code and Codex as published, headless, set up as docs/sdks.md says, before a gateway as it is shipped and providers
// of each API: node test/conformance/coding-agents.ts
//
// Each runs a command for its model and sends the result back. The table in docs/sdks.md is what this finds; WRITE_DOCS=1
// writes it anew. Installs them on its first run, which takes 800 MB.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AgentRun, type CodingAgent, claudeCode, codex, runAgent } from './coding-agents/programs.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import * as servers from '../help/model-server.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'

const page = readPage('docs/sdks.md')

/** The settings of the page for the routes of an account, and those for native ones. */
function snippets(heading: string, language: string): { readonly own: string; readonly native: string } {
  const [own, native] = blocksOf(section(page, heading)).filter(block => block.language === language)
  return { own: own!.text, native: native!.text }
}

const claudeSettings = snippets('Claude Code', 'sh')
const codexSettings = snippets('Codex', 'toml')

interface Door {
  readonly gateway: RunningGateway
  readonly account: string
  readonly token: string
}

/** Base URLs behind the host; native routes are for the provider of the page. */
const routes = {
  short: '',
  REST: '/client/v4/accounts/ACCOUNT/ai',
  native: null,
} as const
type Route = keyof typeof routes

interface Task {
  readonly route: Route
  /** Instead of that of the page. */
  readonly model?: string
  readonly isIsolated?: boolean
}

interface Session {
  /** Folder in which it works, and that of its own files. */
  readonly cwd: string
  readonly home: string
  readonly run: AgentRun
}

/** Returns the settings of the page with what a reader puts in their place. */
function settingsOf(
  { own, native }: typeof claudeSettings,
  { gateway, account, token }: Door,
  { route, model }: Task,
): string {
  const base = `${gateway.edge}${routes[route] ?? ''}`
  const given = (route === 'native' ? native : own)
    .replace('http://127.0.0.1:8080', base)
    .replace(/\$?ACCOUNT/, account)
    .replace('$OWN_KEY', 'sk-own')
    .replace('$TOKEN', token)
  return model === undefined
    ? given
    : given.replace(/^(model = |export ANTHROPIC_MODEL=).*$/m, `$1"${model}"`)
}

function foldersOf(t: TestContext) {
  const place = quickFolder(t, 'agent')
  const [home, cwd] = [join(place, 'home'), join(place, 'work')]
  mkdirSync(home)
  mkdirSync(cwd)
  return { home, cwd }
}

const prompt = 'Write hello into made.txt.'
const bash = [prompt, '--allowedTools', 'Bash']

async function claude(
  t: TestContext,
  door: Door,
  task: Task,
  args: readonly string[] = bash,
  more: Readonly<Record<string, string>> = {},
): Promise<Session> {
  const folders = foldersOf(t)
  const lines = settingsOf(claudeSettings, door, task).matchAll(/^export (\w+)="?(.*?)"?$/gm)
  const env = { ...Object.fromEntries(Array.from(lines, ([, name, value]) => [name!, value!])), ...more }
  const run = await runAgent(t, claudeCode, { args: ['-p', ...args], env, ...endOf(door, task), ...folders })
  return { ...folders, run }
}

async function codexExec(t: TestContext, door: Door, task: Task): Promise<Session> {
  const folders = foldersOf(t)
  mkdirSync(join(folders.home, '.codex'))
  writeFileSync(join(folders.home, '.codex/config.toml'), settingsOf(codexSettings, door, task))
  const run = await runAgent(t, codex, {
    args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
    env: { TOKEN: door.token, GATEHOUSE_AUTHORIZATION: `Bearer ${door.token}` },
    ...endOf(door, task),
    ...folders,
  })
  return { ...folders, run }
}

const endOf = ({ gateway }: Door, { isIsolated = true }: Task) => ({
  port: Number(new URL(gateway.edge).port),
  isIsolated,
})

/** The agent ran the command, and told what the model said with its result. */
function assertDone({ cwd, run }: Session): void {
  assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`)
  assert.ok(run.stdout.includes(servers.farewell), run.stdout)
  assert.equal(readFileSync(join(cwd, 'made.txt'), 'utf8'), 'hello\n')
}

async function startDoor(t: TestContext) {
  const providers = {
    openai: await servers.startModels(t, servers.openai),
    anthropic: await servers.startModels(t, servers.anthropic),
    'custom-chat': await servers.startModels(t, servers.chatAlone),
    'custom-responses': await servers.startModels(t, servers.responsesAlone),
  }
  const urls = Object.fromEntries(
    Object.entries(providers).map(([name, { url }]) => [name, { url, keys: 'sk-ours' }]),
  )
  const all = { ...urls, 'custom-responses': { ...urls['custom-responses'], apis: ['responses'] } }
  const gateway = await startGateway(
    t,
    `ai: { hosts: [127.0.0.1], providers: ${JSON.stringify(all)} }\nzones: []\n`,
  )
  const { account, token } = await gateway.firstStart
  return { door: { gateway, account, token }, providers }
}

/** The APIs of providers, with one that has it alone, and a model of it. */
const apis = [
  { api: 'Messages', path: '/v1/messages', provider: 'anthropic', model: 'anthropic/claude-sonnet-4-5' },
  {
    api: 'Chat Completions',
    path: '/v1/chat/completions',
    provider: 'custom-chat',
    model: 'custom-chat/lab',
  },
  { api: 'Responses', path: '/v1/responses', provider: 'custom-responses', model: 'custom-responses/lab' },
] as const

interface Caller {
  readonly agent: CodingAgent
  readonly speaks: (typeof apis)[number]['api']
  /** Of native routes in the page. */
  readonly provider: 'anthropic' | 'openai'
  call(t: TestContext, door: Door, task: Task): Promise<Session>
}

const callers: readonly Caller[] = [
  { agent: claudeCode, speaks: 'Messages', provider: 'anthropic', call: claude },
  { agent: codex, speaks: 'Responses', provider: 'openai', call: codexExec },
]

const START = '<!-- found by test/conformance/coding-agents.ts -->\n'
const END = '<!-- end of agents -->'

/** All runs have one gateway, since each takes about a second. */
test('coding agents', async t => {
  const { door, providers } = await startDoor(t)
  const rows: string[] = []
  for (const { agent, speaks, provider, call } of callers) {
    const about = `| ${agent.name} | \`${agent.package}\` ${agent.version}`
    for (const route of ['short', 'REST'] as const) {
      const marks: string[] = []
      for (const { api, path, provider, model } of apis) {
        await t.test(`${agent.name} runs a command on ${route} for a model of ${api}`, async t => {
          const { asked, refused } = providers[provider]
          const before = asked.length
          assertDone(await call(t, door, { route, model }))
          assert.deepEqual(refused, [])
          assert.deepEqual(new Set(asked.slice(before).map(({ path }) => path)), new Set([path]))
          marks.push(api === speaks ? 'as it is' : 'translated')
        })
      }
      rows.push(`${about} | ${route} | ${marks.join(' | ')} |`)
    }
    await t.test(`${agent.name} runs a command on the native route`, async t => {
      const { asked, refused } = providers[provider]
      const before = asked.length
      assertDone(await call(t, door, { route: 'native' }))
      assert.deepEqual(refused, [])
      for (const { headers } of asked.slice(before)) {
        const key = headers['x-api-key'] ?? headers.authorization
        assert.equal(key, agent === claudeCode ? 'sk-own' : 'Bearer sk-ours')
      }
    })
    rows.push(
      `${about} | native | ${apis.map(({ api }) => (api === speaks ? 'as it is' : '–')).join(' | ')} |`,
    )
  }
  await t.test('Claude Code runs a command for the models that it names by default', async t => {
    const { asked, refused } = providers.anthropic
    for (const [args, model] of [
      [[], /^claude-opus-/],
      [['--model', 'haiku'], /^claude-haiku-/],
    ] as const) {
      const before = asked.length
      assertDone(await claude(t, door, { route: 'short', model: '' }, [...bash, ...args]))
      for (const { body } of asked.slice(before)) assert.match(body.model as string, model)
    }
    assert.deepEqual(refused, [])
  })
  await t.test('Claude Code finds the models of the gateway', async t => {
    const discovery = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1' }
    const session = await claude(t, door, { route: 'short' }, bash, discovery)
    assertDone(session)
    const found = JSON.parse(readFileSync(join(session.home, '.claude/cache/gateway-models.json'), 'utf8'))
    const ids = found.models.map(({ id }: { readonly id: string }) => id)
    for (const id of ['claude-opus-5-5', 'claude-haiku-5-5']) assert.ok(ids.includes(id), ids.join(' '))
  })
  for (const { api, provider, model } of apis)
    await t.test(`Claude Code counts the tokens of its context for a model of ${api}`, async t => {
      const { asked, refused } = providers[provider]
      const before = asked.length
      const { run } = await claude(t, door, { route: 'short', model }, ['/context'])
      assert.equal(run.code, 0, run.stdout + run.stderr)
      assert.match(run.stdout, /\| System prompt \| [\d.]+k? \|/)
      assert.deepEqual(refused, [])
      // A provider without a way to count is not asked: the gateway estimates.
      const counted = asked.slice(before).filter(({ path }) => path.endsWith('/count_tokens')).length
      assert.equal(counted >= 10, api === 'Messages', `${counted}`)
    })
  await t.test('Codex runs a command for a model without its provider', async t => {
    assertDone(await codexExec(t, door, { route: 'short', model: 'gpt-5' }))
    assert.deepEqual(providers.openai.refused, [])
  })
  await t.test('what agents can call is what docs/sdks.md says', () => {
    const head =
      '| agent | package | route | Messages | Chat Completions | Responses |\n| --- | --- | --- | --- | --- | --- |'
    const [before, rest] = page.text.split(START)
    const [, behind] = rest!.split(END)
    const found = `${before}${START}\n${head}\n${rows.join('\n')}\n\n${END}${behind}`
    if (process.env.WRITE_DOCS) writeFileSync(join(root, page.path), found)
    else assert.equal(page.text, found)
  })
  await t.test('none of them calls the Internet where it could', async t => {
    for (const { call } of callers) assertDone(await call(t, door, { route: 'short', isIsolated: false }))
  })
})
