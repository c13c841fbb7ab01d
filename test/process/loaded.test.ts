// What a start with a plain configuration leaves unloaded: it takes time and memory in every process.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sources, startGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { siteConfig, startSite } from '../help/site.ts'

const hook = new URL('../help/report-modules.ts', import.meta.url)

/** What no process loads: packages that only some configurations need, and what Node has for fetch and WebSocket. */
const unneeded =
  /node_modules\/(acme-client|ioredis|oidc-provider|openid-client|tldts)\/|^NativeModule internal\/deps\/undici/

/** What only the process of the side port has. */
const ofControl = /src\/(admin|dashboard|oauth-server|pages|sign-in|process\/acme)\//

test('a start loads no package that its configuration does not need, and a worker nothing of the side port', async t => {
  const origin = await startSite(t, (_, response) => response.end('served'))
  const alone = await modulesOf(t, 0, siteConfig(origin))
  const [supervisor, worker] = await modulesOf(t, 1, siteConfig(origin))
  assert.equal(alone.length, 1)
  for (const modules of [...alone, supervisor!, worker!]) {
    // It has seen what was loaded.
    assert.ok(modules.some(name => name.endsWith('src/edge/serve.ts')))
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
