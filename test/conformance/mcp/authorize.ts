// Runs the conformance suite against the authorization server of a gateway, as an agent whose person allows what it asks for.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../help/free-port.ts'
import type { Town } from '../../journeys/mcp-town.ts'
import { type Outcomes, outcomesIn, program } from './suite.ts'

/** Asks for a token for a route. */
export async function runAuthorizationSuite({ agent }: Town, route: URL): Promise<Outcomes> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const [client, port] = [await agent(), await freePort()]
  const { client_id: id } = client.clientInformation()
  const of = ['--url', route.origin, '--resource', route.href, '--client-id', id, '-p', `${port}`]
  try {
    const child = spawn(process.execPath, [program, 'authorization', ...of, '-o', folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const closed = once(child, 'close')
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith(`${route.origin}/`)) await client.allow(new URL(line))
    await closed
    return outcomesIn(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
