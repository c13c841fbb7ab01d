// With which process a container ends.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isMainOfContainer } from '../../../src/process/system/container.ts'
import { root } from '../../help/source.ts'

const container = 'pid:[4026532211]'
const machine = 'pid:[4026531836]'

/** Each as its id, its name, its parent, and its command. */
type Above = readonly [id: number, name: string, parent: number, command?: string]

const main = (title: string, namespace: string, above: readonly Above[], expected: boolean, groups = '/') =>
  test(`${title} is ${expected ? '' : 'not '}what the container ends with`, () => {
    const ppid = above[0]?.[0] ?? 0
    const of = (id: number | 'self', file: string) => {
      if (file === 'cgroup') return id === 1 ? groups : '/'
      const [, name, parent, command] = above.find(([other]) => other === id)!
      return file === 'stat' ? `${id} (${name}) S ${parent} 1 1 0` : (command ?? name).replaceAll(' ', '\0')
    }
    assert.equal(isMainOfContainer({ pid: 70, ppid }, { namespace, of }), expected)
  })

const script = (id: number, parent: number): Above => [id, 'sh', parent, 'sh -c gatehouse']
main('a process beside a pause process', container, [], true, '/../pause')
main('an init beside a pause process', container, [[7, 'tini', 0]], true, '/../pause')
main('a process of docker exec', container, [], false)
main('a process of a shell of docker exec', container, [[7, 'bash', 0]], false)
main('a script of docker exec', container, [script(7, 0)], false)
main('a child of the init of a container', container, [[1, 'docker-init', 0]], true)
main('a child of a shell that is process 1', container, [[1, 'sh', 0]], true)
main('a child of an init with brackets in its name', container, [[1, 'in) S 9 (x', 0]], true)
main('a child of a script below tini', container, [script(7, 1), [1, 'tini', 0]], true)
main('a child of npm', container, [script(9, 1), [1, 'npm', 0, 'npm']], true)
main('a child of npm below tini', container, [script(9, 7), [7, 'npm', 1], [1, 'tini', 0]], true)
main(
  'a child of a prompt below tini',
  container,
  [
    [7, 'bash', 1, 'bash -l'],
    [1, 'tini', 0],
  ],
  false,
)
main(
  'a process below sshd',
  container,
  [
    [9, 'bash', 7, '-bash'],
    [7, 'sshd', 1],
    [1, 'init', 0],
  ],
  false,
)
main('a service of systemd in a container', container, [[1, 'systemd', 0]], false)
main('a service of the init of a machine in a container', container, [[1, 'init(Ubuntu)', 0]], false)
main('a child of process 1 of a machine', machine, [[1, 'tini', 0]], false)

test('process 1 is what the container ends with', () => assert.ok(isMainOfContainer({ pid: 1, ppid: 0 })))

test('a process below one that is process 1 of a real container is what it ends with', t => {
  const ask = `import('${root}/src/process/system/container.ts').then(m => console.log(m.isMainOfContainer()))`
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
