// Claude Code and Codex as published, headless, before a gateway as it is shipped, and providers of each API behind it: each runs a command for its model
// and sends the result back.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AgentRun, claudeCode, codex, runAgent } from '../help/coding-agents.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import * as servers from '../help/model-server.ts'
import { quickFolder } from '../help/quick-folder.ts'

interface Door {
  readonly gateway: RunningGateway
  readonly account: string
  readonly token: string
}

interface Session {
  /** Folder in which it works. */
  readonly cwd: string
  readonly run: AgentRun
}

const base = ({ gateway, account }: Door) => `${gateway.edge}/client/v4/accounts/${account}/ai`

function foldersOf(t: TestContext) {
  const place = quickFolder(t, 'agent')
  const [home, cwd] = [join(place, 'home'), join(place, 'work')]
  mkdirSync(home)
  mkdirSync(cwd)
  return { home, cwd }
}

async function claude(
  t: TestContext,
  door: Door,
  args: readonly string[],
  env: Record<string, string> = {},
  isIsolated = true,
): Promise<Session> {
  const folders = foldersOf(t)
  const run = await runAgent(t, claudeCode, {
    args: ['-p', ...args],
    env: {
      ANTHROPIC_BASE_URL: base(door),
      ANTHROPIC_AUTH_TOKEN: door.token,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...env,
    },
    port: Number(new URL(door.gateway.edge).port),
    ...folders,
    isIsolated,
  })
  return { cwd: folders.cwd, run }
}

async function codexExec(t: TestContext, door: Door, model: string, isIsolated = true): Promise<Session> {
  const folders = foldersOf(t)
  const settings = join(folders.home, '.codex')
  mkdirSync(settings)
  writeFileSync(
    join(settings, 'config.toml'),
    `model = "${model}"
model_provider = "gatehouse"
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false

[model_providers.gatehouse]
name = "Gatehouse"
base_url = "${base(door)}/v1"
env_key = "TOKEN"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
  )
  const run = await runAgent(t, codex, {
    args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', 'Write hello into made.txt.'],
    env: { TOKEN: door.token },
    port: Number(new URL(door.gateway.edge).port),
    ...folders,
    isIsolated,
  })
  return { cwd: folders.cwd, run }
}

/** The agent ran the command, and told what the model said with its result. */
function assertDone({ cwd, run }: Session): void {
  assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`)
  assert.match(run.stdout, /All done\./)
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

const bash = ['Write hello into made.txt.', '--allowedTools', 'Bash']

/** Models of providers, and the API in which each of them is called. */
const models = {
  messages: { name: 'anthropic/claude-sonnet-4-5', provider: 'anthropic' },
  chat: { name: 'custom-chat/lab', provider: 'custom-chat' },
  responses: { name: 'custom-responses/lab', provider: 'custom-responses' },
} as const

/** Runs the agents against one gateway, since each run needs about a second. */
test('coding agents', async t => {
  const { door, providers } = await startDoor(t)
  for (const [api, { name, provider }] of Object.entries(models)) {
    const served = providers[provider]
    await t.test(`Claude Code runs a command for a model that speaks ${api}`, async t => {
      assertDone(await claude(t, door, bash, { ANTHROPIC_MODEL: name }))
      assert.deepEqual(served.refused, [])
    })
    if (api !== 'responses') continue
    await t.test(`Codex runs a command for a model that speaks ${api}`, async t => {
      assertDone(await codexExec(t, door, name))
      assert.deepEqual(served.refused, [])
    })
  }
  await t.test('none of them calls the Internet where it could', async t => {
    assertDone(await claude(t, door, bash, { ANTHROPIC_MODEL: models.messages.name }, false))
    assertDone(await codexExec(t, door, models.responses.name, false))
  })
})
