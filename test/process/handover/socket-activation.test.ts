// Which sockets a process takes for its own; test/journeys/systemd.test.ts has those that are served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { activatedSockets } from '../../../src/process/handover/socket-activation.ts'

const config = { listen: [{ host: '127.0.0.1', port: 1, tls: false }], admin: { host: '127.0.0.1', port: 2 } }

test('sockets that were passed to another process, or none, are not taken, and what says so is not passed on', () => {
  const mine = `${process.pid}`
  for (const passed of [
    { LISTEN_PID: `${process.ppid}`, LISTEN_FDS: '1' },
    { LISTEN_FDS: '1' },
    { LISTEN_PID: mine, LISTEN_FDS: '0' },
    { LISTEN_PID: mine },
    {},
  ]) {
    const env: NodeJS.ProcessEnv = { ...passed, LISTEN_FDNAMES: 'web', HOME: '/' }
    assert.equal(activatedSockets(env, config), null)
    assert.deepEqual(env, { HOME: '/' })
  }
})
