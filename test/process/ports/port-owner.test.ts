// Who listens on a port.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { ownerOf } from '../../../src/process/ports/port-owner.ts'
import { freePort } from '../../help/free-port.ts'

for (const host of ['127.0.0.1', '::'])
  test(`a process of this user that listens on ${host} is found, by its program and without its arguments`, async t => {
    const code = `require('net').createServer().listen(0, '${host}', function () { console.log(this.address().port) })`
    const child = spawn(process.execPath, ['-e', code, 'hunter2'], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const [port] = await once(child.stdout, 'data')
    assert.deepEqual(ownerOf(Number(port)), { pid: child.pid, program: 'node', isGateway: false })
  })

test('a free port has no owner', async () => {
  assert.equal(ownerOf(await freePort()), null)
})
