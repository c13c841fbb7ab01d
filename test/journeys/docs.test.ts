// Every command, program and configuration in README.md and docs/, done as a reader would.

import { selfSigned } from '../../src/process/demo/self-signed.ts'
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parse as load } from 'yaml'
import { parseOptions } from '../../bench/load/options.ts'
import { parse } from '../../src/config/load/parse.ts'
import { steps } from '../../src/edge/serve/steps.ts'
import { errorRows } from '../../src/errors/catalogue/catalogue.ts'
import { FirstFill } from '../../src/process/store/first-start.ts'
import { openStore } from '../../src/store/open.ts'
import { completion } from '../help/ai.ts'
import type { Outcome } from '../help/command.ts'
import { commandLines } from '../help/command-lines.ts'
import { blocksOf, readPage, readPages, section } from '../help/docs.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { main, writeConfig } from '../help/gateway.ts'
import { say, startProvider, stream } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'
import { until } from '../help/until.ts'

/** These are done in order, by connect-by-curl.browser.test.ts, tls.test.ts, acme.test.ts, production.test.ts, move-store.test.ts and log-export.test.ts. */
const inOrder = new Set(
  [
    section(readPage('docs/oauth.md'), 'Try it with curl'),
    section(readPage('docs/tls.md'), 'Try it with an authority of your own'),
    section(readPage('docs/tls.md'), 'Certificates of clients'),
    section(readPage('docs/tls.md'), 'Certificates that renew themselves'),
    section(readPage('docs/log-export.md'), 'Verify a batch'),
    section(readPage('docs/log-export.md'), 'ClickHouse'),
    section(readPage('docs/log-export.md'), 'S3-compatible storage'),
    section(readPage('docs/production.md'), 'One machine'),
    section(readPage('docs/production.md'), 'From SQLite on one machine to Redis on many'),
  ].flatMap(page => blocksOf(page).map(({ text }) => text)),
)
const blocks = readPages()
  .flatMap(blocksOf)
  .filter(({ text }) => !inOrder.has(text))
const integration = readFileSync(join(root, '.ci/run'), 'utf8')
const run = promisify(execFile)
const curl = process.env.CURL ?? 'curl'

/** What holds a block, by its language: tests below, or what is said here. */
const holders: Readonly<Record<string, string>> = {
  sh: 'each line is held by one of the ways below',
  console: 'run, and compared with what it shows',
  js: 'run',
  javascript: 'run by test/oauth-server/apps.test.ts',
  ini: 'read by test/oauth-server/apps.test.ts',
  mjs: 'run by test/wire/ai-guard-webhook.test.ts',
  json: 'read below',
  yaml: 'read here; the recipes are run by recipes.test.ts',
  yml: 'the set-up of Prometheus, done below as it would',
  redis: 'run by test/store/redis/server/acl.test.ts',
  toml: 'run with Codex by test/conformance/coding-agents.ts; read by test/oauth-server/apps.test.ts',
  mermaid: 'not run: pictures; that of the steps is compared with them below',
  text: 'not run: a picture of the code, compared with its folders by test/house/docs.test.ts',
}

/** How a command is held, by its form. */
const ways = {
  started: /^npm (start|run demo|start -- --config my\.yaml)$/,
  installs: /^npm (ci|run check|test)$/,
  asksForClients: /^curl .*\/oauth_clients/,
  asks: /^curl (?!.*\/oauth_clients)/,
  managesClients: /^npx gatehouse client /,
  managesMembers: /^npx gatehouse member /,
  managesGateways: /^npx gatehouse gateway /,
  managesPolicies: /^npx gatehouse policy /,
  managesAlerts: /^npx gatehouse alert /,
  followsLogs: /^npx gatehouse log tail/,
  explains: /^npx gatehouse explain /,
  runs: /^npx gatehouse (?!client |member |gateway |policy |alert |log |explain )/,
  // Not run: there is no engine here. Ports, folders and the time to stop are compared with the Dockerfile.
  needsDocker: /^docker (build|run) /,
  // Not run: there is no systemd, engine or cluster here. test/deploy looks at what they are given, and runs promtool.
  deploys:
    /^(cd deploy|cp deploy|echo "GATEHOUSE_|ORIGIN=\S+ docker |docker compose |sudo |kubectl |helm |promtool )/,
  // Not run: it takes minutes and needs wrk. Its options are read as the bench does.
  measures: /^(npm run bench( |$)|node bench\/compare\.ts )/,
  // Not run: each takes minutes, for a million log entries, thousands of connections or many starts. Types and imports of these files are checked with all others.
  measuresParts: /^node bench\/(micro\/(compression|dashboard|edge|start|tls)|trials)\/[\w-]+\.ts$/,
  // Run with Claude Code by test/conformance/coding-agents.ts.
  setsAgents: /^export (ANTHROPIC|CLAUDE_CODE)_\w+=/,
  // Not run: it needs dnsmasq. The record is published by the DNS server of the tests.
  needsDnsmasq: /^dnsmasq .*--txt-record=app\.example\.com,"\$TEXT"$/,
} satisfies Readonly<Record<string, RegExp>>

const textsIn = (language: string) =>
  blocks.filter(block => block.language === language).map(({ text }) => text)

/** A command ends with its line, unless that ends with a backslash or within single quotes. */
const command = /(?:'[^']*'|\\\n|[^\n'])+/g

/** All commands in order, those over several lines in one as a shell reads them. */
const allCommands = textsIn('sh').flatMap(text =>
  Array.from(text.matchAll(command), ([found]) => found.replaceAll(/ \\\n */g, ' ')),
)

/** Returns all commands of this form, each once. */
const commands = (form: RegExp): readonly string[] =>
  [...new Set(allCommands)].filter(found => form.test(found))

interface Running {
  /** The port of the edge, and the address of the side port. */
  readonly port: string
  readonly admin: string
  /** What the first start told. */
  readonly env: { readonly ACCOUNT: string; readonly TOKEN: string; readonly CLIENT?: string }
}

/** Returns what npm runs for `npm start` or `npm run demo`: npm itself costs more than a start. */
function scriptOf(command: string): string {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, name, args = ''] = /^npm (?:run )?(\w+)(?: --( .*))?$/.exec(command)!
  return `exec ${scripts[name!]}${args}`
}

/** Runs the command in a shell as a reader would, but on free ports of loopback and with a data folder of its own. */
async function start(t: TestContext, command: string, env: NodeJS.ProcessEnv): Promise<Running> {
  const GATEHOUSE_DATA = mkdtempSync(join(tmpdir(), 'gatehouse-readme-'))
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    detached: true,
    env: { ...process.env, PATH, GATEHOUSE_DATA, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  t.after(async () => {
    // The whole group, since npm does not pass the signal on.
    process.kill(-child.pid!, 'SIGKILL')
    await ended
    rmSync(GATEHOUSE_DATA, { recursive: true })
  })
  const told = createInterface({ input: child.stderr! })
  const logged = createInterface({ input: child.stdout! })
  const [account, token, ready] = await Promise.all([
    found(told, /"account":"([0-9a-f]{32})"/),
    found(told, /"token":"(svct_[^"]+)"/),
    found(logged, /(.*"msg":"ready".*)/),
  ])
  const { edge, admin } = JSON.parse(ready)
  return {
    port: `${edge[0].port}`,
    admin: `127.0.0.1:${admin.port}`,
    env: { ACCOUNT: account, TOKEN: token },
  }
}

/** Returns an environment whose npx runs the program itself: npm costs four times as much, and has nothing more to show with each line. */
function quickNpx(t: TestContext): NodeJS.ProcessEnv {
  const folder = quickFolder(t, 'npx')
  const script = `#!/bin/sh\n[ "$1" = gatehouse ] && shift && exec '${process.execPath}' '${main}' "$@"\n`
  writeFileSync(join(folder, 'npx'), script, { mode: 0o755 })
  return { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
}

/** Returns what the pattern finds, in the first line where it does. */
function found(lines: Interface, pattern: RegExp): Promise<string> {
  return new Promise(resolve => {
    lines.on('line', line => {
      const [, match] = pattern.exec(line) ?? []
      if (match !== undefined) resolve(match)
    })
  })
}

/** Starts the configuration that is shipped, with a provider, and with the DNS server as its resolver. */
async function startDefault(t: TestContext, dns: DnsServer): Promise<Running> {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const provider = await startProvider(t, ({ body }, response) => {
    if (body.stream !== true) return say(response, completion)
    const send = stream(response)
    send({ choices: [{ index: 0, delta: { content: 'Hello.' } }] })
    send('[DONE]')
    response.end()
  })
  const pointed = shipped
    .replace('    openai:\n', `    openai:\n      url: ${provider.url}\n`)
    .replace(/^domains:$/m, `domains:\n  resolvers: ['${dns.address}']`)
  const GATEHOUSE_CONFIG = writeConfig(t, pointed)
  return start(t, 'npm start', { GATEHOUSE_CONFIG, ORIGIN: 'http://127.0.0.1:1' })
}

/** Runs one line of curl as it stands, by a shell, against the running gateway. */
async function runCurl(command: string, { port, admin, env }: Running): Promise<string> {
  const [, ...rest] = command.split(' ')
  const pointed = rest.join(' ').replace(':8080', `:${port}`).replace('127.0.0.1:8081', admin)
  const { stdout } = await run('sh', ['-c', `${curl} -sS ${pointed}`], { env: { ...process.env, ...env } })
  return stdout
}

/** Returns what a command that succeeded said, and that is something. */
async function done(outcome: Promise<Outcome>, line: string): Promise<Outcome> {
  const { code, stdout, stderr } = await outcome
  assert.equal(code, 0, `${line}\n${stderr}`)
  assert.notEqual(stdout + stderr, '', line)
  return { code, stdout, stderr }
}

test('every block is in a language that a test holds, and every language is there', () => {
  assert.deepEqual(new Set(blocks.map(({ language }) => language)), new Set(Object.keys(holders)))
})

test('examples of bodies are JSON', () => {
  for (const text of textsIn('json')) JSON.parse(text)
})

test('every command is held in exactly one way, and every way has a command', () => {
  for (const command of allCommands) {
    const forms = Object.entries(ways).filter(([, form]) => form.test(command))
    assert.equal(forms.length, 1, command)
  }
  for (const [way, form] of Object.entries(ways)) assert.ok(commands(form).length > 0, way)
})

test('continuous integration runs the commands that install and check', () => {
  for (const command of commands(ways.installs))
    assert.match(integration, new RegExp(`^(until )?${command}(; do)?$`, 'm'))
})

test('the bench takes the options shown', () => {
  for (const command of commands(ways.measures)) {
    const [program, ...args] = command.replace('npm run bench', 'bench').replace(' -- ', ' ').split(' ')
    if (program === 'bench') assert.notEqual(typeof parseOptions(args, []), 'string', command)
    else
      assert.match(readFileSync(join(root, args[0]!), 'utf8'), /`node bench\/compare\.ts REF \[--mix get\]/)
  }
})

test('what is deployed is there', () => {
  const paths = commands(ways.deploys).flatMap(line => line.match(/\bdeploy\/[\w./-]+/g) ?? [])
  assert.ok(paths.length > 5)
  for (const path of paths) assert.ok(existsSync(join(root, path)), path)
})

test('the benches of parts are there', () => {
  for (const command of commands(ways.measuresParts))
    assert.ok(existsSync(join(root, command.replace('node ', ''))), command)
})

test('with the gateway that npm start starts', async t => {
  const dns = await startDns(t)
  const running = await startDefault(t, dns)
  const { ACCOUNT, TOKEN } = running.env
  const env = { ...quickNpx(t), GATEHOUSE_ACCOUNT: ACCOUNT, GATEHOUSE_TOKEN: TOKEN }
  const execute = commandLines(env)
  const manage = (line: string, more?: NodeJS.ProcessEnv) =>
    done(execute(`${line} --url http://${running.admin}`, more), line)

  await t.test('the program streams a response, and the call is in the log', async () => {
    const [program, ...more] = textsIn('js')
    assert.deepEqual(more, [])
    const text = program!.replace(':8080', `:${running.port}`)
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', text], {
      cwd: root,
      env: { ...process.env, ...running.env },
    })
    assert.equal(stdout, 'Hello.')
    const logs = commands(ways.asks).find(line => line.includes('/logs'))!
    let entries: { readonly provider: string; readonly success: boolean }[] = []
    await until(async () => {
      entries = JSON.parse(await runCurl(logs, running)).result
      return entries.length > 0
    })
    assert.deepEqual([entries[0]!.provider, entries[0]!.success], ['openai', true])
  })

  await t.test('every curl line gets the response that the text describes', async () => {
    for (const command of commands(ways.asks)) {
      const output = await runCurl(command, running)
      if (command.includes('/client/v4/zones/')) assert.equal(JSON.parse(output).success, true, output)
      else if (command.includes('/oauth/scopes')) assert.match(output, /"id":"oauth_clients\.read"/)
      else if (command.includes('/audit_logs/export')) assert.match(output, /^when,id,action/)
      else if (command.includes('/audit_logs')) assert.equal(JSON.parse(output).success, true)
      else if (command.includes('/openapi.json')) assert.match(JSON.parse(output).openapi, /^3\.1\./)
      else if (command.includes('/readyz')) assert.equal(JSON.parse(output).status, 'ready')
      else if (command.includes('/metrics')) assert.match(output, /^gatehouse_requests_total\{/m)
      else if (command.includes('/provider_configs')) assert.equal(JSON.parse(output).success, true, output)
      else if (/ai-gateway\/gateways(\/team\/(budgets|budget_alerts|policies\S*))? /.test(command))
        assert.equal(JSON.parse(output).success, true, output)
      else if (command.includes('allow_client_id_metadata_documents'))
        assert.equal(JSON.parse(output).result.settings.allow_client_id_metadata_documents, true, output)
      else if (command.includes('/routes ')) assert.equal(JSON.parse(output).success, true, output)
      else if (command.includes('/logs')) assert.equal(JSON.parse(output).success, true)
      else if (command.includes('/chat/completions')) assert.match(output, /^HTTP\/1\.1 200 .*"Hello\."/s)
      else if (command.includes('/522/about')) assert.match(output, /^# Error 522: .*## What to Check/s)
      else if (command.includes('/522')) assert.match(output, /^HTTP\/1\.1 522 .*"error_code":522/s)
      else assert.match(output, /^HTTP\/1\.1 521 Web server is down\r\n/)
    }
  })

  await t.test(
    'a client is created, gets a new secret, proves its domain and becomes public, line by line',
    async () => {
      dns.txt('app.example.com')
      const lines = commands(ways.asksForClients)
      const say = async (line: string, CLIENT = '') => {
        const env = { ...running.env, CLIENT }
        const { success, result } = JSON.parse(await runCurl(line, { ...running, env }))
        assert.equal(success, true, line)
        return result
      }
      const [create, rotate, drop, describe, read, publish] = lines
      const { client_id: id, client_secret: first } = await say(create!)
      const { client_secret: second } = await say(rotate!, id)
      assert.notEqual(first, second)
      assert.equal((await say(read!, id)).has_rotated_secret, true)
      await say(drop!, id)
      const { client_uri_verification } = await say(describe!, id)
      dns.txt('app.example.com', client_uri_verification.text)
      await say(describe!, id)
      await until(async () => (await say(read!, id)).client_uri_verification.status === 'verified')
      assert.equal((await say(publish!, id)).visibility, 'public')
      for (const line of commands(ways.managesClients)) {
        const { stdout } = await manage(`${line} --json`, { CLIENT: id })
        assert.equal(JSON.parse(stdout).client_id, id, line)
      }
    },
  )

  await t.test('people are invited, changed and removed, line by line', async () => {
    for (const line of commands(ways.managesMembers)) {
      const { stdout } = await manage(line)
      if (line.includes(' invite '))
        assert.match(stdout, /^http:\/\/\S+\/auth\/invitation\?token=[\w-]{43}\n$/)
    }
  })

  await t.test(
    'gateways and policies are created, changed and listed, and logs followed, line by line',
    async () => {
      for (const line of commands(ways.managesGateways)) {
        const { stdout, stderr } = await manage(line)
        assert.match(`${stdout}${stderr}`, /support|default|team/, line)
      }
      for (const line of [...commands(ways.managesPolicies), ...commands(ways.managesAlerts)])
        await manage(line)
      for (const line of commands(ways.followsLogs)) {
        const asked = `exec ${line} --url http://${running.admin}`
        const following = spawn('sh', ['-c', asked], { cwd: root, env })
        const [head] = await once(following.stdout, 'data')
        assert.match(String(head), /^TIME /, line)
        following.kill('SIGINT')
        assert.deepEqual(await once(following, 'exit'), [0, null])
      }
    },
  )

  await t.test('a request is explained, line by line', async () => {
    const lines = commands(ways.explains)
    assert.ok(lines.length > 0)
    for (const line of lines) {
      const { stdout } = await manage(line)
      assert.match(stdout, /^It would pass, to http:\/\/127\.0\.0\.1:1\.\n/, line)
      assert.match(stdout, /^20 Request to the origin +passes /m, line)
    }
  })

  await t.test('the output shown for a command is the response of the gateway', async () => {
    for (const example of textsIn('console')) {
      const [command, ...lines] = example.trimEnd().split('\n')
      const output = (await runCurl(command!.replace(/^\$ /, ''), running)).split('\n')
      let at = -1
      for (const line of lines.filter(line => line !== '…')) {
        at = output.indexOf(line, at + 1)
        assert.notEqual(at, -1, line)
      }
    }
  })
})

test('the demo shows its page', async t => {
  const running = await start(t, scriptOf('npm run demo'), {
    DEMO_LISTEN: '127.0.0.1:0',
    DEMO_ADMIN: '127.0.0.1:0',
  })
  const page = await runCurl('curl http://localhost:8080/', running)
  assert.match(page, /misbehaves on demand/)
})

test('every line of the command line runs', async t => {
  const GATEHOUSE_DATA = mkdtempSync(join(tmpdir(), 'gatehouse-readme-'))
  t.after(() => rmSync(GATEHOUSE_DATA, { recursive: true }))
  const store = await openStore(`sqlite:${GATEHOUSE_DATA}/gatehouse.db`, { commandTimeout: 1_000 })
  await new FirstFill(store).run(Date.now())
  await store.close()
  const execute = commandLines({ ...process.env, GATEHOUSE_DATA })
  for (const command of commands(ways.runs)) await done(execute(command), command)
})

test('commands that a sentence names are there', async () => {
  const { stdout, stderr } = await run(process.execPath, [main, '--help'])
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const sentences = readPages().flatMap(({ text }) => text.match(/`[^`\n]+`/g) ?? [])
  const named = (form: RegExp) => sentences.flatMap(code => form.exec(code)?.[1] ?? [])
  const verbs = named(/\bgatehouse (?!gatehouse )((?:token|store) [a-z]+|[a-z]+)/)
  assert.ok(verbs.length > 5)
  for (const verb of verbs) assert.match(`${stdout}${stderr}`, new RegExp(`^ +gatehouse ${verb}\\b`, 'm'))
  for (const name of named(/\bnpm run ([a-z]+)/)) assert.ok(name in scripts, name)
})

const authority = selfSigned('proxy.example').cert

/** Gives what a configuration refers to: a list of prices, an authority, or a page. */
function readAny(path: string): string {
  if (path.endsWith('proxy-ca.pem')) return authority
  return path.endsWith('.json') ? '{"prices":{"openai/a":{"input":1,"output":1}}}' : '<p>page</p>'
}

test('the configurations shown are valid', () => {
  const surroundings = { env: {}, readFile: readAny, findFile: (path: string) => path }
  for (const yaml of textsIn('yaml')) {
    const parsed = parse(yaml, surroundings)
    assert.ok('config' in parsed, `${yaml}${JSON.stringify(parsed)}`)
  }
})

test('the life of a request is told with its steps, in their order', () => {
  const life = section(readPage('docs/architecture.md'), 'The life of a request')
  const picture = blocksOf(life).find(({ language }) => language === 'mermaid')!.text
  const namesIn = (text: string, form: RegExp) => Array.from(text.matchAll(form), ([, name]) => name!)
  const names = steps.map(({ name }) => name)
  assert.deepEqual(namesIn(life.text, /^\d+\. \*\*(\w+)\*\*/gm), names)
  assert.deepEqual(namesIn(picture, /^ *(\w+)\["\1: /gm), names)
  const codes = new Set<number>(Object.values(errorRows).map(({ code }) => code))
  for (const code of namesIn(picture, /\b(\d{4})\b/g)) assert.ok(codes.has(Number(code)), code)
})

test('a configuration of your own is started with --config, and nothing comes before what is piped', async t => {
  const shown = new Set(
    blocks.filter(({ text }) => text.includes('--config my.yaml')).map(({ page }) => page),
  )
  for (const page of shown) {
    const yaml = blocks.find(block => block.page === page && block.language === 'yaml')!.text
    const file = writeConfig(t, yaml)
    const { admin, env } = await start(t, scriptOf(`npm start -- --config ${file}`), {})
    assert.equal(
      JSON.parse(await runCurl('curl http://127.0.0.1:8081/readyz', { port: '0', admin, env })).status,
      'ready',
    )
  }
  const { stdout } = await run('sh', ['-c', 'npx gatehouse errors 522 --accept application/json'], {
    cwd: root,
  })
  assert.equal(JSON.parse(stdout).error_code, 522)
})

test('docker runs the image with the ports, the data folder and a time to stop that fit it', () => {
  const { text } = readPage('docs/operations.md')
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const [, host, port] = /GATEHOUSE_ADMIN=([\d.]+):(\d+)/.exec(dockerfile)!
  assert.ok(text.includes(`the side port listens on \`${host}:${port}\``))
  const parsed = parse('zones: []', { env: {}, readFile: String, findFile: String })
  const { grace } = 'config' in parsed ? parsed.config.shutdown : assert.fail()
  const [build, ...runs] = commands(ways.needsDocker)
  assert.equal(build, 'docker build -t gatehouse .')
  for (const command of runs) {
    const ports = Array.from(command.matchAll(/ -p (?:[\d.]+:)?\d+:(\d+)/g), ([, port]) => port)
    assert.match(dockerfile, new RegExp(`^EXPOSE ${ports.join(' ')}$`, 'm'), command)
    assert.equal(port, ports[1])
    const [, data] = / -v \w+:(\S+)/.exec(command)!
    assert.match(dockerfile, new RegExp(`^VOLUME ${data}$`, 'm'))
    assert.ok(Number(/--stop-timeout (\d+)/.exec(command)![1]) * 1_000 > grace + 5_000)
    const [, folder, file] = / -v "\$PWD:(.+):ro".* start --config (.+)\/my\.yaml$/.exec(command) ?? []
    assert.equal(file, folder)
  }
})

test('Prometheus, as it is set up here, scrapes a side port like that of the image', async t => {
  const [text] = textsIn('yml')
  const { scrape_configs } = load(text!)
  const [job, ...others] = scrape_configs
  assert.deepEqual([Object.keys(job), others], [['job_name', 'authorization', 'static_configs'], []])
  const file = writeConfig(t, "listen: ['127.0.0.1:0']\nzones: []")
  const GATEHOUSE_DATA = join(dirname(file), 'data')
  const env = { ...process.env, GATEHOUSE_CONFIG: file, GATEHOUSE_DATA, GATEHOUSE_ADMIN: '0.0.0.0:0' }
  const { admin } = await start(t, scriptOf('npm start'), env)
  const command = commands(ways.runs).find(line => line.includes('Metrics Read'))!
  const { stdout } = await run('sh', ['-c', command], { cwd: root, env: { ...env, PATH: quickNpx(t).PATH } })
  const credentials = /svct_\S+/.exec(stdout)![0]
  // The defaults of Prometheus: http, /metrics, Bearer.
  const ask = (headers: Record<string, string>) => fetch(`http://${admin}/metrics`, { headers })
  assert.equal((await ask({})).status, 401)
  const response = await ask({ authorization: `Bearer ${credentials}` })
  assert.match(await response.text(), /^gatehouse_build_info/m)
})
