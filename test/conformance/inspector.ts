// The inspector of the Model Context Protocol, as its command line, at routes with a gate and rules: node test/conformance/inspector.ts
//
// It brings a bundler and a user interface, 111 MB in 120 packages, so it is installed into a cache of this folder, by this command alone.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../help/source.ts'
import { settle, tokenFor } from '../journeys/mcp-town.ts'

const version = '2.12.0'
const folder = join(root, 'node_modules/.cache', `mcp-inspector-${version}`)
const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')

async function install(): Promise<void> {
  if (existsSync(program)) return
  mkdirSync(folder, { recursive: true })
  const dependencies = { '@modelcontextprotocol/inspector': version }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  const { code, output } = await run('npm', ['install', '--prefix', folder, ...options])
  assert.equal(code, 0, output)
}

/** Runs a program to its end, which it has within two minutes. */
function run(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise(resolve => {
    const env = { ...process.env, MCP_CATALOG_PATH: join(folder, 'catalog.json') }
    execFile(command, args, { env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` })
    })
  })
}

test('the inspector lists and calls tools behind a route', async t => {
  await install()
  const town = await settle(t)
  for (const url of [town.sessions, town.stateless]) {
    const { token } = await tokenFor(town, url)
    const inspect = (...args: string[]) => {
      const header = ['--header', `Authorization: Bearer ${token}`]
      return run(process.execPath, [program, '--cli', url.href, '--transport', 'http', ...header, ...args])
    }
    const list = await inspect('--method', 'tools/list')
    assert.match(list.output, /"name": "get-sum"/)
    const call = ['--method', 'tools/call', '--tool-name']
    const echo = await inspect(...call, 'echo', '--tool-arg', 'message=hi')
    assert.match(echo.output, /Echo: hi/)
    const forbidden = await inspect(...call, 'get-env')
    assert.match(forbidden.output, /Not allowed here/)
    assert.deepEqual([list.code, echo.code, forbidden.code], [0, 0, 1])
  }
})
