import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from '../../src/config/parse.ts'
import { writeConfig } from '../help/gateway.ts'
import { root } from '../help/source.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const integration = readFileSync(join(root, '.ci/run'), 'utf8')
const run = promisify(execFile)
const curl = process.env.CURL ?? 'curl'

/** The fenced blocks in this language. */
function blocks(language: string): string[] {
  return [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, tag, text]) =>
    tag === language ? [text!] : [],
  )
}

const commands = blocks('sh').flatMap(block => block.trimEnd().split('\n'))
const starting = new Set(['npm start', 'npm run demo'])
const installing = new Set(['npm ci', 'npm run check', 'npm test'])

interface Running {
  readonly edge: string
  readonly admin: string
}

/** Runs `npm start` or `npm run demo` as a reader would, but on free ports of loopback. */
async function start(t: TestContext, command: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const [npm, ...args] = command.split(' ')
  const child = spawn(npm!, args, {
    cwd: root,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  // The whole group, since npm does not pass the signal on.
  t.after(() => process.kill(-child.pid!, 'SIGKILL'))
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.includes('"msg":"ready"')) continue
    const { edge, admin } = JSON.parse(line)
    return { edge: `127.0.0.1:${edge[0].port}`, admin: `127.0.0.1:${admin.port}` }
  }
  return assert.fail(`${command} ended before it was ready`)
}

function startDefault(t: TestContext): Promise<Running> {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const GATEHOUSE_CONFIG = writeConfig(t, shipped)
  return start(t, 'npm start', { GATEHOUSE_CONFIG, ORIGIN: 'http://127.0.0.1:1' })
}

/** Runs one line of curl as it stands, against the running gateway. */
async function runCurl(command: string, { edge, admin }: Running): Promise<string> {
  const [, ...words] = command.match(/'[^']*'|\S+/g)!
  const args = words.map(word =>
    word
      .replace(/^'(.*)'$/, '$1')
      .replace('localhost:8080', edge)
      .replace('127.0.0.1:8081', admin),
  )
  const { stdout } = await run(curl, ['-sS', ...args])
  return stdout
}

test('every command of the README is of a kind that is run here or by continuous integration', () => {
  for (const command of commands) {
    const isKnown =
      starting.has(command) ||
      installing.has(command) ||
      command.startsWith('curl ') ||
      command.startsWith('npm run gatehouse -- ')
    assert.ok(isKnown, command)
  }
})

test('continuous integration runs the commands that install and check', () => {
  for (const command of installing) assert.ok(integration.split('\n').includes(command), command)
})

test('every curl line answers what the text around it says', async t => {
  const running = await startDefault(t)
  for (const command of commands.filter(line => line.startsWith('curl '))) {
    const output = await runCurl(command, running)
    if (command.includes('/readyz')) assert.equal(JSON.parse(output).status, 'ready')
    else if (command.includes('/metrics')) assert.match(output, /^gatehouse_requests_total\{/m)
    else if (command.includes('/522')) assert.match(output, /^HTTP\/1\.1 522 .*"error_code":522/s)
    else assert.match(output, /^HTTP\/1\.1 521 Web server is down\r\n/)
  }
})

test('the example at the top is what the gateway answers', async t => {
  const running = await startDefault(t)
  const [example] = blocks('')
  const [command, ...lines] = example!.trimEnd().split('\n')
  const output = (await runCurl(command!.replace(/^\$ /, ''), running)).split('\n')
  let at = -1
  for (const line of lines.filter(line => line !== '…')) {
    at = output.indexOf(line, at + 1)
    assert.notEqual(at, -1, line)
  }
})

test('the demo shows its page', async t => {
  const { edge } = await start(t, 'npm run demo', { DEMO_LISTEN: '127.0.0.1:0', DEMO_ADMIN: '127.0.0.1:0' })
  const page = await runCurl('curl http://localhost:8080/', { edge, admin: '' })
  assert.match(page, /misbehaves on demand/)
})

test('every line of the command line runs', async () => {
  for (const command of commands.filter(line => line.startsWith('npm run gatehouse -- '))) {
    const [npm, ...args] = command.split(' ')
    const { stdout, stderr } = await run(npm!, args, { cwd: root })
    assert.ok(`${stdout}${stderr}`.length > 0, command)
  }
})

test('the configuration shown is a good one', () => {
  const [yaml] = blocks('yaml')
  const surroundings = { env: {}, readFile: () => assert.fail('it refers to no file') }
  const parsed = parse(yaml!, surroundings)
  assert.ok('config' in parsed, JSON.stringify(parsed))
})

test('the numbered life of a request is the story that serve.ts tells', () => {
  const story = readFileSync(join(root, 'src/edge/serve.ts'), 'utf8')
  const expression = story.split('\n').find(line => line.includes(' ?? '))
  const steps = [...expression!.matchAll(/(\w+)\(x\)/g)].map(([, step]) => step)
  const told = [...readme.matchAll(/^\d+\. \*\*(\w+)\*\*/gm)].map(([, name]) => name)
  assert.deepEqual(told, steps)
})
