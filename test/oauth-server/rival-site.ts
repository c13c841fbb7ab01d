// Runs as a process of its own: an authorization server on a store that others use too. It exchanges each code that it reads ten times at once, and writes each response as a line.

import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { exchange } from './app.ts'
import { startSite } from './site.ts'

const never = { after: () => {} } as unknown as TestContext
const site = await startSite(never, { url: process.argv[2]! })
console.log('ready')
for await (const line of createInterface(process.stdin)) {
  const { app, code } = JSON.parse(line)
  const tries = Array.from({ length: 10 }, async () => {
    const response = await exchange(site, app, code)
    console.log(JSON.stringify({ status: response.status, body: await response.json() }))
  })
  await Promise.all(tries)
}
