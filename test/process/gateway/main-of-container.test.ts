// With which process a container ends.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isMainOfContainer } from '../../../src/process/gateway/main-of-container.ts'
import { root } from '../../help/source.ts'

const container = 'pid:[4026532211]'
const machine = 'pid:[4026531836]'

for (const [title, ids, namespace, parent, expected] of [
  ['process 1', [1, 0], container, '', true],
  ['a process whose parent is outside of the container', [7, 0], container, '', true],
  ['a child of the init of a container', [7, 1], container, '1 (docker-init) S 0 1 1 0', true],
  ['a child of a shell that is process 1', [7, 1], container, '1 (sh) S 0 1 1 0', true],
  ['a child of an init with brackets in its name', [7, 1], container, '1 (in) S 9 (x)) S 0 1', true],
  ['a child of an init beside a pause process', [9, 7], container, '7 (tini) S 0 7 7 0', true],
  ['a service of systemd in a container', [7, 1], container, '1 (systemd) S 0 1 1 0', false],
  ['a process further down', [9, 7], container, '7 (sh) S 1 7 7 0', false],
  ['a child of process 1 of a machine', [700, 1], machine, '1 (init) S 0 1 1 0', false],
] as const)
  test(`${title} is ${expected ? '' : 'not '}what the container ends with`, () => {
    const [pid, ppid] = ids
    assert.equal(
      isMainOfContainer({ pid, ppid }, () => ({ namespace, parent })),
      expected,
    )
  })

test('a process below one that is process 1 of a real container is what it ends with', t => {
  const ask = `import('${root}/src/process/gateway/main-of-container.ts').then(m => console.log(m.isMainOfContainer()))`
  const inner = `"$0" -e "$1"; exit 0`
  const command = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', 'sh', '-c', inner]
  try {
    execFileSync('unshare', ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc', 'true'])
  } catch {
    return t.diagnostic('this system has no namespaces to try it in')
  }
  const said = String(execFileSync('unshare', [...command, process.execPath, ask]))
  assert.equal(said, 'true\n')
})
