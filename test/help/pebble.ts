// Pebble, the ACME authority by Let's Encrypt for tests: it validates hosts over the ports that it is given, and now and then refuses a good nonce. PEBBLE names
// another binary.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'
import { Authority } from './certificates.ts'
import { startDns } from './dns.ts'
import { freePort } from './free-port.ts'
import { quickFolder } from './quick-folder.ts'

export interface Pebble {
  readonly directory: string
  /** PEM of who has issued the certificate of its API. */
  readonly ca: string
  /** Returns the certificate of the root that it issues under, PEM. */
  root(): Promise<string>
}

/** Starts one for hosts that are all on this machine. */
export async function startPebble(
  t: TestContext,
  hosts: readonly string[],
  ports: { readonly http: number; readonly tls: number },
): Promise<Pebble> {
  const authority = new Authority()
  const { certificate, key } = authority.issue(['127.0.0.1', 'localhost'])
  const folder = quickFolder(t, 'pebble')
  const dns = await startDns(t)
  for (const host of hosts) dns.addresses(host, ['127.0.0.1'])
  const [api, management] = [await freePort(), await freePort()]
  writeFileSync(join(folder, 'cert.pem'), certificate)
  writeFileSync(join(folder, 'key.pem'), key)
  const pebble = {
    ...{ listenAddress: `127.0.0.1:${api}`, managementListenAddress: `127.0.0.1:${management}` },
    ...{ certificate: 'cert.pem', privateKey: 'key.pem', httpPort: ports.http, tlsPort: ports.tls },
    ...{ ocspResponderURL: '', externalAccountBindingRequired: false },
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ pebble }))
  const args = ['-config', 'config.json', '-dnsserver', `127.0.0.1:${dns.port}`]
  const child = spawn(process.env.PEBBLE ?? 'pebble', args, {
    cwd: folder,
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  child.stderr.resume()
  for await (const line of createInterface(child.stdout))
    if (line.includes('Root CA certificate available at')) break
  child.stdout.resume()
  const root = async () => {
    const [response] = (await once(
      get(`https://127.0.0.1:${management}/roots/0`, { ca: authority.certificate }),
      'response',
    )) as [IncomingMessage]
    return text(response)
  }
  return { directory: `https://127.0.0.1:${api}/dir`, ca: authority.certificate, root }
}
