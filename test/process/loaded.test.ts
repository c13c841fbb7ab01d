// What a start with a plain configuration leaves unloaded: it takes time and memory in every process.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { sources, startGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { root, sourceFiles } from '../help/source.ts'

const hook = new URL('../help/report-modules.ts', import.meta.url)

/** What no process loads: packages that only some configurations need, and what Node has for fetch and WebSocket. */
const unneeded =
  /node_modules\/(acme-client|ioredis|oidc-provider|openid-client|tldts)\/|^NativeModule internal\/deps\/undici/

/** What a file loads with itself: types are none, and `import()` comes later. */
const staticImport = /^(?:import|export)(?! type)\b[^'"`]*?\bfrom '(\.[^']+)'|^import '(\.[^']+)'/gm

/** What only the process of the side port has. */
const ofControl = /src\/(admin|dashboard|oauth-server|pages|sign-in|process\/acme)\//

test('a start loads no package that its configuration does not need, and a worker nothing of the side port', async t => {
  const origin = await startSite(t, (_, response) => response.end('served'))
  const alone = await modulesOf(t, 0, siteConfig(origin))
  const [supervisor, worker] = await modulesOf(t, 1, siteConfig(origin))
  assert.equal(alone.length, 1)
  for (const modules of [...alone, supervisor!, worker!]) {
    // It has seen what was loaded.
    assert.ok(modules.some(name => name.endsWith('src/edge/serve/serve.ts')))
    assert.ok(modules.includes('NativeModule http'))
    assert.deepEqual(
      modules.filter(name => unneeded.test(name)),
      [],
    )
  }
  assert.ok(supervisor!.some(name => ofControl.test(name)))
  assert.deepEqual(
    worker!.filter(name => ofControl.test(name)),
    [],
  )
})

test('the pages of people and the authorization server are loaded behind the start', () => {
  const files = new Map(sourceFiles().map(file => [file.path, file.text]))
  const loaded = new Set<string>()
  const load = (path: string) => {
    if (loaded.has(path) || !files.has(path)) return
    loaded.add(path)
    for (const [, from, bare] of files.get(path)!.matchAll(staticImport))
      load(join(dirname(path), (from ?? bare)!))
  }
  load('process/commands/start.ts')
  assert.ok(loaded.has('admin/server.ts'))
  assert.deepEqual(
    [...loaded].filter(path => /^(dashboard|oauth-server|sign-in)\/(?!(page\/|http\/)?paths)/.test(path)),
    [],
  )
})

test('the package takes nothing from Node by an import', async t => {
  const folder = join('node_modules', '.cache', `package-${process.pid}`)
  t.after(() => rmSync(join(root, folder), { recursive: true, force: true }))
  await promisify(execFile)(process.execPath, [join(root, 'build/package.ts'), folder])
  const files = globSync('*.js', { cwd: join(root, folder) })
  const code = files.map(file => readFileSync(join(root, folder, file), 'utf8')).join('\n')
  const taken = [...code.matchAll(/(?:^|;)import\{[^}]*\}from"(node:[^"]*)"/gm)].map(([, name]) => name)
  assert.ok(code.includes('process.getBuiltinModule("node:crypto")'))
  // By a package that is inside.
  assert.deepEqual(taken, ['node:diagnostics_channel'])
})

/** Returns what each process of a gateway loaded that served a request, its first process first. */
async function modulesOf(
  t: TestContext,
  workers: number,
  site: string,
): Promise<readonly (readonly string[])[]> {
  const folder = quickFolder(t, 'modules')
  const env = { NODE_OPTIONS: `--import=${hook}`, MODULES_TO: folder }
  const gateway = await startGateway(t, `workers: ${workers}${site}`, { env, program: sources })
  const pids = [gateway.pid]
  const children = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8')
  pids.push(...children.trim().split(' ').filter(Boolean).map(Number))
  assert.equal(await (await fetch(gateway.edge)).text(), 'served')
  gateway.signal('SIGTERM')
  await gateway.exited
  return pids.map(pid => JSON.parse(readFileSync(join(folder, `${pid}.json`), 'utf8')))
}
