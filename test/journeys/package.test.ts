// The package that npm installs: what is built is packed, unpacked as `npm i -g` does it, and used as its README says.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { blocksOf, readPage } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { spawnGateway } from '../help/gateway.ts'
import { installPackage, manifestIn } from '../help/installed-package.ts'
import { root } from '../help/source.ts'

const at = mkdtempSync(join(tmpdir(), 'gatehouse-package-'))
after(() => rmSync(at, { recursive: true }))

const { folder, home, env } = installPackage(at)
const readme = readPage('build/README.md')

test('an installed package does what its README says, and leaves its own folder alone', async t => {
  const before = readdirSync(folder, { recursive: true }).length
  const [start, curl, call] = blocksOf(readme).map(({ text }) => text.trimEnd().split('\n'))
  const [, init, run] = start!
  assert.deepEqual(start, [
    'npm i -g gatehouse',
    'gatehouse init',
    'ORIGIN=http://127.0.0.1:9000 gatehouse start',
  ])
  const site = join(home, 'site')
  mkdirSync(site)
  execFileSync('sh', ['-c', init!], { cwd: site, env, stdio: 'pipe' })
  const file = join(site, 'gatehouse.yaml')
  const written = readFileSync(file, 'utf8')
  writeFileSync(file, written.replace('address: 0.0.0.0:8080', 'address: 127.0.0.1:0'))
  const [, origin] = /^ORIGIN=(\S+) gatehouse start$/.exec(run!)!
  const gateway = await spawnGateway(t, [join(folder, 'bin/gatehouse.js'), 'start'], {
    cwd: site,
    env: {
      ...env,
      ORIGIN: origin!.replace('9000', String(await freePort())),
      GATEHOUSE_ADMIN: '127.0.0.1:0',
    },
  })
  const bodies = curl!.map(line =>
    execFileSync(
      'sh',
      ['-c', line.replace('http://localhost:8080', gateway.edge).replace('-i', '-s -H "Host: localhost"')],
      {
        encoding: 'utf8',
      },
    ),
  )
  assert.match(bodies[0]!, /"error_code":521,/)
  assert.match(bodies[1]!, /^# Error 522/m)
  assert.ok(readPage('README.md').text.includes(call!.slice(1).join('\n')))
  // The guides come with it.
  assert.match(await (await fetch(`${gateway.admin}/docs/configuration`)).text(), /<h1>Configuration<\/h1>/)
  gateway.signal('SIGTERM')
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
  assert.ok(existsSync(join(home, '.local/share/gatehouse/gatehouse.db')))
  assert.deepEqual(readdirSync(site), ['gatehouse.schema.json', 'gatehouse.yaml'])
  assert.equal(readdirSync(folder, { recursive: true }).length, before)
})

test('an installed package keeps its data where --data says', () => {
  const elsewhere = join(home, 'elsewhere')
  const { status, stderr } = spawnSync('gatehouse', ['token', 'create', '--data', elsewhere], {
    env,
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.ok(
    stderr.includes(`there is no store sqlite:${join(elsewhere, 'gatehouse.db')}; start the gateway once`),
  )
})

test('an installed package asks a user without a home for a data folder', () => {
  for (const args of [['token', 'list'], ['start'], ['reload']]) {
    const { status, stdout, stderr } = spawnSync('gatehouse', args, {
      env: { ...env, HOME: '' },
      encoding: 'utf8',
    })
    assert.equal(status, 2, args.join(' '))
    assert.match(stdout + stderr, /^gatehouse: this user has no home folder .* --data or GATEHOUSE_DATA$/m)
  }
})

test('a package says what it was built from', () => {
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  const { version, private: isPrivate } = manifestIn(folder)
  assert.equal(isPrivate, undefined)
  const told = execFileSync('gatehouse', ['--version'], { env, encoding: 'utf8' })
  assert.equal(told, `${version} (${head.slice(0, 12)})\n`)
})

test('the installed package takes no more than 60 MB besides Node', () => {
  const { dependencies } = manifestIn(folder)
  const packages = new Set<string>([folder])
  for (const name of Object.keys(dependencies)) collect(name, root, packages)
  let bytes = 0
  for (const at of packages) bytes += sizeOf(at)
  assert.ok(packages.size > 50)
  assert.ok(bytes < 60e6, `${bytes}`)
})

/** Adds the folder of a package that another one needs, and those that it needs itself. */
function collect(name: string, from: string, packages: Set<string>): void {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name)!
  const folder = places.map(place => join(place, name)).find(path => existsSync(path))!
  if (packages.has(folder)) return
  packages.add(folder)
  for (const needed of Object.keys(manifestIn(folder).dependencies ?? {})) collect(needed, folder, packages)
}

function sizeOf(folder: string): number {
  return globSync('**/*', { cwd: folder, exclude: name => name === 'node_modules' })
    .map(path => statSync(join(folder, path)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0)
}
