// The pages of the side port, which load behind the start.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppParts } from '../../../src/process/side-port/built-apps.ts'
import { SidePortApps } from '../../../src/process/side-port/side-port-apps.ts'
import { edgeConfig } from '../../help/edge.ts'

test('pages that could not be loaded are loaded with the next request', async () => {
  let attempts = 0
  const parts = {
    config: { ...edgeConfig([]), dashboard: { host: 'console.example.com' } },
    get services() {
      attempts++
      throw new Error('no descriptors are left')
    },
  } as unknown as AppParts
  const apps = new SidePortApps(parts)
  for (const attempt of [1, 2]) {
    await assert.rejects(apps.load(), /no descriptors/)
    assert.equal(attempts, attempt)
  }
})
